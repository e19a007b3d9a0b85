//! Corridors, and the promise that every open tile can be reached.
//!
//! The promise is kept in [`reach_all`], whatever the phases before made.

use lockstone::sim::Dice;
use lockstone::sim::path::{Direction, Tile, TileGrid};

use super::make::{Sectors, open_rectangle};

/// A pocket of at least so many tiles gets a corridor; a smaller one is filled in.
const POCKET_TILES: usize = 24;
/// One in so many neighbours gets a corridor that is not needed, so that there are ways round.
const LOOPS_ONE_IN: u32 = 5;

/// Joins all sectors by a random spanning tree (Kruskal 1956) and some more corridors.
pub(super) fn corridors(tiles: &mut TileGrid, sectors: &Sectors, dice: &mut Dice) {
    for sector in &sectors.all {
        let Tile { x, y } = sector.anchor;
        open_rectangle(tiles, Tile::new(x - 1, y - 1), Tile::new(x + 1, y + 1));
    }
    let mut pairs = sectors.neighbours();
    dice.shuffle(&mut pairs);
    let mut group: Vec<usize> = (0..sectors.all.len()).collect();
    for (a, b) in pairs {
        let (from, into) = (group[a], group[b]);
        if from != into {
            group.iter_mut().filter(|group| **group == from).for_each(|group| *group = into);
        } else if !dice.chance(1, LOOPS_ONE_IN) {
            continue;
        }
        dig(tiles, sectors.all[a].anchor, sectors.all[b].anchor, dice.chance(1, 2));
    }
}

/// A corridor with one corner, two tiles wide.
pub(super) fn dig(tiles: &mut TileGrid, a: Tile, b: Tile, row_first: bool) {
    let corner = if row_first { Tile::new(b.x, a.y) } else { Tile::new(a.x, b.y) };
    for (from, to) in [(a, corner), (corner, b)] {
        let low = Tile::new(from.x.min(to.x), from.y.min(to.y));
        open_rectangle(tiles, low, Tile::new(from.x.max(to.x) + 1, from.y.max(to.y) + 1));
    }
}

/// Joins large pockets, fills small ones, and gives each tile's distance from the entrance, row by
/// row, in steps along rows and columns; `u16::MAX` for walls.
pub(super) fn reach_all(tiles: &mut TileGrid, sectors: &Sectors, entrance: Tile) -> Vec<u16> {
    let mut known = depths(tiles, entrance);
    let cut_off =
        |tiles: &TileGrid, known: &[u16]| tiles.open_tiles().find(|&tile| known[index(tiles, tile)] == u16::MAX);
    while let Some(start) = cut_off(tiles, &known) {
        let pocket = flood(tiles, start, &mut known);
        if pocket.len() >= POCKET_TILES {
            dig(tiles, start, sectors.at(start).anchor, true);
            known.fill(u16::MAX);
            flood(tiles, entrance, &mut known);
        } else {
            pocket.into_iter().for_each(|tile| tiles.set_open(tile, false));
        }
    }
    depths(tiles, entrance)
}

fn depths(tiles: &TileGrid, from: Tile) -> Vec<u16> {
    let mut depth = vec![u16::MAX; (tiles.width() * tiles.height()) as usize];
    flood(tiles, from, &mut depth);
    depth
}

/// Spreads from a tile over rows and columns, and notes each tile's distance. Gives the tiles,
/// the nearest first.
fn flood(tiles: &TileGrid, from: Tile, depth: &mut [u16]) -> Vec<Tile> {
    depth[index(tiles, from)] = 0;
    let (mut found, mut next) = (vec![from], 0);
    while let Some(&tile) = found.get(next) {
        next += 1;
        for way in [Direction::East, Direction::South, Direction::West, Direction::North] {
            let near = tile.step(way);
            if tiles.is_open(near) && depth[index(tiles, near)] == u16::MAX {
                depth[index(tiles, near)] = depth[index(tiles, tile)].saturating_add(1);
                found.push(near);
            }
        }
    }
    found
}

/// A tile's place, row by row.
pub(super) fn index(tiles: &TileGrid, tile: Tile) -> usize {
    (tile.y * tiles.width() + tile.x) as usize
}
