//! The command line of a game that was built for wasm32: it answers the desync checker, and nothing else. So a game's `main` is the same
//! everywhere.

use std::process::ExitCode;

use crate::game::{Game, Wide};

/// Plays a recording from stdin, and tells the checksum of every tick.
pub fn run<G: Game>() -> ExitCode {
    crate::check::answer::<G>()
}

/// The same for a game whose world can be relayed in parts.
pub fn run_wide<G: Wide>() -> ExitCode {
    run::<G>()
}
