//! Lit regions: cells with light that lie side by side, and what is in them.
//!
//! Found when they are asked for, and shared by all who ask in the same tick.

use std::collections::HashMap;

use lockstone_sim::{CellId, CellRect, Rules, Simulation, Tick, World};

/// A region of more cells is not looked at: no core is so large.
const REGION_CELLS_MAX: usize = 16_384;

/// The regions that were asked for in a tick.
#[derive(Default)]
pub(super) struct Regions {
    tick: Tick,
    /// Which region a cell is in: only looked up.
    of: HashMap<CellId, usize>,
    found: Vec<Option<Region>>,
}

/// Connected cells with light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub bounds: CellRect,
    pub actors: usize,
    pub heroes: usize,
}

impl Regions {
    /// The region of a cell; `None` if it is dark, or the region too large.
    pub fn at<R: Rules>(&mut self, cell: CellId, world: &World<R>) -> Option<Region> {
        if self.tick != world.tick() {
            self.tick = world.tick();
            self.of.clear();
            self.found.clear();
        }
        match self.of.get(&cell) {
            Some(number) => self.found[*number],
            None if world.light(cell) == 0 => None,
            None => self.find(cell, world),
        }
    }

    fn find<R: Rules>(&mut self, cell: CellId, world: &World<R>) -> Option<Region> {
        let number = self.found.len();
        let mut region = Region { bounds: CellRect::EMPTY, actors: 0, heroes: 0 };
        let mut open = vec![cell];
        let mut cells = 0;
        self.of.insert(cell, number);
        while let Some(cell) = open.pop() {
            let actors = world.actors(cell);
            cells += 1;
            region.bounds = region.bounds.union(CellRect::of(cell));
            region.actors += actors.len();
            region.heroes += actors.iter().take_while(|actor| actor.player.is_some()).count();
            for near in world.grid().block(cell, 1).iter().filter(|near| world.light(*near) > 0) {
                if let std::collections::hash_map::Entry::Vacant(entry) = self.of.entry(near) {
                    entry.insert(number);
                    open.push(near);
                }
            }
        }
        self.found.push((cells <= REGION_CELLS_MAX).then_some(region));
        self.found[number]
    }
}
