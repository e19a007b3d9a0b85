//! Draws of one place and time, one after the other.
//!
//! [`Dice`] come from [`Table::dice`](crate::table::Table::dice) and end with the tick: they are
//! never part of the state, so there is no cursor that could fall out of step. How many draws a
//! method takes is part of its promise, and so is how it turns them into a value: both are the same
//! for ever, on every machine.

use core::fmt;
use core::ops::RangeInclusive;
use core::panic::Location;

use crate::angle::Angle;
use crate::fx::Fx;
use crate::journal::{Notes, Roll};

/// 2^64 divided by the golden ratio, odd: the step between the seeds of neighbouring draws.
pub(crate) const PHI: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes 64 bits so that every bit of the result depends on all of them. One to one, and
/// `mix64(0)` is 0.
///
/// The finisher of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014; Stafford's variant 13).
#[inline]
pub const fn mix64(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Draw `n` of the sequence that `key` begins.
#[inline]
pub(crate) const fn draw(key: u64, n: u32) -> u32 {
    (mix64(key.wrapping_add((n as u64).wrapping_mul(PHI))) >> 32) as u32
}

/// A cursor over the draws of one stream at one tick, beginning with n = 0.
///
/// A copy draws the same again. Unless a method says otherwise it takes one draw, even where there
/// is nothing to choose from. A bounded integer takes one more each time a draw is rejected, which
/// has a chance of less than bound / 2^32.
///
/// The lifetime is that of the [journal](crate::journal) of a noted step, in which every draw
/// leaves a note; dice from a [`Table`](crate::table::Table) alone leave none.
#[derive(Clone, Copy)]
pub struct Dice<'j> {
    key: u64,
    n: u32,
    notes: Notes<'j>,
}

impl<'j> Dice<'j> {
    #[inline]
    pub(crate) const fn new(key: u64) -> Dice<'j> {
        Dice { key, n: 0, notes: Notes::NONE }
    }

    /// The same draws, each of which leaves a note.
    #[inline]
    pub(crate) const fn noted(self, notes: Notes<'j>) -> Dice<'j> {
        Dice { notes, ..self }
    }

    /// How many draws were taken; the `n` of the next one.
    #[inline]
    pub const fn taken(&self) -> u32 {
        self.n
    }

    /// The next draw: 32 bits, all equally likely. Starts over after 2^32 draws.
    #[inline]
    #[track_caller]
    pub fn next_u32(&mut self) -> u32 {
        self.draw(Roll::Bits)
    }

    /// A whole number from 0 to `n - 1`, all exactly equally likely; 0 if `n` is 0.
    ///
    /// Lemire: Fast random integer generation in an interval, 2019.
    #[inline]
    #[track_caller]
    pub fn below(&mut self, n: u32) -> u32 {
        self.draw_below(n, Roll::Below(n))
    }

    /// A whole number of the range, all exactly equally likely; its start if the range is empty.
    #[inline]
    #[track_caller]
    pub fn range(&mut self, range: RangeInclusive<i32>) -> i32 {
        let (start, end) = (*range.start(), *range.end());
        let roll = Roll::Range(start, end);
        let offset = match end.wrapping_sub(start).cast_unsigned().checked_add(1) {
            _ if start > end => self.draw_below(0, roll),
            Some(count) => self.draw_below(count, roll),
            None => self.draw(roll),
        };
        start.wrapping_add_unsigned(offset)
    }

    /// True in exactly `num` of `den` cases: always if `num` is not less than `den`,
    /// never if `den` is 0.
    #[inline]
    #[track_caller]
    pub fn chance(&mut self, num: u32, den: u32) -> bool {
        let rolled = self.draw_below(den, Roll::Chance(num, den));
        den > 0 && rolled < num
    }

    /// A number from 0 to just below 1, in steps of [`Fx::EPSILON`].
    #[inline]
    #[track_caller]
    pub fn unit(&mut self) -> Fx {
        Fx::from_bits((self.draw(Roll::Unit) >> 20) as i32)
    }

    /// A direction, all 65,536 equally likely.
    #[inline]
    #[track_caller]
    pub fn angle(&mut self) -> Angle {
        Angle((self.draw(Roll::Angle) >> 16) as u16)
    }

    /// One of the items; none if there are none.
    #[inline]
    #[track_caller]
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let count = items.len() as u64;
        items.get(self.draw_below_u64(count, Roll::Pick(count)) as usize)
    }

    /// The index of one of the weights, each as likely as its share of their sum; none if all
    /// are 0.
    ///
    /// Takes two draws at a time if the sum is 2^32 or more.
    #[track_caller]
    pub fn weighted(&mut self, weights: &[u32]) -> Option<usize> {
        let sum = weights.iter().map(|&weight| u64::from(weight)).sum();
        let mut rolled = self.draw_below_u64(sum, Roll::Weighted(sum));
        weights.iter().position(|&weight| {
            let hit = rolled < u64::from(weight);
            rolled = rolled.saturating_sub(u64::from(weight));
            hit
        })
    }

    /// Puts the items into any order, all equally likely: Fisher and Yates, from the last item
    /// down.
    ///
    /// Takes one draw less than there are items.
    #[track_caller]
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let count = i as u64 + 1;
            items.swap(i, self.draw_below_u64(count, Roll::Shuffle(count)) as usize);
        }
    }

    /// The one place where a draw is taken.
    #[inline]
    #[track_caller]
    fn draw(&mut self, roll: Roll) -> u32 {
        let n = self.n;
        let bits = draw(self.key, n);
        self.n = n.wrapping_add(1);
        let site = Location::caller();
        self.notes.take(|notes| notes.roll(n, bits, roll, site));
        bits
    }

    #[inline]
    #[track_caller]
    fn draw_below(&mut self, n: u32, roll: Roll) -> u32 {
        let mut product = self.draw(roll) as u64 * n as u64;
        if (product as u32) < n {
            let surplus = n.wrapping_neg() % n;
            while (product as u32) < surplus {
                product = self.draw(roll) as u64 * n as u64;
            }
        }
        (product >> 32) as u32
    }

    /// [`below`](Dice::below) for what 32 bits may not hold: then it takes two draws at a time, the
    /// upper half first.
    #[inline]
    #[track_caller]
    fn draw_below_u64(&mut self, n: u64, roll: Roll) -> u64 {
        if let Ok(n) = u32::try_from(n) {
            return u64::from(self.draw_below(n, roll));
        }
        loop {
            let bits = u64::from(self.draw(roll)) << 32 | u64::from(self.draw(roll));
            let product = u128::from(bits) * u128::from(n);
            if product as u64 >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }
}

/// Whether they draw the same from here on.
impl PartialEq for Dice<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.n) == (other.key, other.n)
    }
}

impl Eq for Dice<'_> {}

impl fmt::Debug for Dice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dice").field("key", &self.key).field("n", &self.n).finish_non_exhaustive()
    }
}
