//! Where a world keeps its cells: sparse, copied on write, shared with snapshots.
//!
//! A stored cell has a slot. Slots are given out in the order in which cells are first lit, which differs between a whole and a partial
//! world: no result may depend on it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::entity::{Body, Entity};
use crate::grid::{CellId, CellRect, Grid};
use crate::ids::EntityId;

/// What a cell holds. Props stand apart, so that a cell whose actors move does not copy what stands still.
#[derive(Clone)]
pub(crate) struct Cell<B> {
    /// In id order, so heroes come first.
    pub actors: Vec<Entity<B>>,
    /// In id order.
    pub props: Arc<Vec<Entity<B>>>,
}

impl<B> Default for Cell<B> {
    fn default() -> Self {
        Cell { actors: Vec::new(), props: Arc::default() }
    }
}

impl<B: Body> Cell<B> {
    pub fn list(&self, list: List) -> &[Entity<B>] {
        match list {
            List::Actors => &self.actors,
            List::Props => &self.props,
        }
    }

    pub fn list_mut(&mut self, list: List) -> &mut Vec<Entity<B>> {
        match list {
            List::Actors => &mut self.actors,
            List::Props => Arc::make_mut(&mut self.props),
        }
    }

    /// Puts an entity where it belongs. An id that is there already stays as it is.
    pub fn insert(&mut self, entity: Entity<B>) -> List {
        let list = if entity.is_actor() { List::Actors } else { List::Props };
        let entities = self.list_mut(list);
        if let Err(place) = entities.binary_search_by_key(&entity.id, |e| e.id) {
            entities.insert(place, entity);
        }
        list
    }

    /// Gives a cell's props to its next self, which nobody else holds. The cell keeps them only if a snapshot does.
    pub fn hand_over_props(before: &mut Arc<Self>, after: &mut Arc<Self>) {
        let next = Arc::get_mut(after).expect("a cell's next self is held once");
        match Arc::get_mut(before) {
            // Neither list's count is touched: in a large world each would be fetched for nothing else.
            Some(before) => core::mem::swap(&mut next.props, &mut before.props),
            None => next.props = before.props.clone(),
        }
    }

    pub fn find(&self, id: EntityId) -> Option<(List, usize)> {
        [List::Actors, List::Props]
            .into_iter()
            .find_map(|list| Some((list, self.list(list).binary_search_by_key(&id, |e| e.id).ok()?)))
    }
}

/// Which of a cell's two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum List {
    Actors,
    Props,
}

/// Since when a cell's checksum is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// It is not.
    No,
    /// Since an earlier step.
    Told,
    /// Since the last step told which cells it touched.
    Now,
}

/// What is known of a stored cell beside its content.
#[derive(Clone)]
pub(crate) struct Meta {
    pub id: CellId,
    /// The torchlight at the start of the tick; 0 is dormant.
    pub light: u8,
    /// Whether [`actors_sum`](Meta::actors_sum) is out of date.
    pub actors_stale: bool,
    /// Whether [`props_sum`](Meta::props_sum) is out of date.
    pub props_stale: bool,
    /// Since when [`sum`](Meta::sum) is out of date. Set with either of the above, and when the light changes.
    pub changed: Changed,
    pub actors_sum: u64,
    pub props_sum: u64,
    /// The cell's checksum, as last added to the total.
    pub sum: u64,
}

impl Meta {
    pub fn new(id: CellId) -> Meta {
        Meta {
            id,
            light: 0,
            actors_stale: true,
            props_stale: true,
            changed: Changed::Now,
            actors_sum: 0,
            props_sum: 0,
            sum: 0,
        }
    }

    /// Whether the cell was touched since this was last asked.
    pub fn tell(&mut self) -> bool {
        let now = self.changed == Changed::Now;
        if now {
            self.changed = Changed::Told;
        }
        now
    }

    pub fn touch(&mut self, list: List) {
        self.changed = Changed::Now;
        match list {
            List::Actors => self.actors_stale = true,
            List::Props => self.props_stale = true,
        }
    }

    /// A prop's checksum has become another: cheaper than to hash all props of the cell again.
    pub fn exchange_prop(&mut self, before: u64, after: u64) {
        self.changed = Changed::Now;
        self.props_sum = self.props_sum.wrapping_sub(before).wrapping_add(after);
    }

