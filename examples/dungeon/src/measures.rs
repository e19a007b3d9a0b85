//! The measures that all of the rules share.

use lockstone::sim::{Fx, Grid, GridConfig};

/// Changes whenever a rule, a number or the map's making does.
pub const RULES_VERSION: u32 = 1;

/// How many ticks a second of play has.
pub const TICKS_PER_SECOND: u32 = 20;

/// The map's width and height, in tiles. A tile's column and row fit a byte.
pub const SIDE_TILES: i32 = 192;

/// How far anyone sees or affects anything, in tiles.
pub const REACH: Fx = Fx::int(10);

const CELL_LOG2: u8 = 3;

const _: () = assert!(SIDE_TILES <= 256 && SIDE_TILES % (1 << CELL_LOG2) == 0);

/// The grid of the dungeon's world.
pub fn grid() -> Grid {
    let cells = (SIDE_TILES >> CELL_LOG2) as u16;
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
