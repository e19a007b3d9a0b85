//! Who is near whom: a replica is told the names of players whose heroes come into what it knows,
//! and nobody else's.
//!
//! What comes and goes waits for the budget, as chat does; of a hero that came and went meanwhile
//! only the last counts.

use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Rules, World};

use super::Host;
use super::guest::Guest;
use crate::limits::NEARBY_MAX;
use crate::link::Channel;
use crate::session::{LevelStats, Outbox};
use crate::wire::{Epoch, Message, Name, Nearby};

impl<R: Rules> Host<R> {
    /// Notes for each replica who came near and who went. Before a slot is given to somebody else
    /// as well: what was to be told to the one must not be told to the other.
    pub(super) fn note_nearby(&mut self) {
        let Host { cell_interest, guests, stats, .. } = self;
        for (slot, player, came) in cell_interest.events() {
            *(if came { &mut stats.heroes_entered } else { &mut stats.heroes_left }) += 1;
            if let Some(guest) = guests.get_mut(slot).filter(|guest| guest.player != player) {
                guest.nearby.insert(player, came);
            }
        }
    }
}

impl<R: Rules> Guest<R> {
    /// Tells who came near and who went, as far as the budget goes.
    pub(super) fn send_nearby(
        &mut self,
        epoch: Epoch,
        roster: &BTreeMap<PlayerId, Name>,
        stats: &mut LevelStats,
        out: &mut Outbox<World<R>>,
    ) {
        while !self.nearby.is_empty() && self.budget.allows() {
            let mut nearby = Nearby::default();
            for _ in 0..NEARBY_MAX {
                let Some((player, came)) = self.nearby.pop_first() else { break };
                // Who has left the session since has no name any more, and is gone by the frames.
                let name = roster.get(&player).filter(|_| came).cloned();
                let full = match name {
                    Some(name) => nearby.came.push((player, name)).is_err(),
                    None => nearby.went.push(player).is_err(),
                };
                debug_assert!(!full, "no more are taken than fit");
            }
            let bytes = out.send(epoch, self.peer, Channel::Reliable, &Message::Nearby(nearby));
            self.budget.pay(bytes);
            stats.add(bytes, 1);
        }
    }
}
