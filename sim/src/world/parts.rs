//! Some parts of a world's state, for another world at the same tick in which just these differ.
//!
//! What is replaced may come from a peer: it is checked as a snapshot is, and put in whole or not
//! at all.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::snapshot::check_unique;
use super::{Area, CellState, Snapshot, World, cell};
use crate::codec::{self, CodecError};
use crate::entity::Body;
use crate::grid::CellId;
use crate::ids::{Checksum, Tick};
use crate::rules::Rules;

/// Serialised parts of a state.
#[derive(Serialize, Deserialize)]
#[serde(bound = "F: Serialize + serde::de::DeserializeOwned, B: Body")]
struct Written<F, B> {
    tick: Tick,
    /// If they are among the parts.
    facts: Option<F>,
    /// Ascending. `None`: it was never lit.
    cells: Vec<(CellId, Option<cell::Written<B>>)>,
}

impl<R: Rules> World<R> {
    /// The checksum of what is in no cell.
    pub(super) fn facts_checksum(&mut self) -> Checksum {
        self.encoder.clear();
        self.encoder.push(&(self.state.tick, &*self.state.facts));
        Checksum(xxh3_64(self.encoder.bytes()))
    }

    /// Puts in what [`Snapshot::encode_parts`] wrote. If it fails, nothing has changed.
    pub(super) fn put_parts(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        let Written { tick, facts, cells } = codec::read(bytes, Snapshot::<R>::BYTES_MAX)?;
        if tick != self.state.tick || !cells.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(CodecError::Malformed("parts of another state"));
        }
        let grid = self.state.grid;
        let mut states = Vec::with_capacity(cells.len());
        for (id, written) in cells {
            if !self.area.has(id) || !grid.contains(id) {
                return Err(CodecError::Malformed("a cell outside the area"));
            }
            let state = written.map(|written: cell::Written<R::Body>| {
                let light = written.light;
                Ok(CellState::<R> { content: Arc::new(written.into_cell(id, &grid)?), light })
            });
            states.push((id, state.transpose()?));
        }
        let before = self.take_snapshot();
        states.iter().for_each(|(id, state)| self.put_cell(*id, state.as_ref()));
        if let Some(facts) = facts {
            self.state.facts = Arc::new(facts);
        }
        self.find_heroes();
        self.requests.clear();
        let unique = if self.area == Area::Whole { check_unique(&self.state.store.cells) } else { Ok(()) };
        if unique.is_err() {
            self.restore_snapshot(&before);
        }
        self.retire_snapshot(before);
        unique
    }
}

impl<R: Rules> Snapshot<R> {
    /// The state of some cells, and of what is in no cell.
    pub(super) fn encode_parts(&self, cells: &[CellId], facts: bool) -> Vec<u8> {
        let slots: BTreeMap<CellId, usize> = self.meta.iter().map(|meta| meta.id).zip(0..).collect();
        let state = |slot: &usize| cell::Written::of(&self.cells[*slot], self.meta[*slot].light);
        let cells = cells.iter().map(|cell| (*cell, slots.get(cell).map(state)));
        let facts = facts.then(|| (*self.facts).clone());
        codec::compact(&Written { tick: self.tick, facts, cells: cells.collect() })
    }
}
