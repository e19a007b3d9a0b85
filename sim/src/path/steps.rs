//! The steps from a tile to its neighbours: what they cost, which are allowed, and which of
//! those a search needs.
//!
//! No corner may be cut, and no cheapest way may be lost: [`Steps::onward`] leaves out only what
//! another way makes up for.

use serde::{Deserialize, Serialize};

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

    /// What to add to an index, wrapping, for a step in each direction, where a row is `stride`
    /// long.
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

impl Steps {
    /// The steps that lead on from an open tile, by how it was entered and which tiles around it
    /// are open: the bits of three rows of three, north-west first.
    #[inline]
    pub(super) fn onward(entered: Entered, around: usize) -> Steps {
        Steps(STEPS[entered.0 as usize % STEPS.len()][around % NEIGHBOURHOODS])
    }
}

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

/// The steps that lead on, by how the tile was entered and by which tiles around are open.
///
/// Of equally cheap ways that differ only in the order of their steps, searches follow the one that
/// goes diagonally first: canonical ordering (Sturtevant and Rabin 2016), the pruning of jump point
/// search (Harabor and Grastien 2011) in its form without corner cutting. So most tiles are offered
/// once, not eight times, at the same cost. A tile with several cheapest ways may keep any of them:
/// the one that is left out for it leads on from a tile of equal standing.
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

/// The steps that cannot be replaced by an equally cheap or cheaper way past the tile, given the
/// step that entered it.
const fn onward(around: usize, entered: usize) -> u8 {
    let ahead = turned(entered, 0);
    if entered % 2 == 1 {
        return turned(entered, 7) | ahead | turned(entered, 1);
    }
    // A straight step turns only around a corner it has just passed: elsewhere it would have been
    // cheaper to turn before.
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
