//! How a party's sequencer lets joiners in: hello, refusal or welcome, the snapshot, and the hero's
//! way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use lockstone_sim::{PlayerId, Simulation, codec};

use super::{Entry, Guest, Sequencing};
use crate::link::PeerId;
use crate::session::{DropReason, Io, Offer, Outbox};
use crate::wire::*;

impl<S: Simulation> Sequencing<S> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<S>) {
        // Who may have been replaced lets nobody in: a joiner asks again, and others.
        if !self.leads() {
            return;
        }
        if let Some(Guest { entry: Entry::Untold(_), player, .. }) = self.guests.of(peer) {
            return self.let_load(peer, *player, None, io);
        }
        let waits = |guest: &Guest<S>| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let offer = self.offer();
        if offer.is_too_large() {
            return self.guests.refuse(peer, hello.name.as_str(), Refusal::World, &mut io.out);
        }
        let player = self.guests.number();
        self.let_load(peer, player, Some((hello.name, hero)), io);
    }

    /// Sends a peer the world: of a newcomer, or of a player whose hero is in it.
    fn let_load(&mut self, peer: PeerId, player: PlayerId, newcomer: Option<(Name, S::Hero)>, io: &mut Io<S>) {
        let offer = self.offer();
        let sender = offer.make(self.leader, peer, player, &mut io.out);
        let entry = Entry::Loading { newcomer, sender, progressed: io.now };
        let guest = Guest::new(player, offer.tick(), entry, io.now);
        match self.guests.of_mut(peer) {
            Some(known) => *known = guest,
            None => drop(self.guests.insert(peer, player, guest)),
        }
        self.flush(io.now, &mut io.out);
    }

    /// The snapshot for a joiner: a recent one if there is one.
    fn offer(&mut self) -> Offer {
        let (stepper, ledger, seed) = (&mut self.stepper, &self.membership.ledger, self.config.settings().seed);
        let offer = self.offer.get_or_insert_with(|| {
            let bytes = ledger.packed(stepper.simulation.encoded());
            let roster: Vec<_> = stepper.roster.iter().map(|(player, name)| (*player, name.clone())).collect();
            Offer::new(stepper, seed, bytes, roster.try_into().expect("no more players are let in"))
        });
        offer.clone()
    }

    /// A joiner has caught up: its hero enters with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Outbox<S>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let Entry::Loading { newcomer, sender, .. } = &guest.entry else { return };
        if !sender.done() {
            return out.dropped(DropReason::Unexpected);
        }
        let Some((name, hero)) = newcomer.clone() else {
            guest.entry = Entry::Playing;
            return;
        };
        let join = self.stepper.simulation.admit(guest.player, hero);
        match Bytes::try_from(codec::compact(&join)) {
            Ok(join) => {
                self.waiting.join(guest.player, peer, name, join);
                guest.entry = Entry::Playing;
            }
            Err(_) => {
                self.guests.remove(peer);
                self.guests.forget(peer);
                self.guests.refuse(peer, name.as_str(), Refusal::Hero, out);
            }
        }
    }
}
