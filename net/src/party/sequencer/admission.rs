//! How a party's sequencer lets joiners in: hello, refusal or welcome, the snapshot, and the hero's
//! way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use lockstone_sim::{PlayerId, Simulation, codec};

use super::{Entry, Guest, Sequencing};
use crate::link::PeerId;
use crate::sequencer::Feed;
use crate::session::{Comparison, DropReason, Io, Offer, Outbox, Rate};
use crate::wire::*;

impl<S: Simulation> Sequencing<S> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<S>) {
        // Who may have been replaced lets nobody in: a joiner asks again, and others.
        if self.members.leader().is_none_or(|vote| vote.leader != self.stepper.player) {
            return;
        }
        if let Some(Guest { entry: Entry::Elsewhere(_), player, .. }) = self.guests.of(peer) {
            return self.welcome_back(peer, *player, io);
        }
        let waits = |guest: &Guest<S>| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let offer = self.offer();
        if offer.is_too_large() {
            return self.guests.refuse(peer, hello.name.as_str(), Refusal::World, &mut io.out);
        }
        let player = self.guests.number();
        let sender = offer.make(self.leader, peer, player, &mut io.out);
        let guest = Guest {
            player,
            name: hello.name,
            feed: Feed::new(offer.tick()),
            comparison: Comparison::default(),
            heard_at: io.now,
            chat: Rate::default(),
            entry: Entry::Loading { hero: Some(hero), sender, progressed: io.now },
        };
        self.guests.insert(peer, player, guest);
        self.flush(io.now, &mut io.out);
    }

    /// A player whose hero is in the world has lost its way: it loads the world again.
    fn welcome_back(&mut self, peer: PeerId, player: PlayerId, io: &mut Io<S>) {
        let offer = self.offer();
        let Some(guest) = self.guests.of_mut(peer) else { return };
        guest.feed = Feed::new(offer.tick());
        guest.comparison = Comparison::default();
        guest.heard_at = io.now;
        let sender = offer.make(self.leader, peer, player, &mut io.out);
        guest.entry = Entry::Loading { hero: None, sender, progressed: io.now };
        self.flush(io.now, &mut io.out);
    }

    /// The snapshot for a joiner: a recent one if there is one.
    fn offer(&mut self) -> Offer {
        let (stepper, ledger, seed) = (&mut self.stepper, &self.ledger, self.whole.config.settings().seed);
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
        let Entry::Loading { hero, sender, .. } = &guest.entry else { return };
        if !sender.done() {
            return out.dropped(DropReason::Unexpected);
        }
        let Some(hero) = hero else {
            guest.entry = Entry::Playing;
            return;
        };
        let join = self.stepper.simulation.admit(guest.player, hero.clone());
        match Bytes::try_from(codec::compact(&join)) {
            Ok(join) => {
                self.sequencer.waiting.join(guest.player, peer, guest.name.clone(), join);
                guest.entry = Entry::Playing;
            }
            Err(_) => {
                let name = guest.name.clone();
                self.guests.remove(peer);
                self.guests.forget(peer);
                self.guests.refuse(peer, name.as_str(), Refusal::Hero, out);
            }
        }
    }
}
