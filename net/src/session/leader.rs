//! Who closes ticks.

use lockstone_sim::Simulation;

use super::Outbox;
use crate::link::PeerId;
use crate::wire::{Epoch, Message};

/// The peer that closes ticks, and the epoch in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leader {
    pub peer: PeerId,
    pub epoch: Epoch,
}

impl Leader {
    /// The room's first peer leads its first epoch. Of anyone else it is not known
    /// before a welcome.
    pub fn of_room(peer: PeerId) -> Option<Leader> {
        (peer.arrival() == 0).then_some(Leader { peer, epoch: Epoch::default() })
    }

    /// Says something to it, reliably.
    pub fn tell<S: Simulation>(self, message: &Message, out: &mut Outbox<S>) {
        out.reliably(self.epoch, self.peer, message);
    }
}
