//! The time that one peer goes by, made of what its embedder says that it is.
//!
//! Clocks are set back, and leap ahead: a machine sleeps, a page is put aside, or the embedder asks
//! a clock that somebody sets. It must never go back, and never leap so far that others seem silent
//! who are not.

use core::time::Duration;

pub struct Time {
    /// At most so much passes between two times that are told, while something is due.
    leap_max: Duration,
    /// What was told last, if anything was.
    told: Option<Duration>,
    now: Duration,
}

impl Time {
    pub fn new(leap_max: Duration) -> Time {
        Time { leap_max, told: None, now: Duration::ZERO }
    }

    /// Whether more seems to have passed than may.
    pub fn leaps(&self, told: Duration) -> bool {
        self.told.is_some_and(|before| told > before.saturating_add(self.leap_max))
    }

    /// The embedder says how late it is by its clock. Returns what this peer goes by. Until it is
    /// `due` the embedder had nothing to do: that is no leap.
    pub fn tell(&mut self, told: Duration, due: Duration) -> Duration {
        let most = self.leap_max.max(due.saturating_sub(self.now));
        match self.told.replace(told) {
            None => self.now = told,
            Some(before) => self.now += told.saturating_sub(before).min(most),
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
