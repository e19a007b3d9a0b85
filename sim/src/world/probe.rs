//! What the desync checker asks of a world: which bit was turned over, and a state with one turned over, or a part changed.
//!
//! A memory fault changes one bit. All that is recorded of it is a root checksum, and yet the bit can be named: the state before is
//! known, so each of its bits is turned over in turn until the root is met. The tree makes that cheap: an entity, its cell and the root
//! are hashed for each bit, whatever the world's size.
//!
//! Nothing here may be called by what is simulated.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Snapshot, World};
use crate::codec::{Fixed, read_fixed};
use crate::grid::CellId;
use crate::ids::{Checksum, EntityId};
use crate::rules::Rules;

/// One bit of a world's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateBit {
    /// What it is part of.
    pub of: StatePart,
    /// Which byte of the part's [`Fixed`] encoding.
    pub byte: usize,
    /// Which bit of the byte, 0 to 7; 0 is the lowest.
    pub bit: u8,
}

/// A part of a world's state that has an encoding of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StatePart {
    /// What everyone knows.
    Facts,
    /// A cell's torchlight.
    Light(CellId),
    /// An entity of a cell.
    Entity(CellId, EntityId),
}

impl StatePart {
    /// The cell that it is in, if it is in one.
    pub fn cell(&self) -> Option<CellId> {
        match self {
            StatePart::Facts => None,
            StatePart::Light(cell) | StatePart::Entity(cell, _) => Some(*cell),
        }
    }
}

impl fmt::Display for StatePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatePart::Facts => f.write_str("the facts"),
            StatePart::Light(cell) => write!(f, "the light of cell {cell}"),
            StatePart::Entity(cell, id) => write!(f, "entity {id} in cell {cell}"),
        }
    }
}

impl<R: Rules> World<R> {
    /// The bit that leads to another root when it is turned over; `None` if no single one does. Of the given cells, or of the whole state.
    pub fn find_bit(&mut self, root: Checksum, cells: Option<&[CellId]>) -> Option<StateBit> {
        let before = self.root();
        if before == root {
            return None;
        }
        let mut tail = self.tail();
        let all: Vec<CellId> = self.cells().collect();
        let found = cells.unwrap_or(&all).iter().find_map(|&cell| self.find_bit_in(cell, root, &mut tail));
        found.or_else(|| cells.is_none().then(|| self.find_bit_of_facts(root))?)
    }

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

    /// Stores the cells in another order, drawn from a key. Nothing else may come of it: no result depends on that order.
    pub fn reorder_cells(&mut self, key: u64) {
        let mut snapshot = self.take_snapshot();
        snapshot.reorder(key);
        self.restore_snapshot(&snapshot);
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

impl<R: Rules> Snapshot<R> {
    /// The state with one bit turned over; `None` if there is no such state. Nothing else is put right: an entity whose position was changed
    /// stays in its list, as it does when memory fails.
    pub fn with_bit_turned(&self, at: &StateBit) -> Option<Snapshot<R>> {
        let mut bytes = self.part(at.of)?;
        *bytes.get_mut(at.byte)? ^= 1_u8.checked_shl(at.bit.into())?;
        self.with_part(at.of, &bytes)
    }

    /// The [`Fixed`] encoding of a part; `None` if there is no such part.
    pub fn part(&self, of: StatePart) -> Option<Vec<u8>> {
        Some(match of {
            StatePart::Facts => encoded(&*self.facts),
            StatePart::Light(cell) => encoded(&self.meta[self.slot(cell)?].light),
            StatePart::Entity(cell, id) => {
                let content = &self.cells[self.slot(cell)?];
                let (list, index) = content.find(id)?;
                encoded(&content.list(list)[index])
            }
        })
    }

    /// The state with a part read from another encoding; `None` if it cannot be. Nothing else is put right.
    pub fn with_part(&self, of: StatePart, encoding: &[u8]) -> Option<Snapshot<R>> {
        let mut changed = self.clone();
        match of {
            StatePart::Facts => changed.facts = Arc::new(read_fixed(encoding).ok()?),
            StatePart::Light(cell) => {
                let slot = changed.slot(cell)?;
                changed.meta[slot].set_light(read_fixed(encoding).ok()?);
                changed.put_lit_first();
            }
            StatePart::Entity(cell, id) => {
                let entity = read_fixed(encoding).ok()?;
                let slot = changed.slot(cell)?;
                let content = Arc::make_mut(&mut changed.cells[slot]);
                let (list, index) = content.find(id)?;
                content.list_mut(list)[index] = entity;
                changed.meta[slot].touch(list);
            }
        }
        Some(changed)
    }

    fn slot(&self, cell: CellId) -> Option<usize> {
        self.meta.iter().position(|meta| meta.id == cell)
    }

    fn reorder(&mut self, key: u64) {
        let mut order: Vec<usize> = (0..self.meta.len()).collect();
        crate::dice::Dice::new(key).shuffle(&mut order);
        self.put_in_order(&order);
        self.put_lit_first();
    }

    fn put_lit_first(&mut self) {
        let mut order: Vec<usize> = (0..self.meta.len()).collect();
        order.sort_by_key(|&slot| self.meta[slot].light == 0);
        self.put_in_order(&order);
    }

    fn put_in_order(&mut self, order: &[usize]) {
        self.cells = order.iter().map(|&slot| self.cells[slot].clone()).collect();
        self.meta = order.iter().map(|&slot| self.meta[slot].clone()).collect();
    }
}
