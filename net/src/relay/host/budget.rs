//! What a replica may be sent, and what waits if it is too much.
//!
//! Levels, from the one that is never cut to the one that is cut first: turns, halo, loads, distant view, chat. Frames hold the first two: a
//! core without them would stand still. They are paid from the budget afterwards; the later levels wait until it is there. A quarter of
//! it is theirs whatever frames cost: a hero whose area is not loaded would walk out of its world.

use core::time::Duration;

/// What is saved up at most, and what frames may owe: of so much time.
const SAVED_TIME: Duration = Duration::from_millis(250);
/// A load is paced at so many times what the replica's line was measured to carry, so that the measure can rise.
const HEADROOM: u64 = 2;
/// A load below so many bytes does not tell how fast a line is.
const MEASURED_BYTES_MIN: usize = 64 * 1_024;
/// A line that was measured to carry less is not believed.
const MEASURED_BYTES_PER_S_MIN: u64 = 8 * 1_024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    bytes_per_s_max: u64,
    /// What the line carried when it was last put to the test.
    measured: Option<u64>,
    /// For what can wait, in bytes; below 0 a debt.
    saved: i64,
    /// What frames have not paid yet, in bytes.
    owed: i64,
    at: Duration,
}

impl Budget {
    pub fn new(bytes_per_s_max: u32, now: Duration) -> Budget {
        let mut budget = Budget { bytes_per_s_max: bytes_per_s_max.into(), measured: None, saved: 0, owed: 0, at: now };
        budget.saved = budget.saved_max();
        budget
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Duration) {
        let earned = now.saturating_sub(self.at).as_micros() as i64 * self.bytes_per_s() as i64 / 1_000_000;
        if earned > 0 {
            let paid = self.owed.min(earned * 3 / 4);
            self.owed -= paid;
            self.saved = (self.saved + earned - paid).min(self.saved_max());
            self.at = now;
        }
    }

    /// Frames of so many bytes are sent.
    pub fn owe(&mut self, bytes: usize) {
        self.owed = (self.owed + bytes as i64).min(self.saved_max());
    }

    /// So much is sent of what could have waited.
    pub fn pay(&mut self, bytes: usize) {
        self.saved -= bytes as i64;
    }

    /// Whether something that can wait may be sent now.
    pub fn allows(&self) -> bool {
        self.saved > 0
    }

    /// So many bytes on the reliable channel were acknowledged after a time.
    pub fn measure(&mut self, bytes: usize, time: Duration) {
        if bytes >= MEASURED_BYTES_MIN {
            let per_s = bytes as u64 * 1_000 / (time.as_millis() as u64).max(1);
            self.measured = Some(per_s.max(MEASURED_BYTES_PER_S_MIN));
        }
    }

    fn bytes_per_s(&self) -> u64 {
        self.measured.map_or(self.bytes_per_s_max, |measured| (measured * HEADROOM).min(self.bytes_per_s_max))
    }

    fn saved_max(&self) -> i64 {
        (self.bytes_per_s() * SAVED_TIME.as_millis() as u64 / 1_000) as i64
    }
}
