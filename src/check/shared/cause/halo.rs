//! Suspicions about what a part was given: another state of a cell, too few cells, or all that it
//! needs, and yet something reaches farther.

use lockstone_sim::{CellId, Tick};

use super::{NAMED_MAX, Question};
use crate::check::report::Cause;
use crate::inspect::Inspect;

impl<S: Inspect> Question<'_, '_, '_, S> {
    /// Cells of the halo are not what they are where they are simulated.
    pub(super) fn given_otherwise(&mut self, before: Tick) -> (Cause, Vec<String>) {
        let cells = self.common.halo.clone();
        (Cause::HaloMissing, self.of_cells(&cells, before))
    }

    /// Cells of the core were given whole, as is done when something enters from far away.
    pub(super) fn core_given_otherwise(&mut self, before: Tick) -> Option<(Cause, Vec<String>)> {
        let [ours, theirs] = self.pair;
        let told = [self.told(ours, before), self.told(theirs, before)].concat();
        let cells: Vec<_> = self.common.core.iter().copied().filter(|cell| told.contains(cell)).collect();
        (!cells.is_empty()).then(|| (Cause::HaloMissing, self.of_cells(&cells, before)))
    }

    fn of_cells(&mut self, cells: &[CellId], before: Tick) -> Vec<String> {
        let tick = self.tick;
        let mut reasons = Vec::new();
        for &cell in cells.iter().take(NAMED_MAX) {
            let simulates = |n: usize, question: &mut Self| {
                let extent = question.players[n].at(tick).extent();
                extent.is_none_or(|extent| extent.core.contains(cell))
            };
            let [ours, theirs] = self.pair;
            let (owner, holder) = if simulates(ours, self) { (ours, theirs) } else { (theirs, ours) };
            let given = self.told(holder, before).contains(&cell);
            let (owner, holder) = (self.peers[owner].who(), self.peers[holder].who());
            reasons.push(match given {
                true => format!("at tick {before} {holder} was given cell {cell} otherwise than {owner} had it"),
                false => format!("at tick {before} {holder} was not given cell {cell}, which had changed for {owner}"),
            });
        }
        if cells.len() > NAMED_MAX {
            reasons.push(format!("the same of {} more cells", cells.len() - NAMED_MAX));
        }
        reasons
    }

    /// With the halo that its core needs, taken from the other, a part comes out as the other did.
    pub(super) fn halo_too_narrow(&mut self, before: Tick) -> Option<(Cause, Vec<String>)> {
        for [whole, part] in [self.pair, [self.pair[1], self.pair[0]]] {
            let had = self.players[part].at(before).extent();
            let needed = self.players[part].at(before).extent_needed();
            let Some((had, needed)) = had.zip(needed) else { continue };
            let known = self.players[whole].at(before).extent();
            let supplies = known.is_none_or(|known| known.halo.contains_rect(needed.halo));
            if !supplies || had.halo.contains_rect(needed.halo) {
                continue;
            }
            let mut again = self.fork(whole, before);
            let turn = self.turn(part, before);
            if !again.narrow(needed) {
                continue;
            }
            again.step(&turn);
            if self.sums_of(&mut again) == self.sums(whole) {
                let missing = needed.halo.len() - needed.halo.intersection(had.halo).len();
                let who = self.peers[part].who();
                let cell = needed.halo.iter().find(|cell| !had.halo.contains(*cell)).unwrap_or(needed.halo.low);
                return Some((
                    Cause::HaloMissing,
                    vec![
                        format!(
                            "at tick {before} the core of {who} was cells {} to {}, and its halo {} to {}: {missing} cells that it needs, of which {cell} is the first, it was not given",
                            had.core.low, had.core.high, had.halo.low, had.halo.high
                        ),
                        format!("with them, its turn of tick {before} leads to what {} has", self.peers[whole].who()),
                    ],
                ));
            }
        }
        None
    }

    /// With all of its halo a part comes out otherwise, and the whole with the same
    /// inputs does not.
    pub(super) fn reaches_too_far(&mut self, before: Tick) -> Option<(Cause, Vec<String>)> {
        let [whole, part] = self.pair;
        let needed = self.players[part].at(before).extent_needed()?;
        if self.players[whole].at(before).extent().is_some() {
            return None;
        }
        let (turn, goal) = (self.turn(part, before), self.sums(whole));
        let mut again = self.fork(whole, before);
        if !again.narrow(needed) {
            return None;
        }
        again.step(&turn);
        (self.sums_of(&mut again) != goal && self.played(whole, before, &turn) == goal).then(|| {
            let reason = format!(
                "the turn of tick {before} leads to what {} has in the whole world, and not in a part of it with all of its halo: something reads or acts beyond the reach",
                self.peers[whole].who()
            );
            (Cause::ReachExceeded, vec![reason])
        })
    }
}
