//! Whether the same turns come out in several ways: they are played side by side, tick by tick,
//! with a journal of each play.
//!
//! The plays must share nothing but the state that they begin at. The loop is [`side_by_side`].

use lockstone_sim::journal::Journal;
use lockstone_sim::{Tick, Turn};

use super::report::BadWrite;
use crate::inspect::Inspect;

/// So many plays tell whether a step comes out in several ways.
pub(super) const PLAYS: usize = 3;
/// So many bytes of a state are worth a note.
const NOTE_BYTES: usize = 16;

/// Two plays of the same turns that came out in two ways: their states after the first step that
/// did, and what happened otherwise in it.
pub(super) struct Varied<S> {
    pub states: [S; 2],
    pub writes: Vec<BadWrite>,
}

/// How much is played side by side: up to a tick in any case, and then as long as there is work
/// left, which is counted in notes. So a verdict is the same on any machine.
pub(super) struct Effort {
    pub at_least: Tick,
    pub until: Tick,
    pub work: u64,
}

/// Plays on until two plays differ, or as far as the effort allows, and takes the work from it.
/// `before_step` is told which of the plays takes a step next.
pub(super) fn side_by_side<'t, S: Inspect + 't>(
    mut plays: Vec<S>,
    turn: impl Fn(Tick) -> Option<&'t Turn<S>>,
    effort: &mut Effort,
    before_step: impl Fn(usize, &S),
) -> Option<Varied<S>> {
    let empty = Turn::EMPTY;
    // Who cannot tell what happens in a step is taken to do something with all of the state.
    let untold = plays[0].encoded().len() / NOTE_BYTES + 1;
    while plays[0].tick() < effort.until && (plays[0].tick() < effort.at_least || effort.work > 0) {
        let turn = turn(plays[0].tick()).unwrap_or(&empty);
        let noted = |(n, play): (usize, &mut S)| {
            let mut journal = Journal::default();
            before_step(n, play);
            play.step_noted(turn, &mut journal);
            journal
        };
        let journals: Vec<_> = plays.iter_mut().enumerate().map(noted).collect();
        let work = |journal: &Journal| if journal.notes.is_empty() { untold } else { journal.notes.len() };
        effort.work = effort.work.saturating_sub(journals.iter().map(work).sum::<usize>() as u64);
        let roots: Vec<_> = plays.iter_mut().map(S::checksum).collect();
        if let Some(n) = roots.iter().position(|root| *root != roots[0]) {
            let writes = BadWrite::of(&journals[0], &journals[n]);
            let theirs = plays.swap_remove(n);
            return Some(Varied { states: [plays.swap_remove(0), theirs], writes });
        }
    }
    None
}
