//! Lets a session look ahead for whoever plays here, within a part of a tick's time.

use std::time::Duration;

use lockstone_net::Session;

use super::effort::Clock;

/// Of a tick's time at most one part in so many goes into looking ahead.
const SHARE: u32 = 4;
/// Each measurement counts one part in so many.
const SMOOTH: u32 = 16;

pub(super) struct Lookahead {
    /// For how long the calling thread has had a processor.
    clock: Clock,
    time_max: Duration,
    /// What a simulated tick takes, once that was measured.
    each: Option<Duration>,
    /// What all of it took.
    spent: Duration,
}

impl Lookahead {
    pub fn new(clock: Clock, period: Duration) -> Self {
        Lookahead { clock, time_max: period / SHARE, each: None, spent: Duration::ZERO }
    }

    /// What all of it took so far.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    pub fn look(&mut self, session: &mut impl Session) {
        let (began, ticks_max) = ((self.clock)(), self.ticks_max());
        let ticks = session.look_ahead(ticks_max);
        let took = (self.clock)().saturating_sub(began);
        // The first time, it builds a world to look ahead in.
        let begins = self.spent.is_zero();
        self.spent += took;
        if ticks > 0 && !begins {
            let (each, now) = (self.each.unwrap_or(took / ticks), took / ticks);
            self.each = Some((each * (SMOOTH - 1) + now) / SMOOTH);
        }
    }

    /// What can be simulated in its time if all has to be simulated again; one tick in any case.
    fn ticks_max(&self) -> u32 {
        let each = self.each.filter(|each| !each.is_zero());
        each.map_or(u32::MAX, |each| (self.time_max.as_nanos() / each.as_nanos()).max(1) as u32)
    }
}
