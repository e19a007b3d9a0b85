//! Suspicion: one bit of the state was turned over, as a memory fault does.

use lockstone_sim::codec::differences;
use lockstone_sim::world::{StateBit, StatePart};
use lockstone_sim::{CellId, Checksum, Tick};

use super::rerun::Again;
use super::{Case, Found, Shown, Solution};
use crate::check::replayer::Replayer;
use crate::check::report::Cause;
use crate::inspect::{Inspect, Thing};
use crate::panics::caught;
use crate::recording::Tree;

/// So many steps are played to find a bit that was turned over before one.
const TRIED_BITS_MAX: usize = 20_000;
/// So many thoughts are, to find one that was turned over some steps before.
const TRIED_THOUGHTS_MAX: usize = 600_000;
const STEPS_MAX: usize = 20;
/// One bit reaches at most so many cells within a tick: those around its entity, and those around
/// another place that it moves it to.
const REACHED_CELLS_MAX: usize = 2 * 5 * 5;

impl<'c, S: Inspect> Case<'c, S> {
    /// The bit is looked for by its checksum: just before that was taken, or before the
    /// step that led there.
    pub(super) fn has_a_turned_bit(&mut self) -> Found<'c, S> {
        // What its own program comes to again is no fault of the memory.
        if matches!(self.rerun(), Some((_, Again::AsRecorded(_)))) {
            return Ok(None);
        }
        let Some((tick, bit)) = self.find_bit() else { return Ok(None) };
        let Some(mut odd) = self.with_bit_turned(tick, &bit) else { return Ok(None) };
        let StateBit { of, byte, bit: n } = bit;
        let mut reasons = vec![format!(
            "bit {n} of byte {byte} of {of}, turned over before the turn of tick {tick}, leads to its checksum"
        )];
        reasons.extend(field_of(self.played.at(tick), odd.at(tick), &bit));
        odd.at(self.tick);
        // A step that goes another way may begin with a single bit, by chance; but it does not
        // go on as ours does.
        let Some(met) =
            caught(|| self.meets(odd, |_| ())).ok().flatten().filter(|met| met.checksums > 1 || tick == self.tick)
        else {
            return Ok(None);
        };
        reasons.push(self.met(met));
        let cause = "no step writes a single bit: a fault of the memory, or a write from outside of the step";
        reasons.push(cause.to_owned());
        let odd = self.with_bit_turned(tick, &bit).map(Shown::Odd);
        let mut verdict = self.blame(Cause::StateCorruption, reasons);
        // If there is no checksum behind that one, nobody knows how it went on. A step that seldom
        // goes another way may change a single bit too: then it does so again, now or later.
        if met.checksums == 1 || met.unmet.is_some() {
            verdict.blamed.clear();
            verdict.others.push(Cause::Nondeterminism);
            verdict.others.extend(self.other_program().map(|_| Cause::Build));
        }
        Ok(Some(Solution::new(verdict, odd).followed(met)))
    }

    fn find_bit(&mut self) -> Option<(Tick, StateBit)> {
        let root = *self.suspect().roots.get(&self.tick)?;
        let cells = self.odd_cells();
        let world = self.played.at(self.tick);
        let bit = world.find_bit(root, cells.as_ref().map(|(_, cells)| &cells[..]));
        // Cells that differed later need not be those in which it began.
        let later = cells.as_ref().is_some_and(|(tick, _)| *tick > self.tick);
        match bit.or_else(|| later.then(|| world.find_bit(root, None)).flatten()) {
            Some(bit) => Some((self.tick, bit)),
            None => self.find_bit_before_steps(root, cells.map(|(_, cells)| cells)),
        }
    }

    /// The cells in which the odd peer differs, at the tick itself or as soon afterwards as it
    /// recorded a tree.
    pub(super) fn odd_cells(&mut self) -> Option<(Tick, Vec<CellId>)> {
        let (tick, theirs) = self.suspect().tree_from(self.tick)?;
        Some((tick, Tree::of(&self.played.at(tick).tree()).differences(&theirs)))
    }

    /// What comes of a bit that is turned over before a step may be more than a bit. It is looked
    /// for in the cells that differ afterwards and those next to them, if that is known.
    fn find_bit_before_steps(&mut self, root: Checksum, cells: Option<Vec<CellId>>) -> Option<(Tick, StateBit)> {
        let tick = self.last_good();
        let turns: Vec<_> = (tick.0..self.tick.0).map(|tick| self.played.turn(Tick(tick))).collect();
        if turns.len() > STEPS_MAX || cells.as_ref().is_some_and(|cells| cells.len() > REACHED_CELLS_MAX) {
            return None;
        }
        let mut trial = self.fork(tick);
        let near = cells.map(|cells| {
            let is_near =
                |cell: &CellId| cells.iter().any(|odd| odd.x.abs_diff(cell.x) <= 1 && odd.y.abs_diff(cell.y) <= 1);
            trial.tree().into_iter().map(|(cell, _)| cell).filter(is_near).collect::<Vec<_>>()
        });
        let in_one_step = turns.len() == 1;
        let loose = if in_one_step { self.find_bit_of(trial.things(None), root) } else { None };
        let alone = || trial.find_bit_before(&turns, root, near.as_deref(), TRIED_THOUGHTS_MAX);
        if let Some(found) = loose.or_else(alone) {
            return Some(found);
        }
        // If nobody knows which cells differ, those are tried on which much depends.
        let counts = |thing: &Thing| near.is_some() || !matches!(thing.part, StatePart::Entity(_, id) if !id.is_hero());
        let cells = near.clone().unwrap_or_else(|| trial.tree().into_iter().map(|(cell, _)| cell).collect());
        let things = cells.into_iter().flat_map(|cell| trial.things(Some(cell)));
        let things = things.filter(counts).collect();
        if in_one_step { self.find_bit_of(things, root) } else { None }
    }

    /// What a bit does to others shows only if the whole step is played for each.
    fn find_bit_of(&mut self, things: Vec<Thing>, root: Checksum) -> Option<(Tick, StateBit)> {
        let tick = self.last_good();
        let (mut trial, mut tried) = (self.fork(tick), self.fork(tick));
        let (build, seed) = (self.checker.build, self.peers[0].header.seed);
        let again = || build(seed);
        let turn = self.played.turn(tick);
        let mut leads_there = |turned: Option<S::Snapshot>| {
            // The rules may panic at what a turned bit makes of a number.
            turned.is_some_and(|turned| {
                let stepped = caught(|| {
                    trial.restore(&turned);
                    trial.step(&turn);
                    trial.checksum() == root
                });
                stepped.unwrap_or_else(|_| {
                    trial = again();
                    false
                })
            })
        };
        // Who reads a part again may lose something with it. Then it is not the bit that counts.
        let read_again = |trial: &mut S, of| trial.part(of).and_then(|bytes| trial.with_part(of, &bytes));
        if things.iter().any(|thing| leads_there(read_again(&mut tried, thing.part))) {
            return None;
        }
        let mut bits = things.iter().flat_map(bits_of).take(TRIED_BITS_MAX);
        Some((tick, bits.find(|bit| leads_there(tried.with_bit_turned(bit)))?))
    }

    fn with_bit_turned(&mut self, tick: Tick, bit: &StateBit) -> Option<Replayer<'c, S>> {
        let mut odd = self.fork(tick);
        let turned = odd.with_bit_turned(bit)?;
        odd.restore(&turned);
        Some(self.replay(odd, self.played.turns))
    }
}

fn bits_of(thing: &Thing) -> impl Iterator<Item = StateBit> + use<> {
    let (of, bytes) = (thing.part, thing.fields.last().map_or(0, |last| last.bytes.end));
    (0..bytes).flat_map(move |byte| (0..8).map(move |bit| StateBit { of, byte, bit }))
}

/// The field that a bit belongs to, with both values.
fn field_of<S: Inspect>(ours: &S, theirs: &S, bit: &StateBit) -> Option<String> {
    let thing = |simulation: &S| simulation.things(bit.of.cell()).into_iter().find(|thing| thing.part == bit.of);
    let (ours, theirs) = (thing(ours)?, thing(theirs)?);
    let difference = differences(&ours.fields, &theirs.fields).into_iter().next()?;
    Some(format!("{} {}", ours.kind, difference))
}
