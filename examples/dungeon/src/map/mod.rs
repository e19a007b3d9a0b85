//! The ground: made once from the seed, the same for every peer, never part of the state.
//!
//! It must never be changed after it was made: every path depends on it.

#![deny(clippy::float_arithmetic)]

mod caves;
mod connect;
mod join;
mod make;

use lockstone::sim::path::{Tile, TileGrid};
use lockstone::sim::{Fx, PlayerId, Table, Vec2};
use serde::{Deserialize, Serialize};

use crate::measures::{BLOCK_TILES, CELL_TILES};

/// Caves and halls, or a field, all of it connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    tiles: TileGrid,
    /// How far each cell is from the nearest entrance, row by row, in steps along rows and columns.
    depths: Vec<u16>,
    /// By sector, row by row.
    rooms: Vec<Room>,
    nests: Vec<Tile>,
    portal: Tile,
    entrances: Vec<Tile>,
    /// So many players share an entrance.
    party: u16,
}

/// What a map is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its width and height, in tiles: whole cells, up to [`TileGrid::SIDE_MAX`].
    pub side_tiles: i32,
    /// Whether it is an open field with pillars.
    pub is_field: bool,
    /// How many entrances are spread over it; `None`: one, where the making of the
    /// middle block puts it.
    pub entrances: Option<u16>,
    /// So many players in a row share an entrance.
    pub party: u16,
}

impl Plan {
    /// The ordinary dungeon: one block, one entrance for all.
    pub const ORDINARY: Plan = Plan { side_tiles: BLOCK_TILES, is_field: false, entrances: None, party: u16::MAX };
}

/// A hall or the middle of a cave: a place to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// An open tile about its middle.
    pub center: Tile,
    /// What it looks like.
    pub kind: RoomKind,
    /// What is at its middle.
    pub lair: Option<Lair>,
}

/// What is found at the middle of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lair {
    /// A brood-mother; with a number if she is one of those that keep the portal closed.
    Nest(Option<u8>),
    /// The portal, and its warden.
    Portal,
}

/// What a room looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomKind {
    /// Built: straight walls.
    Hall,
    /// Grown: by a cellular automaton.
    Cave,
    /// Open ground with pillars.
    Field,
}

/// A tile in four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Spot {
    /// The column.
    pub x: u16,
    /// The row.
    pub y: u16,
}

impl From<Tile> for Spot {
    /// The nearest tile that the widest map could have.
    fn from(tile: Tile) -> Spot {
        let along = |n: i32| n.clamp(0, TileGrid::SIDE_MAX - 1) as u16;
        Spot { x: along(tile.x), y: along(tile.y) }
    }
}

impl From<Spot> for Tile {
    fn from(spot: Spot) -> Tile {
        Tile::new(spot.x.into(), spot.y.into())
    }
}

/// The tile that holds a position.
pub fn tile_of(pos: Vec2) -> Tile {
    Tile::new(pos.x.floor(), pos.y.floor())
}

/// The middle of a tile.
pub fn center_of(tile: Tile) -> Vec2 {
    Vec2::new(Fx::int(tile.x) + Fx::HALF, Fx::int(tile.y) + Fx::HALF)
}

impl Map {
    /// The ordinary map of a seed.
    pub fn new(seed: u64, table: &Table) -> Map {
        Map::of(&Plan::ORDINARY, seed, table)
    }

    /// The map of a plan and a seed.
    ///
    /// # Panics
    /// If the plan's side is not whole cells, or beyond [`TileGrid::SIDE_MAX`].
    pub fn of(plan: &Plan, seed: u64, table: &Table) -> Map {
        assert!(
            plan.side_tiles > 0 && plan.side_tiles % CELL_TILES == 0,
            "{} tiles are no whole cells",
            plan.side_tiles
        );
        join::make(plan, seed, table)
    }

    /// Which tiles are open.
    pub fn tiles(&self) -> &TileGrid {
        &self.tiles
    }

    /// Its width and height, in tiles.
    pub fn side_tiles(&self) -> i32 {
        self.tiles.width()
    }

    /// Halls and caves, by number, in no order that means anything.
    pub fn rooms(&self) -> &[Room] {
        &self.rooms
    }

    /// The number of the room about a tile of the map.
    pub fn room_at(&self, tile: Tile) -> usize {
        let sector = |n: i32| n.clamp(0, self.side_tiles() - 1) / make::SECTOR_TILES;
        (sector(tile.y) * make::sectors_along(self.side_tiles()) + sector(tile.x)) as usize
    }

    /// The numbers of the rooms at most so many columns and rows away, some farther
    /// ones among them.
    pub fn rooms_near(&self, tile: Tile, tiles: i32) -> impl Iterator<Item = usize> + use<> {
        let low = self.room_at(Tile::new(tile.x - tiles, tile.y - tiles));
        let high = self.room_at(Tile::new(tile.x + tiles, tile.y + tiles));
        let in_row = make::sectors_along(self.side_tiles()) as usize;
        let columns = low % in_row..=high % in_row;
        (low / in_row..=high / in_row).flat_map(move |row| columns.clone().map(move |column| row * in_row + column))
    }

    /// Where a player's hero enters, and returns.
    pub fn entrance(&self, player: PlayerId) -> Tile {
        self.entrances[usize::from(self.party(player)) % self.entrances.len()]
    }

    /// The number of a player's party: those who share an entrance.
    pub fn party(&self, player: PlayerId) -> u16 {
        player.0 / self.party
    }

    /// The way out: the room farthest from where its block is entered.
    pub fn portal(&self) -> Tile {
        self.portal
    }

    /// Where the brood-mothers sit that keep the portal closed.
    pub fn nests(&self) -> &[Tile] {
        &self.nests
    }

    /// How far a tile's cell is from the nearest entrance, in steps along rows and columns;
    /// `None` for a wall.
    pub fn depth(&self, tile: Tile) -> Option<u16> {
        let cells = self.side_tiles() / CELL_TILES;
        self.tiles.is_open(tile).then(|| self.depths[(tile.y / CELL_TILES * cells + tile.x / CELL_TILES) as usize])
    }

    /// Whether a position is in the open.
    pub fn is_open(&self, pos: Vec2) -> bool {
        self.tiles.is_open(tile_of(pos))
    }

    /// Whether nothing stands between two positions, tile by tile.
    pub fn sees(&self, a: Vec2, b: Vec2) -> bool {
        self.tiles.line_of_sight(tile_of(a), tile_of(b))
    }

    /// Where a step of less than a tile ends: at `to`, or beside it along the wall that is in the
    /// way.
    pub fn slide(&self, from: Vec2, to: Vec2) -> Vec2 {
        let ways = [to, Vec2::new(to.x, from.y), Vec2::new(from.x, to.y)];
        ways.into_iter().find(|&way| way != from && self.passes(from, way)).unwrap_or(from)
    }

    /// Whether a step of less than a tile stays in the open and cuts no corner.
    #[inline(always)]
    pub fn passes(&self, from: Vec2, to: Vec2) -> bool {
        let (a, b) = (tile_of(from), tile_of(to));
        let open = |x: i32, y: i32| self.tiles.is_open(Tile::new(x, y));
        open(b.x, b.y) && open(a.x, b.y) && open(b.x, a.y)
    }
}
