//! Directions toward one goal for everyone around it: Dijkstra's search outwards from the goal, once for a whole pack.
//!
//! The loop is [`FlowField::fill`]. A field holds for the grid that it was filled from; it must be filled again when tiles or
//! the goal change.

use alloc::vec::Vec;

use super::ring::BucketRing;
use super::tiles::{Direction, Entered, Tile, TileGrid};

/// What the way to a goal costs, and its first step, for each tile of the square around the goal.
///
/// Ways do not leave the square. Holds only what the last [`fill`](FlowField::fill) put in, and memory.
pub struct FlowField {
    goal: Tile,
    /// In tiles; below zero before the first fill.
    radius: i32,
    /// The cost, then how the search [`Entered`] the tile: row by row, in a frame of zeros that no way can improve.
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

    /// Leads to `goal` from now on, from all tiles at most `radius` columns and `radius` rows away.
    ///
    /// If the goal is blocked or off the grid, no tile leads to it.
    pub fn fill(&mut self, grid: &TileGrid, goal: Tile, radius: u8) {
        self.clear(goal, radius);
        if !grid.is_open(goal) {
            return;
        }
        // Within the field a tile is named by its place: its column and row, the frame's corner being (0, 0).
        let start = Tile::new(self.radius + 1, self.radius + 1);
        let corner = Tile::new(goal.x - start.x, goal.y - start.y);
        self.ring.clear(0);
        self.offer(start, 0, Entered::AT_START);
        while let Some((cost, place)) = self.ring.pop() {
            let cell = self.cells[self.index(place)];
            if cell >> Entered::BITS != cost {
                continue;
            }
            let tile = Tile::new(corner.x + place.x, corner.y + place.y);
            for direction in grid.steps(grid.index(tile), Entered::from_bits(cell)) {
                self.offer(place.step(direction), cost + direction.cost(), Entered::by(direction));
            }
        }
    }

    /// The goal of the last fill.
    pub const fn goal(&self) -> Tile {
        self.goal
    }

    /// What the way from a tile to the goal costs: 0 at the goal, `None` where no way is known.
    pub fn cost(&self, tile: Tile) -> Option<u32> {
        let (dx, dy) = (i64::from(tile.x) - i64::from(self.goal.x), i64::from(tile.y) - i64::from(self.goal.y));
        if dx.abs().max(dy.abs()) > i64::from(self.radius) {
            return None;
        }
        let place = Tile::new(dx as i32 + self.radius + 1, dy as i32 + self.radius + 1);
        let cell = self.cells[self.index(place)];
        (cell != UNREACHED).then_some(cell >> Entered::BITS)
    }

    /// The first step of a cheapest way from a tile to the goal: `None` at the goal and where no way is known.
    ///
    /// Of several, it is the first in the order of [`Direction::ALL`].
    pub fn direction(&self, tile: Tile) -> Option<Direction> {
        let cost = self.cost(tile)?;
        Direction::ALL.into_iter().find(|direction| {
            let rest = self.cost(tile.step(*direction));
            rest.is_some_and(|rest| rest + direction.cost() == cost) && self.clears_corners(tile, *direction)
        })
    }

    /// Whether a step passes no corner. Beside a tile that has a way, every open tile has one.
    fn clears_corners(&self, tile: Tile, direction: Direction) -> bool {
        let (dx, dy) = direction.delta();
        self.cost(Tile::new(tile.x + dx, tile.y)).is_some() && self.cost(Tile::new(tile.x, tile.y + dy)).is_some()
    }

    fn clear(&mut self, goal: Tile, radius: u8) {
        self.goal = goal;
        self.radius = radius.into();
        self.cells.clear();
        self.cells.resize(self.stride() * self.stride(), 0);
        let frameless = 1..self.stride() - 1;
        for row in self.cells.chunks_exact_mut(frameless.end + 1).take(frameless.end).skip(1) {
            row[frameless.clone()].fill(UNREACHED);
        }
    }

    #[inline]
    fn offer(&mut self, place: Tile, cost: u32, entered: Entered) {
        let index = self.index(place);
        if cost < self.cells[index] >> Entered::BITS {
            self.cells[index] = cost << Entered::BITS | entered.bits();
            self.ring.push(cost, place);
        }
    }

    const fn stride(&self) -> usize {
        2 * self.radius as usize + 3
    }

    const fn index(&self, place: Tile) -> usize {
        place.y as usize * self.stride() + place.x as usize
    }
}
