//! When each of thousands of sessions is to be visited next.

use core::time::Duration;
use std::collections::BTreeSet;

/// Numbered entries, each with the time at which it is due.
pub(super) struct Agenda {
    /// When each is due; [`Duration::MAX`]: not on its own account.
    due: Vec<Duration>,
    /// The same by time.
    by_time: BTreeSet<(Duration, usize)>,
}

impl Agenda {
    /// So many entries, all of which are due.
    pub fn of(entries: usize) -> Agenda {
        let due = vec![Duration::ZERO; entries];
        Agenda { due, by_time: (0..entries).map(|number| (Duration::ZERO, number)).collect() }
    }

    /// The entry is due then; [`Duration::MAX`]: no more.
    pub fn set(&mut self, number: usize, at: Duration) {
        let before = core::mem::replace(&mut self.due[number], at);
        self.by_time.remove(&(before, number));
        if at < Duration::MAX {
            self.by_time.insert((at, number));
        }
    }

    /// When the first is due.
    pub fn next(&self) -> Option<Duration> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// All that are due until `now`, by number. They stay due until they are set.
    pub fn due(&self, now: Duration) -> Vec<usize> {
        let mut numbers: Vec<_> = self.by_time.range(..=(now, usize::MAX)).map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        numbers
    }
}
