//! What one peer has to report at the end, for people and programs.

use std::time::Duration;

use lockstone_net::session::{AheadStats, EndReason, RollbackStats, Stats};
use lockstone_sim::{CellId, Checksum};
use serde::{Deserialize, Serialize};

use super::effort::Effort;

/// What one peer played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The player's number in the session.
    pub player: Option<u16>,
    /// The player's name.
    pub name: String,
    /// The tick of the first turn.
    pub first_tick: u32,
    /// Turns played.
    pub ticks: u32,
    /// From the first turn with an input to the end.
    pub played_ms: u64,
    /// Commands of this peer's player.
    pub commands_sent: u64,
    /// Payload received.
    pub bytes_in: u64,
    /// Payload sent.
    pub bytes_out: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
    /// Checksums compared with other peers.
    pub checksums_compared: u64,
    /// Of them, how many differed.
    pub desyncs: u64,
    /// Packets and messages that were dropped.
    pub dropped: u64,
    /// How far it was looked ahead, and what became of that, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<AheadStats>,
    /// How often the past was corrected, in a rollback session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackStats>,
    /// Why the session ended.
    pub ended: String,
    /// Where the recording is, if it was saved.
    pub recording: Option<String>,
    /// Why the recording stopped before the session's end, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording_error: Option<String>,
    /// Where all peers' recordings of a difference are, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Differences that were only counted, because enough of them are saved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_over: u64,
    /// Every checksum, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checksums: Vec<PlayedCheck>,
    /// The checksums of the world's parts, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PlayedParts>,
    /// What the ticks cost.
    #[serde(default)]
    pub work: Effort,
    /// When the game began: with the first turn, in which a hero enters.
    #[serde(skip)]
    pub(super) began: Option<Duration>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The checksum of a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedCheck {
    /// The tick before whose turn it was taken.
    pub tick: u32,
    /// The whole world's, in hex.
    pub checksum: String,
}

/// The checksums of the world's parts that this peer has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedParts {
    /// The tick before whose turn they were taken.
    pub tick: u32,
    /// Each cell's.
    pub cells: Vec<(CellId, Checksum)>,
}

impl Report {
    pub(super) fn finish(&mut self, name: String, stats: &Stats, now: Duration, reason: &EndReason) {
        self.name = name;
        self.ticks = stats.settled.0.saturating_sub(self.first_tick);
        let played = self.began.map_or(Duration::ZERO, |began| now.saturating_sub(began));
        self.played_ms = u64::try_from(played.as_millis()).unwrap_or(u64::MAX);
        self.commands_sent = stats.commands_sent;
        (self.bytes_in, self.bytes_out) = (stats.traffic.bytes_in, stats.traffic.bytes_out);
        (self.packets_in, self.packets_out) = (stats.traffic.packets_in, stats.traffic.packets_out);
        (self.checksums_compared, self.desyncs) = (stats.checksums_compared, stats.desyncs);
        self.dropped = stats.drops.total();
        (self.ahead, self.rollback) = (stats.ahead, stats.rollback);
        self.ended = reason.to_string();
    }
}
