//! A small map in the corner: the ground that is seen, who is on it, and what is far away.

use tiny_skia::Pixmap;

use super::Camera;
use super::ink::fill;
use crate::scene::{Place, Rgb, Scene};

/// Pixels a tile.
const SCALE: i32 = 3;
/// Tiles that it shows to each side of the middle.
const REACH: (i32, i32) = (24, 15);
/// How far it is from the picture's corner, in pixels.
const MARGIN: i32 = 12;
/// How much brighter a hero is there than its colour.
const BRIGHT: f32 = 1.3;
/// A picture that is narrower has no room for it, in pixels.
const NARROWEST: usize = 480;

/// Draws it in the upper right corner.
pub(super) fn draw(pixmap: &mut Pixmap, camera: Camera, scene: &Scene) {
    if camera.width < NARROWEST || scene.ground.tiles.is_empty() {
        return;
    }
    let size = [REACH.0, REACH.1].map(|reach| (2 * reach + 1) * SCALE);
    let corner = (camera.width as i32 - MARGIN - size[0], MARGIN);
    let frame = (corner.0 as f32 - 2.0, corner.1 as f32 - 2.0, size[0] as f32 + 4.0, size[1] as f32 + 4.0);
    fill(pixmap, frame, Rgb(0, 0, 0), 150);
    ground(pixmap, corner, scene);
    let dot = |pixmap: &mut Pixmap, at: Place, side: i32, color: Rgb| {
        let within = |at: f32, center: f32, reach: i32| {
            let tiles = (at - center).clamp(-reach as f32, reach as f32) + reach as f32 + 0.5;
            (tiles * SCALE as f32) as i32 - side / 2
        };
        let (x, y) = (within(at.0, scene.center.0, REACH.0), within(at.1, scene.center.1, REACH.1));
        let (x, y, side) = ((corner.0 + x) as f32, (corner.1 + y) as f32, side as f32);
        fill(pixmap, (x - 1.0, y - 1.0, side + 2.0, side + 2.0), Rgb(0, 0, 0), 200);
        fill(pixmap, (x, y, side, side), color, 255);
    };
    let near =
        |(x, y): Place| (x - scene.center.0).abs() <= REACH.0 as f32 && (y - scene.center.1).abs() <= REACH.1 as f32;
    let foes = scene.figures.iter().filter(|figure| !figure.is_hero && near(figure.pos));
    let alive = foes.filter(|figure| figure.life.is_some_and(|life| life.left > 0));
    alive.for_each(|figure| dot(pixmap, figure.pos, 2, Rgb(232, 72, 56)));
    scene.marks.iter().for_each(|mark| dot(pixmap, mark.pos, 3, mark.color));
    let heroes = scene.figures.iter().filter(|figure| figure.is_hero);
    heroes.for_each(|figure| dot(pixmap, figure.pos, 4, super::lit(figure.color, [BRIGHT; 3])));
}

/// What lies flat is bright, what stands up is a dark outline of it.
fn ground(pixmap: &mut Pixmap, corner: (i32, i32), scene: &Scene) {
    let stride = pixmap.width() as usize;
    let pixels = pixmap.data_mut().as_chunks_mut::<4>().0;
    let first = (scene.center.0.floor() as i32 - REACH.0, scene.center.1.floor() as i32 - REACH.1);
    for (row, y) in (first.1..=first.1 + 2 * REACH.1).enumerate() {
        for (column, x) in (first.0..=first.0 + 2 * REACH.0).enumerate() {
            let Some(tile) = scene.ground.tile((x, y)).filter(|tile| tile.light > 0) else { continue };
            let gray = if tile.raised { 46 } else { 74 + tile.light / 4 };
            let color = [gray, gray - gray / 10, gray - gray / 6, 255];
            let (x, y) = (corner.0 as usize + column * SCALE as usize, corner.1 as usize + row * SCALE as usize);
            for line in pixels.chunks_mut(stride).skip(y).take(SCALE as usize) {
                line[x..x + SCALE as usize].fill(color);
            }
        }
    }
}
