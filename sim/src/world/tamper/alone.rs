//! Which bit was turned over some steps ago.
//!
//! A step makes more than one bit of it, so no bit of the state behind it is the one. But mostly it
//! changes nobody but its own actor: that one thinks otherwise, and all others see too little of
//! it. So a bit is tried by letting its actor alone think, among all others as they are, and by
//! putting what becomes of it in its own place. That costs a thought a bit and not a step.

use alloc::vec::Vec;

use super::{Tail, encoded, put_last, slot};
use crate::codec::{Fixed, read_fixed};
use crate::entity::Entity;
use crate::grid::CellId;
use crate::ids::{Checksum, EntityId, Tick};
use crate::near::Place;
use crate::rules::Rules;
use crate::simulation::{Simulation, Turn};
use crate::store::List;
use crate::thoughts::{Decisions, Leaving, Thoughts};
use crate::world::step::Thinking;
use crate::world::{Snapshot, StateBit, StatePart, World, entity_sum};
use xxhash_rust::xxh3::xxh3_64;

/// Runs what it is given, and may catch its panic.
pub type Attempt<'a> = &'a dyn Fn(&mut dyn FnMut());

/// A bit, and before the turn of which tick it was turned over.
pub type BitBefore = (Tick, StateBit);

/// The bit of an actor that leads to a root, turned over before any of some turns: the first is
/// that of the world's tick, and the root the one behind the last. Of the actors of some cells, or
/// of all; at most so many thoughts are tried. `None` if no bit does, or if what the bit does to
/// others counts as well.
pub fn find_bit_before<R: Rules>(
    world: &mut World<R>,
    turns: &[Turn<World<R>>],
    root: Checksum,
    cells: Option<&[CellId]>,
    mut thoughts_max: usize,
    attempt: Attempt<'_>,
) -> Option<BitBefore> {
    let (start, mut moments) = (world.snapshot(), Vec::new());
    for turn in turns {
        moments.push(world.snapshot());
        world.step(turn);
    }
    let end = End::of(world);
    world.restore(&start);
    if end.root(&mut Tail(end.tail.0.clone()), &[]) == root {
        return None;
    }
    let moments: Vec<World<R>> = moments.iter().map(|moment| world.at(moment)).collect();
    let thinking: Vec<_> = moments.iter().zip(turns).map(|(world, turn)| Thinking::alone(world, turn)).collect();
    // The newest first: least has come of it, and least is to be played.
    for from in (0..turns.len()).rev() {
        let trial = Trial { moments: &moments[from..], thinking: &thinking[from..], end: &end, attempt };
        let lit = moments[from].state.store.meta.iter().take(moments[from].state.store.lit());
        for (n, meta) in lit.enumerate().filter(|(_, meta)| cells.is_none_or(|cells| cells.contains(&meta.id))) {
            for actor in &moments[from].state.store.cells[n].actors {
                if thoughts_max == 0 {
                    return None;
                }
                let of = StatePart::Entity(meta.id, actor.id);
                if let Some((byte, bit)) = trial.find_in(actor, root, &mut thoughts_max) {
                    return Some((moments[from].tick(), StateBit { of, byte, bit }));
                }
            }
        }
    }
    None
}

/// What the state behind the last turn is made of.
struct End<R: Rules> {
    state: Snapshot<R>,
    total: u64,
    tail: Tail,
}

impl<R: Rules> End<R> {
    fn of(world: &mut World<R>) -> End<R> {
        world.checksum();
        End { state: world.snapshot(), total: world.state.store.total, tail: world.tail() }
    }

    /// An actor, and the cell that it is in.
    fn find(&self, id: EntityId) -> Option<(usize, &Entity<R::Body>)> {
        let cells = self.state.cells.iter().enumerate();
        cells
            .filter_map(|(n, cell)| Some((n, &cell.actors[cell.actors.binary_search_by_key(&id, |e| e.id).ok()?])))
            .next()
    }

    /// The root if some cells' sums of entities were changed by so much.
    fn root(&self, tail: &mut Tail, changes: &[(usize, u64)]) -> Checksum {
        let mut total = self.total;
        for (n, (slot, change)) in changes.iter().enumerate() {
            let meta = &self.state.meta[*slot];
            if changes[..n].iter().any(|(other, _)| other == slot) {
                continue;
            }
            let of_cell = changes[n + 1..].iter().filter(|(other, _)| other == slot);
            let change = of_cell.fold(*change, |sum, (_, change)| sum.wrapping_add(*change));
            let mut leaf = encoded(&(meta.id, meta.light, 0_u64));
            put_last(&mut leaf, meta.actors_sum.wrapping_add(meta.props_sum).wrapping_add(change));
            total = total.wrapping_sub(meta.sum).wrapping_add(xxh3_64(&leaf));
        }
        tail.root(total)
    }
}

