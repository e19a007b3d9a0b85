//! Floor and walls, pixel by pixel: a tile's colour, the pattern of its ground, the light.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

use tiny_skia::Pixmap;

use super::light::{Light, Line, RUN};
use super::{Camera, TILE, WALL};
use crate::scene::{Grain, GroundTile, PATTERN_PIXELS as SIZE, PATTERNS, Pattern, Rgb, Scene, noise};

/// How much darker a wall's top is than the floor: it is above the torch.
const TOP: f32 = 0.72;
/// How much darker its face is.
const FACE: f32 = 0.78;
/// How high it stands, in pixels.
const HEIGHT: i32 = (WALL * TILE) as i32;

/// What is where there is no ground.
pub(super) const DARKNESS: [u8; 4] = [8, 7, 9, 255];

/// Each row is as long as the last run of pixels in it may be.
type Texture = [[f32; SIZE + RUN]; SIZE];

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
            let pixel = |n, x: usize, y| if x < SIZE { pattern(n, x, y).max(0.0) } else { 0.0 };
            (0..PATTERNS).map(|n| std::array::from_fn(|y| std::array::from_fn(|x| pixel(n, x, y)))).collect()
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

/// A tile, or the face of one, that is painted row by row.
struct Slab<'t> {
    /// Where its left side is in the picture.
    x: i32,
    color: Rgb,
    texture: &'t Texture,
}

impl<'t> Slab<'t> {
    fn of((x, y): (i32, i32), color: Rgb, camera: Camera, textures: &'t [Texture]) -> Slab<'t> {
        let left = ((x as f32 - camera.corner.0) * TILE).round() as i32;
        Slab { x: left, color, texture: &textures[variant(x, y)] }
    }

    /// Paints a row of it into a row of the picture.
    fn paint(&self, pixels: &mut [[u8; 4]], row: usize, shade: f32, line: &Line<'_>) {
        let (from, to) = (self.x.max(0) as usize, (self.x + SIZE as i32).clamp(0, pixels.len() as i32) as usize);
        if from >= to {
            return;
        }
        let Rgb(r, g, b) = self.color;
        let [r, g, b] = [r, g, b].map(|value| f32::from(value) * shade);
        let brightness = &self.texture[row][(from as i32 - self.x) as usize..];
        let mut painted = [[0; 4]; SIZE + RUN];
        for (start, light) in line.runs(from, to) {
            let run = start - from..start - from + RUN;
            if light.is_dark() {
                painted[run].fill([0, 0, 0, 255]);
                continue;
            }
            for (n, (pixel, brightness)) in painted[run.clone()].iter_mut().zip(&brightness[run]).enumerate() {
                let [red, green, blue] = light.at(n);
                let [r, g, b] = [r * brightness * red, g * brightness * green, b * brightness * blue].map(whole);
                *pixel = (r | g << 8 | b << 16 | 0xff00_0000).to_le_bytes();
            }
        }
        pixels[from..to].copy_from_slice(&painted[..to - from]);
    }
}

/// What is before the point, at most 255, of what is not negative: `value as u8`, but without a
/// branch, so that several pixels are painted at once. Only the lowest 24 bits are the value's.
fn whole(value: f32) -> u32 {
    // From here on, floats have no digits behind the point: a sum is rounded to the nearest.
    const WHOLE: f32 = 8_388_608.0;
    let value = if value < 255.0 { value } else { 255.0 };
    let nearest = value + WHOLE;
    nearest.to_bits() - u32::from(nearest - WHOLE > value)
}

/// The world's part of a row of the picture, if there is such a row.
fn pixels_of(pixmap: &mut Pixmap, camera: Camera, y: i32) -> Option<&mut [[u8; 4]]> {
    let y = usize::try_from(y).ok().filter(|y| *y < camera.height)?;
    let start = y * pixmap.width() as usize;
    Some(&mut pixmap.data_mut().as_chunks_mut::<4>().0[start..][..camera.width])
}

/// A tile that lies flat.
struct Flat<'t> {
    slab: Slab<'t>,
    /// A wall to the north throws its shadow on it.
    is_shadowed: bool,
    /// A wall to the south hides its lower part.
    is_behind: bool,
}

/// Has rows of the picture painted in as many bands as there are processors, at once. `paint` is
/// given a band's first row, and its pixels.
fn in_bands(pixmap: &mut Pixmap, camera: Camera, paint: impl Fn(usize, &mut [[u8; 4]]) + Sync) {
    static PROCESSORS: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));
    let (stride, rows) = (pixmap.width() as usize, camera.height.div_ceil(*PROCESSORS));
    let mut bands = pixmap.data_mut().as_chunks_mut::<4>().0.chunks_mut(rows * stride).enumerate();
    let first = bands.next();
    let paint = |(n, band): (usize, &mut [[u8; 4]])| paint(n * rows, band);
    thread::scope(|scope| {
        bands.for_each(|band| drop(scope.spawn(move || paint(band))));
        first.map(paint);
    });
}

