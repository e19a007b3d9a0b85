//! Caves: a cellular automaton over the sectors that are to be caves (Johnson, Yannakakis, Togelius: Cellular automata for
//! real-time generation of infinite cave levels, 2010).

use lockstone::sim::Dice;
use lockstone::sim::path::{Direction, Tile, TileGrid};

use super::RoomKind;
use super::make::{SECTOR_TILES, SECTORS, Sector};
use crate::measures::SIDE_TILES;

/// So many tiles of a hundred are open at the start.
const OPEN_PERCENT: u32 = 57;
/// How often the automaton runs.
const ROUNDS: usize = 5;
/// A tile with so many open neighbours of eight becomes open; with one fewer it stays what it is.
const BIRTH: usize = 5;

/// Grows caves in all sectors that are to be caves. Neighbouring ones grow together.
pub(super) fn grow(tiles: &mut TileGrid, sectors: &[Sector], dice: &mut Dice) {
    let ground: Vec<Tile> = all_tiles().filter(|&tile| is_cave(sectors, tile)).collect();
    for &tile in &ground {
        tiles.set_open(tile, dice.chance(OPEN_PERCENT, 100));
    }
    for _ in 0..ROUNDS {
        let before = tiles.clone();
        for &tile in &ground {
            let open = Direction::ALL.into_iter().filter(|&way| before.is_open(tile.step(way))).count();
            tiles.set_open(tile, open >= BIRTH || open + 1 == BIRTH && before.is_open(tile));
        }
    }
}

/// All tiles but the map's edge.
fn all_tiles() -> impl Iterator<Item = Tile> {
    (1..SIDE_TILES - 1).flat_map(|y| (1..SIDE_TILES - 1).map(move |x| Tile::new(x, y)))
}

fn is_cave(sectors: &[Sector], tile: Tile) -> bool {
    let sector = tile.y / SECTOR_TILES * SECTORS + tile.x / SECTOR_TILES;
    sectors[sector as usize].kind == RoomKind::Cave
}
