//! When each tick of a session is, for whoever closes them.

use core::time::Duration;

use lockstone_sim::Tick;

/// Time that the session lost because this peer stood still for longer than this is not made up
/// for.
const CATCH_UP_MAX: Duration = Duration::from_secs(3);

pub struct Schedule {
    period: Duration,
    /// A tick, and when it is: the others lie before and behind it.
    tick: Tick,
    at: Duration,
}

impl Schedule {
    /// A tick is at that time, and the others follow.
    pub fn going_on(next: Tick, at: Duration, period: Duration) -> Schedule {
        Schedule { period, tick: next, at }
    }

    pub fn time_of(&self, tick: Tick) -> Duration {
        (self.at + self.period * tick.since(self.tick)).saturating_sub(self.period * self.tick.since(tick))
    }

    /// Puts off what comes from a tick on, if that is too long ago to be made up for.
    pub fn forgive(&mut self, next: Tick, now: Duration) {
        let behind = now.saturating_sub(self.time_of(next));
        if behind > CATCH_UP_MAX {
            self.at += behind;
        }
    }
}
