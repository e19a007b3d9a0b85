//! Runs sessions over a memory network: whatever comes earliest happens next, and virtual time
//! jumps there.
//!
//! Every seat is visited whenever something happens: right for a party. For thousands see
//! [`HubDriver`](super::HubDriver).

use core::time::Duration;

use super::{MemoryLink, MemoryNetwork, Seat};
use crate::link::{Link, PeerId};
use crate::session::Session;

/// Sessions on one network, and their virtual time.
pub struct Driver<T: Session, L: Link = MemoryLink> {
    /// The network.
    pub network: MemoryNetwork,
    /// The peers that take part. Removing one breaks its connections.
    pub seats: Vec<Seat<T, L>>,
    now: Duration,
}

impl<T: Session> Driver<T> {
    /// A peer enters the room. Returns its seat.
    pub fn enter(&mut self, session: T) -> usize {
        self.enter_by(session, |link| link)
    }
}

impl<T: Session, L: Link> Driver<T, L> {
    /// Nobody takes part yet. Time starts at 0.
    pub fn new(network: MemoryNetwork) -> Driver<T, L> {
        Driver { network, seats: Vec::new(), now: Duration::ZERO }
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

    /// Runs until a time, or until `go_on` says no. Returns whether it did.
    pub fn run_while(&mut self, end: Duration, mut go_on: impl FnMut(&mut Driver<T, L>) -> bool) -> bool {
        loop {
            self.run_due();
            if !go_on(self) {
                return true;
            }
            let Some(next) = self.next_at().filter(|next| *next <= end) else {
                self.now = self.now.max(end);
                return false;
            };
            self.now = self.now.max(next);
        }
    }

    /// When something happens next: a packet arrives or a session has something to do.
    fn next_at(&self) -> Option<Duration> {
        let sessions = self.seats.iter().map(|seat| seat.wake_at(self.now)).filter(|at| *at < Duration::MAX);
        sessions.chain(self.network.next_arrival()).min()
    }

    /// Everything that is to happen now.
    fn run_due(&mut self) {
        self.network.advance(self.now);
        self.seats.iter_mut().for_each(|seat| seat.visit(self.now));
    }
}
