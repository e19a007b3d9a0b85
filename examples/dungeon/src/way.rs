//! Finding ways on a map of any size: a search looks at a square of one block around where it
//! starts, and needs memory for that alone.

use lockstone::sim::path::{Path, Pathfinder, Tile, TileGrid};

use crate::map::Map;
use crate::measures::BLOCK_TILES;

/// Finds ways. Holds only memory: a fresh one finds the same ways.
#[derive(Default)]
pub(crate) struct Wayfinder {
    finder: Pathfinder,
    /// The square that was looked at last, of a map that has more.
    piece: Option<TileGrid>,
}

impl Wayfinder {
    /// A cheapest way to a tile, or toward it as far as a block around `from` goes; `None` if
    /// `from` is blocked.
    ///
    /// Expands at most `expansions_max` tiles. See [`Pathfinder::find`].
    pub(crate) fn find(&mut self, map: &Map, from: Tile, to: Tile, expansions_max: u32) -> Option<Path> {
        if map.side_tiles() <= BLOCK_TILES {
            return self.finder.find(map.tiles(), from, to, expansions_max);
        }
        let low = |n: i32| (n - BLOCK_TILES / 2).clamp(0, map.side_tiles() - BLOCK_TILES);
        let corner = Tile::new(low(from.x), low(from.y));
        let piece = self.piece.get_or_insert_with(|| TileGrid::new(BLOCK_TILES, BLOCK_TILES));
        piece.copy_from(map.tiles(), corner);
        let inside = |tile: Tile| Tile::new(tile.x - corner.x, tile.y - corner.y);
        let mut path = self.finder.find(piece, inside(from), inside(to), expansions_max)?;
        path.from = from;
        for tile in &mut path.waypoints {
            *tile = Tile::new(tile.x + corner.x, tile.y + corner.y);
        }
        Some(path)
    }
}

/// Whether a way to a tile that was not reached may yet be found from where the search came to: it
/// lies beyond what was looked at.
pub(crate) fn lies_beyond(from: Tile, to: Tile) -> bool {
    (to.x - from.x).abs().max((to.y - from.y).abs()) > BLOCK_TILES / 2
}
