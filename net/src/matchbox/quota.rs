//! So much in a time. In no such time does anybody have more than twice as much.

use std::time::Duration;

use futures::FutureExt;

use super::delay::Delay;

#[derive(Debug)]
pub(super) struct Quota {
    max: u32,
    time: Duration,
    left: u32,
    renewed: Delay,
}

impl Quota {
    /// So many in that time.
    pub fn new(max: u32, time: Duration) -> Quota {
        Quota { max, time, left: max, renewed: Delay::new(time) }
    }

    /// Takes one. Returns whether there was one left.
    pub fn take(&mut self) -> bool {
        if self.left == 0 && (&mut self.renewed).now_or_never().is_some() {
            self.left = self.max;
            self.renewed.reset(self.time);
        }
        let less = self.left.checked_sub(1);
        self.left = less.unwrap_or(0);
        less.is_some()
    }

    /// Gives back some of what was taken.
    pub fn give(&mut self, some: u32) {
        self.left = self.max.min(self.left + some);
    }

    /// Until there is one to take.
    pub async fn wait(&mut self) {
        if self.left == 0 {
            (&mut self.renewed).await;
        }
    }
}
