//! How a member finds that it hears too few of the others for anyone to lead: it says so, and after
//! a while offers its player to go on without them.
//!
//! It must never decide that: a session goes on as a branch only if a player wants it. Its loop is
//! [`Minority::look`].

use core::time::Duration;

use lockstone_sim::{PlayerId, Simulation};

use super::{Event, Outbox};
use crate::members::Electorates;

/// An election takes less.
const WAITS_AFTER: Duration = Duration::from_secs(2);

/// What this member has told of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Minority {
    /// Nothing: it is none, or not for long.
    #[default]
    None,
    /// It waits.
    Waits,
    /// Its player may go on without the others.
    Offered,
}

impl Minority {
    pub fn may_branch(self) -> bool {
        self == Minority::Offered
    }

    /// Looks who can be `reached`, itself included. No turn was closed for so long.
    pub fn look<S: Simulation>(
        &mut self,
        electorates: &Electorates,
        reached: impl Fn(PlayerId) -> bool,
        stalled: Duration,
        patience: Duration,
        out: &mut Outbox<S>,
    ) {
        let now = match () {
            () if stalled < WAITS_AFTER || electorates.is_quorum(&reached) => Minority::None,
            () if stalled < patience => Minority::Waits,
            () => Minority::Offered,
        };
        let before = core::mem::replace(self, now);
        if now > before {
            let (members, reached) =
                (electorates.iter().count(), electorates.iter().filter(|one| reached(*one)).count());
            out.events.push_back(Event::Minority { reached, members, may_branch: self.may_branch() });
        }
    }
}
