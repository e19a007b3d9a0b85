//! Snapshots: the state of a world, shared cell by cell with the world it was taken from.
//!
//! Taking one costs a pointer and a record a stored cell; a cell is copied when it is next written to.
//!
//! The area is no part of it: a partial world keeps the one that it has. Its snapshot can be serialised and read once the halo of the
//! tick has been [`put`](World::put); before, what moved into the core still stands in the halo as well.

use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::{Area, State, World};
use crate::codec::{self, CodecError};
use crate::entity::{Body, Entity};
use crate::grid::{CellId, Grid};
use crate::ids::{EntityId, PlayerId, Tick};
use crate::rules::Rules;
use crate::store::{Cell, List, Meta};

/// How many retired snapshots' memory is kept: as many as a deep rollback gives back at once.
const RETIRED_MAX: usize = 16;

/// The state of a world at one tick.
pub struct Snapshot<R: Rules> {
    tick: Tick,
    pub(super) facts: Arc<R::Facts>,
    heroes: Vec<(PlayerId, CellId)>,
    pub(super) cells: Vec<Arc<Cell<R::Body>>>,
    pub(super) meta: Vec<Meta>,
    total: u64,
}

impl<R: Rules> Clone for Snapshot<R> {
    fn clone(&self) -> Self {
        Snapshot {
            tick: self.tick,
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
    cells: Vec<WrittenCell<B>>,
}

#[derive(Serialize, Deserialize)]
#[serde(bound = "B: Body")]
struct WrittenCell<B> {
    id: CellId,
    light: u8,
    /// Actors and props, each by id.
    entities: Vec<Entity<B>>,
}

impl<R: Rules> World<R> {
    pub(super) fn take_snapshot(&mut self) -> Snapshot<R> {
        let store = &self.state.store;
        let (tick, facts, total) = (self.state.tick, self.state.facts.clone(), store.total);
        match self.retired.pop() {
            Some(mut old) => {
                old.cells.extend(store.cells.iter().cloned());
                old.meta.extend_from_slice(&store.meta);
                old.heroes.extend_from_slice(&self.state.heroes);
                Snapshot { tick, facts, total, ..old }
            }
            None => Snapshot {
                tick,
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
        self.state.facts = snapshot.facts.clone();
        self.state.heroes.clone_from(&snapshot.heroes);
        self.requests.clear();
        let State { grid, store, .. } = &mut self.state;
        let thoughts = &mut self.thoughts;
        store.cells.drain(..).for_each(|cell| thoughts.recycle(cell));
        store.replace(grid, &snapshot.cells, &snapshot.meta, snapshot.total);
        thoughts.trim(store.cells.len());
        if self.area != Area::Whole {
            // It may have been taken when the area was another.
            self.forget_outside();
        }
    }

    pub(super) fn retire_snapshot(&mut self, mut snapshot: Snapshot<R>) {
        snapshot.cells.drain(..).for_each(|cell| self.thoughts.recycle(cell));
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
        codec::compact(&Written { tick: self.tick, facts: (*self.facts).clone(), cells })
    }

    pub(super) fn decode(bytes: &[u8], grid: &Grid) -> Result<Snapshot<R>, CodecError> {
        let written: Written<R::Facts, R::Body> = codec::read(bytes, Self::BYTES_MAX)?;
        if !written.cells.is_sorted_by(|a, b| a.id < b.id) {
            return Err(CodecError::Malformed("cells out of order"));
        }
        let mut ids: Vec<EntityId> =
            written.cells.iter().flat_map(|cell| &cell.entities).map(|entity| entity.id).collect();
        ids.sort();
        if !ids.is_sorted_by(|a, b| a < b) {
            return Err(CodecError::Malformed("an entity that is there twice"));
        }
        let (mut cells, mut meta, mut heroes) = (Vec::new(), Vec::new(), Vec::new());
        for cell in written.cells {
            let mut record = Meta::new(cell.id);
            record.set_light(cell.light);
            cells.push(Arc::new(read_cell(cell, grid, &mut heroes)?));
            meta.push(record);
        }
        heroes.sort();
        if !heroes.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(CodecError::Malformed("a player with two heroes"));
        }
        Ok(Snapshot { tick: written.tick, facts: Arc::new(written.facts), heroes, cells, meta, total: 0 })
    }
}

fn write_cell<B: Body>(cell: &Cell<B>, meta: &Meta) -> WrittenCell<B> {
    let entities = cell.actors.iter().chain(&*cell.props).cloned().collect();
    WrittenCell { id: meta.id, light: meta.light, entities }
}

/// Checks what a damaged or hostile snapshot could break: a world trusts its cells.
fn read_cell<B: Body>(
    written: WrittenCell<B>,
    grid: &Grid,
    heroes: &mut Vec<(PlayerId, CellId)>,
) -> Result<Cell<B>, CodecError> {
    if !grid.contains(written.id) || written.light > grid.config().light {
        return Err(CodecError::Malformed("a cell that the world does not have"));
    }
    let mut cell = Cell { actors: Vec::new(), props: Arc::default() };
    for entity in written.entities {
        if grid.clamp(entity.pos) != entity.pos || grid.cell_of(entity.pos) != written.id {
            return Err(CodecError::Malformed("an entity outside its cell"));
        }
        if entity.id.is_hero() != entity.player.is_some() {
            return Err(CodecError::Malformed("an id that does not fit its entity"));
        }
        heroes.extend(entity.player.map(|player| (player, written.id)));
        let list = cell.list_mut(if entity.is_actor() { List::Actors } else { List::Props });
        if list.last().is_some_and(|last| last.id >= entity.id) {
            return Err(CodecError::Malformed("entities out of order"));
        }
        list.push(entity);
    }
    Ok(cell)
}
