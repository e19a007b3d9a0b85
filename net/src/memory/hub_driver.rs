//! Runs a hub and thousands of others over a memory network, on virtual time.
//!
//! Whatever comes earliest happens next; only those are visited whom it concerns, the hub first, the others by number. So what happens
//! costs the same however many there are. The loop is [`HubDriver::run_while`].

use core::time::Duration;

use super::agenda::Agenda;
use super::{MemoryNetwork, Seat};
use crate::session::Session;

/// The hub's number in the agenda; a seat's is one more than its own.
const HUB: usize = 0;

/// A hub's session `H`, the others' sessions `T`, and their virtual time.
pub struct HubDriver<H: Session, T: Session> {
    network: MemoryNetwork,
    hub: Seat<H>,
    /// A seat stays empty when its session has left.
    seats: Vec<Option<Seat<T>>>,
    /// Until when each seat's process stands still.
    frozen: Vec<Duration>,
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
        let hub = Seat { session: hub, link: network.enter_as_hub(), events: Vec::new() };
        let mut agenda = Agenda::default();
        agenda.add();
        let mut driver = HubDriver {
            network,
            hub,
            seats: Vec::new(),
            frozen: Vec::new(),
            agenda,
            addressees: Vec::new(),
            visits: Vec::new(),
            rung: Vec::new(),
            now: Duration::ZERO,
        };
        driver.address(driver.hub.link.slot(), HUB);
        driver
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
    pub fn hub(&self) -> &Seat<H> {
        &self.hub
    }

    /// The hub, to do something with: it is visited at the next occasion.
    pub fn hub_mut(&mut self) -> &mut Seat<H> {
        self.agenda.touch(HUB);
        &mut self.hub
    }

    /// Another hub takes the place of the one that is there, whose connections break. Returns the old one.
    pub fn replace_hub(&mut self, session: H) -> Seat<H> {
        let new = Seat { session, link: self.network.enter_as_hub(), events: Vec::new() };
        self.address(new.link.slot(), HUB);
        self.addressees[self.hub.link.slot()] = None;
        core::mem::replace(self.hub_mut(), new)
    }

    /// A peer enters the network. Returns the number of its seat, which nobody else will ever have.
    pub fn enter(&mut self, session: T) -> usize {
        let link = self.network.enter();
        let number = self.agenda.add();
        self.address(link.slot(), number);
        self.seats.push(Some(Seat { session, link, events: Vec::new() }));
        self.frozen.push(Duration::ZERO);
        number - 1
    }

    /// Takes a seat away. Its connection breaks once it is dropped.
    pub fn remove(&mut self, seat: usize) -> Option<Seat<T>> {
        let removed = self.seats.get_mut(seat)?.take()?;
        self.addressees[removed.link.slot()] = None;
        self.agenda.set(seat + 1, Duration::MAX);
        Some(removed)
    }

    /// A seat's process stands still until a time: it does nothing, and reads its mail afterwards.
    pub fn freeze(&mut self, seat: usize, until: Duration) {
        self.frozen[seat] = until;
        self.agenda.touch(seat + 1);
    }

    /// Who sits on a seat, if anyone does.
    pub fn seat(&self, seat: usize) -> Option<&Seat<T>> {
        self.seats.get(seat)?.as_ref()
    }

    /// Who sits on a seat, to do something with: it is visited at the next occasion.
    pub fn seat_mut(&mut self, seat: usize) -> Option<&mut Seat<T>> {
        let taken = self.seats.get_mut(seat)?.as_mut()?;
        self.agenda.touch(seat + 1);
        Some(taken)
    }

    /// Everyone but the hub, with the numbers of their seats.
    pub fn seats(&self) -> impl Iterator<Item = (usize, &Seat<T>)> {
        self.seats.iter().enumerate().filter_map(|(number, seat)| Some((number, seat.as_ref()?)))
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Duration) {
        self.run_while(end, |_| true);
    }

    /// Runs until a time, or until `go_on` says no: it is asked whenever something has happened. Returns whether it did.
    pub fn run_while(&mut self, end: Duration, mut go_on: impl FnMut(&mut HubDriver<H, T>) -> bool) -> bool {
        loop {
            self.settle();
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
    fn settle(&mut self) {
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
                self.hub.visit(self.now);
                self.hub.session.wake_at()
            }
            Some(seat) if self.frozen[seat] > self.now => self.frozen[seat],
            Some(seat) => {
                let Some(seat) = &mut self.seats[seat] else { return };
                seat.visit(self.now);
                seat.session.wake_at()
            }
        };
        self.agenda.set(number, wake);
    }

    fn address(&mut self, slot: usize, number: usize) {
        let slots = self.addressees.len().max(slot + 1);
        self.addressees.resize(slots, None);
        self.addressees[slot] = Some(number);
    }
}
