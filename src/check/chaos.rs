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
//! A simulation without a [`Game`] around it is broken by [`Chaos`]; what needs another process
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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstone_net::Identity;
use lockstone_sim::journal::Journal;
use lockstone_sim::{PlayerId, Table, Tick, Turn};

pub use breaker::Breaker;
pub use report::{ChaosReport, Difference, Outcome, Tried};

use super::compare::{CheckError, Checker, every_turn};
use crate::default_table;
use crate::game::Game;
use crate::inspect::Inspect;
use crate::recording::Recording;
use crate::recording::Timeline;
pub(super) use in_process::play as play_in_process;
use programs::Programs;
pub(super) use reference::{End, Reference, whose};

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
pub fn chaos_with_progress<G: Game>(
    config: &ChaosConfig,
    watch: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> ChaosReport {
    let build = || G::build(config.seed, config.table.clone());
    let prepares = &mut |tick| watch(Progress::Prepares(tick));
    let reference = Reference::of_bots::<G>(&build, config.heroes, config.ticks, prepares);
    let players: Vec<PlayerId> = (0..config.heroes).map(PlayerId).collect();
    let look = |simulation: &G::Sim| players.iter().for_each(|player| drop(G::scene(simulation, *player)));
    let identity = Identity { rules: G::rules_digest(), table: config.table.digest(), config: 0 };
    let programs = Programs::new::<G>(config, &identity);
    run(&reference, Some(&look), Some(&programs), &config.only, watch)
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
    watch: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
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
    let named: Vec<PlayerId> = timeline.names.keys().copied().collect();
    let reference = Reference::of_turns(&build, every_turn(&timeline)?).with_players(&named);
    let look = |simulation: &G::Sim| reference.players().iter().for_each(|player| drop(G::scene(simulation, *player)));
    let identity = Identity { rules: G::rules_digest(), table: config.table.digest(), config: 0 };
    let programs = Programs::new::<G>(&ChaosConfig { seed, ..config.clone() }, &identity);
    Ok(run(&reference, Some(&look), Some(&programs), &config.only, watch))
}

/// Breaks any simulation whose turns are given.
pub struct Chaos<'a, S: Inspect> {
    reference: Reference<'a, S>,
    look: Option<&'a dyn Fn(&S)>,
}

impl<'a, S: Inspect> Chaos<'a, S> {
    /// Of a simulation as it is before its first tick, and the turns from there on, one a tick.
    pub fn new(build: &'a dyn Fn() -> S, turns: Vec<Turn<S>>) -> Self {
        Chaos { reference: Reference::of_turns(build, turns), look: None }
    }

    /// Also suspects what shows the world: `look` draws it once, as a view would.
    pub fn with_presentation(self, look: &'a dyn Fn(&S)) -> Self {
        Chaos { look: Some(look), ..self }
    }

    /// Lets these breakers play; all if there are none.
    pub fn run(&self, only: &[Breaker]) -> ChaosReport {
        run(&self.reference, self.look, None, only, &mut |_| ControlFlow::Continue(()))
    }
}

fn run<S: Inspect>(
    reference: &Reference<'_, S>,
    look: Option<&dyn Fn(&S)>,
    programs: Option<&Programs>,
    only: &[Breaker],
    watch: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> ChaosReport {
    let wanted = Breaker::ALL.into_iter().filter(|breaker| only.is_empty() || only.contains(breaker));
    let tried = wanted.map(|breaker| {
        let begins = watch(Progress::Begins(breaker));
        let started = Instant::now();
        let plays = &mut |tick| watch(Progress::Plays(tick));
        let end = match programs {
            _ if begins.is_break() => End::stopped(),
            _ if !breaker.needs_program() => in_process(breaker, reference, look, plays),
            Some(programs) => programs.play(breaker, reference, plays),
            None => End::Skipped("it needs the game's own program, and none is given".to_owned()),
        };
        let outcome = reference.explain(end);
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
    plays: &mut dyn FnMut(Tick) -> ControlFlow<()>,
) -> End<S> {
    let mut play =
        |noted: Option<(Tick, &mut Journal)>| guarded(|| in_process::play(breaker, reference, look, plays, noted));
    let mut odd = match play(None) {
        End::Parted(odd) => odd,
        end => return end,
    };
    let (tick, root) = (odd.state.tick(), odd.state.checksum());
    let mut journal = Journal::default();
    if tick > reference.start()
        && let End::Parted(mut again) = play(Some((Tick(tick.0 - 1), &mut journal)))
        && (again.state.tick(), again.state.checksum(), &again.cells) == (tick, root, &odd.cells)
        // Where a part was played, and the whole is another, it is not the part's notes that tell
        // why.
        && (breaker != Breaker::Partial || odd.cells.is_some())
    {
        odd.journal = Some(journal);
    }
    End::Parted(odd)
}

/// A game that panics where it did not before has noticed too.
fn guarded<S>(play: impl FnOnce() -> End<S>) -> End<S> {
    // Nothing of what was played is used again.
    catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| {
        let told = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        End::Broke(format!("it panics: {}", told.unwrap_or("see above")))
    })
}
