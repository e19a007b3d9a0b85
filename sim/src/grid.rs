//! The grid of cells: which cell holds a position, which cells lie near, how far influence
//! goes in one tick.
//!
//! Neighbours are found by arithmetic on coordinates, never by a look-up in a map.

use core::fmt;
use serde::{Deserialize, Serialize};

use crate::fx::Fx;
use crate::vec2::Vec2;

/// A square of the world grid: the unit of storage, checksum, snapshot and interest. Column
/// and row, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellId {
    /// The row.
    pub y: u16,
    /// The column.
    pub x: u16,
}

impl CellId {
    /// The cell in column `x` and row `y`.
    pub const fn new(x: u16, y: u16) -> CellId {
        CellId { y, x }
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// The measures of a world. Part of the config digest: peers must agree on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridConfig {
    /// Columns of cells, 1 to 32,768 / (cell size in 16ths): the world must stay within the
    /// range of [`Fx`].
    pub width_cells: u16,
    /// Rows of cells, as `width_cells`.
    pub height_cells: u16,
    /// A cell is 2 to the power of this many tiles wide and high, 1 to 8. 8 or 16 tiles
    /// suit most games.
    pub cell_log2: u8,
    /// The farthest an entity can read or affect in one tick, in tiles, above 0: of it follows how
    /// wide a part's halo is, and a part without one would have nobody to hear of what comes in. A
    /// game whose entities never meet gives [`Fx::EPSILON`].
    pub reach: Fx,
    /// The farthest an entity can move in one tick, in tiles, above 0 for the same reason, at most
    /// a cell. A game in which nothing moves gives [`Fx::EPSILON`].
    pub stride: Fx,
    /// The torchlight of a hero's own cell; cells up to `light - 1` cells away from a hero are
    /// awake. 2 to 255.
    pub light: u8,
}

impl Default for GridConfig {
    fn default() -> Self {
        GridConfig { width_cells: 16, height_cells: 16, cell_log2: 4, reach: Fx::int(8), stride: Fx::int(1), light: 3 }
    }
}

/// Why a [`GridConfig`] cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// No cells, or more than positions can tell apart.
    #[error(
        "a world of {width_cells} x {height_cells} cells of 2^{cell_log2} tiles is empty or wider than 524,287 tiles"
    )]
    Size {
        /// The asked columns.
        width_cells: u16,
        /// The asked rows.
        height_cells: u16,
        /// The asked cell size.
        cell_log2: u8,
    },
    /// Reach or stride is not positive, or a stride is longer than a cell.
    #[error("reach {reach} and stride {stride} must be above 0, and the stride at most a cell of 2^{cell_log2} tiles")]
    Reach {
        /// The asked reach.
        reach: Fx,
        /// The asked stride.
        stride: Fx,
        /// The asked cell size.
        cell_log2: u8,
    },
    /// Heroes would stand in the dark.
    #[error("a hero's light must be 2 at least, so that the cells around are awake; it is {0}")]
    Light(u8),
}

/// A checked [`GridConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    config: GridConfig,
    /// Of a position's bits, how many tell where in a cell it is.
    shift: u32,
    /// The farthest position inside.
    edge: Vec2,
}

impl Grid {
    /// Checks a config.
    ///
    /// # Errors
    /// [`GridError`] names the value that cannot be.
    pub fn new(config: GridConfig) -> Result<Grid, GridError> {
        let GridConfig { width_cells, height_cells, cell_log2, reach, stride, light } = config;
        let widest_tiles = u64::from(width_cells.max(height_cells)) << cell_log2.min(20);
        if width_cells == 0 || height_cells == 0 || !(1..=8).contains(&cell_log2) || widest_tiles > 1 << 19 {
            return Err(GridError::Size { width_cells, height_cells, cell_log2 });
        }
        if reach <= Fx::ZERO || stride <= Fx::ZERO || stride > Fx::int(1 << cell_log2) {
            return Err(GridError::Reach { reach, stride, cell_log2 });
        }
        if light < 2 {
            return Err(GridError::Light(light));
        }
        let shift = u32::from(cell_log2) + Fx::FRACTION_BITS;
        let edge = |cells: u16| Fx::from_bits((i64::from(cells) << shift).min(i64::from(i32::MAX)) as i32 - 1);
        Ok(Grid { config, shift, edge: Vec2::new(edge(width_cells), edge(height_cells)) })
    }

    /// What it was made from.
    pub const fn config(&self) -> &GridConfig {
        &self.config
    }

    /// How many cells the world has, stored or not.
    pub const fn cells(&self) -> usize {
        self.config.width_cells as usize * self.config.height_cells as usize
    }

    /// The nearest position inside the world.
    #[inline]
    pub fn clamp(&self, pos: Vec2) -> Vec2 {
        Vec2::new(pos.x.max(Fx::ZERO).min(self.edge.x), pos.y.max(Fx::ZERO).min(self.edge.y))
    }

    /// The cell that holds a position; positions outside count as the nearest inside.
    #[inline]
    pub fn cell_of(&self, pos: Vec2) -> CellId {
        let Vec2 { x, y } = self.clamp(pos);
        CellId::new((x.to_bits() >> self.shift) as u16, (y.to_bits() >> self.shift) as u16)
    }

    /// The corner of a cell with the smallest coordinates.
    pub fn corner(&self, cell: CellId) -> Vec2 {
        let along = |n: u16| Fx::from_bits(((i64::from(n)) << self.shift) as i32);
        Vec2::new(along(cell.x), along(cell.y))
    }

