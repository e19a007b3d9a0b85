//! Clocks that differ from seat to seat.

use core::time::Duration;

use lockstone_net::memory::Clock;

use crate::{Dice, ms};

/// Real clocks gain or lose some ten ppm, bad ones some hundred.
const GAINS_PPM_MAX: i32 = 500;
const SHOWN_MS_MAX: u64 = 1_000_000_000;

/// A clock that begins anywhere and is fast or slow.
pub fn any(dice: &mut Dice) -> Clock {
    let gains_ppm = dice.roll(2 * GAINS_PPM_MAX as u64 + 1) as i32 - GAINS_PPM_MAX;
    Clock::new(ms(dice.roll(SHOWN_MS_MAX)), gains_ppm)
}

/// A clock that goes at half of its pace: no replica keeps up by it.
pub fn half(_: &mut Dice) -> Clock {
    Clock::new(Duration::ZERO, -500_000)
}
