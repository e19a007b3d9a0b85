//! Corridors, and the promise that every open tile can be reached.
//!
//! The promise is kept in [`reach_all`], whatever the phases before made.

use lockstone::sim::Dice;
use lockstone::sim::path::{Direction, Tile, TileGrid};

use super::index;
use super::make::{SECTOR_TILES, SECTORS, Sector, open_rectangle};
use crate::measures::SIDE_TILES;

/// A pocket of at least so many tiles gets a corridor; a smaller one is filled in.
const POCKET_TILES: usize = 24;
/// One in so many neighbours gets a corridor that is not needed, so that there are ways round.
const LOOPS_ONE_IN: u32 = 5;

/// Joins all sectors by a random spanning tree (Kruskal 1956) and some more corridors.
pub(super) fn corridors(tiles: &mut TileGrid, sectors: &[Sector], dice: &mut Dice) {
    for sector in sectors {
        let Tile { x, y } = sector.anchor;
        open_rectangle(tiles, Tile::new(x - 1, y - 1), Tile::new(x + 1, y + 1));
    }
    let mut pairs = neighbours();
    dice.shuffle(&mut pairs);
    let mut group: Vec<usize> = (0..sectors.len()).collect();
    for (a, b) in pairs {
        let (from, into) = (group[a], group[b]);
        if from != into {
            group.iter_mut().filter(|group| **group == from).for_each(|group| *group = into);
        } else if !dice.chance(1, LOOPS_ONE_IN) {
            continue;
        }
        dig(tiles, sectors[a].anchor, sectors[b].anchor, dice.chance(1, 2));
    }
}

/// The pairs of sectors that lie side by side.
fn neighbours() -> Vec<(usize, usize)> {
    let side = SECTORS as usize;
    let places = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    let pairs = places.flat_map(|(x, y)| {
        let here = y * side + x;
        [(x + 1 < side).then_some((here, here + 1)), (y + 1 < side).then_some((here, here + side))]
    });
    pairs.flatten().collect()
}

/// A corridor with one corner, two tiles wide.
fn dig(tiles: &mut TileGrid, a: Tile, b: Tile, row_first: bool) {
    let corner = if row_first { Tile::new(b.x, a.y) } else { Tile::new(a.x, b.y) };
    for (from, to) in [(a, corner), (corner, b)] {
        let low = Tile::new(from.x.min(to.x), from.y.min(to.y));
        open_rectangle(tiles, low, Tile::new(from.x.max(to.x) + 1, from.y.max(to.y) + 1));
    }
}

/// Joins large pockets, fills small ones, and gives each tile's distance from the entrance.
pub(super) fn reach_all(tiles: &mut TileGrid, sectors: &[Sector], entrance: Tile) -> Vec<u16> {
    let mut known = depths(tiles, entrance);
    let cut_off = |tiles: &TileGrid, known: &[u16]| tiles.open_tiles().find(|&tile| known[index(tile)] == u16::MAX);
    while let Some(start) = cut_off(tiles, &known) {
        let pocket = flood(tiles, start, &mut known);
        if pocket.len() >= POCKET_TILES {
            let sector = start.y / SECTOR_TILES * SECTORS + start.x / SECTOR_TILES;
            dig(tiles, start, sectors[sector as usize].anchor, true);
            known.fill(u16::MAX);
            flood(tiles, entrance, &mut known);
        } else {
            pocket.into_iter().for_each(|tile| tiles.set_open(tile, false));
        }
    }
    depths(tiles, entrance)
}

fn depths(tiles: &TileGrid, from: Tile) -> Vec<u16> {
    let mut depth = vec![u16::MAX; (SIDE_TILES * SIDE_TILES) as usize];
    flood(tiles, from, &mut depth);
    depth
}

/// Spreads from a tile over rows and columns, and notes each tile's distance. Gives the tiles, the nearest first.
fn flood(tiles: &TileGrid, from: Tile, depth: &mut [u16]) -> Vec<Tile> {
    depth[index(from)] = 0;
    let (mut found, mut next) = (vec![from], 0);
    while let Some(&tile) = found.get(next) {
        next += 1;
        for way in [Direction::East, Direction::South, Direction::West, Direction::North] {
            let near = tile.step(way);
            if tiles.is_open(near) && depth[index(near)] == u16::MAX {
                depth[index(near)] = depth[index(tile)] + 1;
                found.push(near);
            }
        }
    }
    found
}
