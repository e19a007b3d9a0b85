//! A session, its link, and the clock that it goes by: what every driver visits. The loop of any
//! session is [`Seat::visit`].

use core::time::Duration;

use super::Clock;
use super::MemoryLink;
use crate::link::{Link, PeerId};
use crate::session::{Event, Session};

/// A session and its end of the network: the memory network's own, or a link around it that alters,
/// keeps or loses packets.
pub struct Seat<T: Session, L: Link = MemoryLink> {
    /// One peer's part in the session.
    pub session: T,
    /// Its link.
    pub link: L,
    /// What the session told and nobody has taken.
    pub events: Vec<Event<T::Sim>>,
    /// What time it is for the session.
    pub clock: Clock,
    /// Who it is to the network.
    pub peer: PeerId,
    /// Visits it in place of [`Seat::visit`], which it must call itself: to measure how long a
    /// visit takes, for example.
    pub visit_by: fn(&mut Seat<T, L>, Duration),
    frozen_until: Duration,
}

impl<T: Session, L: Link> Seat<T, L> {
    /// A session whose peer sends and hears by a link, on no driver.
    pub fn new(session: T, peer: PeerId, link: L) -> Seat<T, L> {
        let (clock, frozen_until) = (Clock::default(), Duration::ZERO);
        Seat { session, link, events: Vec::new(), clock, peer, visit_by: Seat::visit, frozen_until }
    }

    /// A session whose link is made of one of the network's.
    pub(super) fn enter(session: T, link: MemoryLink, wrap: impl FnOnce(MemoryLink) -> L) -> Seat<T, L> {
        Seat::new(session, link.peer(), wrap(link))
    }

    /// Its process stands still until a time of the network: it does nothing, and reads its mail
    /// afterwards. A time that has passed ends that.
    pub fn freeze(&mut self, until: Duration) {
        self.frozen_until = until;
    }

    /// Hands over the mail, does what is due, sends what came of it. `now` is the time of the
    /// network.
    pub fn visit(&mut self, now: Duration) {
        if self.frozen_until > now {
            return;
        }
        let now = self.clock.shows(now);
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

    /// Visits it as it is to be. Returns when it must be visited again if nothing else happens
    /// before; [`Duration::MAX`]: never.
    pub(super) fn visited(&mut self, now: Duration) -> Duration {
        (self.visit_by)(self, now);
        if self.frozen_until > now { self.frozen_until } else { self.clock.when(self.session.wake_at()) }
    }
}
