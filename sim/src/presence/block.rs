//! Blocks of 8 x 8 cells: the things and the watchers of each, and where the stored ones are.

use alloc::vec::Vec;
use core::iter;
use core::num::NonZeroU32;

use super::strip::{Strip, outside};
use crate::grid::{CellId, CellRect, Grid};

/// A block is 2 to the power of this many cells wide and high. Wider ones would make a watcher of 7
/// x 7 cells search through more others, smaller ones would make it stand in more blocks.
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

/// What a rectangle has of one block: where a column and a row of these cross. A bit a column,
/// then a bit a row.
#[derive(Clone, Copy)]
pub(super) struct Part(u16);

impl Part {
    /// What a rectangle has of a block that it touches.
    fn new(cells: CellRect, block: CellId) -> Part {
        let columns = bits(cells.low.x, cells.high.x, block.x);
        Part(u16::from_le_bytes([columns, bits(cells.low.y, cells.high.y, block.y)]))
    }

    /// A cell's own column and row.
    pub fn of(cell: CellId) -> Part {
        Part(1 << (cell.x % SIDE) | 1 << (SIDE + cell.y % SIDE))
    }

    /// Whether another part of the same block lies inside.
    #[inline]
    pub fn holds(self, other: Part) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Which of a block's columns, or rows, lie between two, both included.
fn bits(low: u16, high: u16, block: u16) -> u8 {
    let first = block << BLOCK_LOG2;
    let (low, high) = (low.max(first) - first, high.min(first | (SIDE - 1)) - first);
    (0xff << low) & (0xff >> (SIDE - 1 - high))
}

/// Which of at most 16 parts are such ones, a bit each. No branch depends on them.
#[inline]
fn select(parts: &[Part], such: impl Fn(Part) -> bool) -> u32 {
    parts.iter().enumerate().fold(0, |found, (at, &part)| found | u16::from(such(part)) << at).into()
}

struct Block {
    /// Where each cell's things begin, and where the last one's end.
    starts: [u32; CELLS + 1],
    /// By cell, then by number.
    things: Vec<u32>,
    /// Who watches something of it, by number.
    watchers: Vec<u32>,
    /// What each of them watches of it: apart, because all are looked through and few of
    /// the watchers told.
    parts: Vec<Part>,
}

impl Block {
    const EMPTY: Block = Block { starts: [0; CELLS + 1], things: Vec::new(), watchers: Vec::new(), parts: Vec::new() };

    fn is_empty(&self) -> bool {
        self.things.is_empty() && self.watchers.is_empty()
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

    /// To another cell of this block: what lies between the two moves up, and nothing
    /// else is touched.
    fn relocate(&mut self, thing: u32, from: usize, to: usize) {
        let (leaves, enters) = (self.find(from, thing), self.find(to, thing));
        if from < to {
            self.things[leaves..enters].rotate_left(1);
            self.starts[from + 1..=to].iter_mut().for_each(|start| *start -= 1);
        } else {
            self.things[enters..=leaves].rotate_right(1);
            self.starts[to + 1..=from].iter_mut().for_each(|start| *start += 1);
        }
    }
}

/// All blocks of a world.
pub(super) struct Blocks {
    /// Columns of blocks.
    width: usize,
    /// Every block's slot, counted from 1, row by row. Of this very type, because an allocator has
    /// zeroed memory at hand: what is never written costs address space alone.
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

    /// Those who watch such a part of the block that holds a cell, by number.
    #[inline]
    pub fn watchers(&self, cell: CellId, such: impl Fn(Part) -> bool) -> impl Iterator<Item = u32> {
        let block = self.get(block_of(cell));
        let (watchers, parts): (&[u32], &[Part]) = block.map_or((&[], &[]), |block| (&block.watchers, &block.parts));
        watchers.chunks(16).zip(parts.chunks(16)).flat_map(move |(watchers, parts)| {
            // The usual case apart: so many parts are looked at side by side.
            let mut found = match <&[Part; 16]>::try_from(parts) {
                Ok(parts) => select(parts, &such),
                Err(_) => select(parts, &such),
            };
            iter::from_fn(move || {
                let first = found.trailing_zeros() as usize;
                found &= found.wrapping_sub(1);
                watchers.get(first).copied()
            })
        })
    }

    pub fn insert(&mut self, cell: CellId, thing: u32) {
        self.get_or_add(block_of(cell)).insert(place(cell.x, cell.y), thing);
    }

    /// Takes out a thing that is in this cell.
    pub fn remove(&mut self, cell: CellId, thing: u32) {
        self.change(block_of(cell), |block| block.remove(place(cell.x, cell.y), thing));
    }

    /// Moves a thing that is in the first cell, and not yet in the other.
    pub fn relocate(&mut self, thing: u32, from: CellId, to: CellId) {
        if same(from, to) {
            self.get_or_add(block_of(to)).relocate(thing, place(from.x, from.y), place(to.x, to.y));
        } else {
            self.insert(to, thing);
            self.remove(from, thing);
        }
    }

    /// Changes a watcher's rectangle. Only blocks of which it watches something else than
    /// before are visited.
    pub fn watch(&mut self, watcher: u32, before: CellRect, after: CellRect) {
        let (blocks_before, blocks_after) = (blocks_of(before), blocks_of(after));
        outside(blocks_before, blocks_after, |Strip { y, low, high }| {
            (low..=high).for_each(|x| self.end_watch(CellId::new(x, y), watcher));
        });
        outside(blocks_after, unchanged(before, after), |Strip { y, low, high }| {
            for block in (low..=high).map(|x| CellId::new(x, y)) {
                self.set_watch(block, watcher, Part::new(after, block));
            }
        });
    }

    fn set_watch(&mut self, block: CellId, watcher: u32, part: Part) {
        let Block { watchers, parts, .. } = self.get_or_add(block);
        match watchers.binary_search(&watcher) {
            Ok(at) => parts[at] = part,
            Err(at) => {
                watchers.insert(at, watcher);
                parts.insert(at, part);
            }
        }
    }

    fn end_watch(&mut self, block: CellId, watcher: u32) {
        self.change(block, |Block { watchers, parts, .. }| {
            if let Ok(at) = watchers.binary_search(&watcher) {
                watchers.remove(at);
                parts.remove(at);
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
    let both = blocks_of(before).intersection(blocks_of(after));
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
