//! Fixed-point numbers: every fraction of the simulation.
//!
//! [`Fx`] counts in steps of 1/4096 from -524,288 to just below 524,288. Nothing here wraps, panics
//! or depends on the build profile: what does not fit becomes the nearest number that does. No
//! float takes part, not even in printing.

use core::fmt::{self, Write};
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use fixed::types::I20F12;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A fixed-point number with 20 bits before the point and 12 behind it.
///
/// All operators saturate at [`Fx::MIN`] and [`Fx::MAX`]. Products and quotients are rounded to the
/// nearest step, halves upwards. Dividing by zero gives the extreme with the sign of the dividend,
/// and `0 / 0` is 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fx(I20F12);

impl Fx {
    /// How many bits of the representation lie behind the point.
    pub const FRACTION_BITS: u32 = 12;
    /// 0.
    pub const ZERO: Fx = Fx::from_bits(0);
    /// 1.
    pub const ONE: Fx = Fx::int(1);
    /// 1/2.
    pub const HALF: Fx = Fx::ratio(1, 2);
    /// The smallest step, 1/4096.
    pub const EPSILON: Fx = Fx::from_bits(1);
    /// The largest number, 524,288 - 1/4096.
    pub const MAX: Fx = Fx::from_bits(i32::MAX);
    /// The smallest number, -524,288.
    pub const MIN: Fx = Fx::from_bits(i32::MIN);

    /// The number that is `bits` steps of [`EPSILON`](Fx::EPSILON).
    #[inline]
    pub const fn from_bits(bits: i32) -> Fx {
        Fx(I20F12::from_bits(bits))
    }

    /// How many steps of [`EPSILON`](Fx::EPSILON) this number is.
    #[inline]
    pub const fn to_bits(self) -> i32 {
        self.0.to_bits()
    }

    /// A whole number.
    #[inline]
    pub const fn int(n: i32) -> Fx {
        Fx::saturated((n as i64) << Fx::FRACTION_BITS)
    }

    /// The number nearest to `num / den`, for constants: `Fx::ratio(1, 3)`.
    ///
    /// # Panics
    /// If `den` is 0.
    pub const fn ratio(num: i32, den: i32) -> Fx {
        assert!(den != 0, "a ratio needs a denominator other than 0");
        Fx::saturated(quotient(num, den))
    }

    /// The largest whole number that is not above this one.
    #[inline]
    pub const fn floor(self) -> i32 {
        self.to_bits() >> Fx::FRACTION_BITS
    }

    /// The smallest whole number that is not below this one.
    #[inline]
    pub const fn ceil(self) -> i32 {
        -(-self.wide() >> Fx::FRACTION_BITS) as i32
    }

    /// The nearest whole number, halves upwards.
    #[inline]
    pub const fn round(self) -> i32 {
        rounded(self.wide()) as i32
    }

    /// What is above [`floor`](Fx::floor): at least 0, less than 1, for negative numbers too.
    #[inline]
    pub const fn fract(self) -> Fx {
        Fx::from_bits(self.to_bits() & ((1 << Fx::FRACTION_BITS) - 1))
    }

    /// The number without its sign.
    #[inline]
    pub const fn abs(self) -> Fx {
        Fx(self.0.saturating_abs())
    }

    /// -1, 0 or 1.
    #[inline]
    pub const fn signum(self) -> Fx {
        Fx::int(self.to_bits().signum())
    }

    /// The square root, rounded down to a step; 0 for negative numbers.
    #[inline]
    pub const fn sqrt(self) -> Fx {
        match self.to_bits() {
            bits @ 1.. => Fx::from_bits(((bits as u64) << Fx::FRACTION_BITS).isqrt() as i32),
            _ => Fx::ZERO,
        }
    }

    /// The point that lies `t` of the way to `other`: 0 is here, 1 is there, anything else in
    /// between or beyond.
    #[inline]
    pub const fn lerp(self, other: Fx, t: Fx) -> Fx {
        Fx::saturated(self.wide() + rounded((other.wide() - self.wide()) * t.wide()))
    }

    /// The steps as an integer wide enough for one product or a sum of many.
    #[inline]
    pub(crate) const fn wide(self) -> i64 {
        self.to_bits() as i64
    }

    /// The number that is `bits` steps, or the extreme on that side.
    #[inline]
    pub(crate) const fn saturated(bits: i64) -> Fx {
        if bits > i32::MAX as i64 {
            Fx::MAX
        } else if bits < i32::MIN as i64 {
            Fx::MIN
        } else {
            Fx::from_bits(bits as i32)
        }
    }
}

