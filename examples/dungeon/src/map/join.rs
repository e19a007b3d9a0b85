//! How a map is made of blocks: each by itself, then joined with its neighbours; then the
//! entrances, and how far all lies from them.
//!
//! The loop is [`make`]. What it takes grows with the tiles alone.

use lockstone::sim::path::{Direction, Tile, TileGrid};
use lockstone::sim::{Dice, Table, Tick, mix64};

use super::make::{Block, SECTOR_TILES, sectors_along};
use super::{Lair, Map, Plan, Room, connect};
use crate::measures::{BLOCK_TILES, CELL_TILES};

/// How many brood-mothers a block has.
const NESTS: usize = 6;
/// Besides the one way that is needed, so many of a hundred sectors at a border have one.
const WAYS_PERCENT: u32 = 40;
/// How often a good place for an entrance is looked for.
const PLACE_TRIES: usize = 64;
/// Keeps the map's draws apart from all others.
const STREAM: u64 = 0x6d61_7000_0000_0000;
/// The phases that follow a block's own.
const JOIN: Tick = Tick(5);
const PLACE: Tick = Tick(6);

pub(super) fn make(plan: &Plan, seed: u64, table: &Table) -> Map {
    let side = plan.side_tiles;
    let block_tiles = if plan.is_field { side } else { BLOCK_TILES };
    let blocks = (side + block_tiles - 1) / block_tiles;
    let dice = |n: i32, phase: Tick| table.dice(mix64(mix64(seed) ^ STREAM ^ n as u64), phase);
    let mut joined = Joined::new(side, block_tiles);
    for n in 0..blocks * blocks {
        let corner = Tile::new(n % blocks * block_tiles, n / blocks * block_tiles);
        let sides = ((side - corner.x).min(block_tiles), (side - corner.y).min(block_tiles));
        // There is one quest, about the middle.
        let has_quest = n == blocks / 2 * blocks + blocks / 2;
        joined.add(Block::make(sides, plan.is_field, |phase| dice(n, phase)), corner, has_quest);
    }
    joined.dig_ways(&mut dice(0, JOIN));
    let entrances = match plan.entrances {
        None => vec![joined.entrance],
        Some(count) => joined.places(count.into(), &mut dice(0, PLACE)),
    };
    let depths = depths(&joined.tiles, &entrances);
    let Joined { tiles, rooms, nests, portal, .. } = joined;
    Map { tiles, depths, rooms, nests, portal, entrances, party: plan.party.max(1) }
}

/// The blocks so far.
struct Joined {
    tiles: TileGrid,
    rooms: Vec<Room>,
    nests: Vec<Tile>,
    portal: Tile,
    entrance: Tile,
    /// From one border of blocks to the next.
    block_tiles: i32,
}

impl Joined {
    fn new(side: i32, block_tiles: i32) -> Joined {
        let (nowhere, sectors) = (Tile::default(), sectors_along(side));
        let room = Room { center: nowhere, kind: super::RoomKind::Hall, lair: None };
        let rooms = vec![room; (sectors * sectors) as usize];
        let tiles = TileGrid::new(side, side);
        Joined { tiles, rooms, nests: Vec::new(), portal: nowhere, entrance: nowhere, block_tiles }
    }

    /// Lays a block down, with its nests, and with the portal if it has the quest.
    fn add(&mut self, block: Block, corner: Tile, has_quest: bool) {
        let placed = |tile: Tile| Tile::new(corner.x + tile.x, corner.y + tile.y);
        block.tiles.open_tiles().for_each(|tile| self.tiles.set_open(placed(tile), true));
        for sector in &block.sectors.all {
            let center = placed(sector.anchor);
            *self.room_at(center) = Room { center, kind: sector.kind, lair: None };
        }
        let center = |n: usize| placed(block.sectors.all[block.by_depth[n]].anchor);
        // Spread over the deeper two thirds, the last room left to the portal.
        let (from, last) = (block.by_depth.len() / 3, block.by_depth.len() - 1);
        let mut nests: Vec<Tile> = (0..NESTS).map(|n| center(from + n * (last - from) / NESTS)).collect();
        nests.dedup();
        for (n, &nest) in nests.iter().enumerate() {
            self.room_at(nest).lair = Some(Lair::Nest(has_quest.then_some(n as u8)));
        }
        if has_quest {
            self.room_at(center(last)).lair = Some(Lair::Portal);
            (self.nests, self.portal, self.entrance) = (nests, center(last), placed(block.entrance));
        }
    }

