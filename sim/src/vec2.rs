//! Points and movements in the plane.
//!
//! Lengths are compared through exact squares, never through roots, so that "within reach" has
//! one answer. What limits a movement ([`Vec2::clamp_length`], [`Vec2::toward`]) never rounds
//! up past the limit.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use serde::{Deserialize, Serialize};

use crate::angle::Angle;
use crate::fx::{Fx, rounded};

/// A point, or the way from one point to another. All operators saturate, as those of [`Fx`] do.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Vec2 {
    /// Eastwards.
    pub x: Fx,
    /// Southwards or northwards, as the game has it; angles turn from x to y.
    pub y: Fx,
}

impl Vec2 {
    /// The origin, or no way at all.
    pub const ZERO: Vec2 = Vec2::new(Fx::ZERO, Fx::ZERO);

    /// The vector with these coordinates.
    #[inline]
    pub const fn new(x: Fx, y: Fx) -> Vec2 {
        Vec2 { x, y }
    }

    /// The vector of this direction and length. Its end is within one step and 5e-6 of the length
    /// of the true one.
    #[inline(always)]
    pub const fn from_angle(angle: Angle, length: Fx) -> Vec2 {
        let (x, y) = (angle.plus_quarter().fine_sin(), angle.fine_sin());
        Vec2::new(scaled(length, x, 30), scaled(length, y, 30))
    }

    /// The direction; [`Angle::ZERO`] for [`Vec2::ZERO`].
    #[inline]
    pub const fn angle(self) -> Angle {
        Angle::atan2(self.y, self.x)
    }

    /// The square of the length, in units of [`Fx::EPSILON`]². Exact, but for the one vector
    /// (`Fx::MIN`, `Fx::MIN`), which is one short.
    #[inline]
    pub const fn length_squared(self) -> i64 {
        clipped(square_sum(self.x.wide(), self.y.wide()))
    }

    /// The length, rounded down to a step, at most [`Fx::MAX`].
    #[inline]
    pub const fn length(self) -> Fx {
        Fx::saturated(square_sum(self.x.wide(), self.y.wide()).isqrt() as i64)
    }

    /// The square of the distance, in units of [`Fx::EPSILON`]². Exact up to
    /// `i64::MAX`, where it stops.
    #[inline]
    pub const fn distance_squared(self, other: Vec2) -> i64 {
        clipped(self.gap_squared(other))
    }

    /// The distance, rounded down to a step, at most [`Fx::MAX`].
    #[inline]
    pub const fn distance(self, other: Vec2) -> Fx {
        Fx::saturated(self.gap_squared(other).isqrt() as i64)
    }

    /// Whether `other` is at most `radius` away. Exact. Nothing is within a negative radius.
    #[inline]
    pub const fn within(self, other: Vec2, radius: Fx) -> bool {
        radius.to_bits() >= 0 && self.gap_squared(other) <= square(radius.wide())
    }

    /// The vector of length 1 in the same direction; [`Vec2::ZERO`] stays as it is.
    ///
    /// Its length is within 0.02 % of 1: x and y are as near as the steps of [`Fx`] allow, give or
    /// take a tenth of a step.
    #[inline]
    pub const fn normalized(self) -> Vec2 {
        let squared = square_sum(self.x.wide(), self.y.wide());
        if squared == 0 {
            return Vec2::ZERO;
        }
        let (v, shift) = in_1_to_4(squared);
        let root = reciprocal_root(v) as i64;
        Vec2::new(scaled(self.x, root, 49 - shift), scaled(self.y, root, 49 - shift))
    }

    /// This vector if it is at most `max` long, else the one in the same direction that is as long
    /// as can be without being longer.
    ///
    /// The result's exact length never exceeds `max`, and falls short of it by less than 3 steps
    /// and 5e-9 of `max`. A negative `max` counts as 0.
    #[inline]
    pub const fn clamp_length(self, max: Fx) -> Vec2 {
        if max.to_bits() <= 0 {
            return Vec2::ZERO;
        }
        let squared = square_sum(self.x.wide(), self.y.wide());
        if squared <= square(max.wide()) {
            return self;
        }
        // Every error shortens: the root is too small, and all that follows is rounded towards
        // zero.
        let (v, shift) = in_1_to_4(squared);
        let root = reciprocal_root_from_below(v, reciprocal_root(v));
        // max / length in units of 2^-31. The shift to the left cannot overflow, because the
        // quotient is less than 1.
        let share = (((max.to_bits() as u64 * root) << shift) >> 30) as i64;
        Vec2::new(shortened(self.x, share), shortened(self.y, share))
    }

    /// Where a movement of at most `step` towards `target` leads. It ends on the target exactly if
    /// that is near enough.
    ///
    /// A step of at least 3 [`Fx::EPSILON`] always leads nearer, and one of 2 if the target is less
    /// than 349,000 tiles away: what is rounded off of such a step may be all of it.
    #[inline]
    pub fn toward(self, target: Vec2, step: Fx) -> Vec2 {
        if self.within(target, step) { target } else { self + (target - self).clamp_length(step) }
    }

    /// The scalar product, rounded once.
    #[inline]
    pub const fn dot(self, other: Vec2) -> Fx {
        let sum = (self.x.wide() * other.x.wide()).saturating_add(self.y.wide() * other.y.wide());
        Fx::saturated(rounded(sum))
    }

