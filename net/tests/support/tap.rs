//! A session whose packets pass through a hand before they leave: one that keeps them, or one that alters them as a dishonest peer would.

use core::time::Duration;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lockstone_net::link::{LinkEvent, PeerId};
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::relay::DistantView;
use lockstone_net::session::{CommandError, Event, EvidenceError, Phase, SayError, Session, Stats, Transmit};
use lockstone_net::wire::{self, Message};
use lockstone_net::{Rollback, RollbackSettings};
use lockstone_sim::Simulation;

use super::Mixer;
use super::rollback::room_of;

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

/// A hand that loses the first hello to each peer.
pub fn losing_hellos() -> impl FnMut(Transmit) -> Option<Transmit> {
    let mut greeted = BTreeSet::new();
    move |packet| {
        let is_hello = matches!(wire::decode(&packet.bytes), Ok((_, Message::Hello(_))));
        (!is_hello || !greeted.insert(packet.to)).then_some(packet)
    }
}

/// Players whose packets pass through hands.
pub type Room = Driver<Tap<Rollback<Mixer>>>;
/// The newest packets of each seat to each peer.
pub type Kept = Rc<RefCell<BTreeMap<(usize, PeerId), VecDeque<Vec<u8>>>>>;

/// A room where all play, and so many of the newest packets are kept.
pub fn listening_room(
    peers: usize,
    weather: Weather,
    settings: &RollbackSettings,
    packets_kept: usize,
) -> (Room, Kept) {
    let kept = Kept::default();
    let room = room_of(settings.seed, peers, weather, settings, |seat, session| {
        let kept = kept.clone();
        Tap::new(session, move |packet| {
            let mut kept = kept.borrow_mut();
            let route = kept.entry((seat, packet.to)).or_default();
            route.push_back(packet.bytes.clone());
            if route.len() > packets_kept {
                route.pop_front();
            }
            Some(packet)
        })
    });
    (room, kept)
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
