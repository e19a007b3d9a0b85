//! Rooms whose peers are awaited when a server is started again.
//!
//! Peers find their server within two seconds of its return. If newcomers were let in before, they
//! would find a room empty that has members, and found a second session in it. So they wait until
//! one of the room's peers is there, or until all who can come have come.

use std::collections::HashSet;

use tokio::time::Instant;

use crate::limits::signaling::AWAITED_FOR;

/// The rooms that are awaited.
#[derive(Debug)]
pub(super) struct Awaited {
    until: Instant,
    /// `None`: all.
    rooms: Option<HashSet<String>>,
}

impl Awaited {
    /// Of a server that had these rooms, or that does not know which it had.
    pub fn since_now(rooms: Option<HashSet<String>>) -> Self {
        Self { until: Instant::now() + AWAITED_FOR, rooms }
    }

    /// Until when newcomers to a room wait in which nobody is.
    pub fn until(&self, room: &str) -> Option<Instant> {
        let is_awaited = self.rooms.as_ref().is_none_or(|rooms| rooms.contains(room));
        Some(self.until).filter(|until| is_awaited && Instant::now() < *until)
    }
}
