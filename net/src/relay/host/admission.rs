//! How the relay lets joiners in: hello, refusal or welcome, the world's outline, the first load,
//! and the hero's way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use lockstone_sim::{CellId, PlayerId, Rules, Simulation, World, codec};

use super::Host;
use super::budget::Budget;
use super::guest::{Entry, Guest};
use crate::key::PlayerKey;
use crate::link::PeerId;
use crate::sequencer::Arrival;
use crate::session::{Applicant, DropReason, Io, Offer, Outbox};
use crate::wire::*;

impl<R: Rules> Host<R> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<World<R>>) {
        if self.asks_standby(peer, &hello, io) || !self.admits(&hello, io) {
            return;
        }
        // It has lost its way: its hello is another than the one that let it in.
        if self.guests.of(peer).is_some_and(|guest| guest.attempt != hello.attempt) {
            self.remove(peer, LeaveReason::Silent);
            self.guests.forget(peer);
        }
        let waits = |guest: &Guest| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let applicant = Applicant { name: hello.name, hero, key: hello.key, attempt: hello.attempt };
        if let Some(applicant) = self.applicants.ask(self.leader, peer, applicant, io.now, &mut io.out) {
            self.let_in(peer, applicant, io);
        }
    }

    /// A joiner proves its key.
    pub(super) fn proof(&mut self, peer: PeerId, proof: &Proof, io: &mut Io<World<R>>) {
        if self.proves_standby(peer, proof, io) {
            return;
        }
        match self.applicants.answer(self.leader, (peer, io.bindings.of(peer)), proof) {
            Some((applicant, true)) => self.let_in(peer, applicant, io),
            Some((applicant, false)) => {
                self.guests.refuse(peer, applicant.name.as_str(), Refusal::Key, &mut io.out);
            }
            None => io.out.dropped(DropReason::Unexpected),
        }
    }

    fn let_in(&mut self, peer: PeerId, applicant: Applicant<World<R>>, io: &mut Io<World<R>>) {
        let Applicant { name, hero, key, attempt } = applicant;
        let (player, at) = match self.place_for(peer, key, io) {
            Ok(place) => place,
            Err(refusal) => return self.guests.refuse(peer, name.as_str(), refusal, &mut io.out),
        };
        let join = at.is_none().then(|| self.stepper.simulation.admit(player, hero));
        let enters_at = || join.as_ref().map(|join| self.stepper.simulation.grid().cell_of(join.at));
        let at = at.or_else(enters_at).expect("it is there, or enters");
        let offer = self.outline();
        let join = match join.map(|join| Bytes::try_from(codec::compact(&join))).transpose() {
            Ok(join) if !offer.is_too_large() => join,
            unfit => {
                let refusal = if unfit.is_err() { Refusal::Hero } else { Refusal::World };
                if self.is_absent(player) && !self.ledger.members.contains_key(&player) {
                    self.guests.free(player);
                }
                return self.guests.refuse(peer, name.as_str(), refusal, &mut io.out);
            }
        };
        let budget = Budget::new(self.config.settings().budget_bytes_per_s, io.now);
        let entry = Entry::Joining { name, at, join, progressed: io.now };
        let outline = offer.make(self.leader, peer, attempt, (player, None), &mut io.out);
        let guest = Guest::new((peer, player, key, attempt), entry, outline, (offer.tick(), io.now), budget);
        let slot = self.guests.insert(peer, player, guest);
        self.tell_heir_to(peer, &mut io.out);
        self.answering.push(slot);
    }

    /// Which player a joiner is, and where its hero stands, if that is in the world already.
    fn place_for(
        &mut self,
        peer: PeerId,
        key: Option<PublicKey>,
        io: &mut Io<World<R>>,
    ) -> Result<(PlayerId, Option<CellId>), Refusal> {
        if self.hosts_player && key.is_some() && key == self.entrant.key.as_ref().map(PlayerKey::public) {
            return Err(Refusal::Leads);
        }
        // The same player, from another connection: this one counts.
        let before = self.guests.peers().find(|(_, guest)| key.is_some() && guest.key == key);
        if let Some(before) = before.map(|(before, _)| before) {
            io.out.reliably(self.leader.epoch, before, &Message::Removed(LeaveReason::Replaced));
            self.remove(before, LeaveReason::Replaced);
        }
        let ledger = &self.ledger;
        let away = ledger.absent(peer, key, |player| self.is_absent(player) && !self.waiting.removes(player));
        let away = away.filter(|_| self.stepper.simulation.away_ticks() > 0);
        if let Some((player, at)) = away.and_then(|player| Some((player, self.cell_interest.hero(player)?))) {
            return Ok((player, Some(at)));
        }
        // Its own player, and those who are away, take places.
        let absent = ledger.members.keys().filter(|player| self.is_absent(**player)).count();
        let own = usize::from(self.hosts_player);
        self.guests.number(own + absent).map(|player| (player, None))
    }

    /// Whether a player of the session is neither here nor on its way in.
    pub(super) fn is_absent(&self, player: PlayerId) -> bool {
        player != self.stepper.player && self.guests.slot_of(player).is_none()
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
                let (player, key) = (guest.player, guest.key);
                let commands = self.ledger.commands(player);
                self.waiting.arrive(Arrival { player, peer, key, name, join, commands });
            }
            as_before => {
                guest.entry = as_before;
                out.dropped(DropReason::Unexpected);
            }
        }
    }
}
