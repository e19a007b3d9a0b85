//! Caves: a cellular automaton over the sectors that are to be caves (Johnson, Yannakakis,
//! Togelius: Cellular automata for real-time generation of infinite cave levels, 2010).

use lockstone::sim::Dice;
use lockstone::sim::path::{Direction, Tile, TileGrid};

use super::RoomKind;
use super::make::Sectors;

/// So many tiles of a hundred are open at the start.
const OPEN_PERCENT: u32 = 57;
/// How often the automaton runs.
const ROUNDS: usize = 5;
/// A tile with so many open neighbours of eight becomes open; with one fewer it stays what it is.
const BIRTH: usize = 5;

/// Grows caves in all sectors that are to be caves. Neighbouring ones grow together.
pub(super) fn grow(tiles: &mut TileGrid, sectors: &Sectors, dice: &mut Dice) {
    let ground: Vec<Tile> = inner_tiles(tiles).filter(|&tile| sectors.at(tile).kind == RoomKind::Cave).collect();
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

/// All tiles but those at the edge.
fn inner_tiles(tiles: &TileGrid) -> impl Iterator<Item = Tile> + use<> {
    let (columns, rows) = (1..tiles.width() - 1, 1..tiles.height() - 1);
    rows.flat_map(move |y| columns.clone().map(move |x| Tile::new(x, y)))
}
