//! A co-op dungeon on Lockstone: caves and halls, three heroes, four kinds of monsters, loot.
//!
//! ```text
//! Command ─► hero ─► effects ─► monsters, loot, chests
//!            (rules.rs says who thinks and what reaches whom)
//! ```
//!
//! The rules hold no float, no hash map, no clock and no thread: `clippy.toml` bans them. Only
//! [`scene`] and [`ear`] may turn positions into floats, and nothing comes back from there.
//!
//! Reading order: [`measures`], [`map`], [`body`], [`rules`], then what each being does.

pub mod measures;

pub mod map;
pub mod populate;

pub mod body;
pub mod command;
pub mod facts;
pub mod rules;
pub mod walk;
mod way;

pub mod hero;
pub mod loot;
pub mod monsters;
pub mod projectile;

pub mod bot;
pub mod ear;
pub mod game;
pub mod horizon;
pub mod input;
pub mod scene;

pub use body::Body;
pub use bot::DungeonBot;
pub use command::Command;
pub use game::DungeonGame;
pub use rules::Dungeon;
