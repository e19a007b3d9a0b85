//! The simulation half of Lockstone: a world that comes out the same on every machine.
//!
//! ```text
//! turn ─► World::step ─► checksum ─► snapshot
//! ```
//!
//! Nothing in this crate may depend on anything but its arguments: it is `no_std`, so there is no clock, no
//! thread, no hash map and no file to reach for, and `clippy.toml` bans floats.
//!
//! Reading order: [`simulation`] is the seam to everything above, [`rules`] is what a game writes, [`world`] runs it.
#![no_std]
#![deny(clippy::float_arithmetic)]

extern crate alloc;

pub mod fx;

pub mod angle;
pub mod vec2;

pub mod dice;
pub mod table;

pub mod codec;
pub mod ids;
pub mod path;
pub mod simulation;

pub use angle::Angle;
pub use dice::{Dice, mix64};
pub use fx::Fx;
pub use ids::{Checksum, EntityId, PlayerId, Tick};
pub use simulation::{Input, Simulation, Turn};
pub use table::{Table, TableError};
pub use vec2::Vec2;
