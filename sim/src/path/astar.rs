//! One path for one walker: A* (Hart, Nilsson, Raphael 1968) with a bucket ring as its queue.
//!
//! The loop is [`Pathfinder::search`]. It must never let one search influence the next: what the
//! scratch memory holds from earlier ones carries their generation and counts as absent.

use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::open_cost;
use super::ring::BucketRing;
use super::steps::{Direction, Entered};
use super::tiles::{Tile, TileGrid};

/// A way over open tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// Where it starts.
    pub from: Tile,
    /// The tiles at which it turns, then the one where it ends; `from` is not among them. Empty if
    /// it ends where it starts. Between two of them it runs along a row, a column or a diagonal.
    pub waypoints: Vec<Tile>,
    /// The sum of its steps' costs.
    pub cost: u32,
    /// Whether it ends at the goal that was asked for. If not, it ends at the nearest tile that
    /// the search came to.
    pub reached: bool,
    /// How many tiles the search expanded: what it took.
    pub expansions: u32,
}

impl Path {
    /// Where it ends.
    pub fn end(&self) -> Tile {
        self.waypoints.last().copied().unwrap_or(self.from)
    }

    /// Drops waypoints that a straight line of sight can skip. What is left may run at any angle;
    /// `cost` stays what it was.
    pub fn pull_taut(&mut self, grid: &TileGrid) {
        let mut anchor = self.from;
        let mut kept = 0;
        for n in 0..self.waypoints.len() {
            let next = self.waypoints.get(n + 1);
            if next.is_some_and(|next| grid.line_of_sight(anchor, *next)) {
                continue;
            }
            anchor = self.waypoints[n];
            self.waypoints[kept] = anchor;
            kept += 1;
        }
        self.waypoints.truncate(kept);
    }
}

/// Finds paths. Holds only memory, about 8 bytes a tile of the largest grid seen; a fresh one
/// finds the same paths.
pub struct Pathfinder {
    nodes: Vec<Node>,
    ring: BucketRing,
    generation: u32,
}

/// What a search knows of a tile.
#[derive(Clone, Copy, Default)]
struct Node {
    cost: u32,
    /// From the top: the generation, a bit that is set once the tile is expanded, how it
    /// was [`Entered`].
    mark: u32,
}

const EXPANDED: u32 = 1 << Entered::BITS;
const GENERATION_SHIFT: u32 = Entered::BITS + 1;
const GENERATION_MAX: u32 = u32::MAX >> GENERATION_SHIFT;

impl Default for Pathfinder {
    fn default() -> Self {
        Pathfinder::new()
    }
}

impl Pathfinder {
    /// One without any memory yet; the first search takes it.
    pub const fn new() -> Pathfinder {
        Pathfinder { nodes: Vec::new(), ring: BucketRing::new(), generation: 0 }
    }

    /// Finds a cheapest way from one tile to another; `None` if `from` is blocked.
    ///
    /// Expands at most `expansions_max` tiles, some 20 ns each. If the goal is blocked, cut off or
    /// too far for that, the path leads to the expanded tile nearest to it, as if nothing were
    /// blocked, and of equally near ones to the cheapest to walk to; `reached` is false. A goal off
    /// the grid stands for the nearest tile of the grid and is never reached.
    ///
    /// Which of several cheapest ways is found is fixed: of tiles with equal estimates the one
    /// offered last is expanded first, and a tile keeps the first of equally cheap ways to it.
    pub fn find(&mut self, grid: &TileGrid, from: Tile, to: Tile, expansions_max: u32) -> Option<Path> {
        if !grid.is_open(from) {
            return None;
        }
        let goal = Tile { x: to.x.clamp(0, grid.width() - 1), y: to.y.clamp(0, grid.height() - 1) };
        let task = Task { grid, goal, offsets: Direction::offsets(grid.stride()) };
        let (end, expansions) = self.search(&task, from, expansions_max);
        Some(Path {
            from,
            waypoints: self.waypoints(grid, end),
            cost: self.nodes[grid.index(end)].cost,
            reached: end == to,
            expansions,
        })
    }

    /// Expands tiles until the goal or a tile as near as can be is among them. Gives the nearest
    /// expanded one, and how many.
    fn search(&mut self, task: &Task, from: Tile, expansions_max: u32) -> (Tile, u32) {
        let near_enough = task.nearest_open();
        let mut nearest = (task.estimate(from), from);
        let mut expansions = 0;

        self.begin(task.grid);
        self.nodes[task.grid.index(from)] = self.node(0, Entered::AT_START);
        self.ring.clear(nearest.0);
        self.ring.push(nearest.0, from);
        while expansions < expansions_max {
            let Some((_, tile)) = self.ring.pop() else { break };
            let index = task.grid.index(tile);
            if self.nodes[index].mark & EXPANDED != 0 {
                continue;
            }
            self.nodes[index].mark |= EXPANDED;
            expansions += 1;
            let rest = task.estimate(tile);
            // Equally near tiles come in order of cost, so the first one is the
            // cheapest to walk to.
            if rest < nearest.0 {
                nearest = (rest, tile);
            }
            if rest <= near_enough {
                break;
            }
            self.expand(task, tile, index);
        }
        (nearest.1, expansions)
    }

