//! The simulation half of Lockstone: a world that comes out the same on every machine.
//!
//! ```text
//! turn ─► World::step ─► checksum ─► snapshot
//! ```
//!
//! Nothing in this crate may depend on anything but its arguments: it is `no_std`, so there is no clock, no
//! thread, no hash map and no file to reach for, and `clippy.toml` bans floats.
//!
//! Reading order: [`simulation`] is the seam to everything above, [`rules`] is what a game writes, [`mind`] is what an
//! entity sees and decides, [`world`] runs it.
#![no_std]
#![deny(clippy::float_arithmetic)]

extern crate alloc;

pub mod simulation;

pub mod entity;
pub mod mind;
mod near;
pub mod rules;
pub mod world;

pub mod grid;
mod store;

pub mod path;

pub mod dice;
pub mod table;

pub mod angle;
pub mod fx;
pub mod vec2;

pub mod codec;
pub mod ids;

pub use angle::Angle;
pub use dice::{Dice, mix64};
pub use entity::{Body, Entity};
pub use fx::Fx;
pub use grid::{CellId, CellRect, Grid, GridConfig};
pub use ids::{Checksum, EntityId, PlayerId, Tick};
pub use mind::Mind;
pub use near::{Near, Seen};
pub use rules::{Cause, Fate, Rules};
pub use simulation::{Input, Simulation, Turn};
pub use table::{Table, TableError};
pub use vec2::Vec2;
pub use world::{Area, World};
