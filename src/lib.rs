//! Lockstone: a deterministic lockstep, peer-to-peer co-op engine.
//!
//! Reading order: [`game`] is what a game's author writes beside the rules, [`scene`] is what the
//! views draw, [`sound`] what is heard, `check` is what a game's own tests call. What needs crates
//! of its own is behind a feature: `Cargo.toml` lists them.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod character;
pub mod game;
pub mod inspect;
pub mod scene;
pub mod sound;

#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod cli;
#[cfg(not(target_arch = "wasm32"))]
pub mod crowd;
mod output;
mod panics;
pub mod shell;
pub mod view;

#[cfg(feature = "checker")]
pub mod check;
pub mod recording;
#[cfg(all(feature = "checker", not(target_arch = "wasm32")))]
pub mod soak;
pub mod table;
#[cfg(feature = "checker")]
pub mod viewer;

/// The command line of a game that was built for wasm32: it answers the desync checker, and nothing
/// else. So a game's `main` is the same everywhere.
#[cfg(all(feature = "cli", target_arch = "wasm32"))]
pub mod cli {
    use std::process::ExitCode;

    use crate::check::answer;
    use crate::game::{Game, Wide};

    /// Plays a recording from stdin, and tells the checksum of every tick.
    pub fn run<G: Game>() -> ExitCode {
        answer::<G>()
    }

    /// The same for a game whose world can be relayed in parts.
    pub fn run_wide<G: Wide>() -> ExitCode {
        answer::<G>()
    }
}

pub use lockstone_net as net;
pub use lockstone_sim as sim;
pub use panics::Panicked;
pub use table::default_table;

/// The README's example compiles and runs.
#[cfg(all(doctest, feature = "checker"))]
#[doc = include_str!("../README.md")]
struct Readme;
