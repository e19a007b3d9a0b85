//! What the command line offers for games whose world can be relayed in parts, and how it is found:
//! a game without such a world has the same commands, and they say so.

use std::process::ExitCode;

use super::failure::Failure;
use super::{args, crowd, demo, relay};
use crate::game::Wide;

/// The commands of a game of this kind.
#[derive(Clone, Copy)]
pub(super) struct WideCommands {
    pub crowd: fn(&args::Crowd) -> Result<ExitCode, Failure>,
    pub relay: fn(args::Relay) -> Result<ExitCode, Failure>,
    /// `play --relay`.
    pub join: fn(args::Play) -> Result<ExitCode, Failure>,
    /// `demo --relay`.
    pub demo: fn(&args::Demo) -> Result<ExitCode, Failure>,
}

impl WideCommands {
    /// Those of a game.
    pub fn of<G: Wide>() -> WideCommands {
        WideCommands {
            crowd: crowd::run::<G>,
            relay: relay::run::<G>,
            join: relay::join::<G>,
            demo: demo::relayed::run::<G>,
        }
    }

    /// Of a game that may have none.
    pub fn there(commands: Option<WideCommands>) -> Result<WideCommands, Failure> {
        commands.ok_or_else(|| Failure::new("this game's world cannot be relayed in parts: play it in parties"))
    }
}
