//! Why worlds differ: each suspicion is played, and the one that meets the odd peer's recorded
//! checksums is the cause.
//!
//! ```text
//! the state before ─► as suspected: other turns, one bit turned over, read from bytes, ...
//!                       └─► the odd peer's checksums?
//! ```
//!
//! It never blames a peer whose checksums the turns lead to; who is blamed is decided in `blame.rs`
//! alone. A cause is told only if it explains the checksums since, and the same play without it
//! does not. If several do, all are told; what cannot be shown is told as unknown. A suspicion
//! whose play panics is passed over, and then nobody is blamed: it might have been the one. The
//! suspicions are tried in order, those that prove themselves first; the loop is
//! [`solve`](Case::solve).

mod bit;
mod blame;
mod headers;
mod rerun;
mod signed;
mod start;
mod state;
mod step;

use std::collections::BTreeMap;

use lockstone_sim::{Tick, Turn};

use super::compare::{CheckError, Checker};
use super::replayer::Replayer;
use super::report::{Cause, Verdict};
use super::waver::Varied;
use crate::inspect::Inspect;
use crate::panics::caught;
use crate::recording::Timeline;
use blame::{blame_nobody, minority};

pub(super) use headers::{unlike_headers, unlike_starts};
pub(super) use signed::two_votes;

/// So many ticks after the first difference a suspicion must meet the odd peer's checksums. If it
/// does, it is followed to the end: what it does not meet there it has not explained.
const WITNESS_TICKS: u32 = 64;

/// A difference that is to be explained.
pub(super) struct Case<'c, S: Inspect> {
    pub checker: &'c Checker<'c, S>,
    pub peers: &'c [Timeline<S>],
    /// The turns that most have, and what they lead to.
    pub played: Replayer<'c, S>,
    /// The first tick at which a recorded checksum is not met.
    pub tick: Tick,
    /// The newest before at which that recording's was.
    pub agreed: Option<Tick>,
    /// Whose are not.
    pub odd: Vec<usize>,
    /// The one of these that is examined: nothing that is found of it says anything of the others.
    pub suspect: usize,
    /// Another recording, that meets its checksums since.
    pub healthy: Option<&'c Timeline<S>>,
    /// The seed of the odd peer's world, where that is found to be another than its header's.
    pub odd_seed: Option<u64>,
    /// Which suspicions could not be asked, for the game panicked.
    pub panicked: Vec<String>,
}

/// What shows a difference.
pub(super) enum Shown<'c, S: Inspect> {
    /// The odd peer's state at some tick with the turns it goes on with, as it was had again. It
    /// may not differ yet.
    Odd(Replayer<'c, S>),
    /// Two plays that should have come out alike.
    Varied(Varied<S>),
}

/// Why, and what shows it, if anything does.
pub(super) struct Solution<'c, S: Inspect> {
    pub verdict: Verdict,
    pub shown: Option<Shown<'c, S>>,
    /// Whether a later checksum is known that it does not explain.
    is_partial: bool,
}

impl<'c, S: Inspect> Solution<'c, S> {
    fn new(verdict: Verdict, shown: Option<Shown<'c, S>>) -> Self {
        Solution { verdict, shown, is_partial: false }
    }

    /// The same, of what was followed so far.
    fn followed(self, met: Met) -> Self {
        Solution { is_partial: met.unmet.is_some(), ..self }
    }
}

/// The suspect's checksums from the first that the turns alone do not meet on, as a suspicion has
/// them.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// So many are met in a row.
    checksums: u32,
    /// Of which tick the next is that is not: something else happened as well.
    unmet: Option<Tick>,
}

/// What came of trying one cause.
type Found<'c, S> = Result<Option<Solution<'c, S>>, CheckError>;

/// One of the causes: what is asked, and what tries it.
type Suspicion<'c, S> = (&'static str, fn(&mut Case<'c, S>) -> Found<'c, S>);