    fn room_at(&mut self, tile: Tile) -> &mut Room {
        let sectors = sectors_along(self.tiles.width());
        &mut self.rooms[(tile.y / SECTOR_TILES * sectors + tile.x / SECTOR_TILES) as usize]
    }

    /// Digs ways across all borders of blocks: one between any two neighbours at least, so that
    /// all can be reached.
    fn dig_ways(&mut self, dice: &mut Dice) {
        let (side, block) = (self.tiles.width(), self.block_tiles);
        for border in (block..side).step_by(block as usize) {
            for low in (0..side).step_by(block as usize) {
                let sectors = sectors_along((side - low).min(block));
                for across in [false, true] {
                    let needed = dice.below(sectors as u32) as i32;
                    for n in 0..sectors {
                        if n == needed || dice.chance(WAYS_PERCENT, 100) {
                            let along = low + n * SECTOR_TILES;
                            let tile = |at: i32| if across { Tile::new(at, along) } else { Tile::new(along, at) };
                            let ends = [tile(border - 1), tile(border)].map(|tile| self.room_at(tile).center);
                            connect::dig(&mut self.tiles, ends[0], ends[1], across);
                        }
                    }
                }
            }
        }
    }

    /// So many entrances, each somewhere in its own square of the map, with open ground around.
    fn places(&mut self, count: usize, dice: &mut Dice) -> Vec<Tile> {
        let columns = (1..).find(|n| n * n >= count).unwrap_or(1);
        let rows = count.div_ceil(columns).max(1);
        let place = |n: usize| {
            // The last row has fewer, and so wider ones.
            let row = n / columns;
            let in_row = columns.min(count - row * columns);
            let side = self.tiles.width() as usize;
            let span = |at: usize, of: usize| (side * at / of) as i32..(side * (at + 1) / of) as i32;
            self.place(span(n % columns, in_row), span(row, rows), dice)
        };
        (0..count).map(place).collect()
    }

    fn place(&mut self, columns: core::ops::Range<i32>, rows: core::ops::Range<i32>, dice: &mut Dice) -> Tile {
        for _ in 0..PLACE_TRIES {
            let tile = Tile::new(dice.range(columns.start..=columns.end - 1), dice.range(rows.start..=rows.end - 1));
            if Direction::ALL.into_iter().all(|way| self.tiles.is_open(tile.step(way))) && self.tiles.is_open(tile) {
                return tile;
            }
        }
        self.room_at(Tile::new((columns.start + columns.end) / 2, (rows.start + rows.end) / 2)).center
    }
}

/// How far each cell is from the nearest entrance: spread from all of them at once over
/// rows and columns.
fn depths(tiles: &TileGrid, entrances: &[Tile]) -> Vec<u16> {
    let cells = tiles.width() / CELL_TILES;
    let mut depths = vec![u16::MAX; (cells * cells) as usize];
    let mut seen = TileGrid::new(tiles.width(), tiles.height());
    let (mut front, mut next) = (entrances.to_vec(), Vec::new());
    front.iter().for_each(|&tile| seen.set_open(tile, true));
    for depth in 0.. {
        for tile in front.drain(..) {
            let cell = &mut depths[(tile.y / CELL_TILES * cells + tile.x / CELL_TILES) as usize];
            *cell = depth.min(*cell);
            for way in [Direction::East, Direction::South, Direction::West, Direction::North] {
                let near = tile.step(way);
                if tiles.is_open(near) && !seen.is_open(near) {
                    seen.set_open(near, true);
                    next.push(near);
                }
            }
        }
        if next.is_empty() || depth == u16::MAX - 1 {
            break;
        }
        core::mem::swap(&mut front, &mut next);
    }
    depths
}
