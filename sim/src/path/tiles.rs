//! The ground: which tiles are open.
//!
//! A [`TileGrid`] knows open and blocked, nothing else, and never changes by itself. Outside of it everything is blocked.
//!
//! Its bits lie in one array, row after row, with a blocked row above and below and one blocked column between the rows. So all
//! eight neighbours of any tile have a bit, and a search needs no check for the edge.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

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

    /// The neighbour in a direction. Saturates at the ends of `i32`.
    pub const fn step(self, direction: Direction) -> Tile {
        let (dx, dy) = direction.delta();
        Tile { x: self.x.saturating_add(dx), y: self.y.saturating_add(dy) }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// One of the eight ways to a neighbour. East is a larger column, south a larger row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Direction {
    /// (1, 0)
    East,
    /// (1, 1)
    SouthEast,
    /// (0, 1)
    South,
    /// (-1, 1)
    SouthWest,
    /// (-1, 0)
    West,
    /// (-1, -1)
    NorthWest,
    /// (0, -1)
    North,
    /// (1, -1)
    NorthEast,
}

impl Direction {
    /// All eight, in the order in which every search looks at them.
    pub const ALL: [Direction; 8] = [
        Direction::East,
        Direction::SouthEast,
        Direction::South,
        Direction::SouthWest,
        Direction::West,
        Direction::NorthWest,
        Direction::North,
        Direction::NorthEast,
    ];

    /// Columns and rows to the neighbour.
    pub const fn delta(self) -> (i32, i32) {
        match self {
            Direction::East => (1, 0),
            Direction::SouthEast => (1, 1),
            Direction::South => (0, 1),
            Direction::SouthWest => (-1, 1),
            Direction::West => (-1, 0),
            Direction::NorthWest => (-1, -1),
            Direction::North => (0, -1),
            Direction::NorthEast => (1, -1),
        }
    }

    /// The way back.
    pub const fn opposite(self) -> Direction {
        Direction::from_bits(self as u32 + 4)
    }

    /// Whether it crosses a corner.
    pub const fn is_diagonal(self) -> bool {
        self as u8 % 2 == 1
    }

    /// What a step in this direction costs.
    pub const fn cost(self) -> u32 {
        if self.is_diagonal() { super::DIAGONAL_COST } else { super::STRAIGHT_COST }
    }

    /// The direction whose number is in the low three bits.
    pub(super) const fn from_bits(bits: u32) -> Direction {
        Direction::ALL[bits as usize % 8]
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
    /// The longest side, in tiles. Any path's cost fits 32 bits up to here.
    pub const SIDE_MAX: i32 = 4096;

    /// A grid with every tile blocked. Sides are in tiles.
    ///
    /// # Panics
    /// If a side is not within 0 ..= [`SIDE_MAX`](TileGrid::SIDE_MAX): a map's size is the game's own choice.
    pub fn new(width: i32, height: i32) -> TileGrid {
        let sides = 0..=Self::SIDE_MAX;
        assert!(sides.contains(&width) && sides.contains(&height), "a grid of {width} x {height} tiles");
        let mut grid = TileGrid { width, height, bits: Vec::new() };
        // One more word, so that reading three bits may always look at the next.
        grid.bits = vec![0; grid.indices() / 64 + 2];
        grid
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

    /// Whether a step is allowed: both tiles open, and for a diagonal one the two beside it as well.
    pub fn can_step(&self, from: Tile, direction: Direction) -> bool {
        self.is_open(from) && self.steps(self.index(from)) >> direction as u8 & 1 == 1
    }

    /// Whether the straight line between two tiles' centres stays on open tiles.
    ///
    /// All tiles it touches count, the ones it meets only at a corner too, so who walks along it never squeezes
    /// past a corner. The same both ways. Time grows with the distance.
    pub fn line_of_sight(&self, a: Tile, b: Tile) -> bool {
        if !self.is_open(a) || !self.is_open(b) {
            return false;
        }
        let (columns, rows) = ((b.x - a.x).abs(), (b.y - a.y).abs());
        let (right, down) = ((b.x - a.x).signum(), (b.y - a.y).signum());
        let mut tile = a;
        // Above zero the line leaves the tile through a side wall, below through floor or ceiling, at zero through a corner.
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
    pub(super) const fn index(&self, tile: Tile) -> usize {
        (tile.y + 1) as usize * self.stride() + (tile.x + 1) as usize
    }

    /// The steps that lead on from an open tile, one bit a [`Direction`].
    pub(super) fn steps(&self, index: usize) -> u8 {
        let above = self.three_from(index - self.stride() - 1);
        let level = self.three_from(index - 1);
        let below = self.three_from(index + self.stride() - 1);
        STEPS[(above | level << 3 | below << 6) as usize % STEPS.len()]
    }

    fn three_from(&self, index: usize) -> u64 {
        let (word, shift) = (index / 64, index % 64);
        let next = self.bits[word + 1] << 1 << (63 - shift);
        (self.bits[word] >> shift | next) & 7
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

/// The allowed steps for each of the 512 neighbourhoods; bit `3 * (dy + 1) + dx + 1` says that neighbour is open.
static STEPS: [u8; 512] = {
    let mut table = [0; 512];
    let mut around = 0;
    while around < 512 {
        let mut n = 0;
        while n < 8 {
            let (dx, dy) = Direction::ALL[n].delta();
            if is_set(around, dx, dy) && is_set(around, dx, 0) | (dx == 0) && is_set(around, 0, dy) | (dy == 0) {
                table[around] |= 1 << n;
            }
            n += 1;
        }
        around += 1;
    }
    table
};

const fn is_set(around: usize, dx: i32, dy: i32) -> bool {
    around >> (3 * (dy + 1) + dx + 1) & 1 == 1
}
