//! How a map is made: sectors become halls or caves, corridors join them, what nobody can reach is filled in.
//!
//! The loop is [`make`]. Every draw comes from the table, each phase from a tick of its own.

use lockstone::sim::path::{Tile, TileGrid};
use lockstone::sim::{Dice, Table, Tick, mix64};

use super::{Map, Room, RoomKind, caves, connect, index};
use crate::measures::SIDE_TILES;

/// A sector's side, in tiles; each holds one hall or cave.
pub(super) const SECTOR_TILES: i32 = 24;
/// Sectors in a row and in a column.
pub(super) const SECTORS: i32 = SIDE_TILES / SECTOR_TILES;
/// Of five sectors, so many are caves.
const CAVES_OF_FIVE: u32 = 2;
/// How many brood-mothers there are.
const NESTS: usize = 6;
/// Keeps the map's draws apart from all others.
const STREAM: u64 = 0x6d61_7000_0000_0000;

/// One square of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sector {
    pub kind: RoomKind,
    /// Where its corridors meet.
    pub anchor: Tile,
}

pub(super) fn make(seed: u64, table: &Table) -> Map {
    let dice = |phase: u32| table.dice(mix64(mix64(seed) ^ STREAM), Tick(phase));
    let sectors = plan(&mut dice(0));
    let mut tiles = TileGrid::new(SIDE_TILES, SIDE_TILES);
    caves::grow(&mut tiles, &sectors, &mut dice(1));
    halls(&mut tiles, &sectors, &mut dice(2));
    connect::corridors(&mut tiles, &sectors, &mut dice(3));
    let entrance = sectors[dice(4).below((SECTORS * SECTORS) as u32) as usize].anchor;
    let depth = connect::reach_all(&mut tiles, &sectors, entrance);
    furnish(tiles, depth, &sectors, entrance)
}

/// What each sector is, row by row.
fn plan(dice: &mut Dice) -> Vec<Sector> {
    let sector = |n: i32| {
        let kind = if dice.chance(CAVES_OF_FIVE, 5) { RoomKind::Cave } else { RoomKind::Hall };
        let mut middle = |at: i32| at * SECTOR_TILES + SECTOR_TILES / 2 + dice.range(-2..=2);
        Sector { kind, anchor: Tile::new(middle(n % SECTORS), middle(n / SECTORS)) }
    };
    (0..SECTORS * SECTORS).map(sector).collect()
}

/// Carves the halls, some of them with pillars.
fn halls(tiles: &mut TileGrid, sectors: &[Sector], dice: &mut Dice) {
    for sector in sectors.iter().filter(|sector| sector.kind == RoomKind::Hall) {
        let (wide, high) = (dice.range(3..=8), dice.range(3..=8));
        let Tile { x, y } = sector.anchor;
        open_rectangle(tiles, Tile::new(x - wide, y - high), Tile::new(x + wide, y + high));
        if wide.min(high) >= 5 && dice.chance(1, 2) {
            for (dx, dy) in [(-3, -3), (3, -3), (-3, 3), (3, 3)] {
                tiles.set_open(Tile::new(x + dx, y + dy), false);
            }
        }
    }
}

/// Opens all tiles between two corners, but for the map's edge.
pub(super) fn open_rectangle(tiles: &mut TileGrid, low: Tile, high: Tile) {
    for y in low.y.max(1)..=high.y.min(SIDE_TILES - 2) {
        for x in low.x.max(1)..=high.x.min(SIDE_TILES - 2) {
            tiles.set_open(Tile::new(x, y), true);
        }
    }
}

/// Gives the rooms their depth, and the nests and the portal their places.
fn furnish(tiles: TileGrid, depth: Vec<u16>, sectors: &[Sector], entrance: Tile) -> Map {
    let room = |sector: &Sector| Room { center: sector.anchor, kind: sector.kind, depth: depth[index(sector.anchor)] };
    let rooms: Vec<Room> = sectors.iter().map(room).collect();
    let mut by_depth = rooms.clone();
    by_depth.sort_by_key(|room| (room.depth, room.center));
    // Spread over the deeper two thirds, the last room left to the portal.
    let (from, last) = (by_depth.len() / 3, by_depth.len() - 1);
    let nests = (0..NESTS).map(|n| by_depth[from + n * (last - from) / NESTS].center).collect();
    Map { tiles, depth, entrance, portal: by_depth[last].center, nests, rooms }
}
