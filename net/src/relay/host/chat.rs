//! Chat: who hears what a player says, and when it is sent.
//!
//! A line is heard by who says it, by the others of that player's party, and by those whose world
//! holds that hero: nobody learns where anyone is by it. It is the last of all levels. Lines wait
//! for the budget; of too many the oldest are dropped, and counted.

use core::time::Duration;
use std::collections::BTreeSet;

use lockstone_sim::{PlayerId, Rules, Simulation, World};

use super::Host;
use super::guest::Guest;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::session::{DropReason, LevelStats, Outbox};
use crate::wire::{ChatLine, Epoch, Message, Said};

impl<R: Rules> Host<R> {
    /// A replica's player says something.
    pub(super) fn hear(&mut self, from: PeerId, line: ChatLine, now: Duration, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        if !guest.plays() {
            return out.dropped(DropReason::Unexpected);
        }
        if !guest.chat_rate.admits(1, CHAT_LINES_PER_S_MAX, now) {
            return out.dropped(DropReason::ChatFlood);
        }
        let player = guest.player;
        self.said(player, line, out);
    }

    /// Puts what a player says on its way to those who hear it.
    pub(super) fn said(&mut self, player: PlayerId, line: ChatLine, out: &mut Outbox<World<R>>) {
        let Host { stepper, cell_interest, distant_interest, guests, stats, choice, .. } = self;
        let (Some(name), Some(cell)) = (stepper.roster.get(&player), cell_interest.hero(player)) else { return };
        let said = Said { player, name: name.clone(), line };
        let party = distant_interest.as_ref().map_or(&[][..], |distant_interest| distant_interest.party(player));
        let told = party.iter().chain([&player]).filter_map(|player| guests.slot_of(*player));
        let hearers: BTreeSet<_> = cell_interest.presence.watchers(cell).chain(told).collect();
        for slot in hearers {
            let Some(guest) = guests.get_mut(slot).filter(|guest| guest.plays()) else { continue };
            if guest.chat.len() == CHAT_LINES_QUEUED_MAX {
                stats.chat.cut_bytes += guest.chat.pop_front().map_or(0, |said| said.line.as_str().len() as u64);
            }
            guest.chat.push_back(said.clone());
        }
        // The relay's own player hears as far as others do.
        let hears = |here| choice.rules.halo(choice.rules.least(here)).contains(cell);
        let near = cell_interest.hero(stepper.player).is_some_and(hears);
        if near || stepper.player == player || party.contains(&stepper.player) {
            out.said(&said);
        }
    }
}

impl Guest {
    /// Sends what was said, as far as the budget goes.
    pub(super) fn send_chat<S: Simulation>(&mut self, epoch: Epoch, stats: &mut LevelStats, out: &mut Outbox<S>) {
        while self.budget.allows()
            && let Some(said) = self.chat.pop_front()
        {
            self.send(epoch, Channel::Reliable, &Message::Said(said), stats, out);
        }
    }
}
