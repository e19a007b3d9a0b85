//! Floor and walls, pixel by pixel: a tile's colour, the pattern of its ground, the light.

use tiny_skia::Pixmap;

use super::light::{Light, Line};
use super::{Camera, TILE, WALL};
use crate::scene::{Grain, GroundTile, PATTERN_PIXELS as SIZE, PATTERNS, Pattern, Rgb, Scene, noise};

/// How much darker a wall's top is than the floor: it is above the torch.
const TOP: f32 = 0.72;
/// How much darker its face is.
const FACE: f32 = 0.78;

type Texture = [[f32; SIZE]; SIZE];

/// The variants of a ground's patterns, made once.
pub(super) struct Textures {
    grain: Grain,
    floor: Vec<Texture>,
    top: Vec<Texture>,
    face: Vec<Texture>,
}

impl Textures {
    pub fn of(grain: Grain) -> Textures {
        let make = |pattern: Pattern| {
            (0..PATTERNS).map(|n| std::array::from_fn(|y| std::array::from_fn(|x| pattern(n, x, y)))).collect()
        };
        Textures { grain, floor: make(grain.floor), top: make(grain.top), face: make(grain.face) }
    }

    /// Makes them anew if the ground is of another grain.
    pub fn follow(&mut self, grain: Grain) {
        if !self.grain.is(&grain) {
            *self = Textures::of(grain);
        }
    }
}

fn variant(x: i32, y: i32) -> usize {
    (noise(3, x as usize, y as usize) * PATTERNS as f32) as usize % PATTERNS as usize
}

/// A row of pixels of one tile.
struct Strip {
    /// Where it begins in the picture, and in the texture.
    x: i32,
    y: i32,
    row: usize,
    color: Rgb,
    shade: f32,
}

impl Strip {
    fn paint(&self, pixmap: &mut Pixmap, camera: Camera, texture: &Texture, line: &Line<'_>) {
        if self.y < 0 || self.y >= camera.height as i32 {
            return;
        }
        let Rgb(r, g, b) = self.color;
        let color = [r, g, b].map(|value| f32::from(value) * self.shade);
        let (from, to) = (self.x.max(0), (self.x + SIZE as i32).min(camera.width as i32));
        if from >= to {
            return;
        }
        let start = self.y as usize * pixmap.width() as usize;
        let pixels = &mut pixmap.data_mut().as_chunks_mut::<4>().0[start..][from as usize..to as usize];
        let Some(lights) = line.lit(from as usize, to as usize) else { return pixels.fill([0, 0, 0, 255]) };
        let brightness = &texture[self.row][(from - self.x) as usize..];
        for ((pixel, brightness), light) in pixels.iter_mut().zip(brightness).zip(lights) {
            let value = |n: usize| (color[n] * brightness * light[n]).min(255.0) as u8;
            *pixel = [value(0), value(1), value(2), 255];
        }
    }
}

/// The ground that lies flat.
pub(super) fn floor(pixmap: &mut Pixmap, camera: Camera, scene: &Scene, light: &Light, textures: &Textures) {
    let mut row = Vec::new();
    for y in 0..camera.height {
        let place = camera.corner.1 + (y as f32 + 0.5) / TILE;
        let line = light.line(place, &mut row);
        let tile_y = place.floor() as i32;
        let top = ((tile_y as f32 - camera.corner.1) * TILE).round() as i32;
        let texture_row = (y as i32 - top).clamp(0, SIZE as i32 - 1) as usize;
        for tile_x in camera.columns() {
            let Some(tile) = scene.ground.tile((tile_x, tile_y)).filter(|tile| !tile.raised) else { continue };
            // A wall to the north throws its shadow.
            let shadowed = scene.ground.tile((tile_x, tile_y - 1)).is_some_and(|north| north.raised);
            let shade = if shadowed { 0.62 + 0.38 * (texture_row as f32 / SIZE as f32).sqrt() } else { 1.0 };
            let x = left(camera, tile_x);
            let strip = Strip { x, y: y as i32, row: texture_row, color: tile.color, shade };
            strip.paint(pixmap, camera, &textures.floor[variant(tile_x, tile_y)], &line);
        }
    }
}

/// What stands up in one row of tiles: tops, and faces where the ground before them lies flat.
pub(super) fn walls(
    pixmap: &mut Pixmap,
    camera: Camera,
    scene: &Scene,
    tile_y: i32,
    light: &Light,
    textures: &Textures,
) {
    let raised: Vec<_> = camera.columns().filter_map(|x| wall(scene, x, tile_y)).collect();
    if raised.is_empty() {
        return;
    }
    let height = (WALL * TILE) as i32;
    let top = ((tile_y as f32 - camera.corner.1) * TILE).round() as i32 - height;
    let mut row = Vec::new();
    for n in 0..SIZE {
        let line = light.line(tile_y as f32 + n as f32 / TILE, &mut row);
        for &(tile_x, tile) in &raised {
            let edge = if wall(scene, tile_x, tile_y - 1).is_none() && n < 2 { 1.1 } else { TOP };
            let strip = Strip { x: left(camera, tile_x), y: top + n as i32, row: n, color: tile.color, shade: edge };
            strip.paint(pixmap, camera, &textures.top[variant(tile_x, tile_y)], &line);
        }
    }
    let line = light.line(tile_y as f32 + 1.1, &mut row);
    for &(tile_x, tile) in raised.iter().filter(|(x, _)| wall(scene, *x, tile_y + 1).is_none()) {
        for n in 0..height {
            let shade = if n < 2 { 1.25 } else { FACE };
            let y = top + SIZE as i32 + n;
            let strip = Strip { x: left(camera, tile_x), y, row: n as usize, color: tile.color, shade };
            strip.paint(pixmap, camera, &textures.face[variant(tile_x, tile_y)], &line);
        }
    }
}

fn wall(scene: &Scene, x: i32, y: i32) -> Option<(i32, GroundTile)> {
    scene.ground.tile((x, y)).filter(|tile| tile.raised).map(|tile| (x, *tile))
}

fn left(camera: Camera, tile_x: i32) -> i32 {
    ((tile_x as f32 - camera.corner.0) * TILE).round() as i32
}

/// The picture grows dark towards its edges.
pub(super) fn dim_edges(pixmap: &mut Pixmap, camera: Camera) {
    let (width, height) = (camera.width as f32, camera.height as f32);
    let stride = pixmap.width() as usize;
    let across: Vec<f32> = (0..camera.width).map(|x| (x as f32 / width * 2.0 - 1.0).powi(4)).collect();
    let pixels = pixmap.data_mut().as_chunks_mut::<4>().0;
    for (y, line) in pixels.chunks_mut(stride).take(camera.height).enumerate() {
        let down = (y as f32 / height * 2.0 - 1.0).powi(4);
        for (pixel, across) in line.iter_mut().zip(&across).filter(|(pixel, _)| pixel[..3] != [0; 3]) {
            let keep = 256 - ((across + down).min(1.0) * 150.0) as u32;
            pixel[..3].iter_mut().for_each(|value| *value = ((u32::from(*value) * keep) >> 8) as u8);
        }
    }
}
