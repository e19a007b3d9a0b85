//! The time that one peer goes by, made of what its embedder says that it is.
//!
//! Clocks are set back, and leap ahead: a machine sleeps, a page is put aside, or the embedder asks a
//! clock that somebody sets. It must never go back, and never leap so far that others seem silent
//! who are not.

use core::time::Duration;

pub struct Time {
    /// At most so much passes between two times that are told.
    leap_max: Duration,
    /// What was told last, if anything was.
    told: Option<Duration>,
    now: Duration,
}

impl Time {
    pub fn new(leap_max: Duration) -> Time {
        Time { leap_max, told: None, now: Duration::ZERO }
    }

    /// The embedder says how late it is by its clock. Returns what this peer goes by.
    pub fn tell(&mut self, told: Duration) -> Duration {
        match self.told.replace(told) {
            None => self.now = told,
            Some(before) => self.now += told.saturating_sub(before).min(self.leap_max),
        }
        self.now
    }

    /// What the embedder's clock will show at a time that this peer goes by.
    pub fn shown(&self, at: Duration) -> Duration {
        let told = self.told.unwrap_or_default();
        // What never comes is not shown.
        if at == Duration::MAX { at } else { told.saturating_add(at.saturating_sub(self.now)) }
    }
}