/// A product of two numbers' steps as steps: nearest, halves upwards.
#[inline]
pub(crate) const fn rounded(product: i64) -> i64 {
    product.saturating_add(1 << (Fx::FRACTION_BITS - 1)) >> Fx::FRACTION_BITS
}

/// `num / den` in steps: nearest, halves upwards. `den` is not 0.
#[inline]
const fn quotient(num: i32, den: i32) -> i64 {
    // Twice the quotient, rounded down, has all that is needed to round the quotient itself.
    let twice = (num as i64) << (Fx::FRACTION_BITS + 1);
    let (twice, den) = if den < 0 { (-twice, -(den as i64)) } else { (twice, den as i64) };
    (twice.div_euclid(den) + 1) >> 1
}

impl Add for Fx {
    type Output = Fx;
    #[inline]
    fn add(self, other: Fx) -> Fx {
        Fx(self.0.saturating_add(other.0))
    }
}

impl Sub for Fx {
    type Output = Fx;
    #[inline]
    fn sub(self, other: Fx) -> Fx {
        Fx(self.0.saturating_sub(other.0))
    }
}

impl Mul for Fx {
    type Output = Fx;
    #[inline]
    fn mul(self, other: Fx) -> Fx {
        Fx::saturated(rounded(self.wide() * other.wide()))
    }
}

impl Mul<i32> for Fx {
    type Output = Fx;
    #[inline]
    fn mul(self, times: i32) -> Fx {
        Fx::saturated(self.wide() * i64::from(times))
    }
}

impl Div for Fx {
    type Output = Fx;
    #[inline]
    fn div(self, other: Fx) -> Fx {
        match (other.to_bits(), self.to_bits().signum()) {
            (0, 1) => Fx::MAX,
            (0, -1) => Fx::MIN,
            (0, _) => Fx::ZERO,
            // Both count steps, so the steps cancel.
            (den, _) => Fx::saturated(quotient(self.to_bits(), den)),
        }
    }
}

impl Neg for Fx {
    type Output = Fx;
    #[inline]
    fn neg(self) -> Fx {
        Fx(self.0.saturating_neg())
    }
}

impl AddAssign for Fx {
    #[inline]
    fn add_assign(&mut self, other: Fx) {
        *self = *self + other;
    }
}

impl SubAssign for Fx {
    #[inline]
    fn sub_assign(&mut self, other: Fx) {
        *self = *self - other;
    }
}

impl MulAssign for Fx {
    #[inline]
    fn mul_assign(&mut self, other: Fx) {
        *self = *self * other;
    }
}

impl MulAssign<i32> for Fx {
    #[inline]
    fn mul_assign(&mut self, times: i32) {
        *self = *self * times;
    }
}

impl DivAssign for Fx {
    #[inline]
    fn div_assign(&mut self, other: Fx) {
        *self = *self / other;
    }
}

/// Saturates once, at the end, so that the order of the terms does not matter.
impl Sum for Fx {
    #[inline]
    fn sum<I: Iterator<Item = Fx>>(terms: I) -> Fx {
        Fx::saturated(terms.fold(0, |sum, term| sum.saturating_add(term.wide())))
    }
}

/// How a number is serialised: its steps, under its own name, so that whoever shows serialised
/// values knows what they are.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Fx")]
struct Steps(i32);

impl Serialize for Fx {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Steps(self.to_bits()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fx {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fx, D::Error> {
        Steps::deserialize(deserializer).map(|Steps(bits)| Fx::from_bits(bits))
    }
}

/// The exact decimal, such as `-0.000244140625`, or as many digits as a precision asks for.
impl fmt::Display for Fx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.precision().is_some() {
            return fmt::Display::fmt(&self.0, f);
        }
        // One step is 244,140,625 / 10^12.
        let steps = self.to_bits().unsigned_abs();
        let mut fraction = u64::from(steps & ((1 << Fx::FRACTION_BITS) - 1)) * 244_140_625;
        let mut digits = 12;
        while digits > 0 && fraction.is_multiple_of(10) {
            fraction /= 10;
            digits -= 1;
        }
        let mut text = alloc::string::String::new();
        write!(text, "{}", steps >> Fx::FRACTION_BITS)?;
        if digits > 0 {
            write!(text, ".{fraction:0digits$}")?;
        }
        f.pad_integral(self.to_bits() >= 0, "", &text)
    }
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Fx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
