//! What the dungeon's ground looks like from near.

use lockstone::scene::{Grain, PATTERN_PIXELS as SIZE, noise};

/// Flagstones between walls of bricks.
pub(super) const GRAIN: Grain = Grain { floor: flag, top: rock, face: brick };

/// A floor of worn flagstones.
fn flag(variant: u32, x: usize, y: usize) -> f32 {
    // Every other stone is split in two.
    let split = variant % 2 == 1 && (x as i32 - SIZE as i32 / 2 + (noise(variant, 0, y / 5) * 3.0) as i32).abs() < 1;
    let joint = x == 0 || y == 0 || split;
    let rim = x == 1 || y == 1;
    let crumble = noise(variant, x / 3, y / 3) * 0.10 + noise(variant + 9, x, y) * 0.08;
    let shade = 0.84 + noise(variant, 77, 99) * 0.16 + crumble - 0.09;
    if joint {
        shade * 0.58
    } else if rim {
        shade * 1.08
    } else {
        shade
    }
}

/// The rough top of a wall.
fn rock(variant: u32, x: usize, y: usize) -> f32 {
    0.80 + noise(variant, x / 6, y / 6) * 0.14
        + noise(variant + 5, x / 2, y / 2) * 0.10
        + noise(variant + 9, x, y) * 0.06
}

/// A wall's face: courses of bricks.
fn brick(variant: u32, x: usize, y: usize) -> f32 {
    let (course, half) = (y / 10, SIZE / 2);
    let shifted = x + if course % 2 == 0 { 0 } else { half / 2 };
    let joint = y.is_multiple_of(10) || shifted.is_multiple_of(half);
    let stone = 0.80 + noise(variant, shifted / half, course) * 0.30 + noise(variant + 9, x, y) * 0.07;
    let ground = 1.0 - 0.28 * (y as f32 / SIZE as f32);
    ground * if joint { stone * 0.6 } else { stone }
}