    /// Makes all nodes absent.
    fn begin(&mut self, grid: &TileGrid) {
        if self.nodes.len() < grid.indices() {
            self.nodes.resize(grid.indices(), Node::default());
        }
        if self.generation == GENERATION_MAX {
            self.nodes.fill(Node::default());
            self.generation = 0;
        }
        self.generation += 1;
    }

    /// A node of this search.
    const fn node(&self, cost: u32, entered: Entered) -> Node {
        Node { cost, mark: self.generation << GENERATION_SHIFT | entered.bits() }
    }

    /// Offers the tile's neighbours the way through it.
    #[inline]
    fn expand(&mut self, task: &Task, tile: Tile, index: usize) {
        let here = self.nodes[index];
        for direction in task.grid.steps(index, Entered::from_bits(here.mark)) {
            let cost = here.cost + direction.cost();
            let index = (index as u32).wrapping_add(task.offsets[direction as usize]) as usize;
            let known = self.nodes[index];
            if known.mark >> GENERATION_SHIFT != self.generation || cost < known.cost {
                self.nodes[index] = self.node(cost, Entered::by(direction));
                let next = tile.step(direction);
                self.ring.push(cost + task.estimate(next), next);
            }
        }
    }

    /// Follows the search back from where it ended to where it started.
    fn waypoints(&self, grid: &TileGrid, end: Tile) -> Vec<Tile> {
        let mut waypoints = Vec::new();
        let mut tile = end;
        let mut heading = None;
        while let Some(entered) = Entered::from_bits(self.nodes[grid.index(tile)].mark).direction() {
            if heading != Some(entered) {
                waypoints.push(tile);
                heading = Some(entered);
            }
            tile = tile.step(entered.opposite());
        }
        waypoints.reverse();
        waypoints
    }
}

/// What a search is about.
struct Task<'a> {
    grid: &'a TileGrid,
    /// On the grid, but perhaps blocked.
    goal: Tile,
    /// From a tile's index to its neighbours'.
    offsets: [u32; 8],
}

/// How far around a blocked goal an open tile is looked for, in tiles.
const NEAR_MAX: i32 = 16;

impl Task<'_> {
    /// The least that the way to the goal can cost.
    fn estimate(&self, tile: Tile) -> u32 {
        open_cost(tile.x.abs_diff(self.goal.x), tile.y.abs_diff(self.goal.y))
    }

    /// A bound on how near to the goal any open tile lies, in the measure of
    /// [`estimate`](Task::estimate): a search that has come so near may stop. Exact if an open tile
    /// is near; else that of the nearest tiles not looked at.
    fn nearest_open(&self) -> u32 {
        if self.grid.is_open(self.goal) {
            return 0;
        }
        let near = -NEAR_MAX..=NEAR_MAX;
        near.clone()
            .flat_map(|dy| near.clone().map(move |dx| Tile { x: self.goal.x + dx, y: self.goal.y + dy }))
            .filter(|tile| self.grid.is_open(*tile))
            .map(|tile| self.estimate(tile))
            .fold(open_cost(NEAR_MAX as u32 + 1, 0), u32::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Out of reach from outside: it takes 134 million searches.
    #[test]
    fn when_generations_run_out_no_node_of_an_earlier_one_counts() {
        let mut grid = TileGrid::new(9, 9);
        for n in 0..81 {
            grid.set_open(Tile::new(n % 9, n / 9), n != 40);
        }
        let (a, b) = (Tile::new(0, 4), Tile::new(8, 4));
        let fresh = Pathfinder::new().find(&grid, a, b, u32::MAX);
        let mut used = Pathfinder::new();
        // The nodes of generation 1 must not count in the next generation 1.
        used.find(&grid, b, a, u32::MAX);
        used.generation = GENERATION_MAX;
        assert_eq!(used.find(&grid, a, b, u32::MAX), fresh);
        assert_eq!(used.generation, 1);
        used.generation = GENERATION_MAX - 1;
        assert_eq!(used.find(&grid, a, b, u32::MAX), fresh);
        assert_eq!(used.generation, GENERATION_MAX);
    }
}