    /// The point that lies `t` of the way to `other`: 0 is here, 1 is there, anything else in
    /// between or beyond.
    #[inline]
    pub const fn lerp(self, other: Vec2, t: Fx) -> Vec2 {
        Vec2::new(self.x.lerp(other.x, t), self.y.lerp(other.y, t))
    }

    /// The square of the distance. Saturates above 2^64 - 1, which is farther than any radius.
    #[inline]
    const fn gap_squared(self, other: Vec2) -> u64 {
        square_sum(self.x.wide() - other.x.wide(), self.y.wide() - other.y.wide())
    }
}

/// The square of a difference of two numbers, which always fits: (2^32 - 1)² is less than 2^64.
#[inline]
const fn square(steps: i64) -> u64 {
    steps.wrapping_mul(steps).cast_unsigned()
}

#[inline]
const fn square_sum(x: i64, y: i64) -> u64 {
    square(x).saturating_add(square(y))
}

#[inline]
const fn clipped(squared: u64) -> i64 {
    if squared > i64::MAX as u64 { i64::MAX } else { squared as i64 }
}

/// 2^30 / sqrt(v) for v = 1, 1 + 1/64, ... 4, from an integer root.
const RECIPROCAL_ROOTS: [u32; 193] = {
    let mut table = [0; 193];
    let mut i = 0;
    while i < table.len() {
        table[i] = ((1u128 << 66) / (64 + i as u128)).isqrt() as u32;
        i += 1;
    }
    table
};

/// `(v, shift)` such that `squared`, which is not 0, is v / 2^(2 shift), with v from 2^62 to 2^64:
/// as a fraction of 2^62, in [1, 4).
#[inline]
const fn in_1_to_4(squared: u64) -> (u64, u32) {
    let shift = squared.leading_zeros() / 2;
    (squared << (2 * shift), shift)
}

/// 2^30 / sqrt(`v` / 2^62), at most 2.4e-5 of it too large: the table with linear interpolation.
#[inline]
const fn reciprocal_root(v: u64) -> u64 {
    let i = (v >> 56) as usize - 64;
    let (here, next) = (RECIPROCAL_ROOTS[i] as u64, RECIPROCAL_ROOTS[i + 1] as u64);
    here - (((here - next) * (v >> 40 & 0xffff)) >> 16)
}

/// 2^30 / sqrt(`v` / 2^62), at most 5e-9 of it too small: one step r (3 - v r²) / 2 of Newton's
/// method from an approximation.
///
/// Such a step never leads past the root from whichever side it comes; v r² is rounded up, and the
/// rest down, to keep it so.
#[inline]
const fn reciprocal_root_from_below(v: u64, root: u64) -> u64 {
    let product = ((v >> 32) + 1) * (((root * root) >> 28) + 1);
    (root * (((3 << 62) - product) >> 32)) >> 31
}

/// `steps * share / 2^31`, towards zero. The share is less than 1.
#[inline]
const fn shortened(steps: Fx, share: i64) -> Fx {
    Fx::from_bits((steps.wide() * share / (1 << 31)) as i32)
}

/// `steps * root / 2^shift`, nearest. At most 2^31 times 2^30, so it fits.
#[inline]
const fn scaled(steps: Fx, root: i64, shift: u32) -> Fx {
    Fx::saturated((steps.wide() * root + (1 << (shift - 1))) >> shift)
}

impl Add for Vec2 {
    type Output = Vec2;
    #[inline]
    fn add(self, other: Vec2) -> Vec2 {
        Vec2::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Vec2 {
    type Output = Vec2;
    #[inline]
    fn sub(self, other: Vec2) -> Vec2 {
        Vec2::new(self.x - other.x, self.y - other.y)
    }
}

impl Neg for Vec2 {
    type Output = Vec2;
    #[inline]
    fn neg(self) -> Vec2 {
        Vec2::new(-self.x, -self.y)
    }
}

impl Mul<Fx> for Vec2 {
    type Output = Vec2;
    #[inline]
    fn mul(self, times: Fx) -> Vec2 {
        Vec2::new(self.x * times, self.y * times)
    }
}

impl Div<Fx> for Vec2 {
    type Output = Vec2;
    #[inline]
    fn div(self, by: Fx) -> Vec2 {
        Vec2::new(self.x / by, self.y / by)
    }
}

impl AddAssign for Vec2 {
    #[inline]
    fn add_assign(&mut self, other: Vec2) {
        *self = *self + other;
    }
}

impl SubAssign for Vec2 {
    #[inline]
    fn sub_assign(&mut self, other: Vec2) {
        *self = *self - other;
    }
}

/// As the sum of [`Fx`]: saturates once, so the order does not matter.
impl Sum for Vec2 {
    #[inline]
    fn sum<I: Iterator<Item = Vec2>>(terms: I) -> Vec2 {
        let (x, y) =
            terms.fold((0i64, 0i64), |(x, y), term| (x.saturating_add(term.x.wide()), y.saturating_add(term.y.wide())));
        Vec2::new(Fx::saturated(x), Fx::saturated(y))
    }
}

impl fmt::Display for Vec2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        fmt::Display::fmt(&self.x, f)?;
        f.write_str(", ")?;
        fmt::Display::fmt(&self.y, f)?;
        f.write_str(")")
    }
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Vec2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
