//! What the ticks of a session cost this process, in time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times of ticks, in microseconds: each with all that its session had to do for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Ticks.
    pub ticks: u64,
    /// A tick's time, on average.
    pub mean_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl Effort {
    /// Counts ticks that together took a time.
    pub(super) fn took(&mut self, ticks: u32, time: Duration) {
        if ticks == 0 {
            return;
        }
        let all_us = self.mean_us * self.ticks as f64 + time.as_secs_f64() * 1e6;
        self.ticks += u64::from(ticks);
        self.mean_us = all_us / self.ticks as f64;
        self.max_us = self.max_us.max(time.as_secs_f64() * 1e6 / f64::from(ticks));
    }
}
