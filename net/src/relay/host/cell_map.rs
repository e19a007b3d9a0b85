//! Something for some of the cells of a grid.
//!
//! A lookup is an array access, and cells that lie side by side lie so in memory: a relay makes
//! thousands a tick, mostly of neighbours.

use core::num::NonZeroU32;

use lockstone_sim::{CellId, Grid};

pub(super) struct CellMap<T> {
    grid: Grid,
    /// By the cell's place in the grid: where its value is, counted from 1. Zeroed memory: what is
    /// never written to costs address space alone.
    index: Vec<Option<NonZeroU32>>,
    /// In no particular order.
    values: Vec<(CellId, T)>,
}

impl<T> CellMap<T> {
    pub fn new(grid: &Grid) -> CellMap<T> {
        CellMap { grid: *grid, index: vec![None; grid.cells()], values: Vec::new() }
    }

    fn place(&self, cell: CellId) -> Option<usize> {
        self.index[self.grid.index(cell)].map(|place| place.get() as usize - 1)
    }

    pub fn get_mut(&mut self, cell: CellId) -> Option<&mut T> {
        let place = self.place(cell)?;
        Some(&mut self.values[place].1)
    }

    pub fn get_or_insert_with(&mut self, cell: CellId, value: impl FnOnce() -> T) -> &mut T {
        let place = self.place(cell).unwrap_or_else(|| {
            self.values.push((cell, value()));
            self.set(cell, Some(self.values.len() - 1));
            self.values.len() - 1
        });
        &mut self.values[place].1
    }

    pub fn remove(&mut self, cell: CellId) {
        let Some(place) = self.place(cell) else { return };
        self.set(cell, None);
        self.values.swap_remove(place);
        if let Some(&(moved, _)) = self.values.get(place) {
            self.set(moved, Some(place));
        }
    }

    fn set(&mut self, cell: CellId, place: Option<usize>) {
        self.index[self.grid.index(cell)] = place.and_then(|place| NonZeroU32::new(place as u32 + 1));
    }
}
