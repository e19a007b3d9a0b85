//! A session whose work is timed, tick by tick.
//!
//! The times tell what a session costs on this machine; nothing that is played depends on them.

use std::time::{Duration, Instant};

use lockstone_net::LinkEvent;
use lockstone_net::relay::DistantView;
use lockstone_net::session::{CommandError, Event, EvidenceError, Phase, SayError, Session, Stats, Transmit};
use lockstone_sim::{Simulation, Tick};

/// A session, and how long each of its ticks took: all that it did since the tick before.
pub(super) struct Clocked<T: Session> {
    session: T,
    spent: Duration,
    at: Tick,
    /// In nanoseconds.
    pub ticks_ns: Vec<u32>,
    /// What came in, if it is kept.
    heard: Option<Vec<Heard>>,
}

/// What came into a session, and when.
enum Heard {
    Event(LinkEvent, Duration),
    /// Time passed.
    Time(Duration),
}

impl<T: Session> Clocked<T> {
    pub fn new(session: T) -> Clocked<T> {
        Clocked { session, spent: Duration::ZERO, at: Tick(0), ticks_ns: Vec::new(), heard: None }
    }

    /// Keeps what comes in, to hear it [`again`](Clocked::again).
    pub fn remembering(self) -> Clocked<T> {
        Clocked { heard: Some(Vec::new()), ..self }
    }

    /// Another session that begins as this one did hears the same at the same times: with the machine for itself.
    pub fn again(&self, session: T) -> Clocked<T> {
        let mut again = Clocked::new(session);
        for heard in self.heard.iter().flatten() {
            match heard {
                Heard::Event(event, now) => again.handle(event.clone(), *now),
                Heard::Time(now) => again.advance(*now),
            }
            while again.poll_transmit().is_some() {}
            while again.poll_event().is_some() {}
        }
        again
    }

    /// What came in at each round, and when.
    pub fn rounds(&self) -> impl Iterator<Item = (Duration, Vec<LinkEvent>)> {
        let mut heard = self.heard.iter().flatten();
        let mut events = Vec::new();
        std::iter::from_fn(move || {
            loop {
                match heard.next()? {
                    Heard::Event(event, _) => events.push(event.clone()),
                    Heard::Time(now) => return Some((*now, std::mem::take(&mut events))),
                }
            }
        })
    }

    fn clock(&mut self, work: impl FnOnce(&mut T)) {
        let started = Instant::now();
        work(&mut self.session);
        self.spent += started.elapsed();
    }
}

impl<T: Session> Session for Clocked<T> {
    type Sim = T::Sim;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.heard.iter_mut().for_each(|heard| heard.push(Heard::Event(event.clone(), now)));
        self.clock(|session| session.handle(event, now));
    }

    fn advance(&mut self, now: Duration) {
        self.heard.iter_mut().for_each(|heard| heard.push(Heard::Time(now)));
        self.clock(|session| session.advance(now));
        let tick = self.session.simulation().map_or(self.at, Simulation::tick);
        let played = tick.since(self.at);
        if played > 0 {
            let each = self.spent / played;
            let each = u32::try_from(each.as_nanos()).unwrap_or(u32::MAX);
            self.ticks_ns.extend(std::iter::repeat_n(each, played as usize));
            (self.at, self.spent) = (tick, Duration::ZERO);
        }
    }

    fn command(&mut self, command: <T::Sim as Simulation>::Command) -> Result<(), CommandError> {
        self.session.command(command)
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        self.session.say(text)
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        self.session.give_evidence(bytes)
    }

    fn leave(&mut self, now: Duration) {
        self.session.leave(now);
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.session.poll_transmit()
    }

    fn poll_event(&mut self) -> Option<Event<T::Sim>> {
        self.session.poll_event()
    }

    fn wake_at(&self) -> Duration {
        self.session.wake_at()
    }

    fn simulation(&self) -> Option<&T::Sim> {
        self.session.simulation()
    }

    fn distant(&self) -> DistantView {
        self.session.distant()
    }

    fn phase(&self) -> Phase {
        self.session.phase()
    }

    fn stats(&self) -> Stats {
        self.session.stats()
    }
}
