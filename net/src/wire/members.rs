//! What members say of who leads.

use lockstone_sim::{PlayerId, Tick};
use serde::{Deserialize, Serialize};

use super::Epoch;

/// A promise: to follow nobody of an older epoch, and nobody else in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// The epoch that begins with the new leader.
    pub epoch: Epoch,
    /// Who is to lead it.
    pub leader: PlayerId,
}

/// How far a member's history goes. The one that goes farther is the greater: of a newer leader,
/// else of more turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Known {
    /// The epoch of the leader that closed the newest of its turns.
    pub epoch: Epoch,
    /// The first tick whose turn it does not know.
    pub end: Tick,
}

/// What a member says of who leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stand {
    /// Its newest vote. As long as it has given none, for the leader that let it in.
    pub vote: Vote,
    /// The epoch in which it would vote for another, if others would.
    pub doubts: Option<Epoch>,
    /// What it knows. It knows no more later, until the leader that it voted for leads.
    pub known: Known,
}

/// Someone leads from now on, in the packet's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// All that is closed already: its turns go on from there.
    pub from: Known,
}

impl Stand {
    /// The newest epoch that it names.
    pub(crate) fn newest(&self) -> Epoch {
        self.doubts.map_or(self.vote.epoch, |doubts| doubts.max(self.vote.epoch))
    }
}