    /// A cell's side in tiles.
    pub const fn cell_tiles(&self) -> i32 {
        1 << self.config.cell_log2
    }

    /// Whether the world has this cell.
    pub const fn contains(&self, cell: CellId) -> bool {
        cell.x < self.config.width_cells && cell.y < self.config.height_cells
    }

    /// How many rings of cells around the core a replica must be given so that the core comes out
    /// exact: the light cone `2 * reach + stride` (what moves in, hit by something, that decided on
    /// what it saw), in cells.
    pub fn halo_rings(&self) -> u16 {
        self.rings(self.config.reach + self.config.reach + self.config.stride)
    }

    /// How many rings around the core think on a replica: those from which something can
    /// move in or be hit.
    pub fn fringe_rings(&self) -> u16 {
        self.rings(self.config.reach + self.config.stride)
    }

    /// The cells that a circle touches, or some more: a rectangle around it, row by row.
    pub fn cells_around(&self, pos: Vec2, radius: Fx) -> CellRect {
        let arm = Vec2::new(radius, radius);
        CellRect { low: self.cell_of(pos - arm), high: self.cell_of(pos + arm) }
    }

    /// The cells at most `rings` columns and rows away.
    pub fn block(&self, cell: CellId, rings: u16) -> CellRect {
        CellRect::of(cell).grown(self, rings)
    }

    /// All cells of the world.
    pub const fn all(&self) -> CellRect {
        let high = CellId::new(self.config.width_cells - 1, self.config.height_cells - 1);
        CellRect { low: CellId::new(0, 0), high }
    }

    /// The place of a cell of this grid, row by row, from 0 to below [`cells`](Grid::cells).
    pub const fn index(&self, cell: CellId) -> usize {
        cell.y as usize * self.config.width_cells as usize + cell.x as usize
    }

    fn rings(&self, distance: Fx) -> u16 {
        let cell = 1_i64 << self.shift;
        // No world is wider than that, so more rings would hold no more cells.
        (i64::from(distance.to_bits()) + cell - 1).div_euclid(cell).min(i64::from(u16::MAX)) as u16
    }
}

/// A rectangle of cells, both corners included; none if a low corner lies beyond the high one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CellRect {
    /// The corner with the smallest column and row.
    pub low: CellId,
    /// The corner with the largest column and row.
    pub high: CellId,
}

impl CellRect {
    /// No cells at all.
    pub const EMPTY: CellRect = CellRect { low: CellId::new(1, 1), high: CellId::new(0, 0) };

    /// One cell.
    pub const fn of(cell: CellId) -> CellRect {
        CellRect { low: cell, high: cell }
    }

    /// Whether it has no cells.
    pub const fn is_empty(self) -> bool {
        self.low.x > self.high.x || self.low.y > self.high.y
    }

    /// How many cells it has.
    pub fn len(self) -> usize {
        let side = |low: u16, high: u16| (usize::from(high) + 1).saturating_sub(usize::from(low));
        side(self.low.x, self.high.x) * side(self.low.y, self.high.y)
    }

    /// Whether a cell lies inside.
    #[inline]
    pub const fn contains(self, cell: CellId) -> bool {
        self.low.x <= cell.x && cell.x <= self.high.x && self.low.y <= cell.y && cell.y <= self.high.y
    }

    /// Whether all cells of another lie inside.
    pub const fn contains_rect(self, other: CellRect) -> bool {
        other.is_empty() || self.contains(other.low) && self.contains(other.high)
    }

    /// The smallest rectangle that holds both.
    pub fn union(self, other: CellRect) -> CellRect {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { other } else { self };
        }
        CellRect {
            low: CellId::new(self.low.x.min(other.low.x), self.low.y.min(other.low.y)),
            high: CellId::new(self.high.x.max(other.high.x), self.high.y.max(other.high.y)),
        }
    }

    /// The cells that both have.
    pub fn intersection(self, other: CellRect) -> CellRect {
        let shared = CellRect {
            low: CellId::new(self.low.x.max(other.low.x), self.low.y.max(other.low.y)),
            high: CellId::new(self.high.x.min(other.high.x), self.high.y.min(other.high.y)),
        };
        if shared.is_empty() { CellRect::EMPTY } else { shared }
    }

    /// This and so many rings of cells around it, as far as the world goes.
    pub fn grown(self, grid: &Grid, rings: u16) -> CellRect {
        if self.is_empty() {
            return CellRect::EMPTY;
        }
        let grown = CellRect {
            low: CellId::new(self.low.x.saturating_sub(rings), self.low.y.saturating_sub(rings)),
            high: CellId::new(self.high.x.saturating_add(rings), self.high.y.saturating_add(rings)),
        };
        grown.intersection(grid.all())
    }

    /// The cell after this one, row by row.
    pub(crate) fn after(self, cell: CellId) -> Option<CellId> {
        if cell.x < self.high.x {
            Some(CellId::new(cell.x + 1, cell.y))
        } else {
            (cell.y < self.high.y).then(|| CellId::new(self.low.x, cell.y + 1))
        }
    }

    /// The cells, row by row.
    pub fn iter(self) -> impl Iterator<Item = CellId> + Clone {
        let first = (!self.is_empty()).then_some(self.low);
        core::iter::successors(first, move |&cell| self.after(cell))
    }
}
