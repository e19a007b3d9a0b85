//! How a peer is called in its room. A party's room may begin anew while peers wait in it for a
//! first one that never speaks: then they are called otherwise.
//!
//! It must never be that a server has somebody begin anew who has been let in for long.

use web_time::Instant;

use super::RoomRole;
use crate::limits::BEGINS_ANEW_TIME;
use crate::link::PeerId;

/// This peer's name.
#[derive(Debug)]
pub(super) struct Own {
    name: PeerId,
    /// If it may change at all.
    may_change_until: Option<Instant>,
}

impl Own {
    pub fn new(name: PeerId, role: &RoomRole) -> Own {
        Own { name, may_change_until: (*role == RoomRole::Peer).then(|| Instant::now() + BEGINS_ANEW_TIME) }
    }

    pub fn name(&self) -> PeerId {
        self.name
    }

    /// The server calls this peer otherwise. Returns whether it may: with a lower number, in time.
    pub fn change(&mut self, name: PeerId) -> bool {
        let is_in_time = self.may_change_until.is_some_and(|until| Instant::now() < until);
        let may = is_in_time && name.arrival() < self.name.arrival() && name.0 as u64 == self.name.0 as u64;
        if may {
            self.name = name;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(arrival: u128, low: u128) -> PeerId {
        PeerId(arrival << 64 | low)
    }

    #[test]
    fn only_who_entered_a_moment_ago_gets_another_number_and_a_lower_one() {
        let mut own = Own::new(called(3, 7), &RoomRole::Peer);
        for other in [called(3, 7), called(4, 7), called(0, 8)] {
            assert!(!own.change(other) && own.name() == called(3, 7), "{other}");
        }
        assert!(own.change(called(1, 7)) && own.change(called(0, 7)));
        own.may_change_until = Some(Instant::now());
        assert!(!Own { name: called(3, 7), ..own }.change(called(0, 7)));
        assert!(!Own::new(called(3, 7), &RoomRole::Player).change(called(0, 7)));
    }
}
