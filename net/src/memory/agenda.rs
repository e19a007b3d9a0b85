//! Who is to be visited next, of thousands: by due time, or because something touched them.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::BinaryHeap;

/// Numbered entries, each with the time at which it is due.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// When each is due; [`Duration::MAX`]: not on its own account.
    due: Vec<Duration>,
    /// The same by time. What is no longer true is passed over.
    by_time: BinaryHeap<Reverse<(Duration, usize)>>,
    touched: Vec<usize>,
    is_touched: Vec<bool>,
}

impl Agenda {
    /// One more entry, touched. Returns its number.
    pub fn add(&mut self) -> usize {
        self.due.push(Duration::MAX);
        self.is_touched.push(false);
        let number = self.due.len() - 1;
        self.touch(number);
        number
    }

    /// The entry is to be visited at the next occasion.
    pub fn touch(&mut self, number: usize) {
        if !core::mem::replace(&mut self.is_touched[number], true) {
            self.touched.push(number);
        }
    }

    /// The entry is due then; [`Duration::MAX`]: no more.
    pub fn set(&mut self, number: usize, at: Duration) {
        if core::mem::replace(&mut self.due[number], at) != at && at < Duration::MAX {
            self.by_time.push(Reverse((at, number)));
        }
    }

    /// When the first is due.
    pub fn next(&mut self) -> Option<Duration> {
        while let Some(&Reverse((at, number))) = self.by_time.peek() {
            if self.due[number] == at {
                return Some(at);
            }
            self.by_time.pop();
        }
        None
    }

    /// Appends all that are touched, or due until `now`, by number and each once. They are
    /// neither afterwards.
    pub fn take(&mut self, now: Duration, numbers: &mut Vec<usize>) {
        while let Some(at) = self.next().filter(|at| *at <= now) {
            let Some(Reverse((_, number))) = self.by_time.pop() else { break };
            debug_assert_eq!(self.due[number], at);
            self.due[number] = Duration::MAX;
            self.touch(number);
        }
        self.touched.sort_unstable();
        self.touched.iter().for_each(|number| self.is_touched[*number] = false);
        numbers.append(&mut self.touched);
    }
}
