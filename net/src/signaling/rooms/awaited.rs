//! Rooms whose peers are awaited when a server is started again.
//!
//! Peers find their server within two seconds of its return. If newcomers were let in before, they
//! would find a room empty that has members, and found a second session in it. So they wait until
//! one of the room's peers is back, or until all who can come have come.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::Instant;

/// So long after its start a server awaits peers. Who comes first to a room whose peers have all
/// gone joins within five seconds.
pub(super) const AWAITED_FOR: Duration = Duration::from_secs(3);

/// The rooms that are awaited.
#[derive(Debug)]
pub(super) struct Awaited {
    until: Instant,
    /// If the server remembers its rooms, these are awaited; else all but these.
    rooms: HashSet<String>,
    remembers: bool,
}

impl Awaited {
    /// Of a server that had these rooms.
    pub fn these(rooms: HashSet<String>) -> Self {
        Self { until: Instant::now() + AWAITED_FOR, rooms, remembers: true }
    }

    /// Of a server that does not know which rooms it had.
    pub fn all() -> Self {
        Self { until: Instant::now() + AWAITED_FOR, rooms: HashSet::new(), remembers: false }
    }

    /// Until when newcomers to a room wait.
    pub fn until(&self, room: &str) -> Option<Instant> {
        let is_awaited = self.rooms.contains(room) == self.remembers && Instant::now() < self.until;
        is_awaited.then_some(self.until)
    }

    /// A peer of that room is back.
    pub fn is_back(&mut self, room: &str) {
        match self.remembers {
            true => drop(self.rooms.remove(room)),
            false => drop(self.rooms.insert(room.to_owned())),
        }
    }
}
