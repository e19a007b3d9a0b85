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

/// Two plays of the same turns that came out in two ways: their states after the first step that
/// did, and what happened otherwise in it.
pub(super) struct Varied<S> {
    pub states: [S; 2],
    pub writes: Vec<BadWrite>,
}

/// Plays on until two plays differ, at a tick at the latest. `before_step` is told which of the
/// plays takes a step next.
pub(super) fn side_by_side<'t, S: Inspect + 't>(
    mut plays: Vec<S>,
    turn: impl Fn(Tick) -> Option<&'t Turn<S>>,
    until: Tick,
    before_step: impl Fn(usize, &S),
) -> Option<Varied<S>> {
    let empty = Turn::EMPTY;
    while plays[0].tick() < until {
        let turn = turn(plays[0].tick()).unwrap_or(&empty);
        let noted = |(n, play): (usize, &mut S)| {
            let mut journal = Journal::default();
            before_step(n, play);
            play.step_noted(turn, &mut journal);
            journal
        };
        let journals: Vec<_> = plays.iter_mut().enumerate().map(noted).collect();
        let roots: Vec<_> = plays.iter_mut().map(S::checksum).collect();
        if let Some(n) = roots.iter().position(|root| *root != roots[0]) {
            let writes = BadWrite::of(&journals[0], &journals[n]);
            let theirs = plays.swap_remove(n);
            return Some(Varied { states: [plays.swap_remove(0), theirs], writes });
        }
    }
    None
}
