//! The command line: a game's own binary gets all of it with one call.
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     lockstone::cli::run::<MyGame>()
//! }
//! ```
//!
//! Results go to stdout, messages for people to stderr, logs (`LOCKSTONE_LOG=debug`) too. Whatever
//! goes wrong is told in one sentence with its cause and what to do: exit code 2. Exit code 1 says
//! that worlds differed.

#[cfg(feature = "picture")]
mod animation;
mod args;
mod carry;
mod chaos;
mod check;
mod child;
mod config;
mod continuing;
mod coverage;
mod crowd;
mod demo;
mod failure;
mod files;
mod floats;
mod identity;
mod kept;
mod link;
#[cfg(feature = "window")]
mod looking;
mod numbers;
mod place;
mod play;
mod player;
mod progress;
mod relay;
mod replay;
mod sealed;
mod shrink;
mod signal;
mod sitting;
mod soak;
mod table;

use std::io::Write;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, FromArgMatches};
use lockstone_net::text::escaped;
use serde::Serialize;

use crate::game::{Game, Wide};
use crate::output;
use args::{Args, Subcommand};
use failure::Failure;

/// Set by Ctrl-C, or when the system wants the program to end.
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether what takes long is to go on.
fn goes_on() -> ControlFlow<()> {
    if STOP.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// A failure if it was not to go on: what it found so far is not all, and not told.
fn stopped(what: &str) -> Result<(), Failure> {
    if goes_on().is_break() { Err(Failure::new(format!("{what} was stopped"))) } else { Ok(()) }
}

/// Prints a result for programs.
fn print_json(result: &(impl Serialize + ?Sized)) -> Result<(), Failure> {
    output::print(serde_json::to_string_pretty(result).map_err(Failure::new)?);
    Ok(())
}

/// Reads the arguments of this process and does what they say.
pub fn run<G: Game>() -> ExitCode {
    run_with::<G>(run_any::<G>)
}

/// The same for a game whose world can be relayed in parts, with the commands for large sessions.
pub fn run_wide<G: Wide>() -> ExitCode {
    run_with::<G>(run_relayed::<G>)
}

fn run_with<G: Game>(run: fn(Subcommand) -> Result<ExitCode, Failure>) -> ExitCode {
    let args = match Args::from_arg_matches(&command::<G>().get_matches()) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    log_when_asked();
    hush_carrier();
    let command = args.command.unwrap_or(Subcommand::Play(Box::new(args.play)));
    if !command.may_break_off()
        && let Err(error) = ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed))
    {
        tracing::warn!("Ctrl-C will end the program without a goodbye: {error}");
    }
    let done = run(command);
    let code = done.unwrap_or_else(Failure::tell);
    if output::is_whole() { code } else { ExitCode::from(failure::BAD_INPUT) }
}

/// The command line in the game's own words.
fn command<G: Game>() -> clap::Command {
    let heroes = format!("one of {}", G::HEROES.join(", "));
    let listed = |arg: clap::Arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        arg.help(format!("{help}: {heroes}"))
    };
    let lists = |command: clap::Command| command.mut_arg("hero", listed);
    let command = Args::command().name(G::NAME).bin_name(G::NAME).about(G::ABOUT).version(G::VERSION);
    lists(command).mut_subcommand("play", lists).mut_subcommand("relay", lists)
}

/// The commands for large sessions, and all others.
fn run_relayed<G: Wide>(command: Subcommand) -> Result<ExitCode, Failure> {
    match command {
        Subcommand::Play(args) if args.relay => relay::join::<G>(*args),
        Subcommand::Demo(args) if args.relay => demo::relayed::run::<G>(&args),
        Subcommand::Relay(args) => relay::run::<G>(*args),
        Subcommand::Crowd(args) => crowd::run::<G>(&args),
        Subcommand::Soak(args) => soak::run_wide::<G>(&args),
        other => run_any::<G>(other),
    }
}

/// The commands of any game. One whose world cannot be relayed has the others too, and they say so.
fn run_any<G: Game>(command: Subcommand) -> Result<ExitCode, Failure> {
    match command {
        Subcommand::Play(args) if !args.relay => play::run::<G>(*args),
        Subcommand::Demo(args) if !args.relay => demo::run::<G>(&args),
        Subcommand::Play(_) | Subcommand::Demo(_) | Subcommand::Relay(_) | Subcommand::Crowd(_) => {
            Err(Failure::new("this game's world cannot be relayed in parts: play it in parties"))
        }
        Subcommand::Signal(args) => signal::run(&args, link::page::<G>()),
        Subcommand::Serve(args) => {
            let page = link::page_in::<G>(&args.page.unwrap_or_else(link::folder))?;
            signal::run(&args.signal, Some(page))
        }
        Subcommand::Soak(args) => soak::run::<G>(&args),
        Subcommand::Replay(args) => replay::run::<G>(&args),
        Subcommand::Check(args) => check::run::<G>(&args),
        Subcommand::Explain(args) => check::explain::<G>(&args),
        Subcommand::Shrink(args) => shrink::run::<G>(&args),
        Subcommand::Carry(args) => Ok(carry::run(&args)),
        Subcommand::Answer => Ok(crate::check::answer::<G>()),
        Subcommand::Table(command) => table::run(&command),
    }
}

fn log_when_asked() {
    let filters = std::env::var("LOCKSTONE_LOG").unwrap_or_else(|_| "off".to_owned());
    let mut builder = env_logger::Builder::new();
    builder.format(|out, told| writeln!(out, "[{:5} {}] {}", told.level(), told.target(), escaped(told.args())));
    builder.parse_filters(&filters).init();
}

/// A broken handshake panics in the carrier's thread, which costs that connection alone: a
/// matter for the log.
fn hush_carrier() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some(lockstone_net::matchbox::THREAD_NAME) {
            tracing::warn!("a connection broke: {panic}");
        } else {
            tell(panic);
        }
    }));
}
