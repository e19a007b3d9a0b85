//! What the odd peer's own program says, which has played the recording again: see [`Rerun`].
//!
//! It is the odd peer's word, so it counts only as far as it fits what that peer recorded, and it
//! speaks of nobody else. What contradicts the recording is passed over.

use std::ops::RangeBounds;

use lockstone_sim::Tick;

use super::{Case, Found, Shown, Solution};
use crate::check::compare::CheckError;
use crate::check::report::{BadWrite, Cause};
use crate::inspect::Inspect;
use crate::recording::Rerun;

/// So many reruns of a recording are looked at.
const RERUNS_MAX: usize = 4;

/// What the suspect's program came to when it played again.
pub(super) enum Again {
    /// What it recorded: so many checksums, from the difference on.
    AsRecorded(u32),
    /// What the turns lead to here, at each of its ticks.
    AsHere,
    /// Something else again.
    Otherwise,
}

impl<'c, S: Inspect> Case<'c, S> {
    /// Its own program, played again, does what this one does; or it was given other start data.
    pub(super) fn is_told_by_its_own_program(&mut self) -> Found<'c, S> {
        let Some((rerun, again)) = self.rerun() else { return Ok(None) };
        let (theirs, ours) = (rerun.start_data, self.played.at(self.tick).start_data());
        // Engines need not make the same of the same.
        let same_engine = self.suspect().header.engine == env!("CARGO_PKG_VERSION");
        let (cause, so) = match again {
            // If the turns lead to nobody's checksums, it is not one peer's state.
            Again::AsHere if self.healthy.is_some() || self.peers.len() == 1 => {
                let so = "so its steps are sound, and its state was changed between them";
                (Cause::StateCorruption, so.to_owned())
            }
            // It was given something else than its header says.
            Again::AsRecorded(_) if same_engine && theirs != ours => {
                let so = "its program was given another seed, or another table, than its header says: what it makes of them has digest";
                (Cause::StartData, format!("{so} {theirs:016x}, and here {ours:016x}"))
            }
            _ => return Ok(None),
        };
        let verdict = self.blame(cause, vec![self.tell_again(&rerun, &again), so]);
        Ok(Some(Solution::new(verdict, self.recorded_state()?)))
    }

    /// The suspect's rerun, if it is of this difference and fits what was recorded before it.
    pub(super) fn rerun(&mut self) -> Option<(Rerun, Again)> {
        let fits = |rerun: &Rerun| {
            let before = self.recorded_again(rerun, ..self.tick);
            rerun.root(self.tick).is_some() && !before.is_empty() && !before.contains(&false)
        };
        let reruns = self.suspect().reruns.iter().take(RERUNS_MAX);
        let rerun = reruns.filter_map(|rerun| rerun.unpack().ok()).find(fits)?;
        let after = self.recorded_again(&rerun, self.tick..);
        let again = if !after.contains(&false) {
            Again::AsRecorded(after.len() as u32)
        } else if rerun.ticks().all(|(tick, root)| tick < self.tick || root == self.played.root(tick)) {
            Again::AsHere
        } else {
            Again::Otherwise
        };
        Some((rerun, again))
    }

    /// Whether each of the suspect's checksums of some ticks came out again.
    fn recorded_again(&self, rerun: &Rerun, ticks: impl RangeBounds<Tick>) -> Vec<bool> {
        let wanted = rerun.ticks().filter(|(tick, _)| ticks.contains(tick));
        wanted.filter_map(|(tick, root)| Some(root == *self.suspect().roots.get(&tick)?)).collect()
    }

    pub(super) fn tell_again(&self, rerun: &Rerun, again: &Again) -> String {
        let (who, from) = (self.suspect().who(), rerun.from);
        let came = match again {
            Again::AsRecorded(met) => format!("to its own checksums again: {met} are met, from tick {} on", self.tick),
            Again::AsHere => format!("to our checksums from tick {} on, and not to those that it recorded", self.tick),
            Again::Otherwise => "to checksums that are neither its own nor ours".to_owned(),
        };
        format!("the program of {who} played again from tick {from}, and came {came}")
    }

    /// What happened otherwise in the step after which the checksums differ, as the suspect's own
    /// program noted it.
    pub fn noted_by_its_own_program(&mut self) -> Option<Vec<BadWrite>> {
        let (rerun, Again::AsRecorded(_)) = self.rerun()? else { return None };
        let start = self.played.start();
        let mut known = rerun.ticks().filter(|(tick, _)| *tick >= start && *tick <= self.tick).peekable();
        let (since, _) = *known.peek()?;
        let (first, _) =
            known.find(|&(tick, root)| self.played.root(tick) != root).filter(|(tick, _)| *tick > since)?;
        let tick = Tick(first.0 - 1);
        let there = rerun.journal(tick)?;
        Some(BadWrite::of_builds(&self.played.journal(tick), there))
    }

    /// The suspect's recorded state at the difference, or soon after.
    pub(super) fn recorded_state(&self) -> Result<Option<Shown<'c, S>>, CheckError> {
        let peer = self.suspect();
        let recorded = peer.states.range(self.tick..).next();
        let load = |(&tick, _)| Ok(Shown::Odd(self.replay(self.checker.load(peer, tick)?, self.played.turns)));
        recorded.map(load).transpose()
    }
}
