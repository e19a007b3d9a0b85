//! Where a world keeps its cells: sparse, copied on write, shared with snapshots.
//!
//! ```text
//! slots   0 .. lit         lit cells: all that a tick looks at
//!         lit .. stored    dark cells: explored, and asleep
//! ```
//!
//! A stored cell has a slot. Lit cells stand before dark ones, so what is dark costs a tick
//! nothing. Cells change places when they are lit and when they go dark. The order of the slots
//! differs between a whole and a partial world: no result may depend on it.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::entity::{Body, Entity};
use crate::grid::{CellId, CellRect, Grid};
use crate::ids::EntityId;

/// What a cell holds. Props stand apart, so that a cell whose actors move does not copy
/// what stands still.
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

    /// Frees the memory that the lists have to spare: a cell that goes dark may stay so for ever.
    pub fn pack(this: &mut Arc<Self>) {
        fn is_loose<T>(list: &Vec<T>) -> bool {
            list.capacity() > list.len()
        }
        if is_loose(&this.actors) {
            Arc::make_mut(this).actors.shrink_to_fit();
        }
        if is_loose(&this.props) {
            Arc::make_mut(&mut Arc::make_mut(this).props).shrink_to_fit();
        }
    }

    /// Gives a cell's props to its next self, which nobody else holds. The cell keeps them only if
    /// a snapshot does.
    pub fn hand_over_props(before: &mut Arc<Self>, after: &mut Arc<Self>) {
        let next = Arc::get_mut(after).expect("a cell's next self is held once");
        match Arc::get_mut(before) {
            // Neither list's count is touched: in a large world each would be fetched
            // for nothing else.
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
    /// Since when [`sum`](Meta::sum) is out of date. Set with either of the above, and when
    /// the light changes.
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

    /// Sets the light. Returns whether it was another.
    pub fn set_light(&mut self, light: u8) -> bool {
        let is_other = self.light != light;
        if is_other {
            self.changed = Changed::Now;
            self.light = light;
        }
        is_other
    }
}

/// A slot in the index: counted from 1, so that an empty place costs no flag.
fn indexed(slot: usize) -> Option<NonZeroU32> {
    NonZeroU32::new(slot as u32 + 1)
}

/// The stored cells.
pub(crate) struct Store<B> {
    /// Every cell's slot, by its place in the grid. Of this very type, because an allocator has
    /// zeroed memory at hand: what is never written costs address space alone, and so a huge world
    /// costs what of it was ever lit.
    index: Vec<Option<NonZeroU32>>,
    pub cells: Vec<Arc<Cell<B>>>,
    pub meta: Vec<Meta>,
    /// So many slots, the first, are of lit cells.
    lit: usize,
    /// How often a cell has got another light, or all cells have been replaced.
    relit: u64,
    /// Every dark cell whose checksum is out of date. Others may be among them, and some twice.
    stale_dark: Vec<CellId>,
    /// The sum of all `meta.sum`.
    pub total: u64,
}

impl<B: Body> Store<B> {
    pub fn new(grid: &Grid) -> Store<B> {
        Store {
            index: alloc::vec![None; grid.cells()],
            cells: Vec::new(),
            meta: Vec::new(),
            lit: 0,
            relit: 0,
            stale_dark: Vec::new(),
            total: 0,
        }
    }

    /// The slots of the lit cells: those from 0 to below this.
    pub fn lit(&self) -> usize {
        self.lit
    }

    /// As long as this is the same, so is every cell's light.
    pub fn relit(&self) -> u64 {
        self.relit
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
        self.slot(grid, cell).filter(|&slot| slot < self.lit)
    }

    /// The dark cells whose checksums may be out of date: from now on the caller's concern.
    pub fn take_stale_dark(&mut self) -> Vec<CellId> {
        core::mem::take(&mut self.stale_dark)
    }

    /// Dark cells whose checksums are still out of date.
    pub fn keep_stale_dark(&mut self, cells: Vec<CellId>) {
        self.stale_dark = cells;
    }

    /// Stores a cell that is not stored yet. It is dark.
    pub fn add(&mut self, grid: &Grid, cell: CellId, content: Cell<B>) -> usize {
        let slot = self.cells.len();
        self.index[grid.index(cell)] = indexed(slot);
        self.cells.push(Arc::new(content));
        self.meta.push(Meta::new(cell));
        self.stale_dark.push(cell);
        slot
    }

    /// Replaces a stored cell's content and light.
    pub fn exchange(&mut self, grid: &Grid, slot: usize, content: Arc<Cell<B>>, light: u8) {
        self.cells[slot] = content;
        let meta = &mut self.meta[slot];
        meta.touch(List::Actors);
        meta.touch(List::Props);
        if light == 0 {
            self.stale_dark.push(meta.id);
        }
        self.set_light(slot, light);
        self.sort_in(grid, slot);
    }

    /// Sets the light of a cell, which has yet to be [sorted in](Store::sort_in). Returns its
    /// record.
    pub fn set_light(&mut self, slot: usize, light: u8) -> &mut Meta {
        let meta = &mut self.meta[slot];
        self.relit += u64::from(meta.set_light(light));
        meta
    }

    /// Moves a cell whose light was set among the lit or the dark ones. Another cell takes
    /// its slot: the last lit one if it goes dark, the first dark one if it is lit.
    /// Returns its new slot.
    pub fn sort_in(&mut self, grid: &Grid, slot: usize) -> usize {
        let to = match (slot < self.lit, self.meta[slot].light > 0) {
            (true, false) => {
                self.lit -= 1;
                self.lit
            }
            (false, true) => {
                self.lit += 1;
                self.lit - 1
            }
            _ => return slot,
        };
        self.swap(grid, slot, to);
        to
    }

    fn swap(&mut self, grid: &Grid, a: usize, b: usize) {
        self.cells.swap(a, b);
        self.meta.swap(a, b);
        [a, b].into_iter().for_each(|slot| self.index[grid.index(self.meta[slot].id)] = indexed(slot));
    }

    /// Forgets a stored cell. Cells from behind take its place.
    pub fn remove(&mut self, grid: &Grid, slot: usize) {
        self.set_light(slot, 0);
        let slot = self.sort_in(grid, slot);
        self.swap(grid, slot, self.meta.len() - 1);
        self.cells.pop();
        let gone = self.meta.pop().expect("a cell is stored");
        self.total = self.total.wrapping_sub(gone.sum);
        self.index[grid.index(gone.id)] = None;
    }

    /// Replaces all cells: by lit ones, and then dark ones.
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
        self.lit = meta.partition_point(|meta| meta.light > 0);
        self.stale_dark.clear();
        let stale = meta[self.lit..].iter().filter(|meta| meta.changed != Changed::No);
        self.stale_dark.extend(stale.map(|meta| meta.id));
        self.total = total;
        self.relit += 1;
    }

    /// A cell to be written to, and its record.
    pub fn write(&mut self, slot: usize) -> (&mut Cell<B>, &mut Meta) {
        let meta = &mut self.meta[slot];
        if slot >= self.lit {
            self.stale_dark.push(meta.id);
        }
        (Arc::make_mut(&mut self.cells[slot]), meta)
    }

    /// Puts an entity into a cell.
    pub fn insert(&mut self, slot: usize, entity: Entity<B>) {
        let (cell, meta) = self.write(slot);
        let list = cell.insert(entity);
        meta.touch(list);
    }
}
