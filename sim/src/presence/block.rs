//! Blocks of 8 x 8 cells: the things and the watchers of each, and where the stored ones are.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::strip::{Strip, outside, shared};
use crate::grid::{CellId, CellRect, Grid};

/// A block is 2 to the power of this many cells wide and high. Wider ones would make a watcher of 7 x 7 cells search through more others,
/// smaller ones would make it stand in more blocks.
pub(super) const BLOCK_LOG2: u16 = 3;

const SIDE: u16 = 1 << BLOCK_LOG2;
const CELLS: usize = 1 << (2 * BLOCK_LOG2);

/// Whether two cells lie in one block.
pub(super) fn same(a: CellId, b: CellId) -> bool {
    block_of(a) == block_of(b)
}

/// Column and row of the block that holds a cell, counted in blocks.
fn block_of(cell: CellId) -> CellId {
    CellId::new(cell.x >> BLOCK_LOG2, cell.y >> BLOCK_LOG2)
}

/// The blocks that hold a rectangle, counted in blocks.
fn blocks_of(cells: CellRect) -> CellRect {
    if cells == CellRect::EMPTY {
        return cells;
    }
    CellRect { low: block_of(cells.low), high: block_of(cells.high) }
}

/// A cell's place in its block, row by row.
fn place(x: u16, y: u16) -> usize {
    usize::from(y % SIDE * SIDE + x % SIDE)
}

/// What somebody watches of one block: where a column and a row of these cross.
#[derive(Clone, Copy)]
pub(super) struct Watch {
    pub watcher: u32,
    /// A bit a column.
    columns: u8,
    /// A bit a row.
    rows: u8,
}

impl Watch {
    /// What a rectangle has of a block that it touches.
    fn new(watcher: u32, cells: CellRect, block: CellId) -> Watch {
        let columns = bits(cells.low.x, cells.high.x, block.x);
        Watch { watcher, columns, rows: bits(cells.low.y, cells.high.y, block.y) }
    }

    /// Whether a cell of this block is watched.
    #[inline]
    pub fn holds(&self, cell: CellId) -> bool {
        self.columns >> (cell.x % SIDE) & self.rows >> (cell.y % SIDE) & 1 == 1
    }
}

/// Which of a block's columns, or rows, lie between two, both included.
fn bits(low: u16, high: u16, block: u16) -> u8 {
    let first = block << BLOCK_LOG2;
    let (low, high) = (low.max(first) - first, high.min(first | (SIDE - 1)) - first);
    (0xff << low) & (0xff >> (SIDE - 1 - high))
}

struct Block {
    /// Where each cell's things begin, and where the last one's end.
    starts: [u32; CELLS + 1],
    /// By cell, then by number.
    things: Vec<u32>,
    /// By watcher.
    watches: Vec<Watch>,
}

impl Block {
    const EMPTY: Block = Block { starts: [0; CELLS + 1], things: Vec::new(), watches: Vec::new() };

    fn is_empty(&self) -> bool {
        self.things.is_empty() && self.watches.is_empty()
    }

    /// Where in the array a thing is, or belongs.
    fn find(&self, place: usize, thing: u32) -> usize {
        let start = self.starts[place] as usize;
        start + self.things[start..self.starts[place + 1] as usize].partition_point(|&other| other < thing)
    }

    fn insert(&mut self, place: usize, thing: u32) {
        let at = self.find(place, thing);
        self.things.insert(at, thing);
        self.starts[place + 1..].iter_mut().for_each(|start| *start += 1);
    }

    fn remove(&mut self, place: usize, thing: u32) {
        let at = self.find(place, thing);
        self.things.remove(at);
        self.starts[place + 1..].iter_mut().for_each(|start| *start -= 1);
    }
}

/// All blocks of a world.
pub(super) struct Blocks {
    /// Columns of blocks.
    width: usize,
    /// Every block's slot, counted from 1, row by row. Of this very type, because an allocator has zeroed memory at hand: what
    /// is never written costs address space alone.
    index: Vec<Option<NonZeroU32>>,
    slots: Vec<Block>,
    /// Slots that hold nothing and are in no place of the index.
    free: Vec<NonZeroU32>,
}

impl Blocks {
    pub fn new(grid: &Grid) -> Blocks {
        let across = |cells: u16| usize::from(cells.div_ceil(SIDE));
        let (width, height) = (across(grid.config().width_cells), across(grid.config().height_cells));
        Blocks { width, index: alloc::vec![None; width * height], slots: Vec::new(), free: Vec::new() }
    }

