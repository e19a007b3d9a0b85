//! Directions toward one goal for everyone around it: Dijkstra's search outwards from the goal,
//! once for a whole pack.
//!
//! The loop is [`FlowField::fill`]. A field holds for the grid that it was filled from; it must be
//! filled again when tiles or the goal change.

use alloc::vec::Vec;

use super::steps::{Direction, Entered};
use super::tiles::{Tile, TileGrid};

/// What the way to a goal costs, and its first step, for each tile of the square around the goal.
///
/// Ways do not leave the square. Holds only what the last [`fill`](FlowField::fill) put in, and
/// memory.
pub struct FlowField {
    goal: Tile,
    /// In tiles; below zero before the first fill.
    radius: i32,
    /// The cost, then how the search [`Entered`] the tile: row by row, in a frame of zeros that no
    /// way can improve.
    cells: Vec<u32>,
    fronts: Fronts,
}

/// Where the search stands: one queue of the tiles that were entered by a straight step, one of
/// those by a diagonal one.
///
/// Tiles are expanded in order of cost and each queue adds always the same to it, so both are
/// sorted as they are filled: no heap is needed, only a look at both heads.
#[derive(Default)]
struct Fronts {
    straight: Vec<Front>,
    diagonal: Vec<Front>,
    heads: (usize, usize),
}

/// A tile to expand.
#[derive(Clone, Copy)]
struct Front {
    cost: u32,
    /// Its index in the field.
    cell: u32,
    /// Its index in the grid.
    tile: u32,
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
        FlowField { goal: Tile::new(0, 0), radius: -1, cells: Vec::new(), fronts: Fronts::new() }
    }

    /// Leads to `goal` from now on, from all tiles at most `radius` columns and `radius` rows away.
    ///
    /// If the goal is blocked or off the grid, no tile leads to it.
    pub fn fill(&mut self, grid: &TileGrid, goal: Tile, radius: u8) {
        self.clear(goal, radius);
        if !grid.is_open(goal) {
            return;
        }
        let cell_offsets = Direction::offsets(self.stride());
        let tile_offsets = Direction::offsets(grid.stride());
        self.fronts.clear();
        self.offer(Front { cost: 0, cell: self.index(goal) as u32, tile: grid.index(goal) as u32 }, Entered::AT_START);
        while let Some(front) = self.fronts.pop() {
            let cell = self.cells[front.cell as usize];
            if cell >> Entered::BITS != front.cost {
                continue;
            }
            for direction in grid.steps(front.tile as usize, Entered::from_bits(cell)) {
                let next = Front {
                    cost: front.cost + direction.cost(),
                    cell: front.cell.wrapping_add(cell_offsets[direction as usize]),
                    tile: front.tile.wrapping_add(tile_offsets[direction as usize]),
                };
                self.offer(next, Entered::by(direction));
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
        let cell = self.cells[self.index(tile)];
        (cell != UNREACHED).then_some(cell >> Entered::BITS)
    }

    /// The first step of a cheapest way from a tile to the goal: `None` at the goal and where
    /// no way is known.
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
    fn offer(&mut self, front: Front, entered: Entered) {
        let cell = &mut self.cells[front.cell as usize];
        if front.cost < *cell >> Entered::BITS {
            *cell = front.cost << Entered::BITS | entered.bits();
            self.fronts.push(front, entered);
        }
    }

    const fn stride(&self) -> usize {
        2 * self.radius as usize + 3
    }

    /// The index of a tile's cell; only for tiles within the radius.
    const fn index(&self, tile: Tile) -> usize {
        let (column, row) = (tile.x - self.goal.x + self.radius + 1, tile.y - self.goal.y + self.radius + 1);
        row as usize * self.stride() + column as usize
    }
}

impl Fronts {
    const fn new() -> Fronts {
        Fronts { straight: Vec::new(), diagonal: Vec::new(), heads: (0, 0) }
    }

    fn clear(&mut self) {
        self.straight.clear();
        self.diagonal.clear();
        self.heads = (0, 0);
    }

    #[inline]
    fn push(&mut self, front: Front, entered: Entered) {
        match entered.direction() {
            Some(direction) if direction.is_diagonal() => self.diagonal.push(front),
            _ => self.straight.push(front),
        }
    }

    /// The cheapest tile.
    #[inline]
    fn pop(&mut self) -> Option<Front> {
        let (straight, diagonal) = (self.straight.get(self.heads.0), self.diagonal.get(self.heads.1));
        let takes_diagonal = match (straight, diagonal) {
            (Some(straight), Some(diagonal)) => diagonal.cost < straight.cost,
            (None, _) => true,
            (_, None) => false,
        };
        if takes_diagonal {
            self.heads.1 += 1;
            diagonal.copied()
        } else {
            self.heads.0 += 1;
            straight.copied()
        }
    }
}
