//! What is looked for in a game before anyone plays it: `check chaos`, `floats` and `coverage`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::table::RandomTable;
use crate::check::chaos::{ANSWER_TIME, Breaker};

/// So many ticks bots play at most, and chaos plays a recording: again for each breaker.
pub(in crate::cli) const TICKS_MAX: u32 = 1_000_000;

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Chaos {
    /// A recording to play, instead of bots
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ticks", "heroes", "seed"])]
    pub play: Option<PathBuf>,
    #[command(flatten)]
    pub bots: Bots,
    /// Only this breaker. Can be given several times
    #[arg(long, value_name = "NAME", value_enum)]
    pub only: Vec<Breaker>,
    /// This program's other build, debug or release [default: where cargo puts it]
    #[arg(long, value_name = "FILE")]
    pub other: Option<PathBuf>,
    /// This program as a wasm32-wasip1 module [default: where cargo puts it]
    #[arg(long, value_name = "FILE")]
    pub wasm: Option<PathBuf>,
    #[command(flatten)]
    pub table: RandomTable,
    /// How long another process may take to answer, and then for each tick, before it is ended
    #[arg(long, value_name = "N", default_value_t = ANSWER_TIME.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub answer_seconds: u64,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Floats {
    /// The module: a release build for wasm32-wasip1 of a program in which the game plays by itself
    /// and draws nothing
    pub wasm: PathBuf,
    /// Functions whose names begin so may have floats. Can be given several times
    #[arg(long, value_name = "BEGINNING")]
    pub allow: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Coverage {
    #[command(flatten)]
    pub bots: Bots,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: RandomTable,
}

/// What plays, so that something is found.
#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Bots {
    /// How many ticks bots play
    #[arg(long, value_name = "N", default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..=TICKS_MAX.into()))]
    pub ticks: u32,
    /// How many bots play
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub heroes: u16,
    /// The seed of the world
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl ValueEnum for Breaker {
    fn value_variants<'a>() -> &'a [Self] {
        &Breaker::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.does()))
    }
}
