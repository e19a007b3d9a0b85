//! What no session does to a world: tests, and the desync checker, set cells and areas from
//! outside, store cells in another order, and turn bits over, to see what comes of it.
//!
//! It is here with the feature `tamper` alone. A part in play is given its cells and its area by
//! its turns: [`Given`](super::Given).
//!
//! # Which bit was turned over
//!
//! A memory fault changes one bit. All that is recorded of it is a root checksum, and yet the bit
//! can be named: the state before is known, so each of its bits is turned over in turn until the
//! root is met. The tree makes that cheap: an entity, its cell and the root are hashed for each
//! bit, whatever the world's size.
//!
//! Nothing here may be called by what is simulated.

mod alone;

pub use alone::{Attempt, BitBefore, find_bit_before};

use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_64;

use super::{Area, CellState, Snapshot, StateBit, StatePart, World};
use crate::codec::{Fixed, read_fixed};
use crate::dice::Dice;
use crate::grid::CellId;
use crate::ids::Checksum;
use crate::rules::Rules;
use crate::simulation::Simulation;

/// Sets the state of a cell to that of the whole world at the same tick; `None` for one that was
/// never lit there. A cell that the area does not have is passed over.
pub fn put<R: Rules>(world: &mut World<R>, cell: CellId, state: Option<&CellState<R>>) {
    world.put_cell(cell, state);
    world.state.heroes.retain(|&(_, at)| at != cell);
    let content = world.slot(cell).map(|slot| world.state.store.cells[slot].clone());
    let heroes = content.iter().flat_map(|content| content.actors.iter().take_while(|entity| entity.id.is_hero()));
    heroes.filter_map(|hero| hero.player).for_each(|player| world.state.set_hero_cell(player, Some(cell)));
}

/// Changes the part that is simulated, once the halo has been [`put`] for this tick. What lies
/// outside is forgotten, what was halo and becomes core is exact already; every cell that is new to
/// the area must be put before the next step.
pub fn set_area<R: Rules>(world: &mut World<R>, area: Area) {
    world.change_area(area);
    world.find_heroes();
}

/// Stores the cells in another order, drawn from a key. Nothing else may come of it: no result
/// depends on that order.
pub fn reorder_cells<R: Rules>(world: &mut World<R>, key: u64) {
    let mut snapshot = world.snapshot();
    let mut order: Vec<usize> = (0..snapshot.meta.len()).collect();
    Dice::new(key).shuffle(&mut order);
    put_in_order(&mut snapshot, order);
    world.restore(&snapshot);
}

/// Puts a snapshot's cells in another order, the lit ones still before the dark ones.
fn put_in_order<R: Rules>(snapshot: &mut Snapshot<R>, mut order: Vec<usize>) {
    order.sort_by_key(|&slot| snapshot.meta[slot].light == 0);
    snapshot.cells = order.iter().map(|&slot| snapshot.cells[slot].clone()).collect();
    snapshot.meta = order.iter().map(|&slot| snapshot.meta[slot].clone()).collect();
}

/// The bit that leads to another root when it is turned over; `None` if no single one does. Of the
/// given cells and what is in none, or of the whole state.
pub fn find_bit<R: Rules>(world: &mut World<R>, root: Checksum, cells: Option<&[CellId]>) -> Option<StateBit> {
    let before = world.root();
    if before == root {
        return None;
    }
    let mut tail = world.tail();
    let all: Vec<CellId> = world.cells().collect();
    let found = cells.unwrap_or(&all).iter().find_map(|&cell| world.find_bit_in(cell, root, &mut tail));
    found.or_else(|| world.find_bit_of_facts(root))
}

/// The state with one bit turned over; `None` if there is no such state. Nothing else is put right:
/// an entity whose position was changed stays in its list, as it does when memory fails.
pub fn with_bit_turned<R: Rules>(snapshot: &Snapshot<R>, at: &StateBit) -> Option<Snapshot<R>> {
    let mut bytes = part(snapshot, at.of)?;
    *bytes.get_mut(at.byte)? ^= 1_u8.checked_shl(at.bit.into())?;
    with_part(snapshot, at.of, &bytes)
}

/// The [`Fixed`] encoding of a part; `None` if there is no such part.
pub fn part<R: Rules>(snapshot: &Snapshot<R>, of: StatePart) -> Option<Vec<u8>> {
    Some(match of {
        StatePart::Facts => encoded(&*snapshot.facts),
        StatePart::Light(cell) => encoded(&snapshot.meta[slot(snapshot, cell)?].light),
        StatePart::Entity(cell, id) => {
            let content = &snapshot.cells[slot(snapshot, cell)?];
            let (list, index) = content.find(id)?;
            encoded(&content.list(list)[index])
        }
    })
}

