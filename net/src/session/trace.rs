//! What happens in a session, as `tracing` events of the target `lockstone::session`: for logs, not
//! for programs, which have [`Event`] and [`Stats`].
//!
//! Each event says who tells it (`me`), the tick of its world and the epoch. Nobody needs to
//! listen.

use core::time::Duration;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::stats::{Exchange, PlayerStats, Stats};
use super::{EndReason, Event};
use crate::link::LinkEvent;
use crate::wire::Epoch;

/// Who tells something, and where in the session.
#[derive(Clone, Copy, Debug, Default)]
pub struct At {
    pub me: Option<PlayerId>,
    pub tick: Tick,
    pub epoch: Epoch,
}

macro_rules! tell {
    ($level:ident, $at:expr, $($field:tt)+) => {
        tracing::$level!(
            target: "lockstone::session",
            me = $at.me.map(|player| player.0), tick = $at.tick.0, epoch = $at.epoch.0, $($field)+
        )
    };
}

/// What the application is told too.
pub fn event<S: Simulation>(at: At, event: &Event<S>) {
    match event {
        Event::Started { seed, .. } => tell!(info, at, seed, "started"),
        Event::PlayerJoined { player, name } => tell!(info, at, player = player.0, name, "joined"),
        Event::PlayerNear { player, name } => tell!(debug, at, player = player.0, name, "near"),
        Event::PlayerAway { player, reason } => tell!(warn, at, player = player.0, %reason, "away"),
        Event::PlayerBack { player, name } => tell!(info, at, player = player.0, name, "back"),
        Event::PlayerLeft { player, reason } => tell!(info, at, player = player.0, %reason, "left"),
        Event::HoldsUp { player } => tell!(warn, at, player = player.0, "holds up"),
        Event::Minority { reached, members, may_branch } => {
            tell!(warn, at, reached, members, may_branch, "minority")
        }
        Event::Branch { branch, leader: Some(leader) } => tell!(warn, at, %branch, leader = leader.0, "branch"),
        Event::Yielded => tell!(warn, at, "yielded"),
        Event::Refused { peer, name, refusal } => tell!(info, at, %peer, name, %refusal, "refused"),
        Event::Desync { player, agreed, tick, .. } => {
            let agreed = agreed.map(|agreed| agreed.0);
            tell!(error, at, player = player.0, differs_at = tick.0, agreed, "desync");
        }
        Event::Repaired { player, cells, is_proven, .. } => {
            tell!(warn, at, player = player.0, cells, is_proven, "repair")
        }
        Event::VoteOut { by, player, votes, .. } => {
            tell!(info, at, by = by.0, player = player.0, votes, "vote out");
        }
        Event::Distrusted { player, is_proven } => {
            tell!(warn, at, player = player.0, is_proven, "distrusted");
        }
        Event::Liar { player } => tell!(warn, at, player = player.0, "liar"),
        Event::EvidenceComplete { missing } => tell!(info, at, missing = missing.len(), "evidence complete"),
        Event::Ended { reason: reason @ EndReason::Left, .. } => tell!(info, at, %reason, "ended"),
        Event::Ended { reason, .. } => tell!(warn, at, %reason, "ended"),
        _ => {}
    }
}

/// What the link tells of signaling.
pub fn link(at: At, event: &LinkEvent) {
    match event {
        LinkEvent::SignalingLost(error) => tell!(warn, at, %error, "signaling lost"),
        LinkEvent::SignalingBack => tell!(info, at, "signaling back"),
        _ => {}
    }
}

/// Another leads, or those who are left go on.
pub fn taken_over(at: At, leader: PlayerId) {
    tell!(warn, at, leader = leader.0, "takeover");
}

/// The world stands still.
pub fn stalls(at: At) {
    tell!(warn, at, "stall");
}

/// It goes on.
pub fn stalled(at: At, stall: Duration) {
    tell!(info, at, stalled_ms = stall.as_millis() as u64, "stall over");
}

/// The core of a relay's replica was repaired.
pub fn repaired(at: At, player: PlayerId, cells: usize) {
    tell!(warn, at, player = player.0, cells, "repair");
}

/// All figures: of the session, and of the exchange with each peer.
pub fn figures(at: At, stats: &Stats) {
    let (delay, stalls, traffic) = (stats.delay, stats.stalls, stats.traffic);
    tell!(
        debug,
        at,
        delay_ticks = delay.mean_ticks(),
        stalls = stalls.count,
        stalled_ms = stalls.time.as_millis() as u64,
        takeovers = stats.takeovers,
        repairs = stats.repairs,
        bytes_in = traffic.bytes_in,
        bytes_out = traffic.bytes_out,
        dropped = stats.drops.total(),
        "figures"
    );
    for PlayerStats { player, exchange, .. } in &stats.players {
        let Some(Exchange { round_trip, loss, traffic, .. }) = exchange else { continue };
        let (trip, traffic) = (round_trip.unwrap_or_default(), traffic.total());
        tell!(
            debug,
            at,
            player = player.0,
            rtt_ms = trip.smoothed.as_secs_f32() * 1e3,
            jitter_ms = trip.jitter.as_secs_f32() * 1e3,
            loss = loss.recent_share(),
            bytes_in = traffic.bytes_in,
            bytes_out = traffic.bytes_out,
            "exchange"
        );
    }
}
