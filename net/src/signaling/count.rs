//! Counts of what is done at a [`Pace`]: what an address does, and what a peer signals another.

use std::time::{Duration, Instant};

use crate::limits::signaling::Pace;

/// How many there were; as of then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    count: f64,
    at: Instant,
}

impl Count {
    pub(super) fn none(at: Instant) -> Count {
        Count { count: 0.0, at }
    }

    pub(super) fn is_none(self) -> bool {
        self.count <= 0.0
    }

    /// Of which all that were long ago are forgotten.
    pub(super) fn at(self, now: Instant, pace: &Pace) -> Count {
        let forgotten = f64::from(pace.per_s) * now.saturating_duration_since(self.at).as_secs_f64();
        Count { count: (self.count - forgotten).max(0.0), at: now }
    }

    pub(super) fn one_more(self) -> Count {
        self.more(1.0)
    }

    pub(super) fn more(self, some: f64) -> Count {
        Count { count: self.count + some, ..self }
    }

    /// Of which no more are remembered than anybody has to wait for.
    pub(super) fn at_most(self, wait: Duration, pace: &Pace) -> Count {
        let max = f64::from(pace.free) + f64::from(pace.per_s) * wait.as_secs_f64();
        Count { count: self.count.min(max), ..self }
    }

    pub(super) fn one_less(self) -> Count {
        Count { count: (self.count - 1.0).max(0.0), ..self }
    }

    /// How long the newest of them waits.
    pub(super) fn wait(self, pace: &Pace) -> Duration {
        Duration::from_secs_f64((self.count - f64::from(pace.free)).max(0.0) / f64::from(pace.per_s))
    }

    /// Counts one more now, if that need not wait. Returns whether it did.
    pub(super) fn take(&mut self, now: Instant, pace: &Pace) -> bool {
        let more = self.at(now, pace).one_more();
        let is_due = more.wait(pace).is_zero();
        if is_due {
            *self = more;
        }
        is_due
    }
}
