//! `soak`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::number_within;
use crate::cli::soak::{Peers, Seeds};
use crate::soak::{FaultKind, Kind};

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Soak {
    /// Which kind of session
    #[arg(long, value_name = "KIND", value_enum, default_value_t = SoakKind::All)]
    pub kind: SoakKind,
    /// The seeds to play, B left out [default: 60 fresh ones]
    #[arg(long, value_name = "A..B")]
    pub seeds: Option<Seeds>,
    /// How many peers are there at the start, as far as a session has places [default: 2..8]
    #[arg(long, value_name = "LO..HI")]
    pub peers: Option<Peers>,
    /// How long things go wrong. Fair weather follows
    #[arg(long, value_name = "M", default_value_t = Soak::MINUTES, value_parser = |text: &str| number_within(text, 0.1, 1_440.0))]
    pub minutes: f64,
    /// What goes wrong, separated by commas [default: everything]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub faults: Vec<FaultKind>,
    /// How many runs play at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Make the schedule of each run that fails small, and write it into a file
    #[arg(long)]
    pub shrink: bool,
    /// Tell line by line what happened in each run that fails
    #[arg(long)]
    pub tell: bool,
    /// Schedules to play, instead of those of seeds
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["kind", "seeds", "peers", "minutes", "faults"])]
    pub play: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

impl Soak {
    /// How long things go wrong, unless it is said otherwise.
    pub const MINUTES: f64 = 2.0;
}

/// Which kinds of session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum SoakKind {
    /// All that the game has, in turn.
    All,
    One(Kind),
}

impl ValueEnum for SoakKind {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [SoakKind; 4] =
            [SoakKind::One(Kind::Party), SoakKind::One(Kind::Rollback), SoakKind::One(Kind::Relay), SoakKind::All];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            SoakKind::One(kind) => PossibleValue::new(kind.name()),
            SoakKind::All => PossibleValue::new("all"),
        })
    }
}

impl ValueEnum for FaultKind {
    fn value_variants<'a>() -> &'a [Self] {
        &FaultKind::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.does()))
    }
}
