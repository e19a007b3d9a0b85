//! The messages of a rollback session, and what must hold of each before anyone looks at it.

use lockstone_sim::{PlayerId, Tick};
use serde::{Deserialize, Serialize};

use super::{
    Bytes, Checksums, CommandBytes, Epoch, LeaveReason, List, Name, Proof, Stamp, Stand, WireError, ascending,
};
use crate::key::PublicKey;
use crate::limits::*;
use crate::link::PeerId;

/// The players of a session, as its founder found them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// The seed that the world is built with.
    pub seed: u64,
    /// The players, by peer, ascending. The place in the list is the player's number.
    pub members: List<Member, ROLLBACK_PLAYERS_MAX>,
}

/// One player of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Who plays it.
    pub peer: PeerId,
    /// The player's name.
    pub name: Name,
    /// The player's hero, encoded.
    pub hero: Bytes<HERO_BYTES_MAX>,
    /// The key that signs what the player gives, if it has one.
    pub key: Option<PublicKey>,
}

/// What a player plays, and how far it has come. One a tick to each of the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// Number and echo.
    pub stamp: Stamp,
    /// The first tick whose turn the sender does not know in full.
    pub confirmed: Tick,
    /// The first tick of the receiver's inputs that the sender does not have.
    pub received: Tick,
    /// The tick of the first input in here.
    pub from: Tick,
    /// The sender's inputs, tick by tick: all that the receiver is not known to have.
    pub inputs: List<Option<CommandBytes>, INPUTS_PER_PACKET_MAX>,
    /// By how many ticks the sender takes itself to be behind the receiver.
    pub behind_ticks: i16,
    /// The sender's newest checksums.
    pub checksums: Checksums,
    /// The digest of all this and the epoch. A damaged input would be played by one peer
    /// and not by another.
    pub seal: u32,
}

/// What a player says that has stopped because someone is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regroup {
    /// The players that are lost for the sender, ascending, and why. None if it stopped because
    /// others did.
    pub lost: List<(PlayerId, LeaveReason), ROLLBACK_PLAYERS_MAX>,
    /// Whom it wants to lead, and what it knows.
    pub stand: Stand,
    /// Those who gave the same vote and have a key, ascending, and what shows that.
    pub votes: List<(PlayerId, Proof), ROLLBACK_PLAYERS_MAX>,
}

impl Form {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let sound = self.members.len() >= 2 && self.members.is_sorted_by(|a, b| a.peer < b.peer);
        WireError::unless(sound, "not two players or more in order")
    }
}

impl Inputs {
    /// Puts the seal on.
    pub fn sealed(self, epoch: Epoch) -> Inputs {
        Inputs { seal: self.digest(epoch), ..self }
    }

    /// The first tick after the inputs in here.
    pub fn end(&self) -> Tick {
        self.from.plus(self.inputs.len() as u32)
    }

    fn digest(&self, epoch: Epoch) -> u32 {
        let Inputs { stamp, confirmed, received, from, inputs, behind_ticks, checksums, seal: _ } = self;
        let parts = (epoch, stamp, confirmed, received, from, inputs, behind_ticks, checksums);
        xxhash_rust::xxh3::xxh3_64(&lockstone_sim::codec::compact(&parts)) as u32
    }

    pub(super) fn check(&self, epoch: Epoch) -> Result<(), WireError> {
        WireError::unless(self.seal == self.digest(epoch), "a broken seal")?;
        WireError::unless(self.from.0.checked_add(self.inputs.len() as u32).is_some(), "too many ticks")
    }
}

impl Regroup {
    /// That of one who tells nobody's vote but its own.
    pub fn of(lost: List<(PlayerId, LeaveReason), ROLLBACK_PLAYERS_MAX>, stand: Stand) -> Regroup {
        Regroup { lost, stand, votes: List::default() }
    }

    pub(super) fn check(&self) -> Result<(), WireError> {
        WireError::unless(ascending(&self.lost) && ascending(&self.votes), "out of order")
    }
}
