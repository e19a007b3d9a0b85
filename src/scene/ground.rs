//! The ground: tiles, and what they look like from near.

use super::Rgb;

/// A rectangle of ground tiles.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// The tile of the first column and row.
    pub corner: (i32, i32),
    /// How many tiles a row has.
    pub width: usize,
    /// The tiles, row by row.
    pub tiles: Vec<GroundTile>,
    /// What the window shows of it from near.
    pub grain: Grain,
}

/// One tile of ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroundTile {
    /// How the terminal shows it.
    pub symbol: char,
    /// How the window shows it.
    pub color: Rgb,
    /// Whether it stands up: the window gives it a face.
    pub raised: bool,
    /// How brightly it is lit, 0 (not seen) to 255.
    pub light: u8,
}

/// The patterns of ground: plain, unless a game brings its own.
#[derive(Clone, Copy, Debug)]
pub struct Grain {
    /// Of what lies flat.
    pub floor: Pattern,
    /// Of the top of what stands up.
    pub top: Pattern,
    /// Of its face.
    pub face: Pattern,
}

/// How bright a pixel of a tile is beside the tile's colour, about 1. Each tile is one of
/// [`PATTERNS`] variants and has [`PATTERN_PIXELS`] pixels each way. It is called once for each of
/// them, and must depend on nothing else.
pub type Pattern = fn(variant: u32, x: usize, y: usize) -> f32;

/// Pixels that a tile is wide and high.
pub const PATTERN_PIXELS: usize = 40;
/// Variants of each pattern.
pub const PATTERNS: u32 = 8;

impl Default for Grain {
    fn default() -> Grain {
        let plain: Pattern = |_, _, _| 1.0;
        Grain { floor: plain, top: plain, face: plain }
    }
}

impl Grain {
    /// Whether it is known to be the same.
    #[cfg(feature = "picture")]
    pub(crate) fn is(&self, other: &Grain) -> bool {
        let same = |a: Pattern, b: Pattern| std::ptr::fn_addr_eq(a, b);
        same(self.floor, other.floor) && same(self.top, other.top) && same(self.face, other.face)
    }
}

impl Ground {
    /// The tile at a place, if it is in the rectangle.
    pub fn tile(&self, (x, y): (i32, i32)) -> Option<&GroundTile> {
        let column = usize::try_from(x.checked_sub(self.corner.0)?).ok().filter(|column| *column < self.width)?;
        let row = usize::try_from(y.checked_sub(self.corner.1)?).ok()?;
        self.tiles.get(row.checked_mul(self.width)? + column)
    }
}

/// 0 to 1, always the same for the same place: what patterns are made of.
pub fn noise(seed: u32, x: usize, y: usize) -> f32 {
    let mut h =
        seed.wrapping_mul(0x9e37_79b9) ^ (x as u32).wrapping_mul(0x85eb_ca6b) ^ (y as u32).wrapping_mul(0xc2b2_ae35);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    ((h ^ (h >> 15)) >> 8) as f32 / (1u32 << 24) as f32
}
