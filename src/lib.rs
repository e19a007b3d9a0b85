//! Lockstone: a deterministic lockstep, peer-to-peer co-op engine.
//!
//! Reading order: [`game`] is what a game's author writes beside the rules, [`scene`] is what the views draw.

pub mod game;
pub mod scene;

pub mod view;

pub mod recording;
pub mod table;

pub use lockstone_net as net;
pub use lockstone_sim as sim;
pub use table::default_table;
