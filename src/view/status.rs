//! How the session goes, as the views show it.

use std::time::Duration;

use lockstone_net::session::{
    AheadStats, Exchange, PlayerStats, RelayStats, RollbackStats, StallStats, Stats, SyncCheck, TrafficClass,
};

/// Players that are listed.
const ROWS_MAX: usize = 16;

/// How the session goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// The game's name.
    pub game: &'static str,
    /// The game's own keys, in a line.
    pub keys: &'static str,
    /// The room; empty without one.
    pub room: String,
    /// How a friend joins.
    pub join: Option<Join>,
    /// What the session is doing: connecting, loading, playing.
    pub phase: String,
    /// Its figures. Of the players in the world, this peer's and the sequencer come first.
    pub stats: Stats,
    /// Payload received in the last second.
    pub bytes_in_per_s: u32,
    /// Payload sent in the last second.
    pub bytes_out_per_s: u32,
    /// Whether the person asked for all [`details`](Status::details).
    pub figures: bool,
    /// Whether sound is on, where there is any.
    pub sound: Option<bool>,
    /// In a relay: what it served and its ticks cost, in words, when that was last measured.
    pub relay: Option<(RelayStats, String)>,
    /// The last comparison of checksums with anyone.
    pub last_check: Option<SyncCheck>,
    /// What the session has to tell, the newest last.
    pub news: Vec<String>,
    /// The line that is being typed.
    pub typed: Option<String>,
}

/// How others join a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Join {
    /// By a line that is typed.
    pub line: String,
    /// By a link that is opened in a browser, if the session can be joined so.
    pub link: Option<String>,
}

impl Status {
    /// Whether this world differs from others, or did and may have been at fault.
    pub fn is_out_of_step(&self) -> bool {
        self.stats.desyncs > self.stats.acquitted || self.last_check.is_some_and(|check| !check.equal)
    }

    /// Whether the worlds are equal, in a few words.
    pub fn verdict(&self) -> String {
        let Stats { checksums_compared, desyncs, .. } = self.stats;
        match self.last_check {
            _ if self.is_out_of_step() => format!("OUT OF STEP: differences {desyncs}, checks {checksums_compared}"),
            Some(check) => format!("in step at tick {} ({checksums_compared} checks)", check.tick),
            None if self.stats.host.is_some() => "the relay compares this world".to_owned(),
            None => "nothing compared yet".to_owned(),
        }
    }

    /// The players that are listed.
    pub fn listed(&self) -> impl Iterator<Item = &PlayerStats> {
        self.stats.players.iter().take(ROWS_MAX)
    }

    /// Each player who is away, in a few words.
    pub fn away(&self) -> impl Iterator<Item = String> {
        let away = self.stats.away.iter().take(ROWS_MAX);
        away.map(|(player, name)| format!("{} (away)", name.clone().unwrap_or_else(|| player.to_string())))
    }

    /// How many players are not listed, in a few words.
    pub fn beyond(&self) -> Option<String> {
        let others = self.stats.players.len().saturating_sub(ROWS_MAX);
        (others > 0).then(|| format!("and {others} others"))
    }

    /// What a relay does, in a few words.
    pub fn served(&self) -> Option<String> {
        let (relay, cost) = self.relay.as_ref()?;
        let (replicas, kb) = (relay.replicas, relay.cut_bytes().div_ceil(1_000));
        let cut = if kb > 0 { format!("; {kb} KB beyond budgets") } else { String::new() };
        Some(format!("{replicas} replicas; {cost}{cut}"))
    }

    /// How far is predicted, and how often wrongly, in a few words; nothing where nothing is.
    pub fn corrections(&self) -> Option<String> {
        if let Some(AheadStats { ticks, corrections, rollbacks, .. }) = self.stats.ahead {
            return Some(format!("{ticks} ticks ahead, corrections {corrections}, rollbacks {rollbacks}"));
        }
        let RollbackStats { rollbacks, deepest_ticks, regroupings, .. } = self.stats.rollback?;
        let regrouped = if regroupings > 0 { format!(", regrouped {regroupings}") } else { String::new() };
        Some(format!("rollbacks {rollbacks}, deepest {deepest_ticks}{regrouped}"))
    }

