//! Whether the checksum covers the state: every field of everything is changed, and the checksum
//! must change with it.
//!
//! ```text
//! turns ─► a state now and then ─┬─► each field of a kind not yet seen
//!                                │     ├─► a bit of each of its bytes turned over
//!                                │     └─► an element less, an option gone, another's variant
//!                                │           └─► another checksum?
//!                                └─► serialised and read again ─► the same checksum?
//! ```
//!
//! In a game's own tests:
//!
//! ```ignore
//! let report = check::coverage::<MyGame>(&CoverageConfig::default());
//! assert!(report.passed(), "{report}");
//! ```
//!
//! A simulation that cannot turn over a bit of a field has bits of its serialised state turned
//! over; what that changed, [`Inspect::things`] names. What is not serialised is not seen here: see
//! what the breaker `serialise` tells.

mod report;
mod shape;
mod survey;

use std::ops::ControlFlow;

use lockstone_sim::{Table, Turn};

pub use report::{CoverageReport, KindCoverage, Unchanged, Uncovered};

use super::chaos::{Observer, Reference};
use crate::default_table;
use crate::game::Game;
use crate::inspect::Inspect;
use survey::Survey;

/// So often a state is looked at. What lives for a shorter time is met sooner or later.
const LOOK_TICKS: u32 = 5;

/// What is played.
#[derive(Clone, Debug)]
pub struct CoverageConfig {
    /// The seed of the world.
    pub seed: u64,
    /// The random table.
    pub table: Table,
    /// How many ticks are played: enough to meet everything that there is.
    pub ticks: u32,
    /// How many bots play.
    pub heroes: u16,
}

impl Default for CoverageConfig {
    fn default() -> Self {
        CoverageConfig { seed: 1, table: default_table(), ticks: 1_200, heroes: 4 }
    }
}

/// Lets bots play a game, and changes every field of all that they meet. Fields that the game lists
/// as [`UNCOVERED`](Game::UNCOVERED) need not be covered.
///
/// # Panics
/// If the game does not know its own heroes, or if its rules panic.
pub fn coverage<G: Game>(config: &CoverageConfig) -> CoverageReport {
    coverage_with_progress::<G>(config, &mut |_| ControlFlow::Continue(()))
}

/// [`coverage`], and tells at which tick it is. Once it is broken off, the report is of what
/// was met until then.
///
/// # Panics
/// As [`coverage`].
pub fn coverage_with_progress<G: Game>(config: &CoverageConfig, watch: Observer<'_>) -> CoverageReport {
    let build = || G::build(config.seed, config.table.clone());
    let reference = Reference::of_bots::<G>(&build, config.heroes, config.ticks, watch);
    survey(&build, reference.turns, G::UNCOVERED, watch)
}

/// Plays turns, one a tick, and changes every field of all that is met. `listed` are fields that
/// need not be covered, as `Kind path.of.field`, each with the reason.
pub fn coverage_of<S: Inspect>(
    build: &dyn Fn() -> S,
    turns: impl IntoIterator<Item = Turn<S>>,
    listed: &[(&str, &str)],
) -> CoverageReport {
    survey(build, turns, listed, &mut |_| ControlFlow::Continue(()))
}

fn survey<S: Inspect>(
    build: &dyn Fn() -> S,
    turns: impl IntoIterator<Item = Turn<S>>,
    listed: &[(&str, &str)],
    watch: Observer<'_>,
) -> CoverageReport {
    let (mut simulation, mut survey, mut ticks) = (build(), Survey::default(), 0_u32);
    for turn in turns {
        if ticks.is_multiple_of(LOOK_TICKS) {
            survey.look(&mut simulation, build);
        }
        if watch(simulation.tick()).is_break() {
            break;
        }
        simulation.step(&turn);
        ticks += 1;
    }
    survey.look(&mut simulation, build);
    survey.report(ticks, S::kinds(), listed)
}
