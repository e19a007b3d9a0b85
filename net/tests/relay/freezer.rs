//! A session whose process can stand still: what comes meanwhile waits for it.

use core::cell::Cell;
use core::time::Duration;
use std::collections::VecDeque;
use std::rc::Rc;

use lockstone_net::LinkEvent;
use lockstone_net::session::{CommandError, Event, EvidenceError, Phase, SayError, Session, Stats, Transmit};
use lockstone_sim::Simulation;

pub type Switch = Rc<Cell<bool>>;

pub struct Freezer<T> {
    session: T,
    frozen: Switch,
    mail: VecDeque<LinkEvent>,
}

impl<T> Freezer<T> {
    pub fn new(session: T, frozen: Switch) -> Freezer<T> {
        Freezer { session, frozen, mail: VecDeque::new() }
    }
}

impl<T: Session> Session for Freezer<T> {
    type Sim = T::Sim;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.mail.push_back(event);
        if !self.frozen.get() {
            self.mail.drain(..).for_each(|event| self.session.handle(event, now));
        }
    }

    fn advance(&mut self, now: Duration) {
        if !self.frozen.get() {
            self.mail.drain(..).for_each(|event| self.session.handle(event, now));
            self.session.advance(now);
        }
    }

    fn command(&mut self, command: <T::Sim as Simulation>::Command) -> Result<(), CommandError> {
        if self.frozen.get() { Err(CommandError::NotPlaying) } else { self.session.command(command) }
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
        if self.frozen.get() { Duration::MAX } else { self.session.wake_at() }
    }

    fn simulation(&self) -> Option<&T::Sim> {
        self.session.simulation()
    }

    fn phase(&self) -> Phase {
        self.session.phase()
    }

    fn stats(&self) -> Stats {
        self.session.stats()
    }
}