/// The ground that lies flat, and the darkness where there is none.
pub(super) fn floor(pixmap: &mut Pixmap, camera: Camera, scene: &Scene, light: &Light, textures: &Textures) {
    let stride = pixmap.width() as usize;
    in_bands(pixmap, camera, |first, band| {
        let (mut row, mut flats, mut is_bare) = (None, Vec::new(), false);
        for (y, pixels) in (first..).zip(band.chunks_mut(stride)) {
            let pixels = &mut pixels[..camera.width];
            let place = camera.corner.1 + (y as f32 + 0.5) / TILE;
            let tile_y = place.floor() as i32;
            if row.replace(tile_y) != Some(tile_y) {
                flats = camera.columns().filter_map(|x| flat(scene, camera, (x, tile_y), textures)).collect();
                is_bare = camera.columns().any(|x| scene.ground.tile((x, tile_y)).is_none());
            }
            if is_bare {
                pixels.fill(DARKNESS);
            }
            let texture_row = (y as i32 - top(camera, tile_y)).clamp(0, SIZE as i32 - 1) as usize;
            let is_hidden = y as i32 >= top(camera, tile_y + 1) - HEIGHT;
            let shadow = 0.62 + 0.38 * (texture_row as f32 / SIZE as f32).sqrt();
            let line = light.line(place);
            for flat in flats.iter().filter(|flat| !(is_hidden && flat.is_behind)) {
                flat.slab.paint(pixels, texture_row, if flat.is_shadowed { shadow } else { 1.0 }, &line);
            }
        }
    });
}

fn flat<'t>(scene: &Scene, camera: Camera, (x, y): (i32, i32), textures: &'t Textures) -> Option<Flat<'t>> {
    let tile = scene.ground.tile((x, y)).filter(|tile| !tile.raised)?;
    let slab = Slab::of((x, y), tile.color, camera, &textures.floor);
    Some(Flat { slab, is_shadowed: wall(scene, x, y - 1).is_some(), is_behind: wall(scene, x, y + 1).is_some() })
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
    let raised: Vec<_> = camera.columns().filter_map(|x| Some((x, wall(scene, x, tile_y)?))).collect();
    let slab = |&(x, tile): &(i32, &GroundTile), textures| Slab::of((x, tile_y), tile.color, camera, textures);
    let is_edge = |x: i32, y: i32| wall(scene, x, y).is_none();
    let tops: Vec<_> = raised.iter().map(|wall| (slab(wall, &textures.top), is_edge(wall.0, tile_y - 1))).collect();
    let before = raised.iter().filter(|(x, _)| is_edge(*x, tile_y + 1));
    let faces: Vec<_> = before.map(|wall| slab(wall, &textures.face)).collect();
    let top = top(camera, tile_y) - HEIGHT;
    for (n, y) in (top..).take(SIZE).enumerate() {
        let Some(pixels) = pixels_of(pixmap, camera, y) else { continue };
        let line = light.line(tile_y as f32 + n as f32 / TILE);
        for (slab, is_edge) in &tops {
            slab.paint(pixels, n, if *is_edge && n < 2 { 1.1 } else { TOP }, &line);
        }
    }
    let line = light.line(tile_y as f32 + 1.1);
    for (n, y) in (top + SIZE as i32..).take(HEIGHT as usize).enumerate() {
        let Some(pixels) = pixels_of(pixmap, camera, y) else { continue };
        faces.iter().for_each(|slab| slab.paint(pixels, n, if n < 2 { 1.25 } else { FACE }, &line));
    }
}

fn wall(scene: &Scene, x: i32, y: i32) -> Option<&GroundTile> {
    scene.ground.tile((x, y)).filter(|tile| tile.raised)
}

/// Where a row of tiles begins in the picture.
fn top(camera: Camera, tile_y: i32) -> i32 {
    ((tile_y as f32 - camera.corner.1) * TILE).round() as i32
}

/// The picture grows dark towards its edges: of each pixel, how much is kept, in 256ths, less one.
pub(super) fn edges(camera: Camera) -> Vec<u8> {
    let part = |n: usize, of: usize| (n as f32 / of as f32 * 2.0 - 1.0).powi(4);
    let across: Vec<f32> = (0..camera.width).map(|x| part(x, camera.width)).collect();
    let down = (0..camera.height).map(|y| part(y, camera.height));
    down.flat_map(|down| across.iter().map(move |across| 255 - ((across + down).min(1.0) * 150.0) as u8)).collect()
}

/// Darkens the picture by its [`edges`].
pub(super) fn dim_edges(pixmap: &mut Pixmap, camera: Camera, edges: &[u8]) {
    let stride = pixmap.width() as usize;
    in_bands(pixmap, camera, |first, band| {
        for (line, edges) in band.chunks_mut(stride).zip(edges.chunks(camera.width).skip(first)) {
            let (fours, ones) = line[..camera.width].as_chunks_mut::<4>();
            let (edges, last) = edges.as_chunks::<4>();
            fours.iter_mut().zip(edges).for_each(|(pixels, kept)| dim(pixels, kept));
            let ones = ones.as_chunks_mut::<1>().0.iter_mut();
            ones.zip(last.as_chunks::<1>().0).for_each(|(pixel, kept)| dim(pixel, kept));
        }
    });
}

/// Of pixels whose number is known beforehand, all bytes are multiplied at once.
fn dim<const N: usize>(pixels: &mut [[u8; 4]; N], kept: &[u8; N]) {
    for (n, value) in pixels.as_flattened_mut().iter_mut().enumerate() {
        *value = ((u16::from(*value) * (u16::from(kept[n / 4]) + 1)) >> 8) as u8;
    }
    *pixels = pixels.map(|pixel| (u32::from_le_bytes(pixel) | 0xff00_0000).to_le_bytes());
}
