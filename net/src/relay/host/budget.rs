//! What a replica may be sent, and what waits if it is too much.
//!
//! Levels, from the one that is never cut to the one that is cut first: turns, halo, loads, distant
//! view, chat. Frames hold the first two: a core without them would stand still. They are paid from
//! the budget afterwards; the later levels wait until it is there. A quarter of it is theirs
//! whatever frames cost: a hero whose area is not loaded would walk out of its world.
//!
//! What a line carries is measured by loads, and in play by its round trips: they grow long where
//! more is sent than goes through.

use core::time::Duration;

/// What is saved up at most, and what frames may owe: of so much time.
const SAVED_TIME: Duration = Duration::from_millis(250);
/// A load below so many bytes does not tell how fast a line is.
const MEASURED_BYTES_MIN: usize = 64 * 1_024;
/// A line that was measured to carry less is not believed.
const BYTES_PER_S_MIN: u64 = 4 * 1_024;
/// Between two looks at the round trips.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The shortest round trip counts for at least so many looks, and at most for twice as many.
const SHORTEST_LOOKS: u32 = 40;
/// A round trip that is longer than the shortest by more than this waits in a queue.
const QUEUE: Duration = Duration::from_millis(120);

#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    bytes_per_s_max: u64,
    /// What the line carries, as far as it was put to the test.
    measured: Option<u64>,
    /// For what can wait, in bytes; below 0 a debt.
    saved: i64,
    /// What frames have not paid yet, in bytes.
    owed: i64,
    at: Duration,
    looks: Looks,
}

/// What is seen of the line while it is used.
#[derive(Clone, Copy, Debug, Default)]
struct Looks {
    /// When the last one was.
    at: Duration,
    /// Sent since, in bytes.
    sent: u64,
    /// The shortest round trip of the looks before, and of those that are counted now.
    shortest: [Option<Duration>; 2],
    count: u32,
}

impl Budget {
    pub fn new(bytes_per_s_max: u32, now: Duration) -> Budget {
        let looks = Looks { at: now, ..Looks::default() };
        let mut budget =
            Budget { bytes_per_s_max: bytes_per_s_max.into(), measured: None, saved: 0, owed: 0, at: now, looks };
        budget.saved = budget.saved_max();
        budget
    }

    /// Lets time pass, with the round trip as it is now.
    pub fn advance(&mut self, rtt: Option<Duration>, now: Duration) {
        let earned = now.saturating_sub(self.at).as_micros() as i64 * self.bytes_per_s() as i64 / 1_000_000;
        if earned > 0 {
            let paid = self.owed.min(earned * 3 / 4);
            self.owed -= paid;
            self.saved = (self.saved + earned - paid).min(self.saved_max());
            self.at = now;
        }
        let time = now.saturating_sub(self.looks.at);
        if let Some(rtt) = rtt.filter(|_| time >= LOOK_INTERVAL) {
            self.look(rtt, time);
            self.looks.at = now;
        }
    }

    /// Less, where packets queue up; otherwise somewhat more, until all that is allowed is used
    /// again.
    fn look(&mut self, rtt: Duration, time: Duration) {
        let carried = core::mem::take(&mut self.looks.sent) * 1_000 / (time.as_millis() as u64).max(1);
        let present = self.bytes_per_s();
        self.measured = if rtt > self.looks.shortest(rtt) + QUEUE {
            // What was sent was too much; but by how much tells only a line that was made use of.
            Some((carried.clamp(present / 2, present) * 3 / 4).max(BYTES_PER_S_MIN))
        } else {
            self.measured.map(|measured| measured + measured / 20).filter(|more| *more < self.bytes_per_s_max)
        };
    }

    /// Frames of so many bytes are sent.
    pub fn owe(&mut self, bytes: usize) {
        self.owed = (self.owed + bytes as i64).min(self.saved_max());
        self.looks.sent += bytes as u64;
    }

    /// So much is sent of what could have waited.
    pub fn pay(&mut self, bytes: usize) {
        self.saved -= bytes as i64;
        self.looks.sent += bytes as u64;
    }

    /// Whether something that can wait may be sent now.
    pub fn allows(&self) -> bool {
        self.saved > 0
    }

    /// So many bytes on the reliable channel were acknowledged after a time.
    pub fn measure(&mut self, bytes: usize, time: Duration) {
        if bytes >= MEASURED_BYTES_MIN {
            let per_s = (bytes as u64 * 1_000 / (time.as_millis() as u64).max(1)).max(BYTES_PER_S_MIN);
            // It was sent at no more than what was measured before, so it only shows
            // that there is more.
            self.measured = Some(self.measured.map_or(per_s, |measured| measured.max(per_s)));
        }
    }

    fn bytes_per_s(&self) -> u64 {
        self.measured.map_or(self.bytes_per_s_max, |measured| measured.min(self.bytes_per_s_max))
    }

    fn saved_max(&self) -> i64 {
        (self.bytes_per_s() * SAVED_TIME.as_millis() as u64 / 1_000) as i64
    }
}

impl Looks {
    /// Notes a round trip. Returns the shortest of some time.
    fn shortest(&mut self, rtt: Duration) -> Duration {
        self.count += 1;
        if self.count == SHORTEST_LOOKS {
            (self.shortest, self.count) = ([self.shortest[1], None], 0);
        }
        let shortest = self.shortest[1].map_or(rtt, |shortest| shortest.min(rtt));
        self.shortest[1] = Some(shortest);
        self.shortest[0].map_or(shortest, |before| before.min(shortest))
    }
}