    pub fn set_light(&mut self, light: u8) {
        if self.light != light {
            self.changed = Changed::Now;
            self.light = light;
        }
    }
}

/// A slot in the index: counted from 1, so that an empty place costs no flag.
fn indexed(slot: usize) -> Option<NonZeroU32> {
    NonZeroU32::new(slot as u32 + 1)
}

/// The stored cells.
pub(crate) struct Store<B> {
    /// Every cell's slot, by its place in the grid. Of this very type, because an allocator has zeroed memory at hand: what is never
    /// written costs address space alone, and so a huge world costs what of it was ever lit.
    index: Vec<Option<NonZeroU32>>,
    pub cells: Vec<Arc<Cell<B>>>,
    pub meta: Vec<Meta>,
    /// The sum of all `meta.sum`.
    pub total: u64,
}

impl<B: Body> Store<B> {
    pub fn new(grid: &Grid) -> Store<B> {
        Store { index: alloc::vec![None; grid.cells()], cells: Vec::new(), meta: Vec::new(), total: 0 }
    }

    pub fn slot(&self, grid: &Grid, cell: CellId) -> Option<usize> {
        self.index[grid.index(cell)].map(|slot| slot.get() as usize - 1)
    }

    /// The cells of a rectangle, row by row, each with its slot if it is stored.
    pub fn slots(&self, grid: &Grid, rect: CellRect) -> impl Iterator<Item = (CellId, Option<usize>)> {
        (rect.low.y..=rect.high.y).flat_map(move |y| {
            let row = &self.index[grid.index(CellId::new(rect.low.x, y))..=grid.index(CellId::new(rect.high.x, y))];
            let slot = |slot: Option<NonZeroU32>| slot.map(|slot| slot.get() as usize - 1);
            (rect.low.x..).zip(row).map(move |(x, &indexed)| (CellId::new(x, y), slot(indexed)))
        })
    }

    /// The slot of a lit cell.
    pub fn lit_slot(&self, grid: &Grid, cell: CellId) -> Option<usize> {
        self.slot(grid, cell).filter(|&slot| self.meta[slot].light > 0)
    }

    /// Stores a cell that is not stored yet.
    pub fn add(&mut self, grid: &Grid, cell: CellId, content: Cell<B>) -> usize {
        let slot = self.cells.len();
        self.index[grid.index(cell)] = indexed(slot);
        self.cells.push(Arc::new(content));
        self.meta.push(Meta::new(cell));
        slot
    }

    /// Replaces a stored cell's content and light.
    pub fn exchange(&mut self, slot: usize, content: Arc<Cell<B>>, light: u8) {
        self.cells[slot] = content;
        let meta = &mut self.meta[slot];
        meta.touch(List::Actors);
        meta.touch(List::Props);
        meta.set_light(light);
    }

    /// Forgets a stored cell. The last slot takes its place.
    pub fn remove(&mut self, grid: &Grid, slot: usize) {
        self.cells.swap_remove(slot);
        let gone = self.meta.swap_remove(slot);
        self.total = self.total.wrapping_sub(gone.sum);
        self.index[grid.index(gone.id)] = None;
        if let Some(moved) = self.meta.get(slot) {
            self.index[grid.index(moved.id)] = indexed(slot);
        }
    }

    /// Replaces all cells.
    pub fn replace(&mut self, grid: &Grid, cells: &[Arc<Cell<B>>], meta: &[Meta], total: u64) {
        let same_slots = self.meta.len() == meta.len() && self.meta.iter().zip(meta).all(|(a, b)| a.id == b.id);
        if !same_slots {
            self.meta.iter().for_each(|m| self.index[grid.index(m.id)] = None);
            meta.iter().enumerate().for_each(|(slot, m)| self.index[grid.index(m.id)] = indexed(slot));
        }
        self.cells.clear();
        self.cells.extend(cells.iter().cloned());
        self.meta.clear();
        self.meta.extend_from_slice(meta);
        self.total = total;
    }

    /// A cell to be written to, and its record.
    pub fn write(&mut self, slot: usize) -> (&mut Cell<B>, &mut Meta) {
        (Arc::make_mut(&mut self.cells[slot]), &mut self.meta[slot])
    }

    /// Puts an entity into a cell.
    pub fn insert(&mut self, slot: usize, entity: Entity<B>) {
        let (cell, meta) = self.write(slot);
        let list = cell.insert(entity);
        meta.touch(list);
    }
}
