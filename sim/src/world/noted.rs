//! A step that leaves notes of all that happens in it: the same step, to the bit.

use alloc::vec::Vec;

use super::{Thinking, World};
use crate::journal::{Journal, Notes, Recorder};
use crate::rules::Rules;
use crate::simulation::{Simulation, Turn};
use crate::thoughts::Thoughts;

impl<R: Rules> World<R> {
    /// [`step`](Simulation::step) to the same state, and replaces the journal by that of this tick.
    /// Two to three times as slow: for the tick that is looked into.
    pub fn step_noted(&mut self, turn: &Turn<Self>, journal: &mut Journal) {
        let thoughts = core::mem::take(&mut self.thoughts);
        self.step_noted_with(turn, journal, |thinking| thinking.in_order(thoughts));
    }

    /// [`step_with`](World::step_with) to the same state, and replaces the journal by
    /// that of this tick.
    pub fn step_noted_with(
        &mut self,
        turn: &Turn<Self>,
        journal: &mut Journal,
        think: impl FnOnce(&Thinking<'_, R>) -> Vec<Thoughts<R>>,
    ) {
        let (tick, notes) = (self.tick(), Recorder::default());
        self.run(turn, think, Notes::of(Some(&notes)));
        *journal = Journal { tick, notes: notes.into_notes() };
    }
}
