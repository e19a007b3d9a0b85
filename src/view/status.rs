//! How the session goes, as the views show it.

use lockstone_net::session::{RollbackStats, SyncCheck};
use lockstone_sim::Tick;

/// How the session goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// The game's name.
    pub game: &'static str,
    /// The room; empty without one.
    pub room: String,
    /// The line with which a friend joins.
    pub join: Option<String>,
    /// What the session is doing: connecting, loading, playing.
    pub phase: String,
    /// The next tick to play.
    pub tick: Tick,
    /// Payload received in the last second.
    pub bytes_in_per_s: u32,
    /// Payload sent in the last second.
    pub bytes_out_per_s: u32,
    /// The players that are connected, this peer's included.
    pub peers: Vec<PeerRow>,
    /// How many more there are than `peers` lists.
    pub others: usize,
    /// In a relay: what it does.
    pub relay: Option<RelayRow>,
    /// The last comparison of checksums with anyone.
    pub last_check: Option<SyncCheck>,
    /// Comparisons so far.
    pub checksums_compared: u64,
    /// Of them, how many differed.
    pub desyncs: u64,
    /// Corrections of the past, in a rollback session.
    pub rollback: Option<RollbackStats>,
    /// What the session has to tell, the newest last.
    pub news: Vec<String>,
    /// The line that is being typed.
    pub typed: Option<String>,
}

/// What a relay does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelayRow {
    /// How many replicas it serves.
    pub replicas: u64,
    /// What its ticks cost, in words.
    pub cost: String,
    /// What replicas' budgets held back so far, in bytes.
    pub cut_bytes: u64,
}

/// One player of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerRow {
    /// The name.
    pub name: String,
    /// Whether it is this peer's own player.
    pub own: bool,
    /// Whether its peer closes ticks.
    pub sequencer: bool,
    /// The round-trip time to its peer, where there is a direct exchange.
    pub rtt_ms: Option<u32>,
    /// The last comparison of checksums with its peer.
    pub last_check: Option<SyncCheck>,
}

impl Status {
    /// Whether the worlds are equal, in a few words.
    pub fn verdict(&self) -> String {
        match self.last_check {
            _ if self.desyncs > 0 => format!("OUT OF STEP: {} of {} differ", self.desyncs, self.checksums_compared),
            Some(check) => format!("in step at tick {} ({} checks)", check.tick, self.checksums_compared),
            None => "nothing compared yet".to_owned(),
        }
    }

    /// How many players are not listed, in a few words.
    pub fn beyond(&self) -> Option<String> {
        (self.others > 0).then(|| format!("and {} others", self.others))
    }

    /// What a relay does, in a few words.
    pub fn served(&self) -> Option<String> {
        let RelayRow { replicas, cost, cut_bytes } = self.relay.as_ref()?;
        let kb = cut_bytes.div_ceil(1_000);
        let cut = if kb > 0 { format!("; {kb} KB beyond budgets") } else { String::new() };
        Some(format!("{replicas} replicas; {cost}{cut}"))
    }

    /// How often and how far the past was corrected, in a few words; nothing in a session
    /// that never does so.
    pub fn corrections(&self) -> Option<String> {
        let RollbackStats { rollbacks, deepest_ticks, regroupings, .. } = self.rollback?;
        let regrouped = if regroupings > 0 { format!(", regrouped {regroupings}") } else { String::new() };
        Some(format!("rollbacks {rollbacks}, deepest {deepest_ticks}{regrouped}"))
    }
}

impl PeerRow {
    /// The name, with a mark for this peer and for the sequencer.
    pub fn title(&self) -> String {
        let mark = match (self.own, self.sequencer) {
            (true, true) => " (you, host)",
            (true, false) => " (you)",
            (false, true) => " (host)",
            (false, false) => "",
        };
        format!("{}{mark}", self.name)
    }

    /// The round-trip time, as text.
    pub fn rtt(&self) -> String {
        self.rtt_ms.map_or_else(String::new, |ms| format!("{ms} ms"))
    }
}
