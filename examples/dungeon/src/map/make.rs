//! How a block of ground is made: sectors become halls, caves or open field, corridors join them,
//! what nobody can reach is filled in.
//!
//! The loop is [`Block::make`]. Every draw comes from the table, each phase from a tick of its own.
//! The ordinary dungeon is one block.

use lockstone::sim::path::{Tile, TileGrid};
use lockstone::sim::{Dice, Tick};

use super::{RoomKind, caves, connect};

/// A sector's side, in tiles; each holds one room. The last in a row or a column may be smaller.
pub(super) const SECTOR_TILES: i32 = 24;
/// Of five sectors, so many are caves.
const CAVES_OF_FIVE: u32 = 2;
/// In a field, every square of so many tiles may have a pillar.
const PILLAR_TILES: i32 = 8;

/// One square of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sector {
    pub kind: RoomKind,
    /// Where its corridors meet.
    pub anchor: Tile,
}

/// The plan of a block.
pub(super) struct Sectors {
    /// Row by row.
    pub all: Vec<Sector>,
    columns: i32,
}

/// Ground by itself, closed at its edge, in which every open tile can be reached. Its tiles count
/// from its own corner.
pub(super) struct Block {
    pub tiles: TileGrid,
    pub sectors: Sectors,
    pub entrance: Tile,
    /// The sectors' numbers, those nearest to the entrance first.
    pub by_depth: Vec<usize>,
}

impl Block {
    /// Makes one of `width` x `height` tiles: caves and halls, or an open field. `dice` gives
    /// each phase its own.
    pub fn make<'t>((width, height): (i32, i32), is_field: bool, dice: impl Fn(Tick) -> Dice<'t>) -> Block {
        let sectors = Sectors::plan((width, height), is_field, &mut dice(Tick(0)));
        let mut tiles = TileGrid::new(width, height);
        caves::grow(&mut tiles, &sectors, &mut dice(Tick(1)));
        build(&mut tiles, &sectors, &mut dice(Tick(2)));
        connect::corridors(&mut tiles, &sectors, &mut dice(Tick(3)));
        let entrance = sectors.all[dice(Tick(4)).below(sectors.all.len() as u32) as usize].anchor;
        let depth = connect::reach_all(&mut tiles, &sectors, entrance);
        let mut by_depth: Vec<usize> = (0..sectors.all.len()).collect();
        by_depth.sort_by_key(|&n| {
            let anchor = sectors.all[n].anchor;
            (depth[connect::index(&tiles, anchor)], anchor)
        });
        Block { tiles, sectors, entrance, by_depth }
    }
}

impl Sectors {
    /// What each sector is.
    fn plan((width, height): (i32, i32), is_field: bool, dice: &mut Dice) -> Sectors {
        let (columns, rows) = (sectors_along(width), sectors_along(height));
        let sector = |n: i32| {
            let kind = match is_field {
                true => RoomKind::Field,
                false if dice.chance(CAVES_OF_FIVE, 5) => RoomKind::Cave,
                false => RoomKind::Hall,
            };
            let mut middle = |at: i32, side: i32| {
                let low = at * SECTOR_TILES;
                low + (side - low).min(SECTOR_TILES) / 2 + dice.range(-2..=2)
            };
            Sector { kind, anchor: Tile::new(middle(n % columns, width), middle(n / columns, height)) }
        };
        Sectors { all: (0..columns * rows).map(sector).collect(), columns }
    }

    /// The sector that holds a tile.
    pub fn at(&self, tile: Tile) -> &Sector {
        &self.all[(tile.y / SECTOR_TILES * self.columns + tile.x / SECTOR_TILES) as usize]
    }

    /// The pairs of sectors that lie side by side.
    pub fn neighbours(&self) -> Vec<(usize, usize)> {
        let columns = self.columns as usize;
        let pairs = (0..self.all.len()).flat_map(|here| {
            let right = (here % columns + 1 < columns).then_some((here, here + 1));
            let below = (here + columns < self.all.len()).then_some((here, here + columns));
            [right, below]
        });
        pairs.flatten().collect()
    }
}

/// How many sectors so many tiles take.
pub(super) fn sectors_along(side_tiles: i32) -> i32 {
    (side_tiles + SECTOR_TILES - 1) / SECTOR_TILES
}

/// Carves the halls and fields, some of them with pillars.
fn build(tiles: &mut TileGrid, sectors: &Sectors, dice: &mut Dice) {
    for sector in &sectors.all {
        match sector.kind {
            RoomKind::Cave => {}
            RoomKind::Hall => hall(tiles, sector.anchor, dice),
            RoomKind::Field => field(tiles, sector.anchor, dice),
        }
    }
}

fn hall(tiles: &mut TileGrid, anchor: Tile, dice: &mut Dice) {
    let (wide, high) = (dice.range(3..=8), dice.range(3..=8));
    let Tile { x, y } = anchor;
    open_rectangle(tiles, Tile::new(x - wide, y - high), Tile::new(x + wide, y + high));
    if wide.min(high) >= 5 && dice.chance(1, 2) {
        for (dx, dy) in [(-3, -3), (3, -3), (-3, 3), (3, 3)] {
            tiles.set_open(Tile::new(x + dx, y + dy), false);
        }
    }
}

/// All of a sector, with a pillar here and there.
fn field(tiles: &mut TileGrid, anchor: Tile, dice: &mut Dice) {
    let low = Tile::new(anchor.x / SECTOR_TILES * SECTOR_TILES, anchor.y / SECTOR_TILES * SECTOR_TILES);
    open_rectangle(tiles, low, Tile::new(low.x + SECTOR_TILES - 1, low.y + SECTOR_TILES - 1));
    let squares = SECTOR_TILES / PILLAR_TILES;
    for n in 0..squares * squares {
        let mut within = |at: i32| at * PILLAR_TILES + dice.range(2..=PILLAR_TILES - 3);
        let pillar = Tile::new(low.x + within(n % squares), low.y + within(n / squares));
        if dice.chance(1, 2) {
            tiles.set_open(pillar, false);
        }
    }
}

/// Opens all tiles between two corners, but for the edge.
pub(super) fn open_rectangle(tiles: &mut TileGrid, low: Tile, high: Tile) {
    for y in low.y.max(1)..=high.y.min(tiles.height() - 2) {
        for x in low.x.max(1)..=high.x.min(tiles.width() - 2) {
            tiles.set_open(Tile::new(x, y), true);
        }
    }
}
