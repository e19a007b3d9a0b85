//! The ground: what is in the hero's line of sight shines, what lies behind walls is dark.

use lockstone::scene::{Ground, GroundTile, Rgb};
use lockstone::sim::path::{Direction, Tile};
use lockstone::sim::{Vec2, World};

use super::{float, point, stones};
use crate::body::Body;
use crate::map::{center_of, tile_of};
use crate::rules::Dungeon;

/// How far a hero's torch shines, in tiles.
const TORCH: f32 = 15.0;
/// What is open but out of sight, on the way of a torch that was here.
const DIM: u8 = 26;

/// The ground, and for each of its tiles whether it is in sight.
pub(super) fn ground(
    world: &World<Dungeon>,
    eye: Vec2,
    corner: Tile,
    (width, height): (i32, i32),
) -> (Ground, Vec<bool>) {
    let torches = torches(world, eye);
    let places = (0..height).flat_map(|y| (0..width).map(move |x| Tile::new(corner.x + x, corner.y + y)));
    let (mut tiles, mut seen) = (Vec::new(), Vec::new());
    for tile in places {
        let sight = in_sight(world, eye, tile);
        seen.push(sight);
        tiles.push(paint(world, tile, light(world, tile, sight, &torches)));
    }
    (Ground { corner: (corner.x, corner.y), width: width as usize, tiles, grain: stones::GRAIN }, seen)
}

/// Where light comes from: heroes, and orbs in flight.
fn torches(world: &World<Dungeon>, eye: Vec2) -> Vec<((f32, f32), f32)> {
    let near = world.entities(world.grid().cells_around(eye, crate::measures::REACH + crate::measures::REACH));
    let shines = near.filter_map(|entity| match &entity.body {
        Body::Hero(hero) => Some((point(entity.pos), if hero.is_alive() { TORCH } else { 4.0 })),
        Body::Projectile(_) => Some((point(entity.pos), 3.0)),
        _ => None,
    });
    shines.collect()
}

/// Whether a tile can be seen: an open one directly, a wall by an open neighbour.
fn in_sight(world: &World<Dungeon>, eye: Vec2, tile: Tile) -> bool {
    let tiles = world.rules().map().tiles();
    let eye = tile_of(eye);
    if tiles.is_open(tile) {
        return tiles.line_of_sight(eye, tile);
    }
    let near = Direction::ALL.into_iter().map(|way| tile.step(way));
    near.into_iter().any(|near| tiles.is_open(near) && tiles.line_of_sight(eye, near))
}

fn light(world: &World<Dungeon>, tile: Tile, sight: bool, torches: &[((f32, f32), f32)]) -> u8 {
    let center = center_of(tile);
    if !sight {
        let cell = world.grid().cell_of(center);
        return if world.light(cell) > 0 { DIM } else { 0 };
    }
    let (x, y) = (float(center.x), float(center.y));
    let shine = |&((tx, ty), reach): &((f32, f32), f32)| {
        let away = ((x - tx).powi(2) + (y - ty).powi(2)).sqrt();
        (1.0 - away / reach).clamp(0.0, 1.0)
    };
    let best = torches.iter().map(shine).fold(0.0, f32::max);
    DIM + (best.sqrt() * f32::from(255 - DIM)) as u8
}

fn paint(world: &World<Dungeon>, tile: Tile, light: u8) -> GroundTile {
    let map = world.rules().map();
    let grain = ((tile.x * 7 + tile.y * 13) ^ (tile.x * tile.y)) as u8 % 12;
    let shade = |Rgb(r, g, b): Rgb| Rgb(r + grain, g + grain, b + grain);
    let ground = |symbol, color, raised| GroundTile { symbol, color: shade(color), raised, light };
    match map.depth(tile) {
        None => ground('#', Rgb(92, 84, 80), true),
        Some(0..=6) => ground('.', Rgb(82, 88, 70), false),
        Some(depth) if depth % 97 < 48 => ground('.', Rgb(74, 66, 58), false),
        Some(_) => ground('.', Rgb(66, 64, 70), false),
    }
}
