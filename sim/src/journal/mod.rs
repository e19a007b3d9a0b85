//! The journal of one tick: who thought, what they drew and decided, which effects reached whom, in
//! the order in which it happened.
//!
//! [`World::step_noted`](crate::world::World::step_noted) steps as ever and fills a journal. Two
//! journals of the same tick, from two peers' recordings or two builds, tell where they part:
//! [`Journal::first_difference`].
//!
//! A journal is never read by the simulation, and what is noted never changes what happens. Draws
//! and decisions carry the place in the game's source that they come from, by `#[track_caller]`.
//!
//! ```text
//! Thinking::think ─► Mind, Dice ─► Recorder ─┐
//! World::step_noted: effects, moves, ... ────┴─► Journal ─► first_difference
//! ```

mod divergence;
mod note;
mod recorder;
mod roll;
mod sites;

pub use divergence::{Divergence, Swap};
pub use note::{Doer, Event, Note, Phase, Site};
pub use roll::Roll;

pub(crate) use recorder::{Notes, Recorder};

use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use crate::ids::Tick;

/// What happened in one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Which tick: the turn of tick `t` leads to tick `t + 1`.
    pub tick: Tick,
    /// What happened, in the order of execution. The order of the cells, and so of the thinkers,
    /// may differ between equal worlds.
    pub notes: Vec<Note>,
}

impl Journal {
    /// Where the other journal first parts from this one, by the phases of a tick. `None` if
    /// the same happened.
    ///
    /// Thinkers are compared by entity, whatever the order in which they thought, effects by
    /// target, source and number. A thinker that was different already when the tick began comes
    /// before all that was thought.
    pub fn first_difference(&self, other: &Journal) -> Option<Divergence> {
        divergence::differences(&self.notes, &other.notes).next()
    }

    /// The first difference of every thinker, effect, cell and input that differs, in the order of
    /// [`first_difference`](Journal::first_difference).
    pub fn differences(&self, other: &Journal) -> Vec<Divergence> {
        divergence::differences(&self.notes, &other.notes).collect()
    }

    /// [`differences`](Journal::differences) from the journal of another build of the game, whose
    /// lines need not be ours: which place of the source is which is learnt from what happened
    /// alike. Each note keeps its own build's.
    pub fn differences_of_builds(&self, other: &Journal) -> Vec<Divergence> {
        divergence::differences_of_builds(&self.notes, &other.notes)
    }
}

/// One line a note.
impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| writeln!(f, "{:>9}  {note}", note.phase))
    }
}
