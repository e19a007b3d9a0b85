//! Lit regions: cells with light that lie side by side.
//!
//! Found when they are asked for, and shared by all who ask in the same tick.

use lockstone_sim::{CellId, CellRect, Rules, Simulation, Tick, World};

/// A region of more cells is not looked at: no core is so large.
const REGION_CELLS_MAX: usize = 16_384;

/// The regions that were asked for in a tick.
#[derive(Default)]
pub(super) struct Regions {
    tick: Tick,
    /// The number of the newest region of each cell. Numbers go on from tick to tick, from 1, so
    /// that nothing has to be cleared.
    of: Vec<u64>,
    /// Regions of the ticks before.
    past: u64,
    /// The rectangle around each of this tick; `None` if it is too large.
    found: Vec<Option<CellRect>>,
}

impl Regions {
    /// The rectangle around the region of a lit cell; `None` if the region is too large.
    pub fn around<R: Rules>(&mut self, cell: CellId, world: &World<R>) -> Option<CellRect> {
        if self.tick != world.tick() || self.of.is_empty() {
            self.tick = world.tick();
            self.past += self.found.len() as u64;
            self.found.clear();
            if self.of.is_empty() {
                // Zeroed memory: what is never written to costs address space alone.
                self.of = vec![0; world.grid().cells()];
            }
        }
        match self.of[world.grid().index(cell)].checked_sub(self.past + 1) {
            Some(number) => self.found[number as usize],
            None => self.find(cell, world),
        }
    }

    fn find<R: Rules>(&mut self, cell: CellId, world: &World<R>) -> Option<CellRect> {
        let number = self.past + self.found.len() as u64 + 1;
        let mut bounds = CellRect::EMPTY;
        let mut open = vec![cell];
        let mut cells = 0;
        self.of[world.grid().index(cell)] = number;
        while let Some(cell) = open.pop() {
            cells += 1;
            bounds = bounds.union(CellRect::of(cell));
            for near in world.grid().block(cell, 1).iter().filter(|near| world.light(*near) > 0) {
                let known = core::mem::replace(&mut self.of[world.grid().index(near)], number);
                if known != number {
                    open.push(near);
                }
            }
        }
        let found = (cells <= REGION_CELLS_MAX).then_some(bounds);
        self.found.push(found);
        found
    }
}
