//! A link whose packets pass through a hand before they leave: one that keeps them, or one that
//! alters them as a dishonest peer would.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lockstone_net::link::{Channel, Link, LinkEvent, PeerId};
use lockstone_net::memory::{Driver, MemoryLink, Weather};
use lockstone_net::session::Transmit;
use lockstone_net::wire::{self, Epoch, Frame, Message};
use lockstone_net::{Rollback, RollbackSettings};
use lockstone_sim::Tick;

use super::rollback::room_by;
use super::{Mixer, list};

/// What happens to a packet that is about to leave. `None`: it does not.
type Hand = Box<dyn FnMut(Transmit) -> Option<Transmit>>;

pub struct Tap {
    /// What is sent here leaves as it is.
    pub link: MemoryLink,
    hand: Hand,
}

impl Tap {
    pub fn new(link: MemoryLink, hand: impl FnMut(Transmit) -> Option<Transmit> + 'static) -> Tap {
        Tap { link, hand: Box::new(hand) }
    }

    /// What happens to its packets from now on.
    pub fn set(&mut self, hand: impl FnMut(Transmit) -> Option<Transmit> + 'static) {
        self.hand = Box::new(hand);
    }

    /// Nothing happens to its packets.
    pub fn idle(link: MemoryLink) -> Tap {
        Tap::new(link, Some)
    }
}

impl Link for Tap {
    fn poll(&mut self) -> Option<LinkEvent> {
        self.link.poll()
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        if let Some(Transmit { to, channel, bytes }) = (self.hand)(Transmit { to, channel, bytes }) {
            self.link.send(to, channel, bytes);
        }
    }
}

pub fn is_hello(packet: &Transmit) -> bool {
    matches!(wire::decode(&packet.bytes), Ok((_, Message::Hello(_))))
}

/// A hand that loses the first hello to each peer.
pub fn losing_hellos() -> impl FnMut(Transmit) -> Option<Transmit> {
    let mut greeted = BTreeSet::new();
    move |packet| (!is_hello(&packet) || !greeted.insert(packet.to)).then_some(packet)
}

/// A hand that may alter every message, knowing whom it is for.
pub fn altering(mut alter: impl FnMut(PeerId, &mut Message)) -> impl FnMut(Transmit) -> Option<Transmit> {
    move |mut packet| {
        let (epoch, mut message) = wire::decode(&packet.bytes).expect("our own bytes");
        alter(packet.to, &mut message);
        packet.bytes = wire::encode(epoch, &message);
        Some(packet)
    }
}

/// Lets the frames in a message be altered, each with its tick, if it holds any.
pub fn each_frame(message: &mut Message, mut alter: impl FnMut(Tick, &mut Frame)) {
    let Message::Frames(frames) = message else { return };
    let mut turns = frames.turns.to_vec();
    turns.iter_mut().for_each(|(after, frame)| alter(frames.from.plus(*after), frame));
    frames.turns = list(turns);
}

/// Who plays with whom, by speaker, itself included.
type Speakers = BTreeMap<PeerId, BTreeSet<PeerId>>;

/// Who played with whom in each epoch of a rollback session.
#[derive(Clone, Default)]
pub struct Groups(Rc<RefCell<BTreeMap<Epoch, Speakers>>>);

impl Groups {
    /// A hand that notes whom inputs are for.
    pub fn noting(&self, speaker: PeerId) -> impl FnMut(Transmit) -> Option<Transmit> + use<> {
        let groups = self.clone();
        move |packet| {
            if let Ok((epoch, Message::Inputs(_))) = wire::decode(&packet.bytes) {
                let mut groups = groups.0.borrow_mut();
                let group = groups.entry(epoch).or_default().entry(speaker).or_default();
                group.extend([speaker, packet.to]);
            }
            Some(packet)
        }
    }

    /// The first epoch in which two played in different groups: history forked there.
    pub fn fork(&self) -> Option<Epoch> {
        let groups = self.0.borrow();
        let differ = |speakers: &Speakers| speakers.values().any(|group| Some(group) != speakers.values().next());
        groups.iter().find(|(_, speakers)| differ(speakers)).map(|(epoch, _)| *epoch)
    }

    /// How many epochs were played.
    pub fn epochs(&self) -> usize {
        self.0.borrow().len()
    }
}

/// Players whose packets pass through hands.
pub type Room = Driver<Rollback<Mixer>, Tap>;
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
    let room = room_by(settings.seed, peers, weather, settings, |seat, link| {
        let kept = kept.clone();
        Tap::new(link, move |packet| {
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