impl<'c, S: Inspect> Case<'c, S> {
    /// What is at fault in the game itself, whoever shows it.
    const OF_THE_GAME: [Suspicion<'c, S>; 3] = [
        ("the same turns come out in several ways", Case::comes_out_in_several_ways),
        ("going back brings a state back", Case::is_not_brought_back),
        ("the checksum leaves a field out", Case::has_an_uncovered_field),
    ];

    /// What may explain the same checksums, beside what proves as much: all of those are asked, and
    /// what proves less only if none of them fits.
    const PLAYED: [&'c [Suspicion<'c, S>]; 6] = [
        &[
            ("other turns entered", Case::was_given_other_turns),
            ("a snapshot loses something", Case::lost_something_in_a_snapshot),
            ("drawing changes the world", Case::was_changed_by_looking),
        ],
        &[("its world is of another seed", Case::is_of_another_seed)],
        &[
            ("drawing may change the world", Case::may_be_changed_by_looking),
            ("a bit was turned over", Case::has_a_turned_bit),
        ],
        &[("its own program tells why", Case::is_told_by_its_own_program)],
        &[("its state was written between steps", Case::was_written_from_outside)],
        &[("its start was another", Case::is_of_another_start)],
    ];

    /// Finds the cause.
    pub fn solve(&mut self) -> Result<(Verdict, Option<Shown<'c, S>>), CheckError> {
        let Solution { mut verdict, shown, .. } = self.solution()?;
        if verdict.cause == Cause::StateCorruption && self.checker.look.is_none() {
            verdict.others.push(Cause::Presentation);
            verdict.reasons.push("what shows the world was not asked".to_owned());
        }
        if !self.panicked.is_empty() {
            // It might have been that.
            verdict.blamed.clear();
            verdict.reasons.append(&mut self.panicked);
        }
        verdict.reasons.extend(self.unexamined(&verdict.blamed));
        Ok((verdict, shown))
    }

    fn solution(&mut self) -> Result<Solution<'c, S>, CheckError> {
        for suspicion in Self::OF_THE_GAME {
            if let Some(solution) = self.tried(suspicion)? {
                return Ok(solution);
            }
        }
        let mut partial = Vec::new();
        for equals in Self::PLAYED {
            let (mut fit, mut partly) = (Vec::new(), Vec::new());
            for &suspicion in equals {
                let found = self.tried(suspicion)?;
                found.into_iter().for_each(|s| if s.is_partial { &mut partly } else { &mut fit }.push(s));
            }
            if !fit.is_empty() {
                fit.append(&mut partial);
                return Ok(one_of(fit).expect("some fit"));
            }
            partial.append(&mut partly);
        }
        match one_of(partial) {
            Some(mut solution) => {
                solution.verdict.blamed.clear();
                if solution.verdict.others.is_empty() {
                    solution.verdict.others.push(Cause::Unknown);
                }
                Ok(solution)
            }
            None => self.nothing_fits(),
        }
    }

    /// What comes of one suspicion: nothing, if the game panics.
    fn tried(&mut self, (asked, suspicion): Suspicion<'c, S>) -> Found<'c, S> {
        caught(|| suspicion(self)).unwrap_or_else(|panicked| {
            self.panicked.push(format!("whether {asked} could not be asked: {panicked}"));
            self.renew();
            Ok(None)
        })
    }

    fn nothing_fits(&mut self) -> Result<Solution<'c, S>, CheckError> {
        caught(|| self.left_over()).unwrap_or_else(|panicked| {
            self.panicked.push(format!("what else is unlike could not be asked: {panicked}"));
            self.renew();
            Ok(Solution::new(blame_nobody(Cause::Unknown, Vec::new()), None))
        })
    }

    /// A panic may have left the simulation half done: another goes on in its place.
    pub fn renew(&mut self) {
        self.played.renew((self.checker.build)(self.peers[0].header.seed));
    }

    /// The peer that is examined.
    fn suspect(&self) -> &'c Timeline<S> {
        &self.peers[self.suspect]
    }

    /// Plays turns from a state on, for a suspicion.
    fn replay(&self, from: S, turns: &'c BTreeMap<Tick, Turn<S>>) -> Replayer<'c, S> {
        Replayer::new(from, turns).watched(self.checker.watch)
    }

    /// The newest tick at which all was well, from which the difference is to be had again.
    fn last_good(&self) -> Tick {
        self.agreed.unwrap_or_default().max(self.played.start())
    }

    /// Another simulation in the state that the turns lead to.
    fn fork(&mut self, tick: Tick) -> S {
        let mut fork = (self.checker.build)(self.peers[0].header.seed);
        fork.restore(&self.played.at(tick).snapshot());
        fork
    }

    /// Another simulation that shares no memory with any: in the state as it is read from bytes.
    fn reread(&mut self, tick: Tick) -> Result<S, CheckError> {
        let bytes = self.played.at(tick).encoded();
        let mut again = (self.checker.build)(self.peers[0].header.seed);
        let unusable = |cause| CheckError::State { who: "this program".to_owned(), tick, cause };
        let snapshot = again.decode(&bytes).map_err(unusable)?;
        again.restore(&snapshot);
        Ok(again)
    }

    /// How many of the suspect's checksums a suspicion meets. `None` if it does not meet one that
    /// is near the difference, or if there is none to meet.
    fn meets(&self, mut odd: Replayer<'_, S>, before_step: impl Fn(&S)) -> Option<Met> {
        let (suspect, from) = (self.suspect(), odd.tick());
        let (mut met, since) = (Met { checksums: 0, unmet: None }, self.tick.max(from));
        let near = since.plus(WITNESS_TICKS);
        for tick in (from.0..=suspect.end.0).map(Tick) {
            let state = odd.at(tick);
            if let Some(recorded) = suspect.roots.get(&tick) {
                if state.checksum() != *recorded {
                    met.unmet = Some(tick).filter(|tick| *tick > near);
                    return Some(met).filter(|met| met.unmet.is_some() && met.checksums > 0);
                }
                met.checksums += u32::from(tick >= self.tick);
            }
            before_step(state);
        }
        Some(met).filter(|met| met.checksums > 0)
    }

    /// The odd peer as a suspicion has it again, and how many checksums it [`meets`](Case::meets),
    /// if it does. It is had anew: what was played to be compared is of no more use.
    fn witnessed(
        &mut self,
        odd: impl Fn(&mut Self) -> Result<Replayer<'c, S>, CheckError>,
        before_step: impl Fn(&S),
    ) -> Result<Option<(Replayer<'c, S>, Met)>, CheckError> {
        let again = odd(self)?;
        self.meets(again, before_step).map(|met| Ok((odd(self)?, met))).transpose()
    }

    /// The reason that [`meets`](Case::meets) gives.
    fn met(&self, Met { checksums, unmet }: Met) -> String {
        let whose = format!("checksums of {} in a row are met, from tick {} on", self.suspect().who(), self.tick);
        let then = unmet.map(|tick| format!("; that of tick {tick} is not, so something else happened to it as well"));
        format!("so played, {checksums} {whose}{}", then.unwrap_or_default())
    }
}

/// All that explains the same checksums, told as one of several; the first is shown. Nobody is
/// blamed whom not all of these blame.
fn one_of<S: Inspect>(fit: Vec<Solution<'_, S>>) -> Option<Solution<'_, S>> {
    let mut fit = fit.into_iter();
    let mut first = fit.next()?;
    let verdict = &mut first.verdict;
    for Solution { verdict: other, is_partial, .. } in fit {
        verdict.blamed.retain(|peer| other.blamed.contains(peer) && !is_partial);
        if other.cause != verdict.cause && !verdict.others.contains(&other.cause) {
            verdict.others.push(other.cause);
        }
        verdict.reasons.extend(other.reasons);
    }
    Some(first)
}
