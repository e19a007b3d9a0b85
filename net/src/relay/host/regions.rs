//! Lit regions: cells with light that lie side by side.
//!
//! Found when they are asked for, and shared by all who ask in the same tick.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use lockstone_sim::{CellId, CellRect, Rules, Simulation, Tick, World};

/// A region of more cells is not looked at: no core is so large.
const REGION_CELLS_MAX: usize = 16_384;

/// The regions that were asked for in a tick.
#[derive(Default)]
pub(super) struct Regions {
    tick: Tick,
    /// Which region a cell is in: only looked up.
    of: HashMap<CellId, usize>,
    /// The rectangle around each; `None` if it is too large.
    found: Vec<Option<CellRect>>,
}

impl Regions {
    /// The rectangle around the region of a lit cell; `None` if the region is too large.
    pub fn around<R: Rules>(&mut self, cell: CellId, world: &World<R>) -> Option<CellRect> {
        if self.tick != world.tick() {
            self.tick = world.tick();
            self.of.clear();
            self.found.clear();
        }
        match self.of.get(&cell) {
            Some(number) => self.found[*number],
            None => self.find(cell, world),
        }
    }

    fn find<R: Rules>(&mut self, cell: CellId, world: &World<R>) -> Option<CellRect> {
        let number = self.found.len();
        let mut bounds = CellRect::EMPTY;
        let mut open = vec![cell];
        let mut cells = 0;
        self.of.insert(cell, number);
        while let Some(cell) = open.pop() {
            cells += 1;
            bounds = bounds.union(CellRect::of(cell));
            for near in world.grid().block(cell, 1).iter().filter(|near| world.light(*near) > 0) {
                if let Entry::Vacant(entry) = self.of.entry(near) {
                    entry.insert(number);
                    open.push(near);
                }
            }
        }
        self.found.push((cells <= REGION_CELLS_MAX).then_some(bounds));
        self.found[number]
    }
}
