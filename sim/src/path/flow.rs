//! Directions toward one goal for everyone around it: Dijkstra's search outwards from the goal, once for a whole pack.
//!
//! The loop is [`FlowField::fill`]. A field holds for the grid it was filled from; it must be filled again when tiles or the goal
//! change.

use alloc::vec::Vec;

use super::ring::BucketRing;
use super::tiles::{Direction, Tile, TileGrid};

/// For each tile of the square around a goal: what the way to the goal costs, and its first step.
///
/// Ways do not leave the square. Of several cheapest ways, each tile's step is the first in the order of [`Direction::ALL`].
pub struct FlowField {
    goal: Tile,
    radius: i32,
    /// Cost times 8 plus the direction, row by row, with a frame of zeros that nothing can improve.
    cells: Vec<u32>,
    ring: BucketRing,
}

const UNREACHED: u32 = u32::MAX;

impl Default for FlowField {
    fn default() -> Self {
        FlowField::new()
    }
}

impl FlowField {
    /// A field that leads nowhere yet.
    pub const fn new() -> FlowField {
        FlowField { goal: Tile::new(0, 0), radius: -1, cells: Vec::new(), ring: BucketRing::new() }
    }

    /// Leads to `goal` from now on, from all tiles at most `radius` columns and `radius` rows away. What it held before is gone.
    ///
    /// If the goal is blocked or off the grid, no tile leads to it.
    pub fn fill(&mut self, grid: &TileGrid, goal: Tile, radius: u8) {
        self.begin(goal, radius);
        if !grid.is_open(goal) {
            return;
        }
        let stride = self.stride() as isize;
        let start = self.index(goal);
        self.cells[start] = 0;
        self.ring.clear(0);
        self.ring.push(0, start as u32);
        while let Some((cost, item)) = self.ring.pop() {
            let index = item as usize;
            if self.cells[index] / 8 != cost {
                continue;
            }
            let tile = self.tile(index);
            let mut steps = grid.steps(grid.index(tile));
            while steps != 0 {
                let direction = Direction::from_bits(steps.trailing_zeros());
                steps &= steps - 1;
                let (dx, dy) = direction.delta();
                let next = (index as isize + dy as isize * stride + dx as isize) as usize;
                self.offer(next, cost + direction.cost(), direction.opposite());
            }
        }
    }

    /// The goal it was filled for.
    pub const fn goal(&self) -> Tile {
        self.goal
    }

    /// What the way from a tile to the goal costs: 0 at the goal, `None` where no way is known.
    pub fn cost(&self, tile: Tile) -> Option<u32> {
        self.cell(tile).map(|cell| cell / 8)
    }

    /// The first step of the way from a tile to the goal: `None` at the goal and where no way is known.
    pub fn direction(&self, tile: Tile) -> Option<Direction> {
        self.cell(tile).filter(|_| tile != self.goal).map(Direction::from_bits)
    }

    fn begin(&mut self, goal: Tile, radius: u8) {
        self.goal = goal;
        self.radius = radius.into();
        let side = 2 * usize::from(radius) + 1;
        self.cells.clear();
        self.cells.resize(self.stride() + 1, 0);
        for _ in 0..side {
            self.cells.resize(self.cells.len() + side, UNREACHED);
            self.cells.push(0);
        }
        self.cells.resize(self.cells.len() + self.stride(), 0);
    }

    /// Keeps the cheaper way, of equals the one whose direction comes first. All cheapest ways are offered before the cell
    /// is taken from the queue, so the order in which they are does not matter.
    #[inline]
    fn offer(&mut self, index: usize, cost: u32, direction: Direction) {
        let cell = cost * 8 + direction as u32;
        let known = self.cells[index];
        if cell < known {
            self.cells[index] = cell;
            if cost < known / 8 {
                self.ring.push(cost, index as u32);
            }
        }
    }

    fn cell(&self, tile: Tile) -> Option<u32> {
        let away = tile.x.abs_diff(self.goal.x).max(tile.y.abs_diff(self.goal.y));
        let inside = i64::from(away) <= i64::from(self.radius);
        inside.then(|| self.cells[self.index(tile)]).filter(|cell| *cell != UNREACHED)
    }

    const fn stride(&self) -> usize {
        2 * self.radius as usize + 2
    }

    const fn index(&self, tile: Tile) -> usize {
        let (x, y) = (tile.x - self.goal.x + self.radius, tile.y - self.goal.y + self.radius);
        (y + 1) as usize * self.stride() + (x + 1) as usize
    }

    const fn tile(&self, index: usize) -> Tile {
        let (row, column) = ((index / self.stride()) as i32, (index % self.stride()) as i32);
        Tile::new(self.goal.x + column - 1 - self.radius, self.goal.y + row - 1 - self.radius)
    }
}
