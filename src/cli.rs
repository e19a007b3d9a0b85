//! The command line: a game's own binary gets all of it with one call.
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     lockstone::cli::run::<MyGame>()
//! }
//! ```
//!
//! Results go to stdout, messages for people to stderr, logs (`LOCKSTONE_LOG=debug`) too. Whatever goes wrong is told in one sentence
//! with its cause and what to do: exit code 2. Exit code 1 says that worlds differed.

mod args;
mod chaos;
mod check;
mod child;
mod config;
mod coverage;
mod demo;
mod failure;
mod files;
mod floats;
mod place;
mod play;
mod replay;
mod shrink;
mod signal;
mod stdout;
mod table;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, FromArgMatches};

use crate::game::Game;
use args::{Args, Subcommand};
use failure::Failure;

/// Set by Ctrl-C, or when the system wants the program to end.
static STOP: AtomicBool = AtomicBool::new(false);

/// Reads the arguments of this process and does what they say.
pub fn run<G: Game>() -> ExitCode {
    let command = Args::command().name(G::NAME).bin_name(G::NAME);
    let args = match Args::from_arg_matches(&command.get_matches()) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    log_when_asked();
    hush_carrier();
    if let Err(error) = ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed)) {
        log::warn!("Ctrl-C will end the program without a goodbye: {error}");
    }
    let done = match args.command.unwrap_or(Subcommand::Play(Box::new(args.play))) {
        Subcommand::Play(args) => play::run::<G>(*args),
        Subcommand::Demo(args) => demo::run::<G>(&args),
        Subcommand::Signal(args) => signal::run(&args),
        Subcommand::Replay(args) => replay::run::<G>(&args),
        Subcommand::Check(args) => check::run::<G>(&args),
        Subcommand::Explain(args) => check::explain::<G>(&args),
        Subcommand::Shrink(args) => shrink::run::<G>(&args),
        Subcommand::Answer => Ok(crate::check::answer::<G>()),
        Subcommand::Table(args) => table::run(&args),
    };
    done.unwrap_or_else(Failure::tell)
}

fn log_when_asked() {
    let filters = std::env::var("LOCKSTONE_LOG").unwrap_or_else(|_| "off".to_owned());
    env_logger::Builder::new().parse_filters(&filters).init();
}

/// A broken handshake panics in the carrier's thread, which costs that connection alone: a matter for the log.
fn hush_carrier() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some(lockstone_net::matchbox::THREAD_NAME) {
            log::warn!("a connection broke: {panic}");
        } else {
            tell(panic);
        }
    }));
}
