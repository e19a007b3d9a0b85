//! Runs sessions over a memory network: whatever comes earliest happens next, and virtual time jumps there.
//!
//! Every seat is visited whenever something happens: right for a party. For thousands see [`HubDriver`](super::HubDriver).

use core::time::Duration;

use super::{MemoryLink, MemoryNetwork};
use crate::link::{Link, PeerId};
use crate::session::{Event, Session};

/// A session and its end of the network.
pub struct Seat<T: Session> {
    /// One peer's part in the session.
    pub session: T,
    /// Its link.
    pub link: MemoryLink,
    /// What the session told and nobody has taken.
    pub events: Vec<Event<T::Sim>>,
}

/// Sessions on one network, and their virtual time.
pub struct Driver<T: Session> {
    /// The network.
    pub network: MemoryNetwork,
    /// Who takes part. Removing one breaks its connections.
    pub seats: Vec<Seat<T>>,
    now: Duration,
}

impl<T: Session> Driver<T> {
    /// Nobody takes part yet. Time starts at 0.
    pub fn new(network: MemoryNetwork) -> Driver<T> {
        Driver { network, seats: Vec::new(), now: Duration::ZERO }
    }

    /// Virtual time.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// A peer enters the room. Returns its seat.
    pub fn enter(&mut self, session: T) -> usize {
        let link = self.network.enter();
        self.seats.push(Seat { session, link, events: Vec::new() });
        self.seats.len() - 1
    }

    /// Who sits on a seat, to the network.
    pub fn peer(&self, seat: usize) -> PeerId {
        self.seats[seat].link.peer()
    }

    /// Runs until a time.
    pub fn run_until(&mut self, end: Duration) {
        self.run_while(end, |_| true);
    }

    /// Runs until a time, or until `go_on` says no. Returns whether it did.
    pub fn run_while(&mut self, end: Duration, mut go_on: impl FnMut(&mut Driver<T>) -> bool) -> bool {
        loop {
            self.settle();
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
        let sessions = self.seats.iter().map(|seat| seat.session.wake_at()).filter(|at| *at < Duration::MAX);
        sessions.chain(self.network.next_arrival()).min()
    }

    /// Everything that is to happen now.
    fn settle(&mut self) {
        self.network.advance(self.now);
        self.seats.iter_mut().for_each(|seat| seat.visit(self.now));
    }
}

impl<T: Session> Seat<T> {
    /// Hands over the mail, does what is due, sends what came of it.
    pub(super) fn visit(&mut self, now: Duration) {
        let mut touched = self.session.wake_at() <= now;
        while let Some(event) = self.link.poll() {
            self.session.handle(event, now);
            touched = true;
        }
        if touched {
            self.session.advance(now);
        }
        while let Some(packet) = self.session.poll_transmit() {
            self.link.send(packet.to, packet.channel, packet.bytes);
        }
        self.events.extend(core::iter::from_fn(|| self.session.poll_event()));
    }
}
