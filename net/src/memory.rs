//! A network in one process, on virtual time, from a seed: for tests, and for examples that need no real one.
//!
//! Nothing here reads a clock: the network stands still until [`MemoryNetwork::advance`] is called. The same seed and the same calls
//! give the same packets at the same times.

mod driver;

pub use driver::{Driver, Seat};

use core::cell::RefCell;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::link::{Channel, Link, LinkError, LinkEvent, PeerId};

const _: () = assert!(crate::limits::PACKET_BYTES_MAX == <MemoryLink as Link>::PACKET_BYTES_MAX);

/// What happens to packets on their way in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// The least time that a packet takes.
    pub delay: Duration,
    /// Up to so much is added, evenly spread.
    pub jitter: Duration,
    /// Of 1,000 packets, how many are lost. On the reliable channel each loss costs a retransmission instead.
    pub loss_permille: u16,
    /// Of 1,000 packets, how many arrive twice. Not on the reliable channel.
    pub duplicate_permille: u16,
    /// Of 1,000 packets, how many are held back for another delay and jitter, so that others overtake them. Not on the reliable channel.
    pub reorder_permille: u16,
}

impl Weather {
    /// Nothing but a delay.
    pub const fn clear(delay: Duration) -> Weather {
        let jitter = Duration::ZERO;
        Weather { delay, jitter, loss_permille: 0, duplicate_permille: 0, reorder_permille: 0 }
    }
}

/// What a direction has carried. Lost packets count, duplicates do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets handed over.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The network. Clones are the same network.
#[derive(Clone)]
pub struct MemoryNetwork(Rc<RefCell<Inner>>);

/// One peer's end of the network.
pub struct MemoryLink {
    peer: PeerId,
    network: MemoryNetwork,
}

struct Inner {
    rng: ChaCha8Rng,
    now: Duration,
    weather: Weather,
    directions: BTreeMap<(PeerId, PeerId), Direction>,
    room: BTreeSet<PeerId>,
    inboxes: BTreeMap<PeerId, VecDeque<LinkEvent>>,
    /// What is under way: by time, then in the order in which it was sent.
    under_way: BTreeMap<(Duration, u64), (PeerId, LinkEvent)>,
    sent: u64,
    arrivals: u64,
}

#[derive(Default)]
struct Direction {
    weather: Option<Weather>,
    cut: bool,
    /// When the last reliable packet arrives: the next one does not before.
    reliable_until: Duration,
    carried: Carried,
}

impl MemoryNetwork {
    /// A network without peers.
    pub fn new(seed: u64, weather: Weather) -> MemoryNetwork {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        MemoryNetwork(Rc::new(RefCell::new(Inner {
            rng,
            now: Duration::ZERO,
            weather,
            directions: BTreeMap::new(),
            room: BTreeSet::new(),
            inboxes: BTreeMap::new(),
            under_way: BTreeMap::new(),
            sent: 0,
            arrivals: 0,
        })))
    }

    /// A peer enters the room. After a delay it and all others are connected.
    pub fn enter(&self) -> MemoryLink {
        let mut inner = self.0.borrow_mut();
        if inner.room.is_empty() {
            inner.arrivals = 0;
        }
        let peer = PeerId(u128::from(inner.arrivals) << 64 | u128::from(inner.rng.next_u64()));
        inner.arrivals += 1;
        let others = inner.room.clone();
        inner.room.insert(peer);
        inner.inboxes.insert(peer, VecDeque::from([LinkEvent::Entered(peer)]));
        let at = inner.now + inner.weather.delay;
        for other in others {
            inner.deliver(at, other, LinkEvent::Connected(peer));
            inner.deliver(at, peer, LinkEvent::Connected(other));
            // What is said at once must not come before the connection does.
            inner.directions.insert((peer, other), Direction { reliable_until: at, ..Direction::default() });
            inner.directions.insert((other, peer), Direction { reliable_until: at, ..Direction::default() });
        }
        MemoryLink { peer, network: self.clone() }
    }

