//! What a cell holds before anyone has been there.

#![deny(clippy::float_arithmetic)]

use lockstone::sim::path::Tile;
use lockstone::sim::{CellId, Dice, Vec2};

use crate::body::Body;
use crate::loot::{Chest, Gear, Loot, Ware};
use crate::map::{Map, center_of, tile_of};
use crate::measures::grid;
use crate::monsters::{Kin, Monster, Race};

/// So near to the entrance nothing lurks, in steps.
const SAFE_STEPS: u16 = 20;
/// A level more every so many steps.
const STEPS_A_LEVEL: u16 = 32;
/// The highest level of a monster.
const LEVEL_MAX: u16 = 12;
/// A cell with fewer open tiles is a mere passage.
const ROOMY_TILES: usize = 14;

/// What is found in a cell, of a hundred cells: nothing, a pack, archers, sleepers, a chest, something lying about.
const FINDS: [u32; 6] = [46, 18, 12, 10, 5, 9];

pub(crate) fn populate(map: &Map, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Body)>) {
    let open = open_tiles(map, cell);
    let Some(depth) = open.iter().filter_map(|&tile| map.depth(tile)).min() else { return };
    let level = (1 + depth / STEPS_A_LEVEL).min(LEVEL_MAX) as u8;
    guards(map, &open, level, content);
    if depth < SAFE_STEPS || open.len() < ROOMY_TILES {
        return;
    }
    let mut place = |dice: &mut Dice, body: Body| {
        let tile = dice.pick(&open).copied();
        content.extend(tile.map(|tile| (center_of(tile), body)));
    };
    let (race, count) = match dice.weighted(&FINDS) {
        Some(1) => (Race::Hunter, dice.range(2..=4)),
        Some(2) => (Race::Archer, dice.range(1..=2)),
        Some(3) => (Race::Sleeper, dice.range(1..=2)),
        Some(4) => return place(dice, Body::Chest(Chest { level, opened: false })),
        Some(5) => {
            let ware = lying_about(dice, level);
            return place(dice, Loot::body(ware));
        }
        _ => return,
    };
    (0..count).for_each(|_| place(dice, Body::Monster(Monster::new(race, level))));
}

fn open_tiles(map: &Map, cell: CellId) -> Vec<Tile> {
    let grid = grid();
    let (corner, side) = (tile_of(grid.corner(cell)), grid.cell_tiles());
    let tiles = (0..side).flat_map(|y| (0..side).map(move |x| Tile::new(corner.x + x, corner.y + y)));
    tiles.filter(|&tile| map.tiles().is_open(tile)).collect()
}

/// The brood-mother of a nest in this cell, and the warden.
fn guards(map: &Map, open: &[Tile], level: u8, content: &mut Vec<(Vec2, Body)>) {
    for (n, nest) in map.nests().iter().enumerate().filter(|(_, nest)| open.contains(nest)) {
        let mut mother = Monster::new(Race::BroodMother, level);
        mother.kin = Kin::Nest(n as u8);
        content.push((center_of(*nest), Body::Monster(mother)));
    }
    if open.contains(&map.portal()) {
        content.push((center_of(map.portal()), Body::Monster(Monster::new(Race::Warden, level))));
    }
}

fn lying_about(dice: &mut Dice, level: u8) -> Ware {
    match dice.below(4) {
        0 => Ware::Potion,
        1 => Ware::Gear(Gear::roll(dice, level, 1)),
        _ => Ware::Gold(dice.range(3..=12) as u16 * u16::from(level)),
    }
}
