//! Figures of a running session, for screens, tables and tests.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Tick};
use serde::{Deserialize, Serialize};

use crate::link::PeerId;

/// Packets and their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Payload received.
    pub bytes_in: u64,
    /// Payload sent.
    pub bytes_out: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
}

/// Why something from a peer was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// A packet that is not a message.
    Malformed,
    /// A packet longer than any message.
    Oversized,
    /// A packet of another epoch.
    StaleEpoch,
    /// A packet that had come before.
    Replayed,
    /// A packet of a peer that has no part in the session.
    UnknownPeer,
    /// A packet beyond the rate that a peer may send.
    OverRate,
    /// A message that has no place in the session's present phase.
    Unexpected,
    /// An acknowledgement of what was never sent.
    ForgedAck,
    /// Turns beyond what may be kept ahead.
    TooFarAhead,
    /// A command that is none.
    BadCommand,
    /// A command beyond what may wait.
    CommandFlood,
    /// A command, join or request in a turn that this peer cannot read.
    BadInput,
    /// A request of the simulation beyond what may wait.
    RequestFlood,
    /// Something said beyond what a player may say.
    ChatFlood,
    /// Evidence that is too long, or not what was announced.
    BadEvidence,
}

/// What was dropped, counted by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drops(BTreeMap<DropReason, u64>);

impl Drops {
    pub(crate) fn add(&mut self, reason: DropReason, n: u64) {
        if n > 0 {
            *self.0.entry(reason).or_default() += n;
        }
    }

    /// How often for a reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0.get(&reason).copied().unwrap_or(0)
    }

    /// How often in all.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Each reason that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        self.0.iter().map(|(reason, n)| (*reason, *n))
    }
}

/// The last comparison of checksums with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncCheck {
    /// The tick compared.
    pub tick: Tick,
    /// Whether both were equal.
    pub equal: bool,
}

/// One player of the session, as this peer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerStats {
    /// Who.
    pub player: PlayerId,
    /// The player's name.
    pub name: String,
    /// Whether it is this peer's own player.
    pub own: bool,
    /// Whether its peer closes ticks.
    pub sequencer: bool,
    /// Figures of the direct exchange, if this peer exchanges packets with that player's.
    pub exchange: Option<Exchange>,
}

/// Figures of the exchange with one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The peer.
    pub peer: PeerId,
    /// The smoothed round-trip time, once measured.
    pub rtt: Option<Duration>,
    /// Packets and payload.
    pub traffic: Traffic,
    /// Checksums compared.
    pub checksums_compared: u64,
    /// Of them, how many differed.
    pub desyncs: u64,
    /// The newest comparison.
    pub last_check: Option<SyncCheck>,
}

/// Figures of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// This peer's player, once it is let in.
    pub player: Option<PlayerId>,
    /// The tick of the world that this peer's player [sees](crate::Session::simulation).
    pub tick: Tick,
    /// The first tick whose turn is not told yet: those before it are final. The same as `tick`,
    /// but where that world is predicted.
    pub settled: Tick,
    /// The first tick whose turn is not known here.
    pub known: Tick,
    /// Each player in the world.
    pub players: Vec<PlayerStats>,
    /// Commands given by this peer's player.
    pub commands_sent: u64,
    /// Of them, how many are not known to have arrived.
    pub commands_pending: usize,
    /// Packets and payload with all peers, past ones included.
    pub traffic: Traffic,
    /// Checksums compared with all peers, past ones included.
    pub checksums_compared: u64,
    /// Of them, how many differed.
    pub desyncs: u64,
    /// What was dropped.
    pub drops: Drops,
    /// What became of predictions, once this peer has [looked
    /// ahead](crate::Session::look_ahead).
    pub ahead: Option<AheadStats>,
    /// What prediction cost, in a rollback session.
    pub rollback: Option<RollbackStats>,
    /// What it is to serve replicas, on a relay.
    pub relay: Option<RelayStats>,
}

impl Stats {
    /// The player whose peer closes ticks, as this peer sees it.
    pub fn sequencer(&self) -> Option<PlayerId> {
        self.players.iter().find(|player| player.sequencer).map(|player| player.player)
    }
}

/// What a relay sends, by level, and what its replicas have. Payload; a packet with frames counts
/// as one of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayStats {
    /// Inputs, and what packets of frames hold beside cells.
    pub turns: LevelStats,
    /// What changed in cells of halos, and cells that were given whole.
    pub halo: LevelStats,
    /// Loads, and the outlines that joiners begin with.
    pub loads: LevelStats,
    /// What lies beyond halos.
    pub distant: LevelStats,
    /// What players said.
    pub chat: LevelStats,
    /// What replicas were loaded so far.
    pub loads_begun: u64,
    /// Replicas' areas that became others.
    pub areas_changed: u64,
    /// Replicas whose frame was too large, so that they were begun anew.
    pub begun_anew: u64,
    /// Cores that were repaired.
    pub repairs: u64,
    /// Replicas in the session.
    pub replicas: u64,
    /// Of them, those whose core is a whole lit region.
    pub replicas_grown: u64,
    /// Cells of all their cores.
    pub core_cells: u64,
    /// Cells that are known to them beside.
    pub halo_cells: u64,
    /// Heroes that came into what a replica knows.
    pub heroes_entered: u64,
    /// Heroes that went out of what a replica knows.
    pub heroes_left: u64,
}

impl RelayStats {
    /// What budgets held back, of all levels, in bytes.
    pub fn cut_bytes(&self) -> u64 {
        [self.turns, self.halo, self.loads, self.distant, self.chat].iter().map(|level| level.cut_bytes).sum()
    }
}

/// What was sent of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelStats {
    /// Payload sent, in bytes.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Pieces that had to wait for the budget, in bytes as if each were a full one; of chat
    /// what was dropped.
    pub cut_bytes: u64,
}

impl LevelStats {
    pub(crate) fn add(&mut self, bytes: usize, packets: u64) {
        self.bytes += bytes as u64;
        self.packets += packets;
    }
}

/// What looking ahead showed, and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AheadStats {
    /// How many ticks the predicted world is ahead of the confirmed one.
    pub ticks: u32,
    /// At how many ticks the own hero as it was shown was compared with what was confirmed later.
    pub compared: u64,
    /// Of them, how many differed.
    pub corrections: u64,
    /// How often another input came than was assumed, so that the predicted world was simulated
    /// again.
    pub rollbacks: u64,
}

/// What prediction cost, in a rollback session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollbackStats {
    /// How often a prediction was wrong and the past was played again.
    pub rollbacks: u64,
    /// Ticks played again.
    pub ticks_replayed: u64,
    /// The most ticks that were played again at once.
    pub deepest_ticks: u32,
    /// Ticks for which the world stood still at the end of the prediction.
    pub stalls: u64,
    /// How often the session went on with fewer players.
    pub regroupings: u32,
}
