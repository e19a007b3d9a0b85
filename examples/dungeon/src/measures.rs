//! The measures that all of the rules share.

use lockstone::sim::{Fx, Grid, GridConfig};

/// How many ticks a second of play has.
pub const TICKS_PER_SECOND: u32 = 20;

/// The width and height of the ordinary dungeon, in tiles. Wider ones are made of such blocks, and
/// nobody looks for a way farther.
pub const BLOCK_TILES: i32 = 192;

/// How far anyone sees or affects anything, in tiles.
pub const REACH: Fx = Fx::int(10);

const CELL_LOG2: u8 = 3;
/// A cell's width and height, in tiles.
pub const CELL_TILES: i32 = 1 << CELL_LOG2;

const _: () = assert!(BLOCK_TILES % CELL_TILES == 0);

/// The grid of a dungeon so many tiles wide and high, which must be whole cells.
pub fn grid(side_tiles: i32) -> Grid {
    let cells = (side_tiles / CELL_TILES) as u16;
    let config = GridConfig {
        width_cells: cells,
        height_cells: cells,
        cell_log2: CELL_LOG2,
        reach: REACH,
        stride: Fx::ratio(3, 4),
        light: 3,
    };
    Grid::new(config).expect("the measures are sound")
}
