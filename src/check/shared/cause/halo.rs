//! Suspicions about what a part was given: another state of a cell, too few cells, or all that it
//! needs, and yet something reaches farther.

use lockstone_sim::{CellId, Extent, Tick, Turn};

use super::{NAMED_MAX, PAIR, Question, REVERSED, Reasoned, Sums, sums_of};
use crate::check::report::Cause;
use crate::inspect::Inspect;

impl<S: Inspect> Question<'_, '_, S> {
    /// Cells of the halo are not what they are where they are simulated.
    pub(super) fn given_otherwise(&mut self, before: Tick) -> Reasoned {
        (Cause::HaloMissing, self.of_cells(&self.common.halo, before))
    }

    /// Cells of the core were given whole, as is done when something enters from far away; or they
    /// were beside the core when they were given, which took them in with that turn.
    pub(super) fn core_given_otherwise(&mut self, before: Tick) -> Option<Reasoned> {
        let told = PAIR.map(|n| self.told(n, before)).concat();
        let cores = PAIR.map(|n| self.players[n].at(before).extent().map(|extent| extent.core));
        let is_given = |cell: &CellId| told.contains(cell) || cores.iter().flatten().any(|core| !core.contains(*cell));
        let cells: Vec<_> = self.common.core.iter().copied().filter(is_given).collect();
        (!cells.is_empty()).then(|| (Cause::HaloMissing, self.of_cells(&cells, before)))
    }

    fn of_cells(&mut self, cells: &[CellId], before: Tick) -> Vec<String> {
        let mut reasons = Vec::new();
        for &cell in cells.iter().take(NAMED_MAX) {
            let extent = self.players[0].at(self.tick).extent();
            let simulates = extent.is_none_or(|extent| extent.core.contains(cell));
            let [owner, holder] = if simulates { PAIR } else { REVERSED };
            let given = self.told(holder, before).contains(&cell);
            let [owner, holder] = [owner, holder].map(|n| self.peers[n].who());
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
    pub(super) fn halo_too_narrow(&mut self, before: Tick) -> Option<Reasoned> {
        for [whole, part] in [PAIR, REVERSED] {
            let at = self.players[part].at(before);
            let Some((had, needed)) = at.extent().zip(at.extent_needed()) else { continue };
            let known = self.players[whole].at(before).extent();
            let supplies = known.is_none_or(|known| known.halo.contains_rect(needed.halo));
            if !supplies || had.halo.contains_rect(needed.halo) {
                continue;
            }
            let turn = self.players[part].turn(before);
            if self.played_in_part(whole, needed, &turn, before) == Some(self.sums(whole)) {
                let missing = needed.halo.len() - needed.halo.intersection(had.halo).len();
                let cell = needed.halo.iter().find(|cell| !had.halo.contains(*cell)).unwrap_or(needed.halo.low);
                let [whole, part] = [whole, part].map(|n| self.peers[n].who());
                return Some((
                    Cause::HaloMissing,
                    vec![
                        format!(
                            "at tick {before} the core of {part} was cells {} to {}, and its halo {} to {}: {missing} cells that it needs, of which {cell} is the first, it was not given",
                            had.core.low, had.core.high, had.halo.low, had.halo.high
                        ),
                        format!("with them, its turn of tick {before} leads to what {whole} has"),
                    ],
                ));
            }
        }
        None
    }

    /// With all of its halo a part comes out otherwise, and the whole with the same
    /// inputs does not.
    pub(super) fn reaches_too_far(&mut self, before: Tick) -> Option<Reasoned> {
        let needed = self.players[1].at(before).extent_needed()?;
        if self.players[0].at(before).extent().is_some() {
            return None;
        }
        let (turn, goal) = (self.players[1].turn(before), self.sums(0));
        let differs = self.played_in_part(0, needed, &turn, before)? != goal;
        (differs && self.played(0, before, turn.inputs) == goal).then(|| {
            let reason = format!(
                "the turn of tick {before} leads to what {} has in the whole world, and not in a part of it with all of its halo: something reads or acts beyond the reach",
                self.peers[0].who()
            );
            (Cause::ReachExceeded, vec![reason])
        })
    }

    /// What comes out in question in a part of what one has; `None` if it knows no parts.
    fn played_in_part(&mut self, n: usize, part: Extent, turn: &Turn<S>, before: Tick) -> Option<Sums> {
        let mut again = self.fork(n, before);
        if !again.narrow(part) {
            return None;
        }
        again.step(turn);
        Some(sums_of(&mut again, self.common))
    }
}
