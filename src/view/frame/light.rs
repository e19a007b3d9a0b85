//! Torchlight: how bright and how warm each place of the picture is.
//!
//! The game says what is seen ([`GroundTile::light`](crate::scene::GroundTile)) and what glows;
//! this makes it fall off smoothly. Light is sampled four times a tile and interpolated in between.

use super::{Camera, TILE};
use crate::scene::{Figure, Ground, Place, Rgb, Scene};

/// Samples a tile, each way.
const SAMPLES: usize = 4;
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
    /// Of each column of pixels: the sample before it, and how far it is on the way to the next.
    steps: Vec<(usize, f32)>,
}

/// The light along a row of pixels.
pub(super) struct Line<'l> {
    steps: &'l [(usize, f32)],
    row: &'l [[f32; 3]],
}

impl Light {
    pub fn of(scene: &Scene, camera: Camera, time_s: f32) -> Light {
        let corner = (camera.corner.0.floor() - 1.0, camera.corner.1.floor() - 2.0);
        let count = |pixels: usize| ((pixels as f32 / TILE).ceil() as usize + 5) * SAMPLES;
        let (columns, rows) = (count(camera.width), count(camera.height));
        let torches: Vec<_> =
            scene.figures.iter().filter(|figure| figure.glow > 0.0).map(|figure| Torch::of(figure, time_s)).collect();
        let place = |n: usize, corner: f32| corner + n as f32 / SAMPLES as f32;
        let mut samples = Vec::with_capacity(columns * rows);
        for y in (0..rows).map(|row| place(row, corner.1)) {
            for x in (0..columns).map(|column| place(column, corner.0)) {
                samples.push(sample(scene, &torches, (x, y)));
            }
        }
        let (first, pixel) = ((camera.corner.0 - corner.0) * SAMPLES as f32, SAMPLES as f32 / TILE);
        let steps = (0..camera.width).map(|x| step(first + x as f32 * pixel, columns)).collect();
        Light { corner, columns, rows, samples, steps }
    }

    /// The light at a place: between the four samples around it.
    pub fn at(&self, (x, y): Place) -> [f32; 3] {
        let (column, along) = step((x - self.corner.0) * SAMPLES as f32, self.columns);
        let (upper, lower, down) = self.rows_at(y);
        let between = |n: usize| mix(upper[n], lower[n], down);
        mix(between(column), between(column + 1), along)
    }

    /// The light along a row of pixels. `row` is working memory.
    pub fn line<'l>(&'l self, y: f32, row: &'l mut Vec<[f32; 3]>) -> Line<'l> {
        let (upper, lower, down) = self.rows_at(y);
        row.clear();
        row.extend(upper.iter().zip(lower).map(|(a, b)| mix(*a, *b, down)));
        Line { steps: &self.steps, row }
    }

    /// The rows of samples above and below a place, and how far it is from the first to the second.
    fn rows_at(&self, y: f32) -> (&[[f32; 3]], &[[f32; 3]], f32) {
        let (n, part) = step((y - self.corner.1) * SAMPLES as f32, self.rows);
        let (upper, lower) = self.samples[n * self.columns..][..2 * self.columns].split_at(self.columns);
        (upper, lower, part)
    }
}

impl Line<'_> {
    /// The light of the pixels from one up to another; none if all of them are in the dark.
    pub fn lit(&self, from: usize, to: usize) -> Option<impl Iterator<Item = [f32; 3]>> {
        let steps = self.steps.get(from..to)?;
        let samples = &self.row[steps.first()?.0..steps.last()?.0 + 2];
        let between = |&(n, along): &(usize, f32)| mix(self.row[n], self.row[n + 1], along);
        samples.iter().any(|light| *light != [0.0; 3]).then(|| steps.iter().map(between))
    }
}

/// A place along `count` samples: the sample before it, and how far it is on the way to the next.
fn step(at: f32, count: usize) -> (usize, f32) {
    let at = at.clamp(0.0, (count - 2) as f32);
    (at as usize, at.fract())
}

struct Torch {
    pos: (f32, f32),
    radius: f32,
    color: [f32; 3],
}

impl Torch {
    fn of(figure: &Figure, time_s: f32) -> Torch {
        let phase = figure.pos.0 * 0.7 + figure.pos.1 * 1.3;
        let flicker = 1.0 + 0.035 * (time_s * 9.0 + phase).sin() + 0.025 * (time_s * 23.0 + phase * 2.0).sin();
        let Rgb(r, g, b) = figure.color;
        let own = [r, g, b].map(|value| f32::from(value) / 255.0 * 2.0);
        Torch { pos: figure.pos, radius: figure.glow * flicker, color: mix(TORCH, own, 0.2) }
    }
}

fn sample(scene: &Scene, torches: &[Torch], (x, y): (f32, f32)) -> [f32; 3] {
    // Games darken with the distance too: the root keeps both together from being too much.
    let seen = seen(&scene.ground, (x, y)).sqrt();
    if seen <= 0.0 {
        return [0.0; 3];
    }
    let mut light = AMBIENT;
    for torch in torches {
        let part = ((x - torch.pos.0).powi(2) + (y - torch.pos.1).powi(2)) / torch.radius.powi(2);
        if part < 1.0 {
            let falloff = (1.0 - part).powi(2);
            light = [0, 1, 2].map(|n| light[n] + torch.color[n] * falloff);
        }
    }
    light.map(|value| seen * soft(value))
}

/// Many torches do not burn the picture out.
fn soft(value: f32) -> f32 {
    if value < 1.3 { value } else { 1.3 + (value - 1.3) * 0.4 }
}

/// What the game says of a place, interpolated between the middles of tiles.
fn seen(ground: &Ground, (x, y): (f32, f32)) -> f32 {
    let (x, y) = (x - 0.5, y - 0.5);
    let (left, top) = (x.floor(), y.floor());
    let value =
        |dx, dy| ground.tile((left as i32 + dx, top as i32 + dy)).map_or(0.0, |tile| f32::from(tile.light) / 255.0);
    let upper = value(0, 0) + (value(1, 0) - value(0, 0)) * (x - left);
    let lower = value(0, 1) + (value(1, 1) - value(0, 1)) * (x - left);
    upper + (lower - upper) * (y - top)
}

fn mix(a: [f32; 3], b: [f32; 3], part: f32) -> [f32; 3] {
    [0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * part)
}