/// The state with a part read from another encoding; `None` if it cannot be. Nothing
/// else is put right.
pub fn with_part<R: Rules>(snapshot: &Snapshot<R>, of: StatePart, encoding: &[u8]) -> Option<Snapshot<R>> {
    let mut changed = snapshot.clone();
    match of {
        StatePart::Facts => changed.facts = Arc::new(read_fixed(encoding).ok()?),
        StatePart::Light(cell) => {
            let slot = slot(snapshot, cell)?;
            changed.meta[slot].set_light(read_fixed(encoding).ok()?);
            let order = (0..changed.meta.len()).collect();
            put_in_order(&mut changed, order);
        }
        StatePart::Entity(cell, id) => {
            let entity = read_fixed(encoding).ok()?;
            let slot = slot(snapshot, cell)?;
            let content = Arc::make_mut(&mut changed.cells[slot]);
            let (list, index) = content.find(id)?;
            content.list_mut(list)[index] = entity;
            changed.meta[slot].touch(list);
        }
    }
    Some(changed)
}

/// A value with one bit of its [`Fixed`] encoding turned over; `None` if there is no such value.
pub fn turned<T: Serialize + DeserializeOwned>(value: &T, byte: usize, bit: u8) -> Option<T> {
    let mut bytes = encoded(value);
    *bytes.get_mut(byte)? ^= 1_u8.checked_shl(bit.into())?;
    read_fixed(&bytes).ok()
}

fn slot<R: Rules>(snapshot: &Snapshot<R>, cell: CellId) -> Option<usize> {
    snapshot.meta.iter().position(|meta| meta.id == cell)
}

impl<R: Rules> World<R> {
    fn find_bit_in(&self, cell: CellId, root: Checksum, tail: &mut Tail) -> Option<StateBit> {
        let slot = self.slot(cell)?;
        let (meta, content) = (&self.state.store.meta[slot], &self.state.store.cells[slot]);
        let entities_sum = meta.actors_sum.wrapping_add(meta.props_sum);
        let rest = self.state.store.total.wrapping_sub(meta.sum);
        let mut leaf = encoded(&(meta.id, meta.light, entities_sum));
        // The light stands before the sum.
        let light_at = leaf.len() - 9;
        for bit in 0..8 {
            leaf[light_at] ^= 1 << bit;
            if tail.root(rest.wrapping_add(xxh3_64(&leaf))) == root {
                return Some(StateBit { of: StatePart::Light(cell), byte: 0, bit });
            }
            leaf[light_at] ^= 1 << bit;
        }
        for entity in content.actors.iter().chain(&*content.props) {
            let mut bytes = encoded(entity);
            let others = entities_sum.wrapping_sub(xxh3_64(&bytes));
            let met = turn_each(&mut bytes, |turned| {
                put_last(&mut leaf, others.wrapping_add(xxh3_64(turned)));
                tail.root(rest.wrapping_add(xxh3_64(&leaf))) == root
            });
            if let Some((byte, bit)) = met {
                return Some(StateBit { of: StatePart::Entity(cell, entity.id), byte, bit });
            }
        }
        None
    }

    fn find_bit_of_facts(&self, root: Checksum) -> Option<StateBit> {
        let mut facts = encoded(&*self.state.facts);
        let (before, after) = (encoded(&self.state.tick), self.counts());
        let (byte, bit) =
            turn_each(&mut facts, |turned| xxh3_64(&[before.as_slice(), turned, after.as_slice()].concat()) == root.0)?;
        Some(StateBit { of: StatePart::Facts, byte, bit })
    }

    fn tail(&self) -> Tail {
        Tail(encoded(&(
            self.state.tick,
            &*self.state.facts,
            self.state.store.cells.len() as u64,
            self.state.store.total,
        )))
    }

    fn counts(&self) -> Vec<u8> {
        encoded(&(self.state.store.cells.len() as u64, self.state.store.total))
    }
}

/// What the root is the hash of; the sum of the cells comes last.
struct Tail(Vec<u8>);

impl Tail {
    fn root(&mut self, total: u64) -> Checksum {
        put_last(&mut self.0, total);
        Checksum(xxh3_64(&self.0))
    }
}

fn put_last(bytes: &mut [u8], number: u64) {
    let at = bytes.len() - 8;
    bytes[at..].copy_from_slice(&number.to_le_bytes());
}

fn encoded<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut encoder = Fixed::default();
    encoder.push(value);
    encoder.bytes().to_vec()
}

/// Turns over each bit and back, until one is accepted.
fn turn_each(bytes: &mut [u8], mut accept: impl FnMut(&[u8]) -> bool) -> Option<(usize, u8)> {
    for byte in 0..bytes.len() {
        for bit in 0..8 {
            bytes[byte] ^= 1 << bit;
            if accept(bytes) {
                return Some((byte, bit));
            }
            bytes[byte] ^= 1 << bit;
        }
    }
    None
}
