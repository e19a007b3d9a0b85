//! Ways through a grid of tiles: one path for one walker, or a field of directions for a whole
//! pack.
//!
//! ```text
//! TileGrid ─► Pathfinder::find ─► Path        one way, from here to there
//!         └─► FlowField::fill  ─► Direction   the next step of everyone near one goal
//! ```
//!
//! Paths are found on every peer, not sent, so two peers must find the same one. They do, by
//! construction. All is whole numbers. No hash, address or clock decides anything. Neighbours
//! are looked at in the order of [`Direction::ALL`]. Tiles wait in a queue whose order is fixed:
//! the lowest estimate first, of equals the one put in last. A flow field does not even depend
//! on that: it keeps costs, and the directions follow from them. What is kept between two
//! searches is memory, never a value that is read. So the order of searches does not matter, nor
//! who else searched.
//!
//! A step goes to one of eight neighbours: [`STRAIGHT_COST`] or [`DIAGONAL_COST`]. No corner is
//! cut: a diagonal step needs both tiles beside it open.
//!
//! The loops are in [`Pathfinder::find`] and [`FlowField::fill`].
//!
//! ```
//! use lockstone_sim::path::{Pathfinder, Tile, TileGrid};
//!
//! let mut grid = TileGrid::new(8, 8);
//! for n in 0..64 {
//!     grid.set_open(Tile::new(n % 8, n / 8), n != 27);
//! }
//! let mut pathfinder = Pathfinder::new();
//! let (from, to) = (Tile::new(0, 3), Tile::new(7, 3));
//! let path = pathfinder.find(&grid, from, to, 1_000).expect("it starts on an open tile");
//! assert!(path.reached);
//! assert_eq!(path.cost, 5 * 70 + 2 * 99);
//! ```

mod astar;
mod flow;
mod ring;
mod steps;
mod tiles;

pub use astar::{Path, Pathfinder};
pub use flow::FlowField;
pub use steps::Direction;
pub use tiles::{Tile, TileGrid};

/// What a step along a row or a column costs. 99 / 70 is the square root of two to 5
/// parts in 100,000.
pub const STRAIGHT_COST: u32 = 70;

/// What a step across a corner costs.
pub const DIAGONAL_COST: u32 = 99;

/// The cost of the shortest way if no tile were blocked (the octile distance), for a distance in
/// columns and in rows.
const fn open_cost(columns: u32, rows: u32) -> u32 {
    let (long, short) = if columns > rows { (columns, rows) } else { (rows, columns) };
    STRAIGHT_COST * long + (DIAGONAL_COST - STRAIGHT_COST) * short
}
