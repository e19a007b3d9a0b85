//! What a party is set up with, checked once, and which role its peer has.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::Simulation;

use super::sequencer::Sequencing;
use super::whole::Whole;
use crate::limits::PLAYERS_MAX;
use crate::link::PeerId;
use crate::session::{
    Common, Config, ConfigError, Entrant, Following, Io, Kind, Leader, OnDesync, Role, Settings, within, within_time,
};
use crate::wire::SessionKind;

/// The settings of a party. All peers must have the same tick rate and intervals; the rest is each
/// peer's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartySettings {
    /// Ticks a second, 1 to 100. Default 20.
    pub ticks_per_s: u32,
    /// How many ticks ahead of its own time this peer closes when it is the sequencer, 1 to 20: its
    /// player's commands play that much later. Default `None`: as long as turns take to the others,
    /// jitter included, from the packet interval to 300 ms.
    pub input_delay_ticks: Option<u32>,
    /// Between two packets of turns, 1 to 20; never more than the input delay. Default 2. The more,
    /// the fewer packets. Each tick less lets replicas play a tick sooner, and a lost packet costs
    /// them a tick less.
    pub packet_interval_ticks: u32,
    /// Between two checksums, 1 to 1,000. Default 10.
    pub checksum_interval_ticks: u32,
    /// Places in the session, 1 to 16. Default 16.
    pub players_max: usize,
    /// The founder holds tick 0 until so many players are there. Default 1.
    pub players_at_start: usize,
    /// The seed of the world that a founder starts. Default 0.
    pub seed: u64,
    /// A peer that is not heard of for so long is gone, 2 s to 10 min. Default 10 s. So long does a
    /// minority wait before its players may go on as a branch.
    pub silence_timeout: Duration,
    /// How long a joiner looks for the session and waits to be let in, 1 s to 10 min. Default 15 s.
    pub handshake_timeout: Duration,
    /// How long a joiner may load without progress, 1 s to 10 min. Default 30 s.
    pub load_timeout: Duration,
    /// What is done once a replica's world has become another. Default [`OnDesync::Repair`].
    pub on_desync: OnDesync,
    /// Whether each checksum is told with its parts, for a recording to hold them:
    /// [`Simulation::tree`](lockstone_sim::Simulation::tree). Default no.
    pub emit_trees: bool,
}

impl Default for PartySettings {
    fn default() -> Self {
        PartySettings {
            ticks_per_s: 20,
            input_delay_ticks: None,
            packet_interval_ticks: 2,
            checksum_interval_ticks: 10,
            players_max: PLAYERS_MAX,
            players_at_start: 1,
            seed: 0,
            silence_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(15),
            load_timeout: Duration::from_secs(30),
            on_desync: OnDesync::Repair,
            emit_trees: false,
        }
    }
}

/// The settings of a party that have been checked.
pub type PartyConfig = Config<PartySettings>;

impl Settings for PartySettings {
    fn common(&self) -> Common {
        Common {
            kind: SessionKind::Party { packet_interval_ticks: self.packet_interval_ticks },
            ticks_per_s: self.ticks_per_s,
            // It is a matter of whoever leads.
            input_delay_ticks: 0,
            checksum_interval_ticks: self.checksum_interval_ticks,
            handshake_timeout: self.handshake_timeout,
            silence_timeout: self.silence_timeout,
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        within("input_delay_ticks", self.input_delay_ticks.unwrap_or(1), 1, 20)?;
        within("packet_interval_ticks", self.packet_interval_ticks, 1, 20)?;
        within("players_max", self.players_max, 1, PLAYERS_MAX)?;
        within("players_at_start", self.players_at_start, 1, self.players_max)?;
        within_time("silence_timeout", self.silence_timeout, Duration::from_secs(2))?;
        within_time("load_timeout", self.load_timeout, Duration::from_secs(1))
    }
}

impl PartyConfig {
    /// What of it concerns a peer that plays turns.
    pub(super) fn following(&self) -> Following {
        let s = self.settings();
        Following {
            period: self.period(),
            packet_interval: self.period() * s.packet_interval_ticks,
            handshake_timeout: s.handshake_timeout,
            silence_timeout: s.silence_timeout,
            load_timeout: s.load_timeout,
            on_desync: s.on_desync,
            checksum_interval_ticks: s.checksum_interval_ticks,
            tree_interval_ticks: s.emit_trees.then_some(1),
        }
    }
}

impl<S: Simulation> Kind<S> for PartyConfig {
    type Settings = PartySettings;

    fn config(&self) -> &Self {
        self
    }

    fn enter(&mut self, entrant: &Arc<Entrant<S>>, me: PeerId, io: &mut Io<S>) -> Box<dyn Role<S>> {
        match Leader::of_room(me) {
            Some(leader) => Box::new(Sequencing::found(self.clone(), entrant, leader, io)),
            None => Box::new(Whole::follow(self.clone(), entrant, me, io.now)),
        }
    }
}
