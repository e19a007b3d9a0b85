//! Lockstone: a deterministic lockstep, peer-to-peer co-op engine.
//!
//! Reading order: [`game`] is what a game's author writes beside the rules, [`scene`] is what the views draw, [`check`] is what a game's
//! own tests call.

pub mod game;
pub mod scene;

#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
#[cfg(target_arch = "wasm32")]
#[path = "cli/wasm.rs"]
pub mod cli;
#[cfg(not(target_arch = "wasm32"))]
pub mod crowd;
#[cfg(not(target_arch = "wasm32"))]
pub mod shell;
pub mod view;

pub mod check;
pub mod recording;
pub mod table;

pub use lockstone_net as net;
pub use lockstone_sim as sim;
pub use table::default_table;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
