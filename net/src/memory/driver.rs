//! Runs sessions over a memory network: whatever comes earliest happens next, and virtual time
//! jumps there.
//!
//! An event visits only the sessions that it concerns: the hub first, the others by seat. Its cost
//! does not depend on how many sessions there are; but each run begins by visiting all of them. The
//! loop is [`Driver::run_while`].

use core::time::Duration;
use std::collections::BTreeMap;

use super::agenda::Agenda;
use super::{MemoryLink, MemoryNetwork, Seat};
use crate::link::{Link, PeerId};
use crate::session::Session;

/// Sessions `T` on one network, and their virtual time. The session `H` of a hub may be of another
/// kind.
pub struct Driver<T: Session, L: Link = MemoryLink, H: Session = T> {
    /// The network.
    pub network: MemoryNetwork,
    /// The peers that take part. Removing one breaks its connections once it is dropped.
    pub seats: Vec<Seat<T, L>>,
    hub: Option<Seat<H, L>>,
    /// Who is connected with everyone as the hub is.
    beside: Option<Seat<H, L>>,
    now: Duration,
}

impl<T: Session, L: Link> Driver<T, L> {
    /// Nobody takes part yet. Time starts at 0.
    pub fn new(network: MemoryNetwork) -> Driver<T, L> {
        Driver { network, seats: Vec::new(), hub: None, beside: None, now: Duration::ZERO }
    }
}

impl<T: Session, H: Session> Driver<T, MemoryLink, H> {
    /// A peer enters the room. Returns its seat.
    pub fn enter(&mut self, session: T) -> usize {
        self.enter_by(session, |link| link)
    }
}

impl<T: Session, L: Link, H: Session> Driver<T, L, H> {
    /// A hub enters the network, which [`MemoryNetwork::hub`] made, by a link that is made of the
    /// network's. Time starts at 0.
    pub fn with_hub(network: MemoryNetwork, hub: H, wrap: impl FnOnce(MemoryLink) -> L) -> Driver<T, L, H> {
        let hub = Some(Seat::enter(hub, network.enter_as_hub(), wrap));
        Driver { network, seats: Vec::new(), hub, beside: None, now: Duration::ZERO }
    }

    /// Another hub takes the place of the one that is there, whose connections break. Returns the
    /// old one.
    pub fn replace_hub(&mut self, session: H, wrap: impl FnOnce(MemoryLink) -> L) -> Option<Seat<H, L>> {
        self.hub.replace(Seat::enter(session, self.network.enter_as_hub(), wrap))
    }

    /// Another enters beside the hub, connected with everyone as the hub is, in the place of one
    /// that did before.
    pub fn enter_beside_hub(&mut self, session: H, wrap: impl FnOnce(MemoryLink) -> L) {
        self.beside = Some(Seat::enter(session, self.network.enter_beside_hub(), wrap));
    }

    /// The one that is beside the hub, if it is there.
    pub fn beside_hub(&self) -> Option<&Seat<H, L>> {
        self.beside.as_ref()
    }

    /// The one that is beside the hub, to do something with, or to take away.
    pub fn beside_hub_mut(&mut self) -> &mut Option<Seat<H, L>> {
        &mut self.beside
    }

    /// The hub and the one beside it change places. To the network they stay what they were.
    ///
    /// # Panics
    /// If one of them is not there.
    pub fn swap_hubs(&mut self) {
        assert!(self.hub.is_some() && self.beside.is_some(), "the driver has two");
        core::mem::swap(&mut self.hub, &mut self.beside);
    }

    /// The hub.
    ///
    /// # Panics
    /// If the driver was made without one.
    pub fn hub(&self) -> &Seat<H, L> {
        self.hub.as_ref().expect("the driver has a hub")
    }

    /// The hub, to do something with.
    ///
    /// # Panics
    /// If the driver was made without one.
    pub fn hub_mut(&mut self) -> &mut Seat<H, L> {
        self.hub.as_mut().expect("the driver has a hub")
    }

    /// Virtual time.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// A peer enters the room by a link that is made of the network's. Returns its seat.
    pub fn enter_by(&mut self, session: T, wrap: impl FnOnce(MemoryLink) -> L) -> usize {
        self.seats.push(Seat::enter(session, self.network.enter(), wrap));
        self.seats.len() - 1
    }

    /// The peer on a seat, as the network knows it.
    pub fn peer(&self, seat: usize) -> PeerId {
        self.seats[seat].peer
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Duration) {
        self.run_while(end, |_| true);
    }

    /// Runs until a time, or until `go_on` says no: it is asked whenever something has happened.
    /// Returns whether it did.
    pub fn run_while(&mut self, end: Duration, mut go_on: impl FnMut(&Driver<T, L, H>) -> bool) -> bool {
        let hubs = self.hub.iter().chain(&self.beside).map(|hub| hub.peer);
        let peers = hubs.chain(self.seats.iter().map(|seat| seat.peer));
        let numbers: BTreeMap<PeerId, usize> = peers.zip(0..).collect();
        // Anything may have been done with anyone since the last run: all are visited once.
        let mut agenda = Agenda::of(numbers.len());
        loop {
            let reached = self.network.advance(self.now);
            reached.iter().filter_map(|peer| numbers.get(peer)).for_each(|number| agenda.set(*number, self.now));
            for number in agenda.due(self.now) {
                agenda.set(number, self.visit(number));
            }
            if !go_on(self) {
                return true;
            }
            let next = agenda.next().into_iter().chain(self.network.next_arrival()).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.now = self.now.max(end);
                return false;
            };
            self.now = self.now.max(next);
        }
    }

    /// Visits the hub, which is number 0 if there is one, who is beside it, or a seat. Returns when
    /// it is to be visited again.
    fn visit(&mut self, number: usize) -> Duration {
        let hubs = usize::from(self.hub.is_some()) + usize::from(self.beside.is_some());
        match self.hub.iter_mut().chain(&mut self.beside).nth(number) {
            Some(hub) => hub.visited(self.now),
            None => self.seats[number - hubs].visited(self.now),
        }
    }
}
