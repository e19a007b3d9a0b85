//! What is done with recordings: `replay`, `check`, `explain` and `shrink`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::faults::{Chaos, Coverage, Floats};
use super::table::RandomTable;
use crate::check::chaos::Breaker;

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Replay {
    /// The recording; with --view also several peers' of one session, and bundles
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show them, instead of verifying one: any tick, by any hero's eyes, and two recordings side
    /// by side, with the cells marked that differ. Space plays, arrows go a tick, PageUp and
    /// PageDown 10 s, Home and End to the ends, + and - change the speed, Tab looks with another
    /// hero's eyes, R at another recording, B puts one beside it, a click on a cell tells where its
    /// difference came from, Esc closes
    #[arg(long, value_name = "VIEW", conflicts_with = "drawn")]
    pub view: Option<ReplayView>,
    #[command(flatten)]
    pub table: RandomTable,
    /// Draw it as moving pictures into this file, instead of verifying it
    #[arg(long, value_name = "FILE", group = "drawn")]
    pub gif: Option<PathBuf>,
    /// The same in all colours, and a smaller file
    #[arg(long, value_name = "FILE", group = "drawn")]
    pub webp: Option<PathBuf>,
    /// The first tick to draw [default: the recording's first]
    #[arg(long, value_name = "TICK", requires = "drawn")]
    pub from: Option<u32>,
    /// The tick behind the last to draw [default: the recording's last]
    #[arg(long, value_name = "TICK", requires = "drawn")]
    pub to: Option<u32>,
}

/// Where recordings are shown.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum ReplayView {
    /// A window
    Window,
}

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct Check {
    #[command(subcommand)]
    pub command: Option<CheckCommand>,
    /// Recordings: one, or several peers' of one session
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub telling: Telling,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Explain {
    /// A bundle that a peer saved when worlds differed
    #[arg(value_name = "BUNDLE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub telling: Telling,
}

/// How what was found is told.
#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Telling {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the result as a page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the recordings, and all that it takes to look at them and to check them, as one page
    /// for a browser, which needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub table: RandomTable,
}

#[derive(clap::Subcommand, Debug)]
pub(in crate::cli) enum CheckCommand {
    /// Break what a deterministic game must not depend on, and see whether it notices
    Chaos(Chaos),
    /// List every float instruction in a WebAssembly module of the simulation. Exit code 1
    /// if there are any
    Floats(Floats),
    /// Change every field of everything that bots meet, and see whether the checksum changes
    Coverage(Coverage),
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Shrink {
    /// The recording that fails
    pub file: PathBuf,
    /// Where the small one goes; no file is written over [default: FILE with -small in its name]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Look for what this breaker finds, and for nothing else
    #[arg(long, value_name = "NAME")]
    pub breaker: Option<Breaker>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub table: RandomTable,
}
