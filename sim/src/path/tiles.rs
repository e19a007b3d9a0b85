//! The ground: which tiles are open.
//!
//! A [`TileGrid`] knows open and blocked, nothing else, and never changes by itself. Outside of it
//! everything is blocked.
//!
//! Its bits lie in one array, row after row, with a blocked row above and below and one blocked
//! column between the rows. So all eight neighbours of any tile have a bit, and a search needs no
//! check for the edge.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::steps::{Direction, Entered, Steps};

/// A place on the grid: column and row, both from 0. Ordered by column, then row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tile {
    /// The column.
    pub x: i32,
    /// The row.
    pub y: i32,
}

impl Tile {
    /// The tile in column `x` and row `y`.
    pub const fn new(x: i32, y: i32) -> Tile {
        Tile { x, y }
    }

    /// The neighbour in a direction. Wraps around at the ends of `i32`, which are off every grid.
    pub const fn step(self, direction: Direction) -> Tile {
        let (dx, dy) = direction.delta();
        Tile { x: self.x.wrapping_add(dx), y: self.y.wrapping_add(dy) }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// Which tiles of a rectangle are open.
#[derive(Clone, PartialEq, Eq)]
pub struct TileGrid {
    width: i32,
    height: i32,
    bits: Vec<u64>,
}

impl TileGrid {
    /// The longest side, in tiles. Any path's cost fits 32 bits up to here: it has fewer than
    /// 6,144² steps of at most 99.
    pub const SIDE_MAX: i32 = 6144;

    /// A grid with every tile blocked. Sides are in tiles.
    ///
    /// # Panics
    /// If a side is not within 0 ..= [`SIDE_MAX`](TileGrid::SIDE_MAX): a map's size is the
    /// game's own choice.
    pub fn new(width: i32, height: i32) -> TileGrid {
        let sides = 0..=Self::SIDE_MAX;
        assert!(sides.contains(&width) && sides.contains(&height), "a grid of {width} x {height} tiles");
        let mut grid = TileGrid { width, height, bits: Vec::new() };
        // One more word, so that reading three bits may always look at the next.
        grid.bits = vec![0; grid.indices() / 64 + 2];
        grid
    }

    /// Becomes what another grid is between its tile `corner` and as far as this one's sides go;
    /// what lies outside of the other is blocked.
    ///
    /// A search on a piece needs memory for the piece alone, however large the whole is. Copies 64
    /// tiles at a time.
    pub fn copy_from(&mut self, other: &TileGrid, corner: Tile) {
        self.bits.fill(0);
        let columns = (-corner.x).clamp(0, self.width)..(other.width - corner.x).clamp(0, self.width);
        let rows = (-corner.y).clamp(0, self.height)..(other.height - corner.y).clamp(0, self.height);
        for y in rows {
            for x in columns.clone().step_by(64) {
                let from = other.index(Tile::new(corner.x + x, corner.y + y));
                let len = (columns.end - x).min(64);
                let bits = other.word_from(from) & (!0 >> (64 - len));
                self.merge_word(self.index(Tile::new(x, y)), bits);
            }
        }
    }

    /// How many columns there are.
    pub const fn width(&self) -> i32 {
        self.width
    }

    /// How many rows there are.
    pub const fn height(&self) -> i32 {
        self.height
    }

    /// Whether a tile lies on the grid, open or not.
    #[inline]
    pub const fn contains(&self, tile: Tile) -> bool {
        0 <= tile.x && tile.x < self.width && 0 <= tile.y && tile.y < self.height
    }

    /// Opens or blocks a tile. Outside of the grid nothing happens: it stays blocked.
    pub fn set_open(&mut self, tile: Tile, open: bool) {
        if self.contains(tile) {
            let index = self.index(tile);
            let bit = 1 << (index % 64);
            match open {
                true => self.bits[index / 64] |= bit,
                false => self.bits[index / 64] &= !bit,
            }
        }
    }

    /// Whether a tile is open. Outside of the grid none is.
    #[inline]
    pub fn is_open(&self, tile: Tile) -> bool {
        self.contains(tile) && {
            let index = self.index(tile);
            self.bits[index / 64] >> (index % 64) & 1 == 1
        }
    }

    /// The open tiles, row by row.
    pub fn open_tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        let rows = 0..self.height;
        rows.flat_map(|y| (0..self.width).map(move |x| Tile { x, y })).filter(|tile| self.is_open(*tile))
    }

    /// Whether a step is allowed: both tiles open, and for a diagonal one the two
    /// beside it as well.
    pub fn can_step(&self, from: Tile, direction: Direction) -> bool {
        self.is_open(from) && self.steps(self.index(from), Entered::AT_START).any(|step| step == direction)
    }

    /// Whether the straight line between two tiles' centres stays on open tiles.
    ///
    /// All tiles it touches count, the ones it meets only at a corner too, so who walks along it
    /// never squeezes past a corner. The same both ways. Time grows with the distance.
    pub fn line_of_sight(&self, a: Tile, b: Tile) -> bool {
        if !self.is_open(a) || !self.is_open(b) {
            return false;
        }
        let (columns, rows) = ((b.x - a.x).abs(), (b.y - a.y).abs());
        let (right, down) = ((b.x - a.x).signum(), (b.y - a.y).signum());
        let mut tile = a;
        // Above zero the line leaves the tile through a side wall, below through floor or ceiling,
        // at zero through a corner.
        let mut lean = columns - rows;
        while tile != b {
            let beside = Tile { x: tile.x + right, y: tile.y };
            let beyond = Tile { x: tile.x, y: tile.y + down };
            if lean > 0 {
                tile = beside;
                lean -= 2 * rows;
            } else if lean < 0 {
                tile = beyond;
                lean += 2 * columns;
            } else {
                if !self.is_open(beside) || !self.is_open(beyond) {
                    return false;
                }
                tile = Tile { x: beside.x, y: beyond.y };
                lean += 2 * (columns - rows);
            }
            if !self.is_open(tile) {
                return false;
            }
        }
        true
    }

    /// From a tile's index to that of the tile below.
    pub(super) const fn stride(&self) -> usize {
        self.width as usize + 1
    }

    /// How many indices there are, the blocked frame's included.
    pub(super) const fn indices(&self) -> usize {
        self.stride() * (self.height as usize + 2) + 1
    }

    /// Where a tile's bit is; only for tiles on the grid.
    #[inline]
    pub(super) const fn index(&self, tile: Tile) -> usize {
        (tile.y + 1) as usize * self.stride() + (tile.x + 1) as usize
    }

    /// The steps that lead on from an open tile: those that a search needs which came by `entered`.
    #[inline(always)]
    pub(super) fn steps(&self, index: usize, entered: Entered) -> Steps {
        let above = self.three_from(index - self.stride() - 1);
        let level = self.three_from(index - 1);
        let below = self.three_from(index + self.stride() - 1);
        Steps::onward(entered, (above | level << 3 | below << 6) as usize)
    }

    /// The bits of 64 tiles from an index on.
    fn word_from(&self, index: usize) -> u64 {
        let word = |n: usize| self.bits.get(n).copied().unwrap_or(0);
        let shift = index % 64;
        word(index / 64) >> shift | word(index / 64 + 1) << 1 << (63 - shift)
    }

    /// Sets bits of the 64 tiles from an index on.
    fn merge_word(&mut self, index: usize, bits: u64) {
        let shift = index % 64;
        self.bits[index / 64] |= bits << shift;
        if let Some(next) = self.bits.get_mut(index / 64 + 1) {
            *next |= bits >> 1 >> (63 - shift);
        }
    }

    #[inline]
    fn three_from(&self, index: usize) -> u64 {
        let [word, next] = self.bits[index / 64..].first_chunk().expect("a word follows the last index's");
        let shift = index % 64;
        (word >> shift | next << 1 << (63 - shift)) & 7
    }
}

impl fmt::Debug for TileGrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "TileGrid {} x {}", self.width, self.height)?;
        for y in 0..self.height {
            for x in 0..self.width {
                f.write_str(if self.is_open(Tile { x, y }) { "." } else { "#" })?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}
