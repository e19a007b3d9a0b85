//! Who is ahead of whom: a player that is leaves ticks out now and then, until the others are
//! abreast. And how often all stop for nobody.
//!
//! ggrs knows the same, but by the real clock. Here it is measured and counted in ticks, so that a
//! session goes by nothing but the time that it is told.

use core::time::Duration;
use std::collections::VecDeque;

/// The gap is averaged over so many ticks.
const WINDOW_TICKS: usize = 30;
/// A player that is ahead by less waits for nobody.
const AHEAD_TICKS_MIN: i32 = 3;
/// Of so many ticks one is left out while others catch up: a pause nobody sees.
const WAIT_EVERY_TICKS: u32 = 4;
/// So many ticks are left out at most before it is measured again.
const WAIT_TICKS_MAX: u32 = 15;
/// So many ticks are played at least before it is measured again: what was left out has its effect.
const MEASURE_EVERY_TICKS: u32 = 60;

/// So often do all stop in such a time for nobody, as soon as one does.
const VAIN_STOPS_MAX: usize = 3;
const VAIN_STOPS_TIME: Duration = Duration::from_secs(60);

/// How far this player and another are apart: what both estimated at the last ticks.
pub(super) struct Gap {
    /// By how much the other takes itself to be further behind than this player does: twice the
    /// gap.
    doubled: [i32; WINDOW_TICKS],
    newest: usize,
}

impl Gap {
    pub fn new() -> Gap {
        Gap { doubled: [0; WINDOW_TICKS], newest: 0 }
    }

    /// Takes by how many ticks each takes itself to be behind the other.
    pub fn note(&mut self, own_behind: i16, other_behind: i16) {
        self.newest = (self.newest + 1) % WINDOW_TICKS;
        self.doubled[self.newest] = i32::from(other_behind) - i32::from(own_behind);
    }

    /// By how many ticks this player is ahead.
    pub fn ahead_ticks(&self) -> i32 {
        self.doubled.iter().sum::<i32>() / (2 * WINDOW_TICKS as i32)
    }
}

/// When all went on as many as they were: one had made them stop, and had lost nobody. Everyone
/// counts the same, so nobody can be made to take the blame.
#[derive(Default)]
pub(super) struct VainStops(VecDeque<Duration>);

impl VainStops {
    pub fn note(&mut self, now: Duration) {
        self.0.truncate(VAIN_STOPS_MAX - 1);
        self.0.push_front(now);
    }

    /// Whether all may stop for nobody once more.
    pub fn are_few(&self, now: Duration) -> bool {
        self.0.get(VAIN_STOPS_MAX - 1).is_none_or(|at| now >= *at + VAIN_STOPS_TIME)
    }
}

/// Which ticks a player leaves out.
#[derive(Default)]
pub(super) struct Pace {
    wait_ticks: u32,
    since_wait: u32,
    /// In how many ticks it is measured again.
    measure_in: u32,
}

impl Pace {
    /// Whether the tick that is due is left out.
    pub fn leaves_out(&mut self) -> bool {
        self.since_wait += 1;
        let waits = self.wait_ticks > 0 && self.since_wait >= WAIT_EVERY_TICKS;
        if waits {
            self.wait_ticks -= 1;
            self.since_wait = 0;
        }
        waits
    }

    /// A tick was played, so many ticks ahead of whoever is farthest behind.
    pub fn played(&mut self, ahead_ticks: i32) {
        self.measure_in = self.measure_in.saturating_sub(1);
        if self.measure_in == 0 && ahead_ticks >= AHEAD_TICKS_MIN {
            self.measure_in = MEASURE_EVERY_TICKS;
            self.wait_ticks = self.wait_ticks.max(ahead_ticks.unsigned_abs().min(WAIT_TICKS_MAX));
        }
    }
}
