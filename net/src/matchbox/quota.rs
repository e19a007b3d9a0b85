//! So much in a time: what was taken comes back one by one. In no such time does anybody have more
//! than twice as much.

use std::time::Duration;

use web_time::Instant;

use super::delay::Delay;

#[derive(Debug)]
pub(super) struct Quota {
    max: u32,
    /// In which one comes back.
    each: Duration,
    left: u32,
    /// As of then so many are left.
    since: Instant,
}

impl Quota {
    /// So many in that time.
    pub fn new(max: u32, time: Duration) -> Quota {
        Quota { max, each: time / max, left: max, since: Instant::now() }
    }

    /// How many are left now.
    pub fn left(&mut self) -> u32 {
        let back = self.since.elapsed().div_duration_f64(self.each) as u32;
        self.since += self.each * back;
        self.give(back);
        self.left
    }

    /// Takes one. Returns whether there was one left.
    pub fn take(&mut self) -> bool {
        let less = self.left().checked_sub(1);
        self.left = less.unwrap_or(0);
        less.is_some()
    }

    /// Gives back some of what was taken.
    pub fn give(&mut self, some: u32) {
        self.left = self.max.min(self.left.saturating_add(some));
    }

    /// Until there is one to take.
    pub async fn wait(&mut self) {
        if self.left() == 0 {
            Delay::new(self.each.saturating_sub(self.since.elapsed())).await;
        }
    }
}
