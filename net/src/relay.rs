//! A relay session: one peer closes ticks and simulates the whole world; every other simulates what
//! its hero's surroundings need.
//!
//! ```text
//! relay    commands ─► turn ─► step the whole world ─► a frame for each replica: the inputs
//!          that reach its core, what changed in its halo, now and then another area
//! replica  frame ─► turn with what is given ─► step the core ─► report, at the replica's own
//!          ticks with the core's checksum
//! ```
//!
//! Every core cell stays equal to the relay's, to the bit: the halo holds all that can reach it
//! within a tick. Nothing about a cell that is in neither core nor halo is sent to a replica, but
//! facts, which everyone has.
//!
//! Both ends are [`Session`](crate::Session)s with the loop of all sessions: [`Relay`] and
//! [`Replica`]. A replica begins with the world's outline, that has no cell; whatever it knows it
//! was given by turns, so that its recording holds all of it. How areas move is told in
//! `host/loads.rs`.

mod areas;
mod config;
mod dead_reckoning;
mod horizon;
mod host;
mod kind;
mod part;
mod standby;

pub use crate::session::{Companion, DistantView, Landmark};
pub use config::{RelayConfig, RelaySettings};
pub use horizon::{Horizon, Route, Walk};

use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Tick, World};

use kind::End;

/// The peer that closes ticks, simulates all, and gives each replica what it needs. It may have a
/// hero of its own.
pub type Relay<R> = crate::session::Peer<World<R>, End<R, true>>;

/// A peer whose world is a part of the relay's. A relay session's carrier connects it
/// with nobody else.
pub type Replica<R> = crate::session::Peer<World<R>, End<R, false>>;

/// Whether a replica's core is compared before the turn of a tick. Each has its own ticks, so that
/// the relay's work is even.
fn checks_at(tick: Tick, player: PlayerId, interval_ticks: u32) -> bool {
    tick.0 % interval_ticks == u32::from(player.0) % interval_ticks
}

/// Adds to what is kept of the newest ticks.
fn keep<T>(kept: &mut BTreeMap<Tick, T>, tick: Tick, value: T, max: usize) {
    kept.insert(tick, value);
    if kept.len() > max {
        kept.pop_first();
    }
}
