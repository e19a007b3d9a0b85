//! The checksum tree: entity, cell, world.
//!
//! - An entity's checksum is the xxh3-64 of its fixed-size encoding, id and position included, so equal values never cancel.
//! - A cell's is the hash of its coordinates, its light and the sum of its entities' checksums.
//! - The world's root is the hash of the tick, the facts, the number of stored cells and the sum of their checksums.
//!
//! Sums do not depend on order, so only what changed is hashed again.

use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64;

use super::World;
use crate::codec::Fixed;
use crate::entity::{Body, Entity};
use crate::grid::CellId;
use crate::ids::{Checksum, EntityId};
use crate::rules::Rules;
use crate::store::List;

impl<R: Rules> World<R> {
    /// The checksum of a cell; `None` if it was never lit.
    pub fn cell_checksum(&mut self, cell: CellId) -> Option<Checksum> {
        self.renew();
        let slot = self.slot(cell)?;
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
        self.encoder.clear();
        let cells = self.state.store.cells.len() as u64;
        self.encoder.push(&(self.state.tick, &*self.state.facts, cells, self.state.store.total));
        Checksum(xxh3_64(self.encoder.bytes()))
    }

    /// Hashes again what changed.
    fn renew(&mut self) {
        let store = &mut self.state.store;
        for (cell, meta) in store.cells.iter().zip(&mut store.meta).filter(|(_, meta)| meta.stale) {
            if meta.actors_stale {
                meta.actors_sum = list_sum(&mut self.encoder, cell.list(List::Actors));
            }
            if meta.props_stale {
                meta.props_sum = list_sum(&mut self.encoder, cell.list(List::Props));
            }
            self.encoder.clear();
            self.encoder.push(&(meta.id, meta.light, meta.actors_sum.wrapping_add(meta.props_sum)));
            let sum = xxh3_64(self.encoder.bytes());
            store.total = store.total.wrapping_sub(meta.sum).wrapping_add(sum);
            meta.sum = sum;
            (meta.stale, meta.actors_stale, meta.props_stale) = (false, false, false);
        }
    }
}

fn list_sum<B: Body>(encoder: &mut Fixed, entities: &[Entity<B>]) -> u64 {
    entities.iter().fold(0, |sum: u64, entity| sum.wrapping_add(entity_sum(encoder, entity)))
}

/// The checksum of one entity.
pub(crate) fn entity_sum<B: Body>(encoder: &mut Fixed, entity: &Entity<B>) -> u64 {
    encoder.clear();
    encoder.push(entity);
    xxh3_64(encoder.bytes())
}