/// The turns from one on.
struct Trial<'w, R: Rules> {
    moments: &'w [World<R>],
    thinking: &'w [Thinking<'w, R>],
    end: &'w End<R>,
    attempt: Attempt<'w>,
}

impl<R: Rules> Trial<'_, R> {
    fn find_in(&self, actor: &Entity<R::Body>, root: Checksum, thoughts_max: &mut usize) -> Option<(usize, u8)> {
        let (id, mut thoughts, mut encoder) = (actor.id, Thoughts::default(), Fixed::default());
        // Where it stands at each tick: it is not seen by itself.
        let places: Vec<Place> = self.moments.iter().map(|world| place_of(world, id)).collect::<Option<_>>()?;
        let (home, after) = self.end.find(id)?;
        // Read again without a turned bit it must come to the same: or else somebody had a hand in
        // it, or something of it is in no encoding.
        let bytes = encoded(actor);
        let (again, _) = self.becomes(&read_fixed(&bytes).ok()?, &places, &mut thoughts)?;
        if encoded(&again) != encoded(after) {
            return None;
        }
        let before = entity_sum(&mut encoder, after);
        let (mut tail, mut turned) = (Tail(self.end.tail.0.clone()), bytes);
        for byte in 0..turned.len() {
            for bit in 0..8 {
                turned[byte] ^= 1 << bit;
                let trial = read_fixed(&turned).ok().filter(Entity::is_actor);
                turned[byte] ^= 1 << bit;
                let Some(trial) = trial else { continue };
                *thoughts_max = thoughts_max.saturating_sub(self.moments.len());
                let Some((other, cell)) = self.becomes(&trial, &places, &mut thoughts) else { continue };
                let sum = entity_sum(&mut encoder, &other);
                let Some(into) = cell.map_or(Some(home), |cell| slot(&self.end.state, cell)) else { continue };
                if self.end.root(&mut tail, &[(home, 0_u64.wrapping_sub(before)), (into, sum)]) == root {
                    return Some((byte, bit));
                }
            }
        }
        None
    }

    /// What becomes of an actor alone, and the cell that it goes to last, if it goes to any. `None`
    /// if nothing does.
    fn becomes(
        &self,
        actor: &Entity<R::Body>,
        places: &[Place],
        thoughts: &mut Thoughts<R>,
    ) -> Option<(Entity<R::Body>, Option<CellId>)> {
        let mut became = None;
        (self.attempt)(&mut || {
            let (mut next, mut cell) = (actor.clone(), None);
            for ((world, thinking), &place) in self.moments.iter().zip(self.thinking).zip(places) {
                let before = next.clone();
                thoughts.decisions = Decisions::default();
                thinking.next_self(&mut next, &before, place, thoughts);
                match thoughts.decisions.leavings.pop() {
                    Some((_, Leaving::Moves)) if next.is_actor() => cell = Some(world.state.grid.cell_of(next.pos)),
                    Some(_) => return,
                    None => {}
                }
            }
            became = Some((next, cell));
        });
        if became.is_none() {
            // Working memory may be left as a panic found it.
            *thoughts = Thoughts::default();
        }
        became
    }
}

fn place_of<R: Rules>(world: &World<R>, id: EntityId) -> Option<Place> {
    let store = &world.state.store;
    store.cells[..store.lit()].iter().enumerate().find_map(|(slot, cell)| {
        let index = cell.actors.binary_search_by_key(&id, |e| e.id).ok()?;
        Some(Place { slot: slot as u32, list: List::Actors, index: index as u32 })
    })
}

impl<R: Rules> World<R> {
    /// Another world of the same rules, table and seed, in a state, ready to think.
    fn at(&self, state: &Snapshot<R>) -> World<R> {
        let mut world = World::new(self.state.rules.clone(), self.state.grid, self.state.table.clone(), 0);
        world.state.seed = self.state.seed;
        world.restore(state);
        world.spots.renew(&world.state.store);
        world
    }
}