    /// How often the world stood still, and for how long, in a few words; nothing if it never did.
    pub fn stalls(&self) -> Option<String> {
        let StallStats { count, time, longest } = self.stats.stalls;
        let s = |time: Duration| format!("{:.1} s", time.as_secs_f32());
        (count > 0).then(|| format!("stalls {count}, {} in all, longest {}", s(time), s(longest)))
    }

    /// All that is measured of the session, line by line, and none of it unless it is
    /// [asked for](Status::figures).
    pub fn details(&self) -> Vec<String> {
        if !self.figures {
            return Vec::new();
        }
        let Stats { delay, input_delay_ticks, takeovers, epoch, repairs, drops, .. } = &self.stats;
        let Stats { traffic_by_class, host, players, .. } = &self.stats;
        let (mean, last, max) = (delay.mean_ticks(), delay.last_ticks, delay.max_ticks);
        let session = [
            (delay.commands > 0).then(|| format!("commands: {mean:.1} ticks (last {last}, most {max})")),
            input_delay_ticks.map(|ticks| format!("input delay {ticks} ticks")),
            self.stalls(),
            (*takeovers > 0).then(|| format!("takeovers {takeovers}, epoch {}", epoch.0)),
            (*repairs > 0).then(|| format!("worlds repaired {repairs}")),
            (drops.total() > 0).then(|| format!("dropped {} packets", drops.total())),
        ];
        let others = players.iter().take(ROWS_MAX);
        let others = others.filter_map(|player| Some((player.name.as_str(), player.exchange.as_ref()?)));
        let others = others.chain(host.iter().map(|exchange| ("relay", exchange)));
        let exchange = |(name, exchange): (&str, &Exchange)| {
            let (trip, loss) = (exchange.round_trip.unwrap_or_default(), exchange.loss);
            let (rtt, jitter) = (trip.smoothed.as_millis(), trip.jitter.as_millis());
            format!("{name}: {rtt} ms, jitter {jitter}, lost {:.1} % of {}", loss.share() * 100.0, loss.expected)
        };
        let class = |class: TrafficClass| {
            let traffic = traffic_by_class.of(class);
            let kb = |bytes: u64| format!("{:.1} KB", bytes as f32 / 1e3);
            format!("{}: {} in, {} out", class.name(), kb(traffic.bytes_in), kb(traffic.bytes_out))
        };
        let classes = traffic_by_class.iter().map(|(which, _)| class(which));
        session.into_iter().flatten().chain(others.map(exchange)).chain(classes).collect()
    }
}

/// A player's name, with a mark for this peer's own and for the sequencer.
pub fn title(player: &PlayerStats) -> String {
    let mark = match (player.own, player.sequencer) {
        (true, true) => " (you, host)",
        (true, false) => " (you)",
        (false, true) => " (host)",
        (false, false) => "",
    };
    format!("{}{mark}", player.name)
}

/// The round-trip time to a player's peer, as text, where there is a direct exchange.
pub fn rtt(player: &PlayerStats) -> String {
    let rtt = player.exchange.as_ref().and_then(Exchange::rtt);
    rtt.map_or_else(String::new, |rtt| format!("{} ms", rtt.as_millis()))
}

/// What is lost lately of what a player's peer sends, as text, if anything is.
pub fn loss(player: &PlayerStats) -> String {
    let share = player.exchange.as_ref().map_or(0.0, |exchange| exchange.loss.recent_share());
    if share > 0.0 { format!("-{:.0} %", (share * 100.0).max(1.0)) } else { String::new() }
}

/// The last comparison of checksums with a player's peer.
pub fn last_check(player: &PlayerStats) -> Option<SyncCheck> {
    player.exchange.as_ref().and_then(|exchange| exchange.last_check)
}
