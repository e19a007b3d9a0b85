//! Suspicion: the odd peer's world is of another seed or table than its header tells. No state
//! holds either, so it parts where the first draw counts.

use super::rerun::Again;
use super::{Case, Found, Shown, Solution, blame_nobody};
use crate::check::compare::CheckError;
use crate::check::locate::differing_cells;
use crate::check::replayer::Replayer;
use crate::check::report::Cause;
use crate::inspect::Inspect;
use crate::recording::Rerun;

/// So many small numbers are tried as its seed.
const SMALL_SEEDS: u64 = 16;

impl<'c, S: Inspect> Case<'c, S> {
    /// Another seed meets its checksums: a neighbour of the right one, or a small number.
    pub(super) fn is_of_another_seed(&mut self) -> Found<'c, S> {
        if !self.parts_as_another_seed_would() {
            return Ok(None);
        }
        let seed = self.suspect().header.seed;
        let near = [seed.wrapping_add(1), seed.wrapping_sub(1), !seed];
        for other in near.into_iter().chain(0..SMALL_SEEDS).filter(|other| *other != seed) {
            let odd = |case: &mut Self| -> Result<_, CheckError> { Ok(case.of_seed(other)) };
            if let Some((odd, met)) = self.witnessed(odd, |_| ())? {
                let reason = format!("its world is of seed {other}, and its header tells {seed}");
                self.odd_seed = Some(other);
                let verdict = self.blame(Cause::StartData, vec![reason, self.met(met)]);
                return Ok(Some(Solution::new(verdict, Some(Shown::Odd(odd))).followed(met)));
            }
        }
        Ok(None)
    }

    /// No seed that was tried meets them, and yet it parts as if there were one that does. A step
    /// that goes another way from its first draw on looks the same.
    pub(super) fn is_of_another_start(&mut self) -> Found<'c, S> {
        let same = self.played.at(self.tick).start_data();
        let is_sound =
            |(rerun, again): (Rerun, Again)| matches!(again, Again::AsRecorded(_)) && rerun.start_data == same;
        // If it never met a checksum, nobody knows where it parted.
        let is_known = self.agreed.is_some();
        if !is_known || !self.parts_as_another_seed_would() || self.rerun().is_some_and(is_sound) {
            return Ok(None);
        }
        let who = self.suspect().who();
        let reasons = vec![
            format!("{who} parts from its first draw on, as a world of another seed or table does"),
            "its start is not the one that its header tells, or its steps are others from the first on".to_owned(),
        ];
        let mut verdict = blame_nobody(Cause::StartData, reasons);
        let executable = self.suspect().header.build.executable;
        let same = self.healthy.is_none_or(|healthy| healthy.header.build.executable == executable);
        verdict.others.push(if same { Cause::Nondeterminism } else { Cause::Build });
        Ok(Some(Solution::new(verdict, self.recorded_state()?)))
    }

    /// Whether it meets its checksums as long as a world of any other seed would, and differs in
    /// all the cells in which that one does, as far as it recorded them.
    fn parts_as_another_seed_would(&mut self) -> bool {
        let (peer, from) = (self.suspect(), self.suspect().start());
        if from < self.played.start() || !peer.roots.contains_key(&self.tick) {
            return false;
        }
        let mut other = self.of_seed(peer.header.seed ^ (1 << 40));
        for &tick in peer.roots.range(from..=self.tick).map(|(tick, _)| tick) {
            if (other.root(tick) == self.played.root(tick)) != (tick < self.tick) {
                return false;
            }
        }
        match self.odd_cells() {
            Some((tick, cells)) if tick == self.tick => {
                let touched = differing_cells(self.played.at(tick), other.at(tick));
                touched.iter().all(|cell| cells.contains(cell))
            }
            _ => true,
        }
    }

    /// What its own turns lead to from its start on, in a world of another seed.
    fn of_seed(&mut self, seed: u64) -> Replayer<'c, S> {
        let (peer, mut odd) = (self.suspect(), (self.checker.build)(seed));
        odd.restore(&self.played.at(peer.start()).snapshot());
        self.replay(odd, &peer.turns)
    }
}
