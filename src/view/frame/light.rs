//! Torchlight: how bright and how warm each place of the picture is.
//!
//! The game says what is seen ([`GroundTile::light`](crate::scene::GroundTile)) and what glows;
//! this makes it fall off smoothly. Light is sampled four times a tile and interpolated in between.

use super::{Camera, TILE};
use crate::scene::{Figure, Ground, PATTERN_PIXELS, Place, Rgb, Scene};

/// Samples a tile, each way.
const SAMPLES: usize = 4;
/// So many pixels are painted from one sample up to the next: all of them, one that rounding may
/// add, and what fills the last vector. What is too many, the next run paints over.
pub(super) const RUN: usize = (PATTERN_PIXELS / SAMPLES + 1).next_multiple_of(4);
/// What is left where no torch reaches: a cold rest.
const AMBIENT: [f32; 3] = [0.34, 0.36, 0.48];
/// The colour of a torch.
const TORCH: [f32; 3] = [2.05, 1.60, 1.10];

pub(super) struct Light {
    /// The place of the first sample, in tiles.
    corner: (f32, f32),
    columns: usize,
    rows: usize,
    samples: Vec<[f32; 3]>,
    /// Of each column of pixels: the sample before it.
    before: Vec<usize>,
    /// And how far it is on the way to the next.
    along: Vec<f32>,
    /// Of each column of samples: the first column of pixels that is past the next one.
    ends: Vec<usize>,
}

/// The light along a row of pixels.
pub(super) struct Line<'l> {
    light: &'l Light,
    upper: &'l [[f32; 3]],
    lower: &'l [[f32; 3]],
    down: f32,
}

/// The light from a pixel up to the next column of samples.
pub(super) struct Run<'l> {
    first: [f32; 3],
    way: [f32; 3],
    along: &'l [f32; RUN],
}

impl Run<'_> {
    /// Whether no light falls on any pixel of it.
    pub fn is_dark(&self) -> bool {
        [self.first, self.way] == [[0.0; 3]; 2]
    }

    /// The light of a pixel of it.
    pub fn at(&self, n: usize) -> [f32; 3] {
        [0, 1, 2].map(|channel| self.first[channel] + self.way[channel] * self.along[n])
    }
}

impl Light {
    pub fn of(scene: &Scene, camera: Camera, time_s: f32) -> Light {
        let corner = (camera.corner.0.floor() - 1.0, camera.corner.1.floor() - 2.0);
        let count = |pixels: usize| ((pixels as f32 / TILE).ceil() as usize + 5) * SAMPLES;
        let (columns, rows) = (count(camera.width), count(camera.height));
        let (first, pixel) = ((camera.corner.0 - corner.0) * SAMPLES as f32, SAMPLES as f32 / TILE);
        let steps: Vec<_> = (0..camera.width + RUN).map(|x| step(first + x as f32 * pixel, columns)).collect();
        let ends = (0..columns).map(|n| steps.partition_point(|step| step.0 <= n)).collect();
        let (before, along) = steps.into_iter().unzip();
        let samples = samples(scene, corner, (columns, rows), time_s);
        Light { corner, columns, rows, samples, before, along, ends }
    }

    /// The light at a place: between the four samples around it.
    pub fn at(&self, (x, y): Place) -> [f32; 3] {
        let (column, along) = step((x - self.corner.0) * SAMPLES as f32, self.columns);
        let (upper, lower, down) = self.rows_at(y);
        let between = |n: usize| mix(upper[n], lower[n], down);
        mix(between(column), between(column + 1), along)
    }

    /// The light along a row of pixels.
    pub fn line(&self, y: f32) -> Line<'_> {
        let (upper, lower, down) = self.rows_at(y);
        Line { light: self, upper, lower, down }
    }

    /// The rows of samples above and below a place, and how far it is from the first to the second.
    fn rows_at(&self, y: f32) -> (&[[f32; 3]], &[[f32; 3]], f32) {
        let (n, part) = step((y - self.corner.1) * SAMPLES as f32, self.rows);
        let (upper, lower) = self.samples[n * self.columns..][..2 * self.columns].split_at(self.columns);
        (upper, lower, part)
    }
}

