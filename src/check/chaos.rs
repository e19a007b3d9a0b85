//! Chaos on one machine: breaks, one by one, what a deterministic game must not depend on, and sees
//! whether it notices.
//!
//! ```text
//! bots play once ─► turns, the checksum of every tick
//!                     └─► each breaker plays the turns in its own way ─► first difference, located
//! ```
//!
//! In a game's own tests (with `program: Some(env!("CARGO_BIN_EXE_mygame").into())` it plays in
//! other processes too):
//!
//! ```
//! # use lockstone::{check::{self, ChaosConfig}, game::Game};
//! # fn my_test<MyGame: Game>() {
//! let report = check::chaos::<MyGame>(&ChaosConfig::default());
//! assert!(report.passed(), "{report}");
//! # }
//! ```
//!
//! A simulation without a [`Game`] around it is broken by [`chaos_of`]; what needs another process
//! is left out then.
//!
//! The reference must be what an undisturbed peer plays: it is never restored, serialised or drawn.

mod breaker;
mod child;
mod in_process;
mod programs;
mod reference;
mod report;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstone_sim::journal::Journal;
use lockstone_sim::{Table, Tick, Turn};

pub use breaker::Breaker;
pub use report::{ChaosReport, Difference, Outcome, Tried};

use super::compare::{CheckError, Checker, every_turn};
use crate::default_table;
use crate::game::Game;
use crate::inspect::Inspect;
use crate::panics::caught;
use crate::recording::Recording;
use crate::recording::Timeline;
pub(super) use in_process::play as play_in_process;
use programs::Programs;
pub(super) use reference::{End, Observer, Played, Reference, whose};

/// How long another process may take for a tick, unless it is told otherwise: a hundred times as
/// long as the slowest of ours.
pub const ANSWER_TIME: Duration = Duration::from_secs(30);

/// What is played, and by what.
#[derive(Clone, Debug)]
pub struct ChaosConfig {
    /// The seed of the world.
    pub seed: u64,
    /// How many ticks are played.
    pub ticks: u32,
    /// How many bots play.
    pub heroes: u16,
    /// Only these breakers; all if empty.
    pub only: Vec<Breaker>,
    /// The game's own program, for what needs another process. In its tests
    /// `env!("CARGO_BIN_EXE_name")`.
    pub program: Option<PathBuf>,
    /// The program built in the other profile, debug or release.
    pub other: Option<PathBuf>,
    /// The program built for wasm32-wasip1.
    pub wasm: Option<PathBuf>,
    /// The random table.
    pub table: Table,
    /// How long another process may take to answer, and then for each tick. A process that takes
    /// longer hangs, and is ended.
    pub answer_time: Duration,
}

impl Default for ChaosConfig {
    fn default() -> Self {
        ChaosConfig {
            seed: 1,
            ticks: 400,
            heroes: 4,
            only: Vec::new(),
            program: None,
            other: None,
            wasm: None,
            table: default_table(),
            answer_time: ANSWER_TIME,
        }
    }
}

/// How far chaos has come. The observer may stop it.
pub enum Progress<'a> {
    /// Bots play this tick: the turns that all play.
    Prepares(Tick),
    /// A breaker begins.
    Begins(Breaker),
    /// It plays this tick.
    Plays(Tick),
    /// It is done.
    Done(&'a Tried),
}