    /// Lets time pass: what arrives until `now` can be polled.
    pub fn advance(&self, now: Duration) {
        let mut inner = self.0.borrow_mut();
        inner.now = inner.now.max(now);
        while let Some(entry) = inner.under_way.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, event) = entry.remove();
            if let Some(inbox) = inner.inboxes.get_mut(&to) {
                inbox.push_back(event);
            }
        }
    }

    /// When the next packet arrives.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.0.borrow().under_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// Whether a peer has something to poll.
    pub fn has_mail(&self, peer: PeerId) -> bool {
        self.0.borrow().inboxes.get(&peer).is_some_and(|inbox| !inbox.is_empty())
    }

    /// The weather of every direction that has none of its own.
    pub fn set_weather(&self, weather: Weather) {
        self.0.borrow_mut().weather = weather;
    }

    /// The weather of one direction; `None`: that of the network.
    pub fn set_direction(&self, from: PeerId, to: PeerId, weather: Option<Weather>) {
        self.0.borrow_mut().directions.entry((from, to)).or_default().weather = weather;
    }

    /// Cuts the way between two peers, or mends it. Neither is told. What is sent on the reliable channel while it is cut is lost too.
    pub fn set_cut(&self, a: PeerId, b: PeerId, cut: bool) {
        let mut inner = self.0.borrow_mut();
        for way in [(a, b), (b, a)] {
            inner.directions.entry(way).or_default().cut = cut;
        }
    }

    /// A peer's connections break: after a delay all others are told, and its own link is closed.
    pub fn drop_peer(&self, peer: PeerId) {
        let mut inner = self.0.borrow_mut();
        let at = inner.now + inner.weather.delay;
        inner.disconnect(peer, at);
        let ended = LinkError::Ended("dropped by the network".to_owned());
        inner.deliver(at, peer, LinkEvent::Closed(ended));
    }

    /// What one direction has carried.
    pub fn carried(&self, from: PeerId, to: PeerId) -> Carried {
        self.0.borrow().directions.get(&(from, to)).map_or_else(Carried::default, |direction| direction.carried)
    }

    /// What all directions together have carried.
    pub fn carried_in_all(&self) -> Carried {
        let inner = self.0.borrow();
        inner.directions.values().fold(Carried::default(), |sum, Direction { carried, .. }| Carried {
            packets: sum.packets + carried.packets,
            bytes: sum.bytes + carried.bytes,
        })
    }
}

impl Inner {
    fn deliver(&mut self, at: Duration, to: PeerId, event: LinkEvent) {
        self.under_way.insert((at, self.sent), (to, event));
        self.sent += 1;
    }

    fn chance(&mut self, permille: u16) -> bool {
        permille > 0 && self.rng.next_u32() % 1_000 < u32::from(permille)
    }

    fn transit(&mut self, weather: Weather) -> Duration {
        let jitter = u64::try_from(weather.jitter.as_micros()).unwrap_or(u64::MAX - 1);
        weather.delay + Duration::from_micros(self.rng.next_u64() % (jitter + 1))
    }

    /// Everyone else hears that a peer is gone, after all that it had sent reliably.
    fn disconnect(&mut self, peer: PeerId, at: Duration) {
        let ways: BTreeSet<_> = self.directions.keys().filter(|(from, _)| *from == peer).copied().collect();
        for (from, to) in ways {
            let after = self.directions.get(&(from, to)).map_or(at, |direction| direction.reliable_until.max(at));
            self.deliver(after, to, LinkEvent::Disconnected(peer));
        }
        self.directions.retain(|(from, to), direction| {
            direction.cut |= *from == peer || *to == peer;
            true
        });
        self.room.remove(&peer);
    }

    fn send(&mut self, from: PeerId, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        let Some(direction) = self.directions.get_mut(&(from, to)) else { return };
        direction.carried.packets += 1;
        direction.carried.bytes += bytes.len() as u64;
        if direction.cut {
            return;
        }
        let weather = direction.weather.unwrap_or(self.weather);
        let event = LinkEvent::Packet { from, channel, bytes };
        match channel {
            Channel::Reliable => self.send_reliably(from, to, weather, event),
            Channel::Unreliable => self.send_unreliably(to, weather, event),
        }
    }

    fn send_reliably(&mut self, from: PeerId, to: PeerId, weather: Weather, event: LinkEvent) {
        let mut at = self.now + self.transit(weather);
        while self.chance(weather.loss_permille.min(900)) {
            at += (weather.delay + weather.jitter) * 2 + Duration::from_millis(50);
        }
        let direction = self.directions.entry((from, to)).or_default();
        direction.reliable_until = direction.reliable_until.max(at);
        let at = direction.reliable_until;
        self.deliver(at, to, event);
    }

    fn send_unreliably(&mut self, to: PeerId, weather: Weather, event: LinkEvent) {
        if self.chance(weather.loss_permille) {
            return;
        }
        let copies = 1 + usize::from(self.chance(weather.duplicate_permille));
        for _ in 0..copies {
            let mut at = self.now + self.transit(weather);
            if self.chance(weather.reorder_permille) {
                at += self.transit(weather);
            }
            self.deliver(at, to, event.clone());
        }
    }
}

impl MemoryLink {
    /// This end's peer.
    pub fn peer(&self) -> PeerId {
        self.peer
    }
}

impl Link for MemoryLink {
    fn poll(&mut self) -> Option<LinkEvent> {
        self.network.0.borrow_mut().inboxes.get_mut(&self.peer)?.pop_front()
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        if bytes.len() <= Self::PACKET_BYTES_MAX {
            self.network.0.borrow_mut().send(self.peer, to, channel, bytes);
        }
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        let mut inner = self.network.0.borrow_mut();
        let at = inner.now + inner.weather.delay;
        if inner.room.contains(&self.peer) {
            inner.disconnect(self.peer, at);
        }
        inner.inboxes.remove(&self.peer);
    }
}
