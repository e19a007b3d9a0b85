//! What members say of who leads.

use lockstone_sim::{PlayerId, Tick};
use serde::{Deserialize, Serialize};

use super::{Epoch, LeaveReason, List, WireError, ascending};
use crate::limits::{EPOCHS_TOLD_MAX, ROLLBACK_PLAYERS_MAX};
use crate::link::PeerId;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// Where the turns go on from. In a party all that is closed already. In a rollback session
    /// what all who are left know, as far as their leader knew any leader's.
    pub from: Known,
    /// In a party how far the turns of each of the epochs before go, as far as they are remembered,
    /// ascending.
    pub before: List<Known, EPOCHS_TOLD_MAX>,
    /// In a rollback session everyone who is gone since it began, ascending, and why. In a party
    /// turns say it.
    pub gone: List<(PlayerId, LeaveReason), ROLLBACK_PLAYERS_MAX>,
}

/// Who leads on if the relay is lost, from now on. A replica says the same back: it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heir {
    /// Counts what the relay said of it.
    pub number: u32,
    /// The relay's standby. `None`: nobody.
    pub peer: Option<PeerId>,
}

/// Which of two parts of a session is to be the session: the one of the higher rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rank {
    /// Members that are there.
    pub members: u16,
    /// The epoch of its leader.
    pub epoch: Epoch,
    /// How old it is if its founder was always alone: how often its ticks have doubled. Else
    /// [`SHARED`](Rank::SHARED).
    pub age: u8,
}

impl Rank {
    /// The age of a session that had more members than its founder.
    pub const SHARED: u8 = u8::MAX;
}

/// A leader meets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meet {
    /// The rank of the sender's part.
    pub ours: Rank,
    /// The rank of the receiver's, as it said last.
    pub yours: Option<Rank>,
}

impl Lead {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let before = self.before.iter().map(|known| (known.epoch, ()));
        let before: Vec<_> = before.chain([(self.from.epoch, ())]).collect();
        WireError::unless(ascending(&self.gone) && ascending(&before), "out of order")
    }
}

impl Stand {
    /// The newest epoch that it names.
    pub(crate) fn newest(&self) -> Epoch {
        self.doubts.map_or(self.vote.epoch, |doubts| doubts.max(self.vote.epoch))
    }
}
