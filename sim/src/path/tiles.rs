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

    /// What to add to an index, wrapping, for a step in each direction, where a row is `stride` long.
    pub(super) const fn offsets(stride: usize) -> [u32; 8] {
        let mut offsets = [0; 8];
        let mut n = 0;
        while n < 8 {
            let (dx, dy) = Direction::ALL[n].delta();
            offsets[n] = (dy * stride as i32 + dx) as u32;
            n += 1;
        }
        offsets
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
        self.is_open(from) && self.steps(self.index(from), Entered::AT_START).any(|step| step == direction)
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

    /// The steps that lead on from an open tile: those that a search needs which came by `entered`.
    #[inline]
    pub(super) fn steps(&self, index: usize, entered: Entered) -> Steps {
        let above = self.three_from(index - self.stride() - 1);
        let level = self.three_from(index - 1);
        let below = self.three_from(index + self.stride() - 1);
        let around = (above | level << 3 | below << 6) as usize;
        Steps(STEPS[entered.0 as usize % STEPS.len()][around % NEIGHBOURHOODS])
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

/// How a search came to a tile: by a step in a [`Direction`], or by starting there. Fits four bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entered(u8);

impl Entered {
    pub(super) const AT_START: Entered = Entered(8);
    pub(super) const BITS: u32 = 4;

    pub(super) const fn by(direction: Direction) -> Entered {
        Entered(direction as u8)
    }

    /// From a word whose low four bits hold it.
    pub(super) const fn from_bits(bits: u32) -> Entered {
        Entered(bits as u8 % 16)
    }

    pub(super) const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// The step by which the search came; `None` at its start.
    pub(super) const fn direction(self) -> Option<Direction> {
        if self.0 < 8 { Some(Direction::from_bits(self.0 as u32)) } else { None }
    }
}

/// Directions in the order of [`Direction::ALL`], as a set of bits.
pub(super) struct Steps(u8);

impl Iterator for Steps {
    type Item = Direction;

    #[inline]
    fn next(&mut self) -> Option<Direction> {
        let direction = (self.0 != 0).then(|| Direction::from_bits(self.0.trailing_zeros()));
        self.0 &= self.0.wrapping_sub(1);
        direction
    }
}

const NEIGHBOURHOODS: usize = 512;

/// The steps that lead on, by how the tile was entered and by which tiles around are open: the bits of three rows of three.
///
/// Of equally cheap ways that differ only in the order of their steps, searches follow the one that goes diagonally first:
/// canonical ordering (Sturtevant and Rabin 2016), the pruning of jump point search (Harabor and Grastien 2011) in its form
/// without corner cutting. So most tiles are offered once, not eight times, at the same cost.
static STEPS: [[u8; NEIGHBOURHOODS]; 16] = {
    let mut table = [[0; NEIGHBOURHOODS]; 16];
    let mut around = 0;
    while around < NEIGHBOURHOODS {
        let allowed = allowed(around);
        let mut entered = 0;
        while entered < 8 {
            table[entered][around] = allowed & onward(around, entered);
            entered += 1;
        }
        table[Entered::AT_START.0 as usize][around] = allowed;
        around += 1;
    }
    table
};

/// The steps without a blocked tile at their end or beside them.
const fn allowed(around: usize) -> u8 {
    let mut steps = 0;
    let mut n = 0;
    while n < 8 {
        let beside = n % 2 == 0 || is_open_beside(around, n + 1) && is_open_beside(around, n + 7);
        if is_open_beside(around, n) && beside {
            steps |= 1 << n;
        }
        n += 1;
    }
    steps
}

/// The steps that cannot be replaced by an equally cheap or cheaper way past the tile, given the step that entered it.
const fn onward(around: usize, entered: usize) -> u8 {
    let ahead = turned(entered, 0);
    if entered % 2 == 1 {
        return turned(entered, 7) | ahead | turned(entered, 1);
    }
    // A straight step turns only around a corner it has just passed: elsewhere it would have been cheaper to turn before.
    let left = if is_open_beside(around, entered + 5) { 0 } else { turned(entered, 6) | turned(entered, 7) };
    let right = if is_open_beside(around, entered + 3) { 0 } else { turned(entered, 2) | turned(entered, 1) };
    left | ahead | right
}

/// The bit of a direction turned by eighths of a circle.
const fn turned(direction: usize, eighths: usize) -> u8 {
    1 << ((direction + eighths) % 8)
}

const fn is_open_beside(around: usize, direction: usize) -> bool {
    let (dx, dy) = Direction::from_bits(direction as u32).delta();
    around >> (3 * (dy + 1) + dx + 1) & 1 == 1
}
