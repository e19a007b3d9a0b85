//! Why worlds differ: each suspicion is played, and the one that meets the odd peer's recorded
//! checksums is the cause.
//!
//! ```text
//! the state before ─► as suspected: other turns, one bit turned over, read from bytes, ...
//!                       └─► the odd peer's checksums?
//! ```
//!
//! It never blames a peer whose checksums the turns lead to. A cause is told only if it explains
//! the checksums since, and the same play without it does not. If several do, all are told; what
//! cannot be shown is told as unknown. The suspicions are tried in order, those that prove
//! themselves first; the loop is [`solve`](Case::solve).

mod bit;
mod headers;
mod rerun;
mod signed;
mod start;
mod state;
mod step;

use lockstone_sim::Tick;

use super::compare::{CheckError, Checker};
use super::replayer::Replayer;
use super::report::{Cause, Verdict};
use super::waver::Varied;
use crate::inspect::Inspect;
use crate::recording::Timeline;

pub(super) use headers::{unlike_headers, unlike_starts};

/// So many ticks after the first difference a suspicion must meet the odd peer's checksums.
const WITNESS_TICKS: u32 = 64;
/// So far it is followed, if it does: what it does not meet there it has not explained.
const FOLLOWED_TICKS: u32 = 1_200;

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
    /// Another recording, that meets its checksums.
    pub healthy: Option<&'c Timeline<S>>,
    /// The seed of the odd peer's world, where that is found to be another than its header's.
    pub odd_seed: Option<u64>,
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
pub(super) type Solution<'c, S> = (Verdict, Option<Shown<'c, S>>);

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

/// One of the causes, tried.
type Suspicion<'c, S> = fn(&mut Case<'c, S>) -> Found<'c, S>;

impl<'c, S: Inspect> Case<'c, S> {
    /// What is at fault in the game itself, whoever shows it.
    const OF_THE_GAME: [Suspicion<'c, S>; 3] =
        [Case::comes_out_in_several_ways, Case::is_not_brought_back, Case::has_an_uncovered_field];

    /// What may explain the same checksums, beside what proves as much: all of those are asked, and
    /// what proves less only if none of them fits.
    const PLAYED: [&'c [Suspicion<'c, S>]; 6] = [
        &[Case::was_given_other_turns, Case::lost_something_in_a_snapshot, Case::was_changed_by_looking],
        &[Case::is_of_another_seed],
        &[Case::may_be_changed_by_looking, Case::has_a_turned_bit],
        &[Case::is_told_by_its_own_program],
        &[Case::was_written_from_outside],
        &[Case::is_of_another_start],
    ];

    /// Finds the cause.
    pub fn solve(&mut self) -> Result<Solution<'c, S>, CheckError> {
        let (mut verdict, shown) = self.solution()?;
        if verdict.cause == Cause::StateCorruption && self.checker.look.is_none() {
            verdict.others.push(Cause::Presentation);
            verdict.reasons.push("what shows the world was not asked".to_owned());
        }
        Ok((verdict, shown))
    }

    fn solution(&mut self) -> Result<Solution<'c, S>, CheckError> {
        for suspicion in Self::OF_THE_GAME {
            if let Some(solution) = suspicion(self)? {
                return Ok(solution);
            }
        }
        for equals in Self::PLAYED {
            let mut fit = Vec::new();
            for suspicion in equals {
                fit.extend(suspicion(self)?);
            }
            if let Some(solution) = one_of(fit) {
                return Ok(solution);
            }
        }
        self.left_over()
    }

    /// The peer that is examined: of several odd peers the first.
    fn suspect(&self) -> &'c Timeline<S> {
        &self.peers[self.odd[0]]
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
        let (near, end) = (since.plus(WITNESS_TICKS), since.plus(FOLLOWED_TICKS).min(suspect.end));
        for tick in (from.0..=end.0).map(Tick) {
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

    /// A verdict on the odd peers.
    fn blame(&self, cause: Cause, reasons: Vec<String>) -> Verdict {
        Verdict { cause, others: Vec::new(), blamed: self.odd.clone(), reasons }
    }
}

/// A verdict on nobody: the game itself is at fault, or it cannot be told who is.
fn blame_nobody(cause: Cause, reasons: Vec<String>) -> Verdict {
    Verdict { cause, others: Vec::new(), blamed: Vec::new(), reasons }
}

/// All that explains the same checksums, told as one of several; the first is shown.
fn one_of<S: Inspect>(fit: Vec<Solution<'_, S>>) -> Option<Solution<'_, S>> {
    let mut fit = fit.into_iter();
    let (mut verdict, shown) = fit.next()?;
    for (other, _) in fit {
        verdict.blamed.retain(|peer| other.blamed.contains(peer));
        verdict.others.push(other.cause);
        verdict.reasons.extend(other.reasons);
    }
    Some((verdict, shown))
}

/// Those that have not what most have; none if nobody can tell.
fn minority<T: PartialEq>(values: &[T]) -> Vec<usize> {
    let votes = |value: &T| values.iter().filter(|other| *other == value).count();
    let most = values.iter().map(votes).max().unwrap_or(0);
    if most * 2 <= values.len() {
        return Vec::new();
    }
    (0..values.len()).filter(|&n| votes(&values[n]) < most).collect()
}