    /// The things of a strip in one block.
    #[inline]
    pub fn things(&self, Strip { y, low, high }: Strip) -> &[u32] {
        self.get(block_of(CellId::new(low, y))).map_or(&[], |block| {
            let (start, end) = (block.starts[place(low, y)], block.starts[place(high, y) + 1]);
            &block.things[start as usize..end as usize]
        })
    }

    /// Who watches something of the block that holds a cell.
    #[inline]
    pub fn watches(&self, cell: CellId) -> &[Watch] {
        self.get(block_of(cell)).map_or(&[], |block| &block.watches)
    }

    pub fn insert(&mut self, cell: CellId, thing: u32) {
        self.get_or_add(block_of(cell)).insert(place(cell.x, cell.y), thing);
    }

    /// Takes out a thing that is in this cell.
    pub fn remove(&mut self, cell: CellId, thing: u32) {
        self.change(block_of(cell), |block| block.remove(place(cell.x, cell.y), thing));
    }

    pub fn relocate(&mut self, thing: u32, from: CellId, to: CellId) {
        self.insert(to, thing);
        self.remove(from, thing);
    }

    /// Changes a watcher's rectangle. Only blocks of which it watches something else than before are visited.
    pub fn watch(&mut self, watcher: u32, before: CellRect, after: CellRect) {
        let (blocks_before, blocks_after) = (blocks_of(before), blocks_of(after));
        outside(blocks_before, blocks_after, |Strip { y, low, high }| {
            (low..=high).for_each(|x| self.end_watch(CellId::new(x, y), watcher));
        });
        outside(blocks_after, unchanged(before, after), |Strip { y, low, high }| {
            for block in (low..=high).map(|x| CellId::new(x, y)) {
                self.set_watch(block, Watch::new(watcher, after, block));
            }
        });
    }

    fn set_watch(&mut self, block: CellId, watch: Watch) {
        let watches = &mut self.get_or_add(block).watches;
        match watches.binary_search_by_key(&watch.watcher, |w| w.watcher) {
            Ok(at) => watches[at] = watch,
            Err(at) => watches.insert(at, watch),
        }
    }

    fn end_watch(&mut self, block: CellId, watcher: u32) {
        self.change(block, |block| {
            if let Ok(at) = block.watches.binary_search_by_key(&watcher, |w| w.watcher) {
                block.watches.remove(at);
            }
        });
    }

    fn get(&self, block: CellId) -> Option<&Block> {
        self.index[self.at(block)].map(|slot| &self.slots[slot.get() as usize - 1])
    }

    fn get_or_add(&mut self, block: CellId) -> &mut Block {
        let at = self.at(block);
        let slot = self.index[at].or_else(|| self.free.pop()).unwrap_or_else(|| {
            self.slots.push(Block::EMPTY);
            NonZeroU32::new(self.slots.len() as u32).expect("there is one at least")
        });
        self.index[at] = Some(slot);
        &mut self.slots[slot.get() as usize - 1]
    }

    /// Changes a stored block, and frees its slot if nothing is left.
    fn change(&mut self, block: CellId, change: impl FnOnce(&mut Block)) {
        let at = self.at(block);
        let Some(slot) = self.index[at] else { return };
        let block = &mut self.slots[slot.get() as usize - 1];
        change(block);
        if block.is_empty() {
            self.index[at] = None;
            self.free.push(slot);
        }
    }

    fn at(&self, block: CellId) -> usize {
        usize::from(block.y) * self.width + usize::from(block.x)
    }
}

/// The blocks, counted in blocks, of which two rectangles have the same cells.
///
/// Of the columns that both touch, only the first and the last can hold an edge. Rows likewise.
fn unchanged(before: CellRect, after: CellRect) -> CellRect {
    let both = shared(blocks_of(before), blocks_of(after));
    if both == CellRect::EMPTY {
        return both;
    }
    let inner = |before: (u16, u16), after: (u16, u16), (low, high): (u16, u16)| {
        let differs = |block| bits(before.0, before.1, block) != bits(after.0, after.1, block);
        (low + u16::from(differs(low)), (high + 1) - u16::from(differs(high)))
    };
    let x = |rect: CellRect| (rect.low.x, rect.high.x);
    let y = |rect: CellRect| (rect.low.y, rect.high.y);
    let (columns, rows) = (inner(x(before), x(after), x(both)), inner(y(before), y(after), y(both)));
    if columns.0 >= columns.1 || rows.0 >= rows.1 {
        return CellRect::EMPTY;
    }
    CellRect { low: CellId::new(columns.0, rows.0), high: CellId::new(columns.1 - 1, rows.1 - 1) }
}
