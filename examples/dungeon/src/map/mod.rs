//! The ground: made once from the seed, the same for every peer, never part of the state.
//!
//! It must never be changed after it was made: every path depends on it.

#![deny(clippy::float_arithmetic)]

mod caves;
mod connect;
mod make;

use lockstone::sim::path::{Tile, TileGrid};
use lockstone::sim::{Fx, Table, Vec2};
use serde::{Deserialize, Serialize};

use crate::measures::SIDE_TILES;

/// Caves and halls, all of them connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    tiles: TileGrid,
    /// How far each tile is from the entrance, row by row, in steps along rows and columns; `u16::MAX` for walls.
    depth: Vec<u16>,
    rooms: Vec<Room>,
    entrance: Tile,
    portal: Tile,
    nests: Vec<Tile>,
}

/// A hall or the middle of a cave: a place to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// An open tile about its middle.
    pub center: Tile,
    /// What it looks like.
    pub kind: RoomKind,
    /// How far it is from the entrance, in steps along rows and columns.
    pub depth: u16,
}

/// What a room looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomKind {
    /// Built: straight walls.
    Hall,
    /// Grown: by a cellular automaton.
    Cave,
}

/// A tile in two bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Spot {
    /// The column.
    pub x: u8,
    /// The row.
    pub y: u8,
}

impl From<Tile> for Spot {
    /// The nearest tile of the map.
    fn from(tile: Tile) -> Spot {
        let along = |n: i32| n.clamp(0, SIDE_TILES - 1) as u8;
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
    /// The map of a seed.
    pub fn new(seed: u64, table: &Table) -> Map {
        make::make(seed, table)
    }

    /// Which tiles are open.
    pub fn tiles(&self) -> &TileGrid {
        &self.tiles
    }

    /// Halls and caves, in no order that means anything.
    pub fn rooms(&self) -> &[Room] {
        &self.rooms
    }

    /// Where heroes enter.
    pub fn entrance(&self) -> Tile {
        self.entrance
    }

    /// The way out: the room farthest from the entrance.
    pub fn portal(&self) -> Tile {
        self.portal
    }

    /// Where the brood-mothers sit.
    pub fn nests(&self) -> &[Tile] {
        &self.nests
    }

    /// How far a tile is from the entrance, in steps along rows and columns; `None` for a wall.
    pub fn depth(&self, tile: Tile) -> Option<u16> {
        self.tiles.is_open(tile).then(|| self.depth[index(tile)])
    }

    /// Whether a position is in the open.
    pub fn is_open(&self, pos: Vec2) -> bool {
        self.tiles.is_open(tile_of(pos))
    }

    /// Whether nothing stands between two positions, tile by tile.
    pub fn sees(&self, a: Vec2, b: Vec2) -> bool {
        self.tiles.line_of_sight(tile_of(a), tile_of(b))
    }

    /// Where a step of less than a tile ends: at `to`, or beside it along the wall that is in the way.
    pub fn slide(&self, from: Vec2, to: Vec2) -> Vec2 {
        let ways = [to, Vec2::new(to.x, from.y), Vec2::new(from.x, to.y)];
        ways.into_iter().find(|&way| way != from && self.passes(from, way)).unwrap_or(from)
    }

    /// Whether a step of less than a tile stays in the open and cuts no corner.
    pub fn passes(&self, from: Vec2, to: Vec2) -> bool {
        let (a, b) = (tile_of(from), tile_of(to));
        let open = |x: i32, y: i32| self.tiles.is_open(Tile::new(x, y));
        open(b.x, b.y) && open(a.x, b.y) && open(b.x, a.y)
    }
}

/// A tile's place, row by row.
fn index(tile: Tile) -> usize {
    (tile.y * SIDE_TILES + tile.x) as usize
}
