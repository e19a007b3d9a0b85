//! Commands in which bots play together: `demo` and `crowd`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::number_within;
use super::play::Shared;

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Demo {
    /// How many peers: at most 16, with --relay 64 beside the relay
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub peers: u16,
    /// A relay and so many replicas, instead of a party
    #[arg(long)]
    pub relay: bool,
    /// How long they play
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    #[command(flatten)]
    pub shared: Shared,
    /// The seed of the world [default: drawn]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Let the last peer build another world than the session's, to see that it is found out.
    #[arg(long, hide = true)]
    pub plant_fault: bool,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Carry {
    #[arg(long)]
    pub signal: String,
    #[arg(long)]
    pub players: u16,
    #[arg(long)]
    pub packets_per_s: f64,
    /// Of each packet.
    #[arg(long)]
    pub bytes: usize,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Crowd {
    /// How many players
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub players: u16,
    /// How long they play
    #[arg(long, value_name = "M", default_value_t = 1.0, value_parser = |text: &str| number_within(text, 0.01, 1_440.0))]
    pub minutes: f64,
    /// Where they are
    #[arg(long, value_enum, default_value_t = CrowdSpread::Parties)]
    pub spread: CrowdSpread,
    /// Compare every replica's core with the whole world at every tick. Exit code 1 if one differs
    #[arg(long)]
    pub verify: bool,
    /// Play the relay once more as a process of its own, as long as they play, and tell its
    /// cost as `relay` does
    #[arg(long)]
    pub process: bool,
    /// Of 100 packets, how many are lost
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = |text: &str| number_within(text, 0.0, 90.0))]
    pub loss: f64,
    /// What a replica is sent at most as far as it can wait, in bytes a second [default: 1000000]
    #[arg(long, value_name = "BYTES_PER_S")]
    pub budget: Option<u32>,
    /// The seed of world and network [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Play for an eighth, a quarter and half of the players too, and draw the cost
    /// against their number
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Give replicas so many rings of halo fewer than they need, to see that it is found out.
    #[arg(long, hide = true, default_value_t = 0)]
    pub halo_rings_less: u16,
}

/// How a crowd is spread, and over which world.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum CrowdSpread {
    /// Each alone, 100 on 1,000 x 1,000 tiles
    Uniform,
    /// In parties of four, as many
    Parties,
    /// In the game's own world, as `relay` serves it
    Own,
    /// All on one field of 256 x 256 tiles, with what the game puts there
    Hotspot,
}
