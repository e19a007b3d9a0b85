//! The simulation half of Lockstone: a world that comes out the same on every machine.
//!
//! ```text
//! turn ─► World::step ─► checksum ─► snapshot
//! ```
//!
//! Nothing in this crate may depend on anything but its arguments: it is `no_std`, so there is no
//! clock, no thread, no hash map and no file to reach for, and `clippy.toml` bans floats.
//!
//! Reading order: [`simulation`] is the seam to everything above, [`rules`] is what a game writes,
//! [`mind`] is what an entity sees and decides, [`world`] runs it, [`journal`] tells what happened
//! in a tick of it.
//!
//! # A world of one's own
//!
//! Heroes walk where they are told, and warm whoever is within two tiles.
//!
//! ```
//! use lockstone_sim::*;
//! use std::sync::Arc;
//!
//! #[derive(Clone, serde::Serialize, serde::Deserialize)]
//! struct Walker {
//!     goal: Vec2,
//!     warmth: u32,
//! }
//!
//! impl Body for Walker {
//!     fn is_actor(&self) -> bool {
//!         true
//!     }
//! }
//!
//! struct Camp;
//!
//! impl Rules for Camp {
//!     type Body = Walker;
//!     type Effect = u32; // warmth
//!     type Command = Vec2; // "walk there"
//!     type Hero = Vec2; // where the player wants to enter
//!     type Facts = ();
//!     type Fact = ();
//!     type Scratch = ();
//!
//!     fn entrance(&self, _: PlayerId, hero: &Vec2, _: &()) -> Vec2 {
//!         *hero
//!     }
//!     fn enter(&self, _: PlayerId, hero: &Vec2, _: &mut Dice) -> Walker {
//!         Walker { goal: *hero, warmth: 0 }
//!     }
//!     fn command(&self, hero: &mut Walker, goal: &Vec2) {
//!         hero.goal = *goal;
//!     }
//!     fn think(&self, me: &mut Walker, mind: &mut Mind<'_, Self>) {
//!         mind.walk(me.goal);
//!         for other in mind.actors(Fx::int(2)) {
//!             mind.affect(other, 1);
//!         }
//!     }
//!     fn apply(&self, target: &mut Walker, warmth: &u32, _: &mut Cause) -> Fate {
//!         target.warmth += warmth;
//!         Fate::Stay
//!     }
//! }
//!
//! let at = |x, y| Vec2::new(Fx::int(x), Fx::int(y));
//! let grid = Grid::new(GridConfig::default())?;
//! let mut world = World::new(Arc::new(Camp), grid, Table::generate([0; 32]), 42);
//!
//! // The sequencer lets two players in; then one of them walks to the other.
//! let [ann, bob] = [PlayerId(0), PlayerId(1)];
//! let join = |player, place| Input::Join(player, world.admit(player, place));
//! let inputs = vec![join(ann, at(8, 8)), join(bob, at(14, 8))];
//! world.step(&Turn { inputs });
//! let start = world.snapshot();
//! let mut turns = vec![Turn::EMPTY; 6];
//! turns[0].inputs.push(Input::Command(bob, at(9, 8)));
//! let step = |turn| {
//!     world.step(turn);
//!     world.checksum()
//! };
//! let checksums: Vec<Checksum> = turns.iter().map(step).collect();
//! assert_eq!(world.hero(bob).map(|hero| hero.pos), Some(at(9, 8)));
//! assert_eq!(world.hero(ann).map(|hero| hero.body.warmth), Some(1));
//!
//! // The same turns lead to the same checksums, here and on every other machine.
//! world.restore(&start);
//! for (turn, checksum) in turns.iter().zip(checksums) {
//!     world.step(turn);
//!     assert_eq!(world.checksum(), checksum);
//! }
//!
//! // A session puts what the world asks for (a gate that opens, a portal) into a turn. Here nobody
//! // else does.
//! let inputs = world.requests().iter().cloned().map(Input::Request).collect();
//! world.step(&Turn { inputs });
//! # Ok::<(), grid::GridError>(())
//! ```
#![no_std]
#![deny(clippy::float_arithmetic)]

extern crate alloc;

pub mod simulation;

pub mod entity;
pub mod mind;
mod near;
pub mod rules;
mod thoughts;
pub mod world;

pub mod journal;

pub mod grid;
pub mod presence;
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
pub use journal::Journal;
pub use mind::Mind;
pub use near::{Near, Seen};
pub use presence::{Presence, PresenceEvent};
pub use rules::{Cause, Fate, Rules};
pub use simulation::{Encoder, Input, Nothing, Simulation, Turn};
pub use table::{Table, TableError};
pub use vec2::Vec2;
#[cfg(feature = "tamper")]
pub use world::tamper;
pub use world::{Area, Extent, World};
