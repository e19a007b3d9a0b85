//! The checksum tree: entity, cell, world.
//!
//! - An entity's checksum is the xxh3-64 of its fixed-size encoding, id and position included, so
//!   equal values never cancel.
//! - A cell's is the hash of its coordinates, its light and the sum of its entities' checksums.
//! - The world's root is the hash of the tick, the facts, the number of stored cells and the sum of
//!   their checksums.
//!
//! Sums do not depend on order, so only what changed is hashed again.

use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64;

use super::{State, World};
use crate::codec::Fixed;
use crate::entity::{Body, Entity};
use crate::grid::{CellId, CellRect};
use crate::ids::{Checksum, EntityId};
use crate::rules::Rules;
use crate::store::{Changed, List, Store};

impl<R: Rules> World<R> {
    /// The checksum of a cell; `None` if it was never lit.
    pub fn cell_checksum(&mut self, cell: CellId) -> Option<Checksum> {
        let slot = self.slot(cell)?;
        self.state.store.renew(slot, &mut self.encoder);
        Some(Checksum(self.state.store.meta[slot].sum))
    }

    /// The checksums of all stored cells, by cell.
    pub(super) fn cell_checksums(&mut self) -> Vec<(CellId, Checksum)> {
        self.renew();
        let cells = self.state.store.meta.iter().map(|meta| (meta.id, Checksum(meta.sum)));
        let mut cells: Vec<_> = cells.collect();
        cells.sort_by_key(|&(cell, _)| cell);
        cells
    }

    /// The checksums of a cell's entities: actors, then props, each by id.
    pub fn entity_checksums(&self, cell: CellId) -> Vec<(EntityId, Checksum)> {
        let mut encoder = Fixed::default();
        let entities = self.actors(cell).iter().chain(self.props(cell));
        entities.map(|entity| (entity.id, Checksum(entity_sum(&mut encoder, entity)))).collect()
    }

    pub(super) fn root(&mut self) -> Checksum {
        self.renew();
        self.hash_root(self.state.store.cells.len(), self.state.store.total)
    }

    /// The checksum of a part: of the tick, the facts and the cells of a core, the same for the
    /// whole world and for a part of it that has this core.
    pub fn part_checksum(&mut self, core: CellRect) -> Checksum {
        let cells = self.part_tree(core);
        let total = cells.iter().fold(0, |total: u64, (_, sum)| total.wrapping_add(sum.0));
        self.hash_root(cells.len(), total)
    }

    /// The checksums of the stored cells of a rectangle, row by row: what a
    /// [`part_checksum`](World::part_checksum) is the root of.
    pub fn part_tree(&mut self, core: CellRect) -> Vec<(CellId, Checksum)> {
        let State { grid, store, .. } = &mut self.state;
        let core = core.intersection(grid.all());
        let mut slots: Vec<(CellId, usize)> = if core.len() <= store.meta.len() {
            store.slots(grid, core).filter_map(|(cell, slot)| Some((cell, slot?))).collect()
        } else {
            let stored = store.meta.iter().enumerate();
            stored.filter(|(_, meta)| core.contains(meta.id)).map(|(slot, meta)| (meta.id, slot)).collect()
        };
        slots.sort();
        let mut sum_of = |slot| {
            store.renew(slot, &mut self.encoder);
            Checksum(store.meta[slot].sum)
        };
        slots.into_iter().map(|(cell, slot)| (cell, sum_of(slot))).collect()
    }

    fn hash_root(&mut self, cells: usize, total: u64) -> Checksum {
        self.encoder.clear();
        self.encoder.push(&(self.state.tick, &*self.state.facts, cells as u64, total));
        Checksum(xxh3_64(self.encoder.bytes()))
    }

    /// Hashes again what changed.
    fn renew(&mut self) {
        let State { grid, store, .. } = &mut self.state;
        (0..store.lit()).for_each(|slot| store.renew(slot, &mut self.encoder));
        for cell in store.take_stale_dark() {
            store.slot(grid, cell).into_iter().for_each(|slot| store.renew(slot, &mut self.encoder));
        }
    }
}

impl<B: Body> Store<B> {
    /// Hashes a cell again if it changed.
    #[inline]
    pub(super) fn renew(&mut self, slot: usize, encoder: &mut Fixed) {
        if self.meta[slot].changed != Changed::No {
            self.hash(slot, encoder);
        }
    }

    fn hash(&mut self, slot: usize, encoder: &mut Fixed) {
        let meta = &mut self.meta[slot];
        let cell = &self.cells[slot];
        if meta.actors_stale {
            meta.actors_sum = list_sum(encoder, cell.list(List::Actors));
        }
        if meta.props_stale {
            meta.props_sum = list_sum(encoder, cell.list(List::Props));
        }
        encoder.clear();
        encoder.push(&(meta.id, meta.light, meta.actors_sum.wrapping_add(meta.props_sum)));
        let sum = xxh3_64(encoder.bytes());
        self.total = self.total.wrapping_sub(meta.sum).wrapping_add(sum);
        meta.sum = sum;
        (meta.changed, meta.actors_stale, meta.props_stale) = (Changed::No, false, false);
    }
}

fn list_sum<B: Body>(encoder: &mut Fixed, entities: &[Entity<B>]) -> u64 {
    entities.iter().fold(0, |sum: u64, entity| sum.wrapping_add(entity_sum(encoder, entity)))
}

/// The same of one entity, for who hashes no other.
pub(crate) fn entity_checksum<B: Body>(entity: &Entity<B>) -> Checksum {
    Checksum(entity_sum(&mut Fixed::default(), entity))
}

/// The checksum of one entity.
pub(crate) fn entity_sum<B: Body>(encoder: &mut Fixed, entity: &Entity<B>) -> u64 {
    encoder.clear();
    encoder.push(entity);
    xxh3_64(encoder.bytes())
}
