//! Runs sessions over a memory network: whatever comes earliest happens next, and virtual time jumps there.

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
        for seat in &mut self.seats {
            let mut touched = seat.session.wake_at() <= self.now;
            while let Some(event) = seat.link.poll() {
                seat.session.handle(event, self.now);
                touched = true;
            }
            if touched {
                seat.session.advance(self.now);
            }
            while let Some(packet) = seat.session.poll_transmit() {
                seat.link.send(packet.to, packet.channel, packet.bytes);
            }
            seat.events.extend(core::iter::from_fn(|| seat.session.poll_event()));
        }
    }
}
