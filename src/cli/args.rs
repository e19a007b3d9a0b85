//! What can be said on the command line.

mod bots;
mod faults;
mod play;
mod reach;
mod recordings;
mod relay;
mod serve;
mod soak;
mod table;

use clap::Parser;

pub(super) use bots::{Carry, Crowd, CrowdSpread, Demo};
pub(super) use faults::{Bots, Chaos, Coverage, Floats, TICKS_MAX};
pub(super) use play::{Keeping, Play, Shared, View};
pub(super) use reach::Ice;
pub(super) use recordings::{Check, CheckCommand, Explain, Replay, Shrink, Telling};
pub(super) use relay::Relay;
pub(super) use serve::{Front, Serve, Signal};
pub(super) use soak::{Soak, SoakKind};
pub(super) use table::{RandomTable, Table};

/// Where a signaling server is looked for, and served, by default.
pub(super) const SIGNAL_PORT: u16 = 3536;

/// A co-op game over WebRTC: every peer runs the same world, equal to the bit.
#[derive(Parser, Debug)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub command: Option<Subcommand>,
    #[command(flatten)]
    pub play: Play,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Subcommand {
    /// Play. With no option at all: a game of your own, with a bot beside you as a second peer
    Play(Box<Play>),
    /// Let bots play as separate processes over real WebRTC, and compare their worlds
    ///
    /// In a party of 10 s or longer the last one comes late.
    Demo(Demo),
    /// Serve signaling, so that peers find each other, and the game's page if it is beside this
    /// program
    Signal(Signal),
    /// Serve the game's page and signaling at one port, so that people play in their browsers
    Serve(Serve),
    /// Be the relay of a large session: simulate the whole world, and send each player what their
    /// hero's surroundings need
    Relay(Box<Relay>),
    /// Play a crowd of bots on one relay in this process, and tell what it costs
    Crowd(Crowd),
    /// Let whole sessions play on virtual time while everything goes wrong that a seed draws, and
    /// see whether all that must hold does
    Soak(Soak),
    /// Play a recording again and verify every checksum
    Replay(Replay),
    /// Tell whether recordings are in step, and if not: who differs, since when, where and why
    Check(Check),
    /// Tell what a bundle shows that a player sent in: who differs, since when, where and why
    Explain(Explain),
    /// Make the smallest recording that still fails as the given one does
    Shrink(Shrink),
    /// Answer a table and a recording on stdin: for `check chaos`.
    #[command(hide = true)]
    Answer,
    /// Send as players of a relay do: for `crowd --process`.
    #[command(hide = true)]
    Carry(Carry),
    /// Make or verify a random table
    #[command(subcommand)]
    Table(Table),
}

impl Subcommand {
    /// Whether it leaves nothing behind and owes nobody a goodbye: Ctrl-C may end it at once.
    pub fn may_break_off(&self) -> bool {
        match self {
            Subcommand::Replay(_) | Subcommand::Explain(_) | Subcommand::Crowd(_) => true,
            Subcommand::Check(args) => args.command.is_none(),
            _ => false,
        }
    }
}

fn number_within(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (low..=high).contains(&number) { Ok(number) } else { Err(format!("{low} to {high} are possible")) }
}
