//! Runs a hub and thousands of others over a memory network, on virtual time.
//!
//! Whatever comes earliest happens next; only those are visited whom it concerns, the hub first,
//! the others by number. So what happens costs the same however many there are. The loop is
//! [`HubDriver::run_while`].

use core::time::Duration;

use super::agenda::Agenda;
use super::{MemoryLink, MemoryNetwork, Seat};
use crate::link::Link;
use crate::session::Session;

/// The hub's number in the agenda; a seat's is one more than its own.
const HUB: usize = 0;

/// A hub's session `H`, the others' sessions `T`, their links, and their virtual time.
pub struct HubDriver<H: Session, T: Session, L: Link = MemoryLink> {
    network: MemoryNetwork,
    hub: Seat<H, L>,
    /// A seat stays empty when its session has left.
    seats: Vec<Option<Seat<T, L>>>,
    visit_hub: fn(&mut Seat<H, L>, Duration),
    visit_seat: fn(&mut Seat<T, L>, Duration),
    agenda: Agenda,
    /// By the slots of the network: whose mail it is, in the agenda's numbers.
    addressees: Vec<Option<usize>>,
    visits: Vec<usize>,
    rung: Vec<usize>,
    now: Duration,
}

impl<H: Session, T: Session> HubDriver<H, T> {
    /// The hub enters the network, which [`MemoryNetwork::hub`] made. Time starts at 0.
    pub fn new(network: MemoryNetwork, hub: H) -> HubDriver<H, T> {
        HubDriver::new_by(network, hub, |link| link)
    }

    /// Another hub takes the place of the one that is there, whose connections break. Returns the
    /// old one.
    pub fn replace_hub(&mut self, session: H) -> Seat<H> {
        self.replace_hub_by(session, |link| link)
    }

    /// A peer enters the network. Returns the number of its seat, which nobody else will ever have.
    pub fn enter(&mut self, session: T) -> usize {
        self.enter_by(session, |link| link)
    }
}

impl<H: Session, T: Session, L: Link> HubDriver<H, T, L> {
    /// The hub enters the network by a link that is made of the network's.
    pub fn new_by(network: MemoryNetwork, hub: H, wrap: impl FnOnce(MemoryLink) -> L) -> HubDriver<H, T, L> {
        let hub = Seat::enter(hub, network.enter_as_hub(), wrap);
        let mut agenda = Agenda::default();
        agenda.add();
        let mut driver = HubDriver {
            network,
            hub,
            seats: Vec::new(),
            visit_hub: Seat::visit,
            visit_seat: Seat::visit,
            agenda,
            addressees: Vec::new(),
            visits: Vec::new(),
            rung: Vec::new(),
            now: Duration::ZERO,
        };
        driver.address(driver.hub.slot, Some(HUB));
        driver
    }

    /// How seats are visited from now on, in place of [`Seat::visit`], which is to be called in
    /// turn: to time what they do, say.
    pub fn visit_by(&mut self, hub: fn(&mut Seat<H, L>, Duration), others: fn(&mut Seat<T, L>, Duration)) {
        (self.visit_hub, self.visit_seat) = (hub, others);
    }

    /// Virtual time.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The network.
    pub fn network(&self) -> &MemoryNetwork {
        &self.network
    }

    /// The hub.
    pub fn hub(&self) -> &Seat<H, L> {
        &self.hub
    }

    /// The hub, to do something with: it is visited at the next occasion.
    pub fn hub_mut(&mut self) -> &mut Seat<H, L> {
        self.agenda.touch(HUB);
        &mut self.hub
    }

    /// Another hub takes the place of the one that is there, whose connections break. Returns the
    /// old one.
    pub fn replace_hub_by(&mut self, session: H, wrap: impl FnOnce(MemoryLink) -> L) -> Seat<H, L> {
        let new = Seat::enter(session, self.network.enter_as_hub(), wrap);
        self.address(self.hub.slot, None);
        self.address(new.slot, Some(HUB));
        core::mem::replace(self.hub_mut(), new)
    }

    /// A peer enters the network by a link that is made of the network's. Returns the number of its
    /// seat.
    pub fn enter_by(&mut self, session: T, wrap: impl FnOnce(MemoryLink) -> L) -> usize {
        let (seat, number) = (Seat::enter(session, self.network.enter(), wrap), self.agenda.add());
        self.address(seat.slot, Some(number));
        self.seats.push(Some(seat));
        number - 1
    }

    /// Takes a seat away. Its connection breaks once it is dropped.
    pub fn remove(&mut self, seat: usize) -> Option<Seat<T, L>> {
        let removed = self.seats.get_mut(seat)?.take()?;
        self.address(removed.slot, None);
        self.agenda.set(seat + 1, Duration::MAX);
        Some(removed)
    }

    /// Who sits on a seat, if anyone does.
    pub fn seat(&self, seat: usize) -> Option<&Seat<T, L>> {
        self.seats.get(seat)?.as_ref()
    }

    /// Who sits on a seat, to do something with: it is visited at the next occasion.
    pub fn seat_mut(&mut self, seat: usize) -> Option<&mut Seat<T, L>> {
        let taken = self.seats.get_mut(seat)?.as_mut()?;
        self.agenda.touch(seat + 1);
        Some(taken)
    }

    /// Everyone but the hub, with the numbers of their seats.
    pub fn seats(&self) -> impl Iterator<Item = (usize, &Seat<T, L>)> {
        self.seats.iter().enumerate().filter_map(|(number, seat)| Some((number, seat.as_ref()?)))
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Duration) {
        self.run_while(end, |_| true);
    }

    /// Runs until a time, or until `go_on` says no: it is asked whenever something has happened.
    /// Returns whether it did.
    pub fn run_while(&mut self, end: Duration, mut go_on: impl FnMut(&mut HubDriver<H, T, L>) -> bool) -> bool {
        loop {
            self.run_due();
            if !go_on(self) {
                return true;
            }
            let next = self.agenda.next().into_iter().chain(self.network.next_arrival()).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.now = self.now.max(end);
                return false;
            };
            self.now = self.now.max(next);
        }
    }

    /// Everything that is to happen now.
    fn run_due(&mut self) {
        self.network.advance(self.now);
        self.network.take_rung(&mut self.rung);
        for slot in self.rung.drain(..) {
            if let Some(number) = self.addressees.get(slot).copied().flatten() {
                self.agenda.touch(number);
            }
        }
        let mut visits = core::mem::take(&mut self.visits);
        self.agenda.take(self.now, &mut visits);
        visits.drain(..).for_each(|number| self.visit(number));
        self.visits = visits;
    }

    fn visit(&mut self, number: usize) {
        let wake = match number.checked_sub(1) {
            None => {
                (self.visit_hub)(&mut self.hub, self.now);
                self.hub.wake_at(self.now)
            }
            Some(seat) => {
                let Some(seat) = &mut self.seats[seat] else { return };
                (self.visit_seat)(seat, self.now);
                seat.wake_at(self.now)
            }
        };
        self.agenda.set(number, wake);
    }

    fn address(&mut self, slot: Option<usize>, number: Option<usize>) {
        let Some(slot) = slot else { return };
        let slots = self.addressees.len().max(slot + 1);
        self.addressees.resize(slots, None);
        self.addressees[slot] = number;
    }
}
