//! Directions, and the trigonometry of the simulation.
//!
//! Tables with linear interpolation, computed at compile time in integers from the series named at
//! each. A float would be as near, but not the same on every machine.

use core::fmt;
use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use serde::{Deserialize, Serialize};

use crate::fx::Fx;

/// A direction in 65,536ths of a full turn; 0 is along x, a quarter is along y. Adding and
/// subtracting go round.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Angle(pub u16);

impl Angle {
    /// Along x.
    pub const ZERO: Angle = Angle(0);
    /// A quarter of a turn: along y.
    pub const QUARTER: Angle = Angle(0x4000);
    /// Half a turn: against x.
    pub const HALF: Angle = Angle(0x8000);

    /// The angle nearest to whole degrees; any number of turns is allowed.
    pub const fn degrees(degrees: i32) -> Angle {
        let degrees = degrees.rem_euclid(360) as u32;
        Angle(((degrees * 65_536 + 180) / 360) as u16)
    }

    /// The sine, within 0.52 [`Fx::EPSILON`] (1.3e-4) of the true one.
    #[inline]
    pub const fn sin(self) -> Fx {
        Fx::from_bits(((self.fine_sin() + (1 << 17)) >> 18) as i32)
    }

    /// The cosine, as exact as [`sin`](Angle::sin).
    #[inline]
    pub const fn cos(self) -> Fx {
        self.plus_quarter().sin()
    }

    /// The angle whose sine is this one's cosine.
    #[inline]
    pub(crate) const fn plus_quarter(self) -> Angle {
        Angle(self.0.wrapping_add(Angle::QUARTER.0))
    }

    /// The sine in units of 2^-30, within 5e-6 of the true one.
    #[inline]
    pub(crate) const fn fine_sin(self) -> i64 {
        let within = (self.0 & 0x3fff) as usize;
        match self.0 >> 14 {
            0 => quarter_sine(within),
            1 => quarter_sine(0x4000 - within),
            2 => -quarter_sine(within),
            _ => -quarter_sine(0x4000 - within),
        }
    }

    /// The direction of the point (`x`, `y`), within 0.52 of a 65,536th of a turn;
    /// [`Angle::ZERO`] for the origin.
    #[inline]
    pub const fn atan2(y: Fx, x: Fx) -> Angle {
        let (width, height) = (x.to_bits().unsigned_abs(), y.to_bits().unsigned_abs());
        let steep = height > width;
        let turn = if steep { 0x4000 - eighth_turn(width, height) } else { eighth_turn(height, width) };
        let turn = if x.to_bits() < 0 { 0x8000 - turn } else { turn };
        Angle(if y.to_bits() < 0 { turn.wrapping_neg() } else { turn } as u16)
    }

    /// The shorter way round from this direction to `other`, in 65,536ths of a turn; half a
    /// turn is negative.
    #[inline]
    pub const fn turn_to(self, other: Angle) -> i16 {
        other.0.wrapping_sub(self.0) as i16
    }
}

/// The sine of `at` 65,536ths of a turn, 0 to a quarter included, in units of 2^-30.
#[inline]
const fn quarter_sine(at: usize) -> i64 {
    let (i, part) = (at >> 6, (at & 63) as i64);
    // The last entry has no next one, and needs none: there `part` is 0.
    let (here, next) = (SINES[i] as i64, SINES[if i < 256 { i + 1 } else { i }] as i64);
    (here << 6) + (next - here) * part
}

/// The angle of slope `rise / run`, at most 1, in 65,536ths of a turn, nearest; 0 if both are 0.
#[inline]
const fn eighth_turn(rise: u32, run: u32) -> u32 {
    if run == 0 {
        return 0;
    }
    let slope = ((rise as u64) << 24) / run as u64;
    let (i, part) = ((slope >> 16) as usize, slope & 0xffff);
    let (here, next) = (ARCTANGENTS[i] as u64, ARCTANGENTS[if i < 256 { i + 1 } else { i }] as u64);
    let turn = here + (((next - here) * part) >> 16);
    ((turn + (1 << 15)) >> 16) as u32
}

/// 2^60, the 1 of the arithmetic that makes the tables.
const UNIT: i128 = 1 << 60;
/// Pi in that arithmetic.
const PI: i128 = 3_622_009_729_038_561_421;

/// The sines of 0, 1/256, ... 1 quarter turn, in units of 2^-24, nearest; by the power series.
const SINES: [i32; 257] = {
    let mut table = [0; 257];
    let mut i = 0;
    while i < table.len() {
        let x = PI / 2 * i as i128 / 256;
        let (mut sum, mut term, mut k) = (0, x, 1);
        while term != 0 {
            sum += term;
            term = -(term * x / UNIT * x / UNIT) / ((k + 1) * (k + 2));
            k += 2;
        }
        table[i] = ((sum + (1 << 35)) >> 36) as i32;
        i += 1;
    }
    table
};

/// The arctangents of 0, 1/256, ... 1, in units of 2^-32 turns, nearest; by Euler's series
/// atan(x) = sum of (2^n n!)² / (2n + 1)! · x^(2n + 1) / (1 + x²)^(n + 1).
const ARCTANGENTS: [u32; 257] = {
    let mut table = [0; 257];
    let mut i = 0;
    while i < table.len() {
        let (x, one) = (i as i128, 256i128);
        let ones = one * one + x * x;
        let (mut sum, mut term, mut n) = (0, UNIT * x * one / ones, 0);
        while term != 0 {
            sum += term;
            term = term * (2 * n + 2) * x * x / ((2 * n + 3) * ones);
            n += 1;
        }
        // From radians to turns: divided by 2 pi.
        table[i] = (((sum << 32) / PI + 1) >> 1) as u32;
        i += 1;
    }
    table
};

impl Add for Angle {
    type Output = Angle;
    #[inline]
    fn add(self, other: Angle) -> Angle {
        Angle(self.0.wrapping_add(other.0))
    }
}

impl Sub for Angle {
    type Output = Angle;
    #[inline]
    fn sub(self, other: Angle) -> Angle {
        Angle(self.0.wrapping_sub(other.0))
    }
}

impl Neg for Angle {
    type Output = Angle;
    #[inline]
    fn neg(self) -> Angle {
        Angle(self.0.wrapping_neg())
    }
}

impl AddAssign for Angle {
    #[inline]
    fn add_assign(&mut self, other: Angle) {
        *self = *self + other;
    }
}

impl SubAssign for Angle {
    #[inline]
    fn sub_assign(&mut self, other: Angle) {
        *self = *self - other;
    }
}

impl fmt::Debug for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/65536 turn", self.0)
    }
}
