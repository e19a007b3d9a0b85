//! A session whose packets pass through a hand before they leave: one that keeps them, or one that alters them as a dishonest peer would.

use core::time::Duration;

use lockstone_net::link::LinkEvent;
use lockstone_net::session::{CommandError, Event, Phase, Session, Stats, Transmit};
use lockstone_sim::Simulation;

/// What happens to a packet that is about to leave. `None`: it does not.
pub type Hand = Box<dyn FnMut(Transmit) -> Option<Transmit>>;

pub struct Tap<T> {
    pub session: T,
    hand: Hand,
}

impl<T> Tap<T> {
    pub fn new(session: T, hand: impl FnMut(Transmit) -> Option<Transmit> + 'static) -> Tap<T> {
        Tap { session, hand: Box::new(hand) }
    }
}

impl<T: Session> Session for Tap<T> {
    type Sim = T::Sim;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.session.handle(event, now);
    }

    fn advance(&mut self, now: Duration) {
        self.session.advance(now);
    }

    fn command(&mut self, command: <T::Sim as Simulation>::Command) -> Result<(), CommandError> {
        self.session.command(command)
    }

    fn leave(&mut self, now: Duration) {
        self.session.leave(now);
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        loop {
            let packet = self.session.poll_transmit()?;
            if let Some(packet) = (self.hand)(packet) {
                return Some(packet);
            }
        }
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

    fn phase(&self) -> Phase {
        self.session.phase()
    }

    fn stats(&self) -> Stats {
        self.session.stats()
    }
}
