//! Who is near whom: a replica is told the names of players whose heroes come into what it knows,
//! and nobody else's.
//!
//! What comes and goes waits for the budget, as chat does; of a hero that came and went meanwhile
//! only the last counts.

use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, PresenceEvent, Rules, Simulation};

use super::Host;
use super::guest::Guest;
use crate::limits::NEARBY_MAX;
use crate::link::Channel;
use crate::session::{LevelStats, Outbox};
use crate::wire::{Epoch, Message, Name, Nearby, RawInput};

impl<R: Rules> Host<R> {
    /// Notes for each replica who came near and who went. Before a slot is given to somebody else
    /// as well: what was to be told to the one must not be told to the other.
    pub(super) fn note_nearby(&mut self) {
        let Host { cell_interest, guests, stats, .. } = self;
        for PresenceEvent { watcher, thing, entered } in cell_interest.presence.events() {
            *(if entered { &mut stats.heroes_entered } else { &mut stats.heroes_left }) += 1;
            let player = PlayerId(thing as u16);
            if let Some(guest) = guests.get_mut(watcher).filter(|guest| guest.player != player) {
                guest.nearby.insert(player, entered);
            }
        }
    }

    /// Heroes whose players went away have no names any more, and those who are back have.
    pub(super) fn note_names(&mut self, inputs: &[RawInput]) {
        let named = inputs.iter().filter_map(|input| match input {
            RawInput::Away(player, _) => Some((*player, false)),
            RawInput::Back(player, _) => Some((*player, true)),
            _ => None,
        });
        let Host { cell_interest, guests, .. } = self;
        for (player, came) in named {
            let Some(cell) = cell_interest.hero(player) else { continue };
            for slot in cell_interest.presence.watchers(cell) {
                if let Some(guest) = guests.get_mut(slot).filter(|guest| guest.player != player) {
                    guest.nearby.insert(player, came);
                }
            }
        }
    }
}

impl Guest {
    /// Tells who came near and who went, as far as the budget goes.
    pub(super) fn send_nearby<S: Simulation>(
        &mut self,
        epoch: Epoch,
        roster: &BTreeMap<PlayerId, Name>,
        stats: &mut LevelStats,
        out: &mut Outbox<S>,
    ) {
        while !self.nearby.is_empty() && self.budget.allows() {
            let mut nearby = Nearby::default();
            for _ in 0..NEARBY_MAX {
                let Some((player, came)) = self.nearby.pop_first() else { break };
                // Who has left the session since has no name any more, and is gone by the frames.
                let told = match roster.get(&player).filter(|_| came) {
                    Some(name) => nearby.came.push((player, name.clone())),
                    None => nearby.went.push(player),
                };
                told.expect("no more are taken than fit");
            }
            self.send(epoch, Channel::Reliable, &Message::Nearby(nearby), stats, out);
        }
    }
}
