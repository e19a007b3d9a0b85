//! How a party's sequencer lets joiners in: hello, refusal or welcome, the snapshot, and the hero's
//! way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use lockstone_sim::{PlayerId, Simulation, codec};

use super::{Entry, Guest, Sequencing};
use crate::key::PlayerKey;
use crate::link::PeerId;
use crate::sequencer::Arrival;
use crate::session::{Applicant, DropReason, Io, Offer, Outbox};
use crate::wire::*;

impl<S: Simulation> Sequencing<S> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<S>) {
        self.meeting.greeted.insert(peer);
        // Who may have been replaced lets nobody in: a joiner asks again, and others.
        let newer = hello.promised > self.leader.epoch;
        let is_backed = self.is_backed(io.now);
        if !self.leads() || newer && !is_backed {
            return;
        }
        match self.guests.of(peer) {
            // It may not have had the answer yet.
            Some(Guest { entry: Entry::Loading { attempt, .. }, .. }) if *attempt == hello.attempt => {}
            // It knows more than the turns of this epoch, which it may follow; or it did when it
            // began to load the world, and asks once more.
            Some(Guest { entry: Entry::Untold(_) | Entry::Loading { arrival: None, .. }, player, key, .. })
                if !newer =>
            {
                return self.let_load(peer, (*player, *key), hello.attempt, None, io);
            }
            // It has found its way since: who looks for its session reports no more.
            Some(Guest { entry: Entry::Playing, player, .. }) if !newer && self.hears(*player, io.now) => return,
            // Without a quorum nobody new comes in, and no vote is given up: one that has lost its
            // way may be needed.
            _ if !is_backed => return,
            Some(guest) if !self.is_backed_without(Some(guest.player), io.now) => return,
            // It has lost its way, and its memory of whom it voted for.
            Some(_) => {
                self.remove(peer, LeaveReason::Silent);
                self.guests.forget(peer);
            }
            None => {}
        }
        let Some(hero) = self.guests.hello(peer, &hello, |_| true, &mut io.out) else { return };
        let applicant = Applicant { name: hello.name, hero, key: hello.key, attempt: hello.attempt };
        if let Some(applicant) = self.applicants.ask(self.leader, peer, applicant, io.now, &mut io.out) {
            self.let_in(peer, applicant, io);
        }
    }

    /// A joiner proves its key.
    pub(super) fn proof(&mut self, peer: PeerId, proof: &Proof, io: &mut Io<S>) {
        let by = (peer, io.bindings.of(peer));
        match self.applicants.answer(self.leader, by, proof).filter(|_| self.leads() && self.is_backed(io.now)) {
            Some((applicant, true)) => self.let_in(peer, applicant, io),
            Some((applicant, false)) => {
                self.guests.refuse(peer, applicant.name.as_str(), Refusal::Key, &mut io.out);
            }
            None => io.out.dropped(DropReason::Unexpected),
        }
    }

    fn let_in(&mut self, peer: PeerId, applicant: Applicant<S>, io: &mut Io<S>) {
        let Applicant { name, hero, key, attempt } = applicant;
        match self.place_for(peer, key, io) {
            Ok((player, true)) => self.let_load(peer, (player, key), attempt, Some((name, None)), io),
            Ok((player, false)) => self.let_load(peer, (player, key), attempt, Some((name, Some(hero))), io),
            Err(refusal) => self.guests.refuse(peer, name.as_str(), refusal, &mut io.out),
        }
    }

    /// Which player a joiner is, and whether its hero is in the world already.
    fn place_for(&mut self, peer: PeerId, key: Option<PublicKey>, io: &mut Io<S>) -> Result<(PlayerId, bool), Refusal> {
        if key.is_some() && key == self.entrant.key.as_ref().map(PlayerKey::public) {
            return Err(Refusal::Leads);
        }
        if self.membership.ledger.is_outlawed(key) {
            return Err(Refusal::PutOut);
        }
        if self.offer().is_too_large() {
            return Err(Refusal::World);
        }
        // The same player, from another connection: this one counts.
        let before = self.guests.peers().find(|(_, guest)| key.is_some() && guest.key == key);
        if let Some(before) = before.map(|(before, _)| before) {
            self.put_out(before, LeaveReason::Replaced, &mut io.out);
        }
        if let Some(player) = self.away(peer, key) {
            return Ok((player, true));
        }
        // Its own player, and those who are away, take places.
        let others = 1 + self.membership.ledger.members.keys().filter(|player| self.is_absent(**player)).count();
        self.guests.number(others).map(|player| (player, false))
    }

    /// Whether a player of the session is neither here nor on its way in.
    pub(super) fn is_absent(&self, player: PlayerId) -> bool {
        player != self.stepper.player && self.guests.slot_of(player).is_none()
    }

    /// The player that comes back with a key, or on the connection on which it was lost.
    fn away(&self, peer: PeerId, key: Option<PublicKey>) -> Option<PlayerId> {
        if self.stepper.simulation.away_ticks() == 0 {
            return None;
        }
        let is_absent = |player| self.is_absent(player) && !self.waiting.removes(player);
        self.membership.ledger.absent(peer, key, is_absent)
    }

    /// Sends a peer the world.
    fn let_load(
        &mut self,
        peer: PeerId,
        (player, key): (PlayerId, Option<PublicKey>),
        attempt: u32,
        arrival: Option<(Name, Option<S::Hero>)>,
        io: &mut Io<S>,
    ) {
        let offer = self.offer();
        let plays = arrival.is_none().then(|| self.membership.ledger.commands(player));
        if let Some(commands) = plays {
            self.waiting.resume(player, commands);
        }
        self.meeting.forget(peer);
        let sender = offer.make(self.leader, peer, attempt, (player, plays), &mut io.out);
        let entry = Entry::Loading { arrival, attempt, sender, progressed: io.now, ready: false };
        let guest = Guest::new(player, key, offer.tick(), entry, io.now);
        match self.guests.of_mut(peer) {
            Some(known) => *known = guest,
            None => drop(self.guests.insert(peer, player, guest)),
        }
        self.flush(io.now, &mut io.out);
    }

    /// The snapshot for a joiner: a recent one if there is one.
    fn offer(&mut self) -> Offer {
        let stepper = &mut self.stepper;
        let offer = self.offer.get_or_insert_with(|| {
            let snapshot = stepper.simulation.encoded();
            let bytes = stepper.ledger.as_ref().expect("it plays the whole world").packed(snapshot);
            let roster: Vec<_> = stepper.roster.iter().map(|(player, name)| (*player, name.clone())).collect();
            Offer::new(stepper, bytes, roster.try_into().expect("no more players are let in"))
        });
        offer.clone()
    }

    /// Admits those that had to wait.
    pub(super) fn admit_ready(&mut self, out: &mut Outbox<S>) {
        let is_ready = |guest: &Guest<S>| matches!(guest.entry, Entry::Loading { ready: true, .. });
        let ready: Vec<_> = self.guests.peers().filter(|(_, guest)| is_ready(guest)).map(|(peer, _)| peer).collect();
        ready.into_iter().for_each(|peer| self.admit(peer, out));
    }

    /// A joiner has caught up: its hero enters with the next turn.
    ///
    /// Who comes back waits until it has no vote any more. It may have forgotten whom it gave that
    /// to, and must not give it twice.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Outbox<S>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let Entry::Loading { arrival, .. } = &guest.entry else { return };
        let voters = &self.membership.ledger.electorates;
        if matches!(arrival, Some((_, None))) && voters.iter().any(|player| player == guest.player) {
            return;
        }
        let (player, key) = (guest.player, guest.key);
        let commands = self.membership.ledger.commands(player);
        let Some((name, hero)) = arrival.clone() else { return };
        let join = hero.map(|hero| self.stepper.simulation.admit(player, hero));
        match join.map(|join| Bytes::try_from(codec::compact(&join))).transpose() {
            Ok(join) => {
                self.reign.resigned.remove(&player);
                self.reign.removed.retain(|_, removed| *removed != player);
                self.waiting.arrive(Arrival { player, peer, key, name, join, commands });
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