impl Line<'_> {
    /// The light of the pixels from one up to another, with the first pixel of each run.
    pub fn runs(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, Run<'_>)> {
        let Light { before, along, ends, .. } = self.light;
        let n = before[from];
        let samples = self.upper[n..].iter().zip(&self.lower[n..]);
        let mut samples = samples.map(|(upper, lower)| mix(*upper, *lower, self.down));
        let (mut first, mut x) = (samples.next().unwrap_or_default(), from);
        samples.zip(&ends[n..]).map_while(move |(next, end)| {
            let along = along[x..].first_chunk().filter(|_| x < to)?;
            let way = [0, 1, 2].map(|channel| next[channel] - first[channel]);
            let run = (x, Run { first, way, along });
            (first, x) = (next, *end);
            Some(run)
        })
    }
}

/// A place along `count` samples: the sample before it, and how far it is on the way to the next.
fn step(at: f32, count: usize) -> (usize, f32) {
    let at = at.clamp(0.0, (count - 2) as f32);
    (at as usize, at.fract())
}

struct Torch {
    pos: (f32, f32),
    radius_squared: f32,
    color: [f32; 3],
}

impl Torch {
    fn of(figure: &Figure, time_s: f32) -> Torch {
        let phase = figure.pos.0 * 0.7 + figure.pos.1 * 1.3;
        let flicker = 1.0 + 0.035 * (time_s * 9.0 + phase).sin() + 0.025 * (time_s * 23.0 + phase * 2.0).sin();
        let Rgb(r, g, b) = figure.color;
        let own = [r, g, b].map(|value| f32::from(value) / 255.0 * 2.0);
        Torch { pos: figure.pos, radius_squared: (figure.glow * flicker).powi(2), color: mix(TORCH, own, 0.2) }
    }
}

/// Row by row.
fn samples(scene: &Scene, corner: Place, (columns, rows): (usize, usize), time_s: f32) -> Vec<[f32; 3]> {
    let glowing = scene.figures.iter().filter(|figure| figure.glow > 0.0);
    let torches: Vec<_> = glowing.map(|figure| Torch::of(figure, time_s)).collect();
    let place = |n: usize, corner: f32| corner + n as f32 / SAMPLES as f32;
    let places: Vec<_> = (0..columns).map(|column| place(column, corner.0)).collect();
    let mut samples = Vec::with_capacity(columns * rows);
    // The tiles above and below a row of samples are those of the next few rows too.
    let mut seen = (f32::NAN, Vec::new(), Vec::new());
    for y in (0..rows).map(|row| place(row, corner.1)) {
        let top = (y - 0.5).floor();
        if seen.0 != top {
            seen = (top, seen_across(&scene.ground, &places, top), seen_across(&scene.ground, &places, top + 1.0));
        }
        let near: Vec<_> = torches.iter().filter(|torch| (y - torch.pos.1).powi(2) < torch.radius_squared).collect();
        let seen = seen.1.iter().zip(&seen.2).map(|(upper, lower)| upper + (lower - upper) * (y - 0.5 - top));
        samples.extend(places.iter().zip(seen).map(|(x, seen)| sample(seen, &near, (*x, y))));
    }
    samples
}

fn sample(seen: f32, torches: &[&Torch], (x, y): Place) -> [f32; 3] {
    // Games darken with the distance too: the root keeps both together from being too much.
    let seen = seen.sqrt();
    if seen <= 0.0 {
        return [0.0; 3];
    }
    let mut light = AMBIENT;
    for torch in torches {
        let away_squared = (x - torch.pos.0).powi(2) + (y - torch.pos.1).powi(2);
        if away_squared < torch.radius_squared {
            let falloff = (1.0 - away_squared / torch.radius_squared).powi(2);
            light = [0, 1, 2].map(|n| light[n] + torch.color[n] * falloff);
        }
    }
    light.map(|value| seen * soft(value))
}

/// Many torches do not burn the picture out.
fn soft(value: f32) -> f32 {
    if value < 1.3 { value } else { 1.3 + (value - 1.3) * 0.4 }
}

/// What the game says of places in a row of tiles, interpolated between the middles of tiles.
fn seen_across(ground: &Ground, places: &[f32], tile_y: f32) -> Vec<f32> {
    let value = |x, y| ground.tile((x, y)).map_or(0.0, |tile| f32::from(tile.light) / 255.0);
    let between = |place: &f32| {
        let x = place - 0.5;
        let (left, tile_y) = (x.floor(), tile_y as i32);
        let (from, to) = (value(left as i32, tile_y), value(left as i32 + 1, tile_y));
        from + (to - from) * (x - left)
    };
    places.iter().map(between).collect()
}

fn mix(a: [f32; 3], b: [f32; 3], part: f32) -> [f32; 3] {
    [0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * part)
}
