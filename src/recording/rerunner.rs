//! A peer plays its own recording again, in its own program, around a difference: what nobody
//! else can do for it.
//!
//! It is played tick by tick, so that whoever plays a game meanwhile can do so between two
//! pictures. The loop is [`Rerunner::advance`]. It must never touch the simulation that is played.

use std::collections::BTreeMap;

use lockstone_sim::journal::Journal;
use lockstone_sim::{Tick, Turn};

use super::{PackedRerun, RERUN_TICKS_MAX, Recording, ReplayError, Rerun, Timeline};
use crate::inspect::Inspect;

/// So many ticks before the difference are noted at most, whenever worlds were last
/// known to be equal.
const NOTED_TICKS: u32 = 20;
/// So many ticks from the difference on are played as well, for their checksums.
const WITNESS_TICKS: u32 = 10;

const _: () = assert!((NOTED_TICKS + WITNESS_TICKS) < RERUN_TICKS_MAX as u32);

/// A rerun under way.
pub struct Rerunner<S: Inspect> {
    simulation: S,
    turns: BTreeMap<Tick, Turn<S>>,
    /// The tick of the difference: what leads there is noted.
    tick: Tick,
    until: Tick,
    rerun: Rerun,
}

impl<S: Inspect> Rerunner<S> {
    /// Of a recording of one's own, in which a difference was found at a tick; the worlds were
    /// equal at an earlier one, if that is known. `build` makes the simulation of a seed, as it
    /// did for the game.
    ///
    /// # Errors
    /// [`ReplayError::Snapshot`] if the recorded state before it cannot be read.
    pub fn new(
        recording: Recording<S>,
        tick: Tick,
        agreed: Option<Tick>,
        build: &dyn Fn(u64) -> S,
    ) -> Result<Self, ReplayError> {
        let timeline = Timeline::new(recording);
        let noted = Tick(tick.0.saturating_sub(NOTED_TICKS));
        let since = agreed.unwrap_or(timeline.start()).max(noted).max(timeline.start());
        let states = timeline.states.keys().copied();
        let from = states.filter(|state| *state <= since).max().unwrap_or(timeline.start());
        let simulation = timeline.load(from, build).map_err(ReplayError::Snapshot)?;
        let rerun = Rerun { start_data: simulation.start_data(), from, since, roots: Vec::new(), journals: Vec::new() };
        Ok(Rerunner {
            simulation,
            turns: timeline.turns,
            tick,
            until: timeline.end.min(tick.plus(WITNESS_TICKS)),
            rerun,
        })
    }

    /// Plays one tick. False if there is none left.
    pub fn advance(&mut self) -> bool {
        let tick = self.simulation.tick();
        if tick >= self.rerun.since {
            self.rerun.roots.push(self.simulation.checksum());
        }
        if tick >= self.until {
            return false;
        }
        let empty = Turn::EMPTY;
        let turn = self.turns.get(&tick).unwrap_or(&empty);
        if (self.rerun.since..self.tick).contains(&tick) {
            let mut journal = Journal::default();
            self.simulation.step_noted(turn, &mut journal);
            self.rerun.journals.push(journal);
        } else {
            self.simulation.step(turn);
        }
        true
    }

    /// What came out, in so many bytes at most; nothing if it has not come to the difference.
    pub fn pack(self, bytes_max: usize) -> Option<PackedRerun> {
        self.rerun.root(self.tick)?;
        self.rerun.pack(bytes_max)
    }
}
