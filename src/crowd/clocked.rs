//! A link by which the work of its seat is timed, tick by tick.
//!
//! The times tell what a session costs on this machine; nothing that is played depends on them.
//! They hold what the session does when it is visited, and nothing of what its link does.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use lockstone_net::memory::Seat;
use lockstone_net::{Channel, Link, LinkEvent, PeerId, Session};
use lockstone_sim::{Simulation, Tick};

/// A link, and how long each tick of its session took: all that it did since the tick before.
pub(super) struct Clocked<L> {
    link: L,
    /// In the link, during this visit.
    in_link: Duration,
    spent: Duration,
    at: Tick,
    /// In nanoseconds.
    pub ticks_ns: Vec<u32>,
    /// What came in at each visit, and when, if it is kept.
    heard: Option<Vec<(Duration, Vec<LinkEvent>)>>,
}

impl<L: Link> Clocked<L> {
    pub fn new(link: L) -> Clocked<L> {
        Clocked { link, in_link: Duration::ZERO, spent: Duration::ZERO, at: Tick(0), ticks_ns: Vec::new(), heard: None }
    }

    /// Keeps what comes in, to hear it [`again`](Clocked::again).
    pub fn remembering(self) -> Clocked<L> {
        Clocked { heard: Some(Vec::new()), ..self }
    }

    /// Another session that begins as this one's did hears the same at the same times: with the
    /// machine for itself.
    pub fn again<T: Session>(&self, session: T, peer: PeerId) -> Seat<T, Clocked<Heard>> {
        let mut seat = Seat::new(session, peer, Clocked::new(Heard::default()));
        for (now, events) in self.heard.iter().flatten() {
            seat.link.link.0.extend(events.iter().cloned());
            visit(&mut seat, *now);
            seat.events.clear();
        }
        seat
    }

    /// What came in at each visit, and when.
    pub fn rounds(&self) -> impl Iterator<Item = (Duration, Vec<LinkEvent>)> {
        self.heard.iter().flatten().cloned()
    }
}

/// Visits a seat, and times it.
pub(super) fn visit<T: Session, L: Link>(seat: &mut Seat<T, Clocked<L>>, now: Duration) {
    seat.link.heard.iter_mut().for_each(|heard| heard.push((now, Vec::new())));
    let started = Instant::now();
    seat.visit(now);
    let Seat { session, link, .. } = seat;
    link.spent += started.elapsed().saturating_sub(core::mem::take(&mut link.in_link));
    let tick = session.simulation().map_or(link.at, Simulation::tick);
    let played = tick.since(link.at);
    if played > 0 {
        let each = u32::try_from((link.spent / played).as_nanos()).unwrap_or(u32::MAX);
        link.ticks_ns.extend(std::iter::repeat_n(each, played as usize));
        (link.at, link.spent) = (tick, Duration::ZERO);
    }
}

impl<L: Link> Link for Clocked<L> {
    fn poll(&mut self) -> Option<LinkEvent> {
        let started = Instant::now();
        let event = self.link.poll();
        if let (Some(event), Some((_, events))) = (&event, self.heard.as_mut().and_then(|heard| heard.last_mut())) {
            events.push(event.clone());
        }
        self.in_link += started.elapsed();
        event
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        let started = Instant::now();
        self.link.send(to, channel, bytes);
        self.in_link += started.elapsed();
    }
}

/// What is heard again. What is sent goes nowhere.
#[derive(Default)]
pub(super) struct Heard(VecDeque<LinkEvent>);

impl Link for Heard {
    fn poll(&mut self) -> Option<LinkEvent> {
        self.0.pop_front()
    }

    fn send(&mut self, _: PeerId, _: Channel, _: Vec<u8>) {}
}
