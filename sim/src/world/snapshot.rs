//! Snapshots: the state of a world, shared cell by cell with the world it was taken from.
//!
//! Taking one costs a pointer and a record a stored cell; a cell is copied when it is
//! next written to.
//!
//! The area is part of it, and is restored with it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::area::heroes_of;
use super::{Area, Extent, State, World, cell};
use crate::codec::{self, CodecError};
use crate::entity::Body;
use crate::grid::{CellId, Grid};
use crate::ids::{PlayerId, Tick};
use crate::rules::Rules;
use crate::store::{Cell, Meta};
use crate::thoughts::one_of;

/// How many retired snapshots' memory is kept: as many as a deep rollback gives back at once.
const RETIRED_MAX: usize = 16;

/// The state of a world at one tick.
pub struct Snapshot<R: Rules> {
    pub(super) tick: Tick,
    area: Area,
    pub(super) facts: Arc<R::Facts>,
    heroes: Vec<(PlayerId, CellId)>,
    /// Lit cells, then dark ones.
    pub(super) cells: Vec<Arc<Cell<R::Body>>>,
    pub(super) meta: Vec<Meta>,
    total: u64,
}

impl<R: Rules> Clone for Snapshot<R> {
    fn clone(&self) -> Self {
        Snapshot {
            tick: self.tick,
            area: self.area,
            facts: self.facts.clone(),
            heroes: self.heroes.clone(),
            cells: self.cells.clone(),
            meta: self.meta.clone(),
            total: self.total,
        }
    }
}

/// A serialised snapshot: cells in row-major order, whatever the order in which they were stored.
#[derive(Serialize, Deserialize)]
#[serde(bound = "F: Serialize + serde::de::DeserializeOwned, B: Body")]
struct Written<F, B> {
    tick: Tick,
    facts: F,
    /// That of a part.
    extent: Option<Extent>,
    cells: Vec<WrittenCell<B>>,
}

#[derive(Serialize, Deserialize)]
#[serde(bound = "B: Body")]
struct WrittenCell<B> {
    id: CellId,
    state: cell::Written<B>,
}

impl<R: Rules> World<R> {
    pub(super) fn take_snapshot(&mut self) -> Snapshot<R> {
        let store = &self.state.store;
        let (tick, area, facts, total) = (self.state.tick, self.area, self.state.facts.clone(), store.total);
        match self.retired.pop() {
            Some(mut old) => {
                old.cells.extend(store.cells.iter().cloned());
                old.meta.extend_from_slice(&store.meta);
                old.heroes.extend_from_slice(&self.state.heroes);
                Snapshot { tick, area, facts, total, ..old }
            }
            None => Snapshot {
                tick,
                area,
                facts,
                total,
                heroes: self.state.heroes.clone(),
                cells: store.cells.clone(),
                meta: store.meta.clone(),
            },
        }
    }

    pub(super) fn restore_snapshot(&mut self, snapshot: &Snapshot<R>) {
        self.state.tick = snapshot.tick;
        self.area = snapshot.area;
        self.state.facts = snapshot.facts.clone();
        self.state.heroes.clone_from(&snapshot.heroes);
        self.requests.clear();
        self.touched.clear();
        self.transferred.clear();
        let State { grid, store, .. } = &mut self.state;
        let thoughts = one_of(&mut self.thoughts);
        store.cells.drain(..).for_each(|cell| thoughts.recycle(cell));
        store.replace(grid, &snapshot.cells, &snapshot.meta, snapshot.total);
        thoughts.trim(store.lit());
    }

    /// A part of this world without any cell, at the same tick: what a replica begins with, before
    /// it is given an area.
    pub fn outline(&self) -> Snapshot<R> {
        let (tick, facts) = (self.state.tick, self.state.facts.clone());
        let (heroes, cells, meta) = (Vec::new(), Vec::new(), Vec::new());
        Snapshot { tick, area: Area::NOTHING, facts, heroes, cells, meta, total: 0 }
    }

    pub(super) fn retire_snapshot(&mut self, mut snapshot: Snapshot<R>) {
        let thoughts = one_of(&mut self.thoughts);
        snapshot.cells.drain(..).for_each(|cell| thoughts.recycle(cell));
        snapshot.meta.clear();
        snapshot.heroes.clear();
        if self.retired.len() < RETIRED_MAX {
            self.retired.push(snapshot);
        }
    }
}

impl<R: Rules> Snapshot<R> {
    /// The tick it was taken at.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// How many bytes a serialised snapshot may have at most.
    pub const BYTES_MAX: usize = codec::DECODED_BYTES_MAX;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut cells: Vec<_> = self.cells.iter().zip(&self.meta).map(|(cell, meta)| write_cell(cell, meta)).collect();
        cells.sort_by_key(|cell| cell.id);
        let extent = self.area.extent();
        codec::compact(&Written { tick: self.tick, facts: (*self.facts).clone(), extent, cells })
    }

    pub(super) fn decode(bytes: &[u8], grid: &Grid) -> Result<Snapshot<R>, CodecError> {
        let mut written: Written<R::Facts, R::Body> = codec::read(bytes, Self::BYTES_MAX)?;
        if !written.cells.is_sorted_by(|a, b| a.id < b.id) {
            return Err(CodecError::Malformed("cells out of order"));
        }
        let area = written.extent.map_or(Area::Whole, |extent| Area::of(grid, extent));
        written.cells.sort_by_key(|cell| cell.state.light == 0);
        let (mut cells, mut meta) = (Vec::new(), Vec::new());
        for WrittenCell { id, state } in written.cells {
            if !area.has(id) {
                return Err(CodecError::Malformed("a cell outside the area"));
            }
            let mut record = Meta::new(id);
            record.set_light(state.light);
            cells.push(Arc::new(state.into_cell(id, grid)?));
            meta.push(record);
        }
        let heroes = heroes_of(&area, &cells, &meta);
        // A part that was not given all may see twice what moves, once in the core and
        // once in the halo.
        if area == Area::Whole {
            check_unique(&cells)?;
        }
        Ok(Snapshot { tick: written.tick, area, facts: Arc::new(written.facts), heroes, cells, meta, total: 0 })
    }
}

fn write_cell<B: Body>(cell: &Cell<B>, meta: &Meta) -> WrittenCell<B> {
    WrittenCell { id: meta.id, state: cell::Written::of(cell, meta.light) }
}

pub(super) fn check_unique<B: Body>(cells: &[Arc<Cell<B>>]) -> Result<(), CodecError> {
    let entities = || cells.iter().flat_map(|cell| cell.actors.iter().chain(&*cell.props));
    if has_twice(entities().map(|entity| entity.id)) {
        return Err(CodecError::Malformed("an entity that is there twice"));
    }
    if has_twice(entities().filter_map(|entity| entity.player)) {
        return Err(CodecError::Malformed("a player with two heroes"));
    }
    Ok(())
}

fn has_twice<T: Ord>(values: impl Iterator<Item = T>) -> bool {
    let mut values: Vec<T> = values.collect();
    values.sort();
    !values.is_sorted_by(|a, b| a < b)
}
