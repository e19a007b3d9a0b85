//! What one peer has to report at the end, for people and programs.

use std::collections::BTreeMap;
use std::time::Duration;

use lockstone_net::session::{
    AheadStats, DelayStats, EndReason, Exchange, RollbackStats, StallStats, Stats, Traffic, TrafficByClass,
    TrafficClass,
};
use lockstone_sim::{CellId, Checksum};
use serde::{Deserialize, Serialize};

use super::effort::Effort;
use crate::Panicked;

/// Others whose exchanges are told of.
const OTHERS_MAX: usize = 64;

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
    /// The same by what it was for.
    #[serde(default)]
    pub traffic: BTreeMap<TrafficClass, Traffic>,
    /// How long commands took to be final.
    #[serde(default)]
    pub delay: PlayedDelay,
    /// The input delay at the end: of whoever closed a party's ticks, or of a rollback session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_delay_ticks: Option<u32>,
    /// When the world stood still although a tick was due.
    #[serde(default)]
    pub stalls: PlayedStalls,
    /// How often the session went on in another epoch.
    #[serde(default)]
    pub takeovers: u32,
    /// How often a world that had become another was put right, here or at another's.
    #[serde(default)]
    pub repairs: u64,
    /// The exchange with each other peer, as it was while that was there, to a second: with the
    /// first 64 of them.
    #[serde(default)]
    pub others: Vec<PlayedExchange>,
    /// Checksums compared with other peers.
    pub checksums_compared: u64,
    /// Of them, how many differed.
    pub desyncs: u64,
    /// Of those, how many were found to be no fault of this peer's world.
    #[serde(default)]
    pub acquitted: u64,
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
    /// The panic that ended it, if one did, and the tick that was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panic: Option<(u32, Panicked)>,
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
    /// Every checksum, if they were asked for. What a branch played that was given up does not
    /// count.
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

/// How long commands took, from when they were given until their turn was final: in ticks of the
/// world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayedDelay {
    /// Commands that came to be final.
    pub commands: u64,
    /// The newest.
    pub last_ticks: u32,
    /// On average.
    pub mean_ticks: f32,
    /// The slowest.
    pub max_ticks: u32,
}

/// When the world stood still although a tick was due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedStalls {
    /// How often.
    pub count: u32,
    /// For how long in all.
    pub time_ms: u64,
    /// The longest.
    pub longest_ms: u64,
}

/// What the exchange with another peer was like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayedExchange {
    /// The number of its player; none if it is a relay without a hero that is near.
    pub player: Option<u16>,
    /// The player's name.
    pub name: String,
    /// The smoothed round-trip time, once it was measured.
    pub rtt_ms: Option<f64>,
    /// The newest.
    pub rtt_last_ms: Option<f64>,
    /// How much round trips differ, smoothed (RTTVAR of RFC 6298).
    pub jitter_ms: Option<f64>,
    /// Packets that should have come of it.
    pub packets_expected: u64,
    /// Of them, how many did not come.
    pub packets_lost: u64,
    /// The part that was lost.
    pub loss_percent: f32,
    /// What travelled, by what it was for.
    pub traffic: BTreeMap<TrafficClass, Traffic>,
}

/// The exchanges with others that a peer tells of, with whom they are.
fn exchanges(stats: &Stats) -> impl Iterator<Item = (Option<u16>, &str, &Exchange)> {
    let players = stats.players.iter();
    let players = players.filter_map(|one| Some((Some(one.player.0), one.name.as_str(), one.exchange.as_ref()?)));
    players.chain(stats.host.iter().map(|exchange| (None, "relay", exchange)))
}

impl From<&Exchange> for PlayedExchange {
    fn from(exchange: &Exchange) -> PlayedExchange {
        let Exchange { round_trip, loss, traffic, .. } = exchange;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        PlayedExchange {
            rtt_ms: round_trip.map(|trip| ms(trip.smoothed)),
            rtt_last_ms: round_trip.map(|trip| ms(trip.last)),
            jitter_ms: round_trip.map(|trip| ms(trip.jitter)),
            packets_expected: loss.expected,
            packets_lost: loss.lost,
            loss_percent: loss.share() * 100.0,
            traffic: by_class(traffic),
            ..PlayedExchange::default()
        }
    }
}

fn by_class(traffic: &TrafficByClass) -> BTreeMap<TrafficClass, Traffic> {
    traffic.iter().collect()
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
    /// Notes the exchanges with those who are there now.
    pub(super) fn note_others(&mut self, stats: &Stats) {
        for (player, name, exchange) in exchanges(stats) {
            let place = self.others.iter().position(|noted| noted.player == player).unwrap_or(self.others.len());
            if place < OTHERS_MAX {
                let other = PlayedExchange { player, name: name.to_owned(), ..exchange.into() };
                self.others.splice(place..self.others.len().min(place + 1), [other]);
            }
        }
    }

    pub(super) fn finish(&mut self, name: String, stats: &Stats, now: Duration, reason: &EndReason) {
        self.name = name;
        self.ticks = stats.settled.0.saturating_sub(self.first_tick);
        let played = self.began.map_or(Duration::ZERO, |began| now.saturating_sub(began));
        self.played_ms = u64::try_from(played.as_millis()).unwrap_or(u64::MAX);
        self.commands_sent = stats.commands_sent;
        (self.bytes_in, self.bytes_out) = (stats.traffic.bytes_in, stats.traffic.bytes_out);
        (self.packets_in, self.packets_out) = (stats.traffic.packets_in, stats.traffic.packets_out);
        self.traffic = by_class(&stats.traffic_by_class);
        let delay: DelayStats = stats.delay;
        self.delay = PlayedDelay {
            commands: delay.commands,
            last_ticks: delay.last_ticks,
            mean_ticks: delay.mean_ticks(),
            max_ticks: delay.max_ticks,
        };
        self.input_delay_ticks = stats.input_delay_ticks;
        let StallStats { count, time, longest } = stats.stalls;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.stalls = PlayedStalls { count, time_ms: ms(time), longest_ms: ms(longest) };
        (self.takeovers, self.repairs) =
            (stats.takeovers, stats.repairs + stats.relay.map_or(0, |relay| relay.repairs));
        self.note_others(stats);
        (self.checksums_compared, self.desyncs) = (stats.checksums_compared, stats.desyncs);
        self.acquitted = stats.acquitted;
        self.dropped = stats.drops.total();
        (self.ahead, self.rollback) = (stats.ahead, stats.rollback);
        self.ended = reason.to_string();
    }
}
