//! How many packets a peer may still send now.

use core::time::Duration;

use crate::limits::PACKETS_PER_S_MAX;

/// A second's worth of packets may be used up at a moderate pace, half as much again at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    used: u32,
    at: Duration,
}

impl Rate {
    pub fn admits(&mut self, now: Duration) -> bool {
        let earned = now.saturating_sub(self.at).as_millis() * u128::from(PACKETS_PER_S_MAX) / 1_000;
        if earned > 0 {
            self.used = self.used.saturating_sub(u32::try_from(earned).unwrap_or(u32::MAX));
            self.at = now;
        }
        let admitted = self.used < PACKETS_PER_S_MAX + PACKETS_PER_S_MAX / 2;
        self.used += u32::from(admitted);
        admitted
    }
}
