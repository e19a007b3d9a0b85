//! What a clock of its own shows a seat, that of the network being right.

use core::time::Duration;

const PPM: i128 = 1_000_000;

/// A clock that may be fast or slow, may jump ahead, and may be set back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// How much it gains on the right time, in millionths: a slow one loses.
    gains_ppm: i32,
    /// At this right time it showed `shown`, and has gone at this pace since.
    since: Duration,
    shown: Duration,
}

impl Clock {
    /// A clock that shows so much when the right time is 0, and gains so many millionths on it, or
    /// loses them: at most half of its pace.
    pub fn new(shown: Duration, gains_ppm: i32) -> Clock {
        Clock { gains_ppm: gains_ppm.clamp(-500_000, 500_000), since: Duration::ZERO, shown }
    }

    /// What it shows at a time.
    pub fn shows(&self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.since);
        self.shown + scaled(passed, PPM + i128::from(self.gains_ppm), PPM, 0)
    }

    /// When it shows at least so much; [`Duration::MAX`], which no clock ever shows: never.
    pub fn when(&self, shown: Duration) -> Duration {
        if shown == Duration::MAX {
            return shown;
        }
        let pace = PPM + i128::from(self.gains_ppm);
        self.since.saturating_add(scaled(shown.saturating_sub(self.shown), PPM, pace, pace - 1))
    }

    /// From now on it gains so many millionths, or loses them.
    pub fn pace(&mut self, now: Duration, gains_ppm: i32) {
        *self = Clock { since: now, ..Clock::new(self.shows(now), gains_ppm) };
    }

    /// It jumps ahead, as after a sleep of the machine.
    pub fn jump(&mut self, by: Duration) {
        self.shown += by;
    }

    /// It is set back, as no monotonic clock is: at most to 0.
    pub fn set_back(&mut self, now: Duration, by: Duration) {
        *self = Clock { since: now, shown: self.shows(now).saturating_sub(by), ..*self };
    }
}

/// A duration times a fraction. `round` is added to what is divided.
fn scaled(time: Duration, times: i128, by: i128, round: i128) -> Duration {
    if times == by {
        return time;
    }
    let ns = (i128::try_from(time.as_nanos()).unwrap_or(i128::MAX / PPM / 2) * times + round) / by;
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}
