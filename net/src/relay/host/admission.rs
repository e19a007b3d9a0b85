//! How the relay lets joiners in: hello, refusal or welcome, the world's outline, the first load,
//! and the hero's way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use lockstone_sim::{Rules, Simulation, World, codec};

use super::Host;
use super::budget::Budget;
use super::guest::{Entry, Guest};
use crate::link::PeerId;
use crate::sequencer::Arrival;
use crate::session::{DropReason, Io, Offer, Outbox};
use crate::wire::*;

impl<R: Rules> Host<R> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<World<R>>) {
        let waits = |guest: &Guest| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let own = usize::from(self.hosts_player);
        let player = match self.guests.number(own) {
            Ok(player) => player,
            Err(full) => return self.guests.refuse(peer, hello.name.as_str(), full, &mut io.out),
        };
        let join = self.stepper.simulation.admit(player, hero);
        let at = self.stepper.simulation.grid().cell_of(join.at);
        let offer = self.outline();
        let join = match Bytes::try_from(codec::compact(&join)) {
            Ok(join) if !offer.is_too_large() => join,
            unfit => {
                let refusal = if unfit.is_err() { Refusal::Hero } else { Refusal::World };
                self.guests.free(player);
                return self.guests.refuse(peer, hello.name.as_str(), refusal, &mut io.out);
            }
        };
        let budget = Budget::new(self.config.settings().budget_bytes_per_s, io.now);
        let entry = Entry::Joining { name: hello.name, at, join, progressed: io.now };
        let outline = offer.make(self.leader, peer, hello.attempt, (player, None), &mut io.out);
        let guest = Guest::new((peer, player), entry, outline, (offer.tick(), io.now), budget);
        let slot = self.guests.insert(peer, player, guest);
        self.answering.push(slot);
    }

    /// The world's tick and facts, without any cell: what a joiner begins with. Of a tick
    /// the same for all.
    fn outline(&mut self) -> Offer {
        let stepper = &self.stepper;
        self.outline.take_if(|outline| outline.tick() != stepper.tick());
        let bytes = || stepper.simulation.encode(&stepper.simulation.outline());
        // A replica learns of other players as they come near.
        let outline = || Offer::new(stepper, bytes(), List::default());
        self.outline.get_or_insert_with(outline).clone()
    }

    /// A joiner knows the place where its hero enters, and has caught up: the hero enters
    /// with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let placed = !guest.area.bounds().core.is_empty();
        match core::mem::replace(&mut guest.entry, Entry::Playing) {
            Entry::Joining { name, join, .. } if placed => {
                self.waiting.arrive(Arrival {
                    player: guest.player,
                    peer,
                    key: None,
                    name,
                    join: Some(join),
                    commands: 0,
                });
            }
            as_before => {
                guest.entry = as_before;
                out.dropped(DropReason::Unexpected);
            }
        }
    }
}