/// The observer of [`chaos_with_progress`]: whether to go on.
pub type Watch<'w> = &'w mut dyn FnMut(Progress<'_>) -> ControlFlow<()>;

/// Lets bots play a game, and then every breaker the same turns.
///
/// # Panics
/// If the game does not know its own heroes, or if its rules panic even when nothing is broken.
pub fn chaos<G: Game>(config: &ChaosConfig) -> ChaosReport {
    chaos_with_progress::<G>(config, &mut |_| ControlFlow::Continue(()))
}

/// [`chaos`], and tells how far it has come. Once it is broken off, all that was not played to
/// the end is skipped.
///
/// # Panics
/// As [`chaos`].
pub fn chaos_with_progress<G: Game>(config: &ChaosConfig, watch: Watch<'_>) -> ChaosReport {
    let build = || G::build(config.seed, config.table.clone());
    let prepares = &mut |tick| watch(Progress::Prepares(tick));
    let reference = Reference::of_bots::<G>(&build, config.heroes, config.ticks, prepares);
    run_game::<G>(&reference, config.seed, config, watch)
}

/// Lets every breaker play the turns of a recording, from its first state on; its checksums are not
/// looked at. Seed, ticks and heroes are the recording's.
///
/// # Errors
/// [`CheckError`] if it is not of this game.
///
/// # Panics
/// If the game's rules panic.
pub fn chaos_of_recording<G: Game>(
    recording: Recording<G::Sim>,
    config: &ChaosConfig,
    watch: Watch<'_>,
) -> Result<ChaosReport, CheckError> {
    let timeline = Timeline::new(recording);
    let (seed, start) = (timeline.header.seed, timeline.start());
    let new = |seed| G::build(seed, config.table.clone());
    let checker = Checker::new(&new);
    checker.load(&timeline, start)?;
    let build = || match start {
        Tick(0) => new(seed),
        _ => checker.load(&timeline, start).expect("it was read already"),
    };
    let reference = Reference::of_turns(&build, every_turn(&timeline)?).with_players(timeline.names.keys());
    Ok(run_game::<G>(&reference, seed, config, watch))
}

fn run_game<G: Game>(
    reference: &Reference<'_, G::Sim>,
    seed: u64,
    config: &ChaosConfig,
    watch: Watch<'_>,
) -> ChaosReport {
    let look = |simulation: &G::Sim| reference.players.iter().for_each(|player| drop(G::scene(simulation, *player)));
    run(reference, Some(&look), Some(&Programs::new::<G>(config, seed)), &config.only, watch)
}

/// Breaks any simulation, as `build` makes it before its first tick, by its turns from there on,
/// one a tick. These breakers play; all if there are none. `look` draws the world once, as a view
/// would: it is suspected too.
pub fn chaos_of<S: Inspect>(
    build: &dyn Fn() -> S,
    turns: Vec<Turn<S>>,
    look: Option<&dyn Fn(&S)>,
    only: &[Breaker],
) -> ChaosReport {
    run(&Reference::of_turns(build, turns), look, None, only, &mut |_| ControlFlow::Continue(()))
}

fn run<S: Inspect>(
    reference: &Reference<'_, S>,
    look: Option<&dyn Fn(&S)>,
    programs: Option<&Programs<'_>>,
    only: &[Breaker],
    watch: Watch<'_>,
) -> ChaosReport {
    let wanted = Breaker::ALL.into_iter().filter(|breaker| only.is_empty() || only.contains(breaker));
    // What does not come out the same undisturbed says nothing of what disturbs it.
    let mut repeats = true;
    let tried = wanted.map(|breaker| {
        let begins = End::unless_stopped(watch(Progress::Begins(breaker)));
        let started = Instant::now();
        let plays = &mut |tick| watch(Progress::Plays(tick));
        let played = begins.and_then(|()| match programs {
            _ if !repeats => {
                Err(End::Skipped("the same turns do not come out alike twice: find that first".to_owned()))
            }
            _ if !breaker.needs_program() => in_process(breaker, reference, look, plays),
            Some(programs) => programs.play(breaker, reference, plays),
            None => Err(End::Skipped("it needs the game's own program, and none is given".to_owned())),
        });
        let outcome = reference.explain(played, breaker == Breaker::Again);
        repeats &= !matches!(&outcome, Outcome::Differs(difference) if !difference.reference_repeats);
        let (does, means) = (breaker.does(), breaker.means());
        let tried = Tried { breaker, does, means, outcome, ms: started.elapsed().as_millis() as u64 };
        // An observer that stops it here is asked again when the next one begins.
        let _ = watch(Progress::Done(&tried));
        tried
    });
    ChaosReport { ticks: reference.ticks(), tried: tried.collect() }
}

/// Lets a breaker play in this process; if that leads elsewhere once more, to see what the step
/// does that leads there.
fn in_process<S: Inspect>(
    breaker: Breaker,
    reference: &Reference<'_, S>,
    look: Option<&dyn Fn(&S)>,
    plays: Observer<'_>,
) -> Played<S> {
    // A game that panics where it did not before has noticed too.
    let mut play = |noted: Option<(Tick, &mut Journal)>| {
        caught(|| in_process::play(breaker, reference, look, plays, noted))
            .unwrap_or_else(|panicked| Err(End::Broke(format!("it panics: {}", panicked.message))))
    };
    let played = play(None);
    let Err(End::Parted(mut odd)) = played else { return played };
    let (tick, root) = (odd.state.tick(), odd.state.checksum());
    let mut journal = Journal::default();
    if tick > reference.start
        && let Err(End::Parted(mut again)) = play(Some((Tick(tick.0 - 1), &mut journal)))
        && (again.state.tick(), again.state.checksum(), &again.cells) == (tick, root, &odd.cells)
        // Where a part was played, and the whole is another, it is not the part's notes that tell
        // why.
        && (breaker != Breaker::Partial || odd.cells.is_some())
    {
        odd.journal = Some(journal);
    }
    Err(End::Parted(odd))
}
