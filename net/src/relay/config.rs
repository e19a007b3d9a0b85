//! What a relay session is set up with, checked once.

use core::time::Duration;

use crate::limits::*;
use crate::session::{Common, Config, ConfigError, Following, OnDesync, Settings, within, within_time};
use crate::wire::SessionKind;

/// The settings of a relay session. All peers must have the same tick rate and intervals; the
/// areas, the budget and the limits are the relay's, the timeouts each peer's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelaySettings {
    /// Ticks a second, 1 to 100. Default 20.
    pub ticks_per_s: u32,
    /// Between two packets of frames to a replica, 1 to 20. Default 2: at 20 ticks a
    /// second ten packets.
    pub packet_interval_ticks: u32,
    /// Between two checksums of a replica's core, 1 to 1,000. Default 20.
    pub checksum_interval_ticks: u32,
    /// Places in the session, the relay's own hero included, 1 to 10,000. Default 1,000.
    pub players_max: usize,
    /// The seed of the world. Default 0.
    pub seed: u64,
    /// A cell at most so many columns and rows from a replica's hero is in its core, 1
    /// to 64. Default 2.
    pub enter_rings: u16,
    /// A cell more than so many columns and rows from the hero leaves the core, if the core is no
    /// lit region, `enter_rings` to 64. Default 4.
    pub leave_rings: u16,
    /// So many rings beyond what the core needs are loaded ahead, 1 to 16, so that the core moves
    /// without a stall. Default 2.
    pub ahead_rings: u16,
    /// A core is not grown over more actors than this, whatever it would save. Default 2,000. 0:
    /// cores are never grown.
    pub core_actors_max: usize,
    /// What a replica is sent at most, in bytes a second, as far as it can wait: frames cannot. 4
    /// KiB to 1 GB. Default 1 MB.
    pub budget_bytes_per_s: u32,
    /// Commands that one replica may give in a second, 1 to 1,000. Default 40. More are
    /// dropped and counted.
    pub commands_per_s_max: u32,
    /// Packets that one replica may send in a second, 4 to 1,000; half as many again at
    /// once. Default 100.
    pub packets_per_s_max: u32,
    /// Bytes that one replica may send in a second, 128 KiB to 1 MB; half as many again at once.
    /// Default 192 KiB.
    pub bytes_per_s_max: u32,
    /// How often one replica's core is repaired within a minute, 0 to 100, before the replica is
    /// put out. Default 3.
    pub repairs_max: u32,
    /// A peer that is not heard of for so long is gone, 2 s to 10 min. Default 10 s.
    pub silence_timeout: Duration,
    /// How long a joiner takes at most to enter the room, then to reach the relay, and then to be
    /// let in, 1 s to 10 min each. Default 30 s: where many join at once, each has a small part of
    /// a processor for its handshake.
    pub handshake_timeout: Duration,
    /// How long loading may make no progress, 1 s to 10 min. Default 30 s.
    pub load_timeout: Duration,
    /// Whether checksums are told with their parts, for a recording to hold them. Default no.
    pub emit_trees: bool,
    /// Of so many checksums one is told so, 1 to 1,000. Default 1. The parts are those of the whole
    /// world, so that a relay of a large one has reason to tell them less often.
    pub tree_interval_ticks: u32,
}

impl Default for RelaySettings {
    fn default() -> Self {
        RelaySettings {
            ticks_per_s: 20,
            packet_interval_ticks: 2,
            checksum_interval_ticks: 20,
            players_max: 1_000,
            seed: 0,
            enter_rings: 2,
            leave_rings: 4,
            ahead_rings: 2,
            core_actors_max: 2_000,
            budget_bytes_per_s: 1_000_000,
            commands_per_s_max: 40,
            packets_per_s_max: 100,
            bytes_per_s_max: 192 * 1_024,
            repairs_max: 3,
            silence_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(30),
            load_timeout: Duration::from_secs(30),
            emit_trees: false,
            tree_interval_ticks: 1,
        }
    }
}

/// The settings of a relay session that have been checked.
pub type RelayConfig = Config<RelaySettings>;

impl Settings for RelaySettings {
    fn common(&self) -> Common {
        Common {
            kind: SessionKind::Relay { packet_interval_ticks: self.packet_interval_ticks },
            ticks_per_s: self.ticks_per_s,
            input_delay_ticks: 0,
            checksum_interval_ticks: self.checksum_interval_ticks,
            handshake_timeout: self.handshake_timeout,
            silence_timeout: self.silence_timeout,
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        within("packet_interval_ticks", self.packet_interval_ticks, 1, 20)?;
        within("tree_interval_ticks", self.tree_interval_ticks, 1, 1_000)?;
        within("players_max", self.players_max, 1, RELAY_PLAYERS_MAX)?;
        within("enter_rings", self.enter_rings, 1, 64)?;
        within("leave_rings", self.leave_rings, self.enter_rings, 64)?;
        within("ahead_rings", self.ahead_rings, 1, 16)?;
        within("core_actors_max", self.core_actors_max, 0, 1_000_000)?;
        within("budget_bytes_per_s", self.budget_bytes_per_s, 4_096, 1_000_000_000)?;
        within("commands_per_s_max", self.commands_per_s_max, 1, 1_000)?;
        within("packets_per_s_max", self.packets_per_s_max, 4, PACKETS_PER_S_MAX)?;
        within("bytes_per_s_max", self.bytes_per_s_max, 128 * 1_024, 1_000_000)?;
        within("repairs_max", self.repairs_max, 0, 100)?;
        within_time("silence_timeout", self.silence_timeout, Duration::from_secs(2))?;
        within_time("load_timeout", self.load_timeout, Duration::from_secs(1))
    }
}

impl RelayConfig {
    /// What of it concerns a peer that plays turns or frames.
    pub(super) fn following(&self) -> Following {
        let s = self.settings();
        Following {
            period: self.period(),
            packet_interval: self.period() * s.packet_interval_ticks,
            handshake_timeout: s.handshake_timeout,
            silence_timeout: s.silence_timeout,
            load_timeout: s.load_timeout,
            on_desync: OnDesync::Repair,
            // What is compared are the checksums of cores, at each replica's own ticks.
            checksum_interval_ticks: u32::MAX,
            tree_interval_ticks: s.emit_trees.then_some(s.tree_interval_ticks),
        }
    }
}
