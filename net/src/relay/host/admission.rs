//! How the relay lets joiners in: hello, refusal or welcome, the world's outline, the first load,
//! and the hero's way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use lockstone_sim::{Rules, Simulation, World, codec};

use super::Host;
use super::budget::Budget;
use super::guest::{Entry, Guest};
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{DropReason, Io, Offer, Outbox};
use crate::wire::*;

impl<R: Rules> Host<R> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<World<R>>) {
        let waits = |guest: &Guest<R>| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let player = self.guests.number();
        let join = self.stepper.simulation.admit(player, hero);
        let fits = codec::compact(&join).len() <= JOIN_BYTES_MAX;
        let outline = self.outline();
        let refusal = match (fits, outline.is_too_large()) {
            (true, false) => None,
            (false, _) => Some(Refusal::Hero),
            (_, true) => Some(Refusal::World),
        };
        if let Some(refusal) = refusal {
            self.guests.give_back(player);
            return self.guests.refuse(peer, hello.name.as_str(), refusal, &mut io.out);
        }
        let budget = Budget::new(self.config.settings().budget_bytes_per_s, io.now);
        let loading = (join, outline.make(self.leader, peer, player, &mut io.out));
        let guest = Guest::new((peer, player, hello.name), loading, (outline.tick(), io.now), budget);
        let slot = self.guests.insert(peer, player, guest);
        self.answering.push(slot);
    }

    /// The world's tick and facts, without any cell: what a joiner begins with. Of a tick
    /// the same for all.
    fn outline(&mut self) -> Offer {
        let (stepper, seed) = (&self.stepper, self.config.settings().seed);
        self.outline.take_if(|outline| outline.tick() != stepper.tick());
        let bytes = || stepper.simulation.encode(&stepper.simulation.outline());
        // A replica learns of other players as they come near.
        let outline = || Offer::new(stepper, seed, bytes(), List::default());
        self.outline.get_or_insert_with(outline).clone()
    }

    /// A joiner knows the place where its hero enters, and has caught up: the hero enters
    /// with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let placed = !guest.area.bounds().core.is_empty();
        let Entry::Joining { join, .. } = &guest.entry else { return out.dropped(DropReason::Unexpected) };
        if !placed {
            return out.dropped(DropReason::Unexpected);
        }
        let join = Bytes::try_from(codec::compact(join)).expect("checked at the welcome");
        guest.entry = Entry::Playing;
        self.waiting.join(guest.player, guest.name.clone(), join);
    }
}
