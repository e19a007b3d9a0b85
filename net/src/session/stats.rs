//! Figures of a running session, for screens, tables and tests.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Tick};
use serde::{Deserialize, Serialize};

use super::traffic::{Traffic, TrafficByClass};
use crate::link::PeerId;
use crate::wire::{Branch, Epoch, PublicKey};

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
    /// A repair that does not come to the state that was promised.
    BadRepair,
    /// A vote that its voter's key did not sign, or of a member that voted for two.
    BadVote,
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
    /// This peer's own key; of another that of the peer at the other end of that exchange's
    /// connection, once it has proven to be there: nobody is between the two who could read what
    /// they say, or change it.
    pub key: Option<PublicKey>,
}

/// Figures of the exchange with one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The peer.
    pub peer: PeerId,
    /// Round trips, once one was measured.
    pub round_trip: Option<RoundTrip>,
    /// What was lost of what the peer sent.
    pub loss: Loss,
    /// Packets and payload, by what they were for.
    pub traffic: TrafficByClass,
    /// Checksums compared.
    pub checksums_compared: u64,
    /// Of them, how many differed.
    pub desyncs: u64,
    /// The newest comparison.
    pub last_check: Option<SyncCheck>,
}

impl Exchange {
    /// The smoothed round-trip time, once measured.
    pub fn rtt(&self) -> Option<Duration> {
        self.round_trip.map(|round_trip| round_trip.smoothed)
    }
}

/// Round trips to a peer, as the echoes in its packets tell them: the time that it held a packet
/// back is left out. It could tell more than it took, but no less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    /// The newest.
    pub last: Duration,
    /// Smoothed: SRTT of RFC 6298.
    pub smoothed: Duration,
    /// By how much they differ from that, smoothed: RTTVAR of RFC 6298.
    pub jitter: Duration,
}

/// What was lost on the way from a peer, as gaps in the numbers of its packets tell it. What is
/// overtaken counts as lost until it comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Packets that should have come.
    pub expected: u64,
    /// Of them, how many have not.
    pub lost: u64,
    /// The same of the newest 128.
    pub recent_expected: u32,
    /// Of them, how many have not come.
    pub recent_lost: u32,
}

impl Loss {
    /// The part of all packets that was lost: 0 to 1.
    pub fn share(&self) -> f32 {
        self.lost as f32 / self.expected.max(1) as f32
    }

    /// The part of the newest packets that was lost: 0 to 1.
    pub fn recent_share(&self) -> f32 {
        self.recent_lost as f32 / self.recent_expected.max(1) as f32
    }
}

/// How many ticks the world went on from when a command of this peer's player was given until a
/// turn with it was told, and so final. What is predicted may have shown it before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelayStats {
    /// Commands that came to be final.
    pub commands: u64,
    /// How long the newest took, in ticks.
    pub last_ticks: u32,
    /// How long the slowest took, in ticks.
    pub max_ticks: u32,
    /// How long all took together, in ticks.
    pub sum_ticks: u64,
}

impl DelayStats {
    /// How long a command takes on average, in ticks.
    pub fn mean_ticks(&self) -> f32 {
        self.sum_ticks as f32 / self.commands.max(1) as f32
    }

    pub(crate) fn add(&mut self, ticks: u32) {
        self.commands += 1;
        self.last_ticks = ticks;
        self.max_ticks = self.max_ticks.max(ticks);
        self.sum_ticks += u64::from(ticks);
    }
}

/// When the world stood still here although a tick was due: its turn was not known, or could not be
/// predicted or closed. What lasts no longer than a tick does not count, nor does time in which
/// this peer itself was not driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallStats {
    /// How often.
    pub count: u32,
    /// For how long in all, a stall of now included.
    pub time: Duration,
    /// The longest.
    pub longest: Duration,
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
    /// The epoch in which the session is, as far as it is known.
    pub epoch: Epoch,
    /// Which history a party plays: another one since it went on as a branch.
    pub branch: Branch,
    /// How often it went on in another epoch since this peer is here: as another led, or fewer
    /// players were left.
    pub takeovers: u32,
    /// Each player in the world.
    pub players: Vec<PlayerStats>,
    /// The exchange with the relay that this peer follows, if it is none of these players: it has
    /// no hero, or that is far away.
    pub host: Option<Exchange>,
    /// Players of a party who are away, and may come back, with the names that are known here.
    pub away: Vec<(PlayerId, Option<String>)>,
    /// Commands given by this peer's player.
    pub commands_sent: u64,
    /// Of them, how many are not known to have arrived.
    pub commands_pending: usize,
    /// How long commands take.
    pub delay: DelayStats,
    /// How many ticks ahead of its own time this peer closes, if it is a party's sequencer; in a
    /// rollback session how much later its player's commands play.
    pub input_delay_ticks: Option<u32>,
    /// How often the world stood still.
    pub stalls: StallStats,
    /// Packets and payload with all peers, past ones included.
    pub traffic: Traffic,
    /// The same by what they were for.
    pub traffic_by_class: TrafficByClass,
    /// Checksums compared with all peers, past ones included.
    pub checksums_compared: u64,
    /// Of them, how many differed; and how often a sequencer signed other turns than it told.
    pub desyncs: u64,
    /// Of those, how many were no fault of this peer's world: most players had the same, or a
    /// replay came to it. Known to who leads a session, to a party's members once another leads
    /// whose world theirs agrees with, and in rollback sessions.
    pub acquitted: u64,
    /// Worlds that a party's sequencer put right, or how often this peer's own was.
    pub repairs: u64,
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
