//! Who needs which cell: lists by cell of the replicas that are given it, and by block of cells of those that know some of it.
//!
//! The state that those replicas have of a cell is kept, so that what changed is encoded once for all of them. Nothing here is ever
//! visited that did not change or has no watcher.

use std::collections::HashMap;

use lockstone_sim::world::CellState;
use lockstone_sim::{CellId, CellRect, Rules, World};

use super::guest::Slot;
use crate::wire::{CellBytes, RawGiven};

/// A block is 2 to the power of this many cells wide and high.
const BLOCK_LOG2: u32 = 3;

/// Maps are only looked up, never walked: their order shows nowhere.
pub(super) struct Watch<R: Rules> {
    given: HashMap<CellId, GivenCell<R>>,
    blocks: HashMap<CellId, Vec<Slot>>,
}

struct GivenCell<R: Rules> {
    /// As those to whom it is given know it; `None` if it was never lit.
    state: Option<CellState<R>>,
    to: Vec<Slot>,
}

impl<R: Rules> Watch<R> {
    pub fn new() -> Self {
        Watch { given: HashMap::new(), blocks: HashMap::new() }
    }

    /// From now on a replica is given what changes in a cell, that it knows as it is in the world now.
    pub fn give(&mut self, cell: CellId, to: Slot, world: &World<R>) {
        let new = || GivenCell { state: world.cell_state(cell), to: Vec::new() };
        let given = self.given.entry(cell).or_insert_with(new);
        if !given.to.contains(&to) {
            given.to.push(to);
        }
    }

    /// A replica is no longer given a cell.
    pub fn withhold(&mut self, cell: CellId, from: Slot) {
        let Some(given) = self.given.get_mut(&cell) else { return };
        given.to.retain(|slot| *slot != from);
        if given.to.is_empty() {
            self.given.remove(&cell);
        }
    }

    /// Whether anyone is given a cell.
    pub fn gives(&self, cell: CellId) -> bool {
        self.given.contains_key(&cell)
    }

    /// What changed in a cell, and who is to be told; `None` if nothing did, or nobody is.
    pub fn change(&mut self, cell: CellId, world: &World<R>) -> Option<(RawGiven, &[Slot])> {
        let given = self.given.get_mut(&cell)?;
        let now = world.cell_state(cell)?;
        let change = match &given.state {
            Some(before) => RawGiven::Change(cell, CellBytes::new(now.change_since(before)?)),
            None => RawGiven::Change(cell, CellBytes::new(world.change_since_pristine(cell)?)),
        };
        given.state = Some(now);
        Some((change, &given.to))
    }

    /// The rectangle that a replica knows becomes another.
    pub fn know(&mut self, slot: Slot, before: CellRect, after: CellRect) {
        let (before, after) = (blocks(before), blocks(after));
        for block in before.iter().filter(|block| !after.contains(*block)) {
            if let Some(slots) = self.blocks.get_mut(&block) {
                slots.retain(|one| *one != slot);
                if slots.is_empty() {
                    self.blocks.remove(&block);
                }
            }
        }
        for block in after.iter().filter(|block| !before.contains(*block)) {
            self.blocks.entry(block).or_default().push(slot);
        }
    }

    /// The replicas that may know a cell: their rectangles say.
    pub fn near(&self, cell: CellId) -> &[Slot] {
        self.blocks.get(&block(cell)).map_or(&[], |slots| slots)
    }
}

fn block(cell: CellId) -> CellId {
    CellId::new(cell.x >> BLOCK_LOG2, cell.y >> BLOCK_LOG2)
}

fn blocks(cells: CellRect) -> CellRect {
    if cells.is_empty() { CellRect::EMPTY } else { CellRect { low: block(cells.low), high: block(cells.high) } }
}
