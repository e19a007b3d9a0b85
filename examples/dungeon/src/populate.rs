//! What a cell holds before anyone has been there.

#![deny(clippy::float_arithmetic)]

use lockstone::sim::path::Tile;
use lockstone::sim::{CellId, Dice, Grid, Vec2};

use crate::body::Body;
use crate::loot::{Chest, Gear, Loot, Ware};
use crate::map::{Lair, Map, center_of, tile_of};
use crate::monsters::{Kin, Monster, Race};

/// So near to an entrance nothing lurks, in steps.
const SAFE_STEPS: u16 = 20;
/// Up to here those who lurk are few, and of the first level: nobody has learnt to fight yet.
const TAME_STEPS: u16 = 96;
/// Beyond, a level more every so many steps.
const STEPS_A_LEVEL: u16 = 22;
/// Up to here packs are small.
const SMALL_PACKS_STEPS: u16 = 192;
/// The highest level of a monster.
const LEVEL_MAX: u16 = 12;
/// A cell with fewer open tiles is a mere passage.
const ROOMY_TILES: usize = 14;
/// The level of all monsters of a battlefield: a fight that lasts.
const BATTLE_LEVEL: u8 = 6;
/// Hunters, archers and sleepers on a battlefield, a horde without end: another follows each that
/// is slain.
pub const BATTLE_MONSTERS: u32 = 500;
/// Loot and chests on a battlefield at the start.
pub const BATTLE_OBJECTS: u32 = 10_000;

/// What is found in a cell, of a hundred cells: nothing, a pack, archers, sleepers, a chest,
/// something lying about.
const FINDS: [u32; 6] = [46, 18, 12, 10, 5, 9];
/// The same near an entrance.
const TAME_FINDS: [u32; 6] = [64, 12, 8, 0, 7, 9];

/// How many beings and things there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stock {
    /// As it happens: more, and more dangerous, far from the entrances.
    Wild,
    /// Exactly [`BATTLE_MONSTERS`] and [`BATTLE_OBJECTS`], evenly over all cells.
    Battle,
}

/// Where a cell lies.
pub(crate) struct Place<'m> {
    pub map: &'m Map,
    pub grid: &'m Grid,
    pub cell: CellId,
}

pub(crate) fn populate(place: &Place<'_>, stock: Stock, dice: &mut Dice, content: &mut Vec<(Vec2, Body)>) {
    let open = place.open_tiles();
    match stock {
        Stock::Wild => wild(place.map, &open, dice, content),
        Stock::Battle => {
            (0..place.share(BATTLE_MONSTERS)).for_each(|_| put(&open, fighter(dice), dice, content));
            (0..place.share(BATTLE_OBJECTS)).for_each(|_| put(&open, object(dice), dice, content));
        }
    }
}

/// Puts a being or thing somewhere in the open.
fn put(open: &[Tile], body: Body, dice: &mut Dice, content: &mut Vec<(Vec2, Body)>) {
    let tile = dice.pick(open).copied();
    content.extend(tile.map(|tile| (center_of(tile), body)));
}

fn fighter(dice: &mut Dice) -> Body {
    let race = match dice.below(10) {
        0 => Race::Sleeper,
        1..=3 => Race::Archer,
        _ => Race::Hunter,
    };
    Body::Monster(Monster { kin: Kin::Horde, ..Monster::new(race, BATTLE_LEVEL) })
}

/// Mostly what is not worth to be picked up for long.
fn object(dice: &mut Dice) -> Body {
    match dice.below(20) {
        0 => Body::Chest(Chest { level: 1, opened: false }),
        1 => Loot::body(Ware::Gold(dice.range(3..=12) as u16)),
        2 => Loot::body(Ware::Potion),
        _ => Loot::body(Ware::Gear(Gear::roll(dice, 1, 1))),
    }
}

fn wild(map: &Map, open: &[Tile], dice: &mut Dice, content: &mut Vec<(Vec2, Body)>) {
    let Some(depth) = open.first().and_then(|&tile| map.depth(tile)) else { return };
    let level = (1 + depth.saturating_sub(TAME_STEPS) / STEPS_A_LEVEL).min(LEVEL_MAX) as u8;
    content.extend(guard(map, open, level));
    if depth < SAFE_STEPS || open.len() < ROOMY_TILES {
        return;
    }
    let (finds, pack, few) = match depth {
        ..TAME_STEPS => (&TAME_FINDS, 1..=2, 1..=1),
        TAME_STEPS..SMALL_PACKS_STEPS => (&FINDS, 1..=3, 1..=2),
        _ => (&FINDS, 2..=4, 1..=2),
    };
    let (race, count) = match dice.weighted(finds) {
        Some(1) => (Race::Hunter, dice.range(pack)),
        Some(2) => (Race::Archer, dice.range(few)),
        Some(3) => (Race::Sleeper, dice.range(few)),
        Some(4) => return put(open, Body::Chest(Chest { level, opened: false }), dice, content),
        Some(5) => {
            let ware = lying_about(dice, level);
            return put(open, Loot::body(ware), dice, content);
        }
        _ => return,
    };
    (0..count).for_each(|_| put(open, Body::Monster(Monster::new(race, level)), dice, content));
}

impl Place<'_> {
    fn open_tiles(&self) -> Vec<Tile> {
        let (corner, side) = (tile_of(self.grid.corner(self.cell)), self.grid.cell_tiles());
        let tiles = (0..side).flat_map(|y| (0..side).map(move |x| Tile::new(corner.x + x, corner.y + y)));
        let mut open = Vec::with_capacity((side * side) as usize);
        open.extend(tiles.filter(|&tile| self.map.tiles().is_open(tile)));
        open
    }

    /// This cell's part of so many: over all cells together it is all of them.
    fn share(&self, count: u32) -> u64 {
        let cells = self.grid.cells() as u64;
        let place = u64::from(self.cell.y) * u64::from(self.grid.config().width_cells) + u64::from(self.cell.x);
        let before = |place: u64| place * u64::from(count) / cells;
        before(place + 1) - before(place)
    }
}

/// The brood-mother or the warden, if this cell has the lair.
fn guard(map: &Map, open: &[Tile], level: u8) -> Option<(Vec2, Body)> {
    let room = map.rooms()[map.room_at(*open.first()?)];
    let lair = room.lair.filter(|_| open.contains(&room.center))?;
    let monster = match lair {
        Lair::Portal => Monster::new(Race::Warden, level),
        Lair::Nest(number) => {
            let kin = number.map_or(Kin::None, Kin::Nest);
            Monster { kin, ..Monster::new(Race::BroodMother, level) }
        }
    };
    Some((center_of(room.center), Body::Monster(monster)))
}

fn lying_about(dice: &mut Dice, level: u8) -> Ware {
    match dice.below(4) {
        0 => Ware::Potion,
        1 => Ware::Gear(Gear::roll(dice, level, 1)),
        _ => Ware::Gold(dice.range(3..=12) as u16 * u16::from(level)),
    }
}
