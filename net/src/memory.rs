//! A network in one process, on virtual time, from a seed: for tests, for examples that need no
//! real one, and for peers that play in one page.
//!
//! Nothing here reads a clock: the network stands still until [`MemoryNetwork::advance`] is called.
//! The same seed and the same calls give the same packets at the same times. In a mesh everyone is
//! connected with everyone; in a hub network one peer with everyone, and the others with it alone,
//! so that thousands cost no more than their packets.

mod agenda;
mod clock;
mod driver;
mod seat;
mod transit;

pub use clock::Clock;
pub use driver::Driver;
pub use seat::Seat;
pub use transit::Weather;

use core::cell::RefCell;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::link::{Binding, Channel, Link, LinkError, LinkEvent, PeerId};
use transit::{Line, Transit};

const _: () = assert!(crate::limits::PACKET_BYTES_MAX == <MemoryLink as Link>::PACKET_BYTES_MAX);

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
    /// A hub network. Else it is a mesh.
    has_hub: bool,
    transit: Transit,
    /// Everyone who ever entered.
    peers: BTreeMap<PeerId, Peer>,
    /// Who is there.
    room: BTreeSet<PeerId>,
    /// Who is connected with everyone as the hub is.
    beside: BTreeSet<PeerId>,
    arrivals: u64,
}

struct Peer {
    /// `None` once nobody holds the link.
    inbox: Option<VecDeque<LinkEvent>>,
    ways: BTreeMap<PeerId, Way>,
}

/// From one peer to another. It stays when they are gone, for what it carried.
struct Way {
    /// Whether both are still there.
    open: bool,
    cut: bool,
    /// What was sent on the reliable channel while nothing arrives.
    held: Vec<Vec<u8>>,
    weather: Option<Weather>,
    line: Line,
    carried: Carried,
}

impl Way {
    /// Its own weather, or else that of the network.
    fn weather(&self, network: Weather) -> Weather {
        self.weather.unwrap_or(network)
    }

    /// Whether nothing arrives, in a network of that weather.
    fn is_dead(&self, network: Weather) -> bool {
        self.cut || self.weather(network).loss_permille >= 1_000
    }
}

impl MemoryNetwork {
    /// A network without peers, where everyone will be connected with everyone.
    pub fn new(seed: u64, weather: Weather) -> MemoryNetwork {
        MemoryNetwork::with(false, seed, weather)
    }

    /// A network without peers, where the first to enter will be the hub: connected with everyone,
    /// and the others with it alone.
    pub fn hub(seed: u64, weather: Weather) -> MemoryNetwork {
        MemoryNetwork::with(true, seed, weather)
    }

    fn with(has_hub: bool, seed: u64, weather: Weather) -> MemoryNetwork {
        MemoryNetwork(Rc::new(RefCell::new(Inner {
            has_hub,
            transit: Transit::new(seed, weather),
            peers: BTreeMap::new(),
            room: BTreeSet::new(),
            beside: BTreeSet::new(),
            arrivals: 0,
        })))
    }

    /// A peer enters the room. After a delay it and all others are connected; in a hub network it
    /// and the hub. Who comes while the hub is gone is connected with the next one.
    pub fn enter(&self) -> MemoryLink {
        let inner = self.0.borrow();
        let as_hub = inner.room.is_empty() && (!inner.has_hub || inner.peers.is_empty());
        drop(inner);
        self.enter_as(as_hub)
    }

    /// A peer enters a hub network as its hub, also after others; a hub that is there is dropped
    /// first. In a mesh it enters as anyone does.
    pub fn enter_as_hub(&self) -> MemoryLink {
        let old = self.0.borrow().hub();
        if let Some(old) = old {
            self.drop_peer(old);
        }
        self.enter_as(true)
    }

    /// A peer enters a hub network beside its hub: connected with everyone, as the hub is.
    pub fn enter_beside_hub(&self) -> MemoryLink {
        let others = self.0.borrow().room.clone();
        let link = self.enter_among(others, false);
        self.0.borrow_mut().beside.insert(link.peer);
        link
    }

    fn enter_as(&self, as_hub: bool) -> MemoryLink {
        let inner = self.0.borrow();
        let hubs = || inner.hub().into_iter().chain(inner.beside.intersection(&inner.room).copied()).collect();
        let others = if inner.has_hub && !as_hub { hubs() } else { inner.room.clone() };
        drop(inner);
        self.enter_among(others, as_hub)
    }

    fn enter_among(&self, others: BTreeSet<PeerId>, as_hub: bool) -> MemoryLink {
        let mut inner = self.0.borrow_mut();
        let peer = inner.admit(as_hub);
        for other in others {
            inner.connect(peer, other);
        }
        MemoryLink { peer, network: self.clone() }
    }

    /// Lets time pass: what arrives until `now` can be polled. Returns to whom something has come.
    pub fn advance(&self, now: Duration) -> BTreeSet<PeerId> {
        let mut inner = self.0.borrow_mut();
        inner.transit.pass(now);
        let mut reached = BTreeSet::new();
        while let Some((to, event)) = inner.transit.arrived(now) {
            inner.put(to, event);
            reached.insert(to);
        }
        reached
    }

    /// When the next packet arrives.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.0.borrow().transit.next_arrival()
    }

    /// The weather of every direction that has none of its own.
    pub fn set_weather(&self, weather: Weather) {
        let mut inner = self.0.borrow_mut();
        inner.transit.weather = weather;
        let peers = inner.peers.iter();
        let ways = peers.flat_map(|(from, peer)| peer.ways.keys().map(|to| (*from, *to)));
        ways.collect::<Vec<_>>().into_iter().for_each(|(from, to)| inner.release(from, to));
    }

    /// The weather of one direction; `None`: that of the network. Nothing changes between peers
    /// that are not connected.
    pub fn set_direction(&self, from: PeerId, to: PeerId, weather: Option<Weather>) {
        let mut inner = self.0.borrow_mut();
        if let Some(way) = inner.way(from, to) {
            way.weather = weather;
            inner.release(from, to);
        }
    }

    /// Cuts the way between two peers, or mends it. Neither is told. What is sent on the reliable
    /// channel meanwhile is under way from then on: a carrier sends it until it arrives. Nothing
    /// changes between peers that are not connected.
    pub fn set_cut(&self, a: PeerId, b: PeerId, cut: bool) {
        self.set_direction_cut(a, b, cut);
        self.set_direction_cut(b, a, cut);
    }

    /// The same of one direction: what the other one carries still arrives.
    pub fn set_direction_cut(&self, from: PeerId, to: PeerId, cut: bool) {
        let mut inner = self.0.borrow_mut();
        let Some(way) = inner.way(from, to) else { return };
        way.cut = cut;
        inner.release(from, to);
    }

    /// A peer's connections break: after a delay all whom it was connected with are told, and its
    /// own link is closed.
    pub fn drop_peer(&self, peer: PeerId) {
        let inner = &mut *self.0.borrow_mut();
        if !inner.peers.contains_key(&peer) {
            return;
        }
        inner.disconnect(peer);
        let ended = LinkError::Ended("dropped by the network".to_owned());
        inner.transit.deliver(inner.transit.soon(), peer, LinkEvent::Closed(ended));
    }

    /// The connection of two peers breaks: after a delay both are told, and both stay in the room.
    /// [`come_back`](MemoryNetwork::come_back) of one connects them again.
    pub fn disconnect(&self, a: PeerId, b: PeerId) {
        let inner = &mut *self.0.borrow_mut();
        let at = inner.transit.soon();
        for (from, to) in [(a, b), (b, a)] {
            let Some(way) = inner.peers.get_mut(&from).and_then(|peer| peer.ways.get_mut(&to)) else { continue };
            if core::mem::take(&mut way.open) {
                inner.transit.deliver(way.line.reliable_until.max(at), to, LinkEvent::Disconnected(from));
            }
        }
    }

    /// The room has forgotten everyone, as if its signaling server were started again: who enters
    /// is the first. Connections live on.
    pub fn forget_room(&self) {
        self.0.borrow_mut().room.clear();
    }

    /// A peer that the room has forgotten is known to it again: it will be connected with those
    /// in it with whom it is not; in a hub network the hub with them, and the others with the hub.
    pub fn come_back(&self, peer: PeerId) {
        let inner = &mut *self.0.borrow_mut();
        let Some(ways) = inner.peers.get(&peer).filter(|peer| peer.inbox.is_some()).map(|peer| &peer.ways) else {
            return;
        };
        let is_connected = |other: &PeerId| ways.get(other).is_some_and(|way| way.open);
        let is_hub = |one: &PeerId| one.arrival() == 0 || inner.beside.contains(one);
        let meets = |other: &PeerId| !inner.has_hub || is_hub(&peer) || is_hub(other);
        let others: Vec<_> = inner.room.iter().copied().filter(|other| meets(other) && !is_connected(other)).collect();
        others.into_iter().filter(|other| *other != peer).for_each(|other| inner.connect(peer, other));
        inner.room.insert(peer);
    }

    /// What one direction has carried.
    pub fn carried(&self, from: PeerId, to: PeerId) -> Carried {
        self.0.borrow_mut().way(from, to).map_or_else(Carried::default, |way| way.carried)
    }

    /// What all directions together have carried.
    pub fn carried_in_all(&self) -> Carried {
        let inner = self.0.borrow();
        let ways = inner.peers.values().flat_map(|peer| peer.ways.values());
        ways.fold(Carried::default(), |sum, Way { carried, .. }| Carried {
            packets: sum.packets + carried.packets,
            bytes: sum.bytes + carried.bytes,
        })
    }
}

/// Nobody is ever between two peers: their names are enough.
fn binding(one: PeerId, other: PeerId) -> Binding {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&one.min(other).0.to_le_bytes());
    bytes[16..].copy_from_slice(&one.max(other).0.to_le_bytes());
    Binding(bytes)
}

impl Inner {
    /// Who is the hub now: in a hub network, the peer that is arrival 0.
    fn hub(&self) -> Option<PeerId> {
        self.room.first().filter(|first| self.has_hub && first.arrival() == 0).copied()
    }

    /// Names a newcomer. A hub is always arrival 0, so in its network the others count from 1.
    fn admit(&mut self, as_hub: bool) -> PeerId {
        let is_hub = self.has_hub && as_hub;
        if self.room.is_empty() {
            self.arrivals = u64::from(self.has_hub);
        }
        let arrival = if is_hub { 0 } else { self.arrivals };
        self.arrivals += u64::from(!is_hub);
        let peer = PeerId(u128::from(arrival) << 64 | u128::from(self.transit.random()));
        let inbox = Some(VecDeque::from([LinkEvent::Entered(peer)]));
        self.peers.insert(peer, Peer { inbox, ways: BTreeMap::new() });
        self.room.insert(peer);
        peer
    }

    fn connect(&mut self, peer: PeerId, other: PeerId) {
        // What is said at once must not come before the connection does.
        let at = self.transit.soon();
        let binding = binding(peer, other);
        for (from, to) in [(peer, other), (other, peer)] {
            self.transit.deliver(at, to, LinkEvent::Secured { peer: from, binding });
            self.transit.deliver(at, to, LinkEvent::Connected(from));
            let (line, carried) = (Line::free_at(at), Carried::default());
            let way = Way { open: true, cut: false, held: Vec::new(), weather: None, line, carried };
            let peer = self.peers.get_mut(&from).expect("both have entered");
            peer.ways.insert(to, way);
        }
    }

    /// Everyone connected with a peer hears that it is gone, after all that it had sent reliably.
    fn disconnect(&mut self, peer: PeerId) {
        let at = self.transit.soon();
        let Some(leaver) = self.peers.get_mut(&peer) else { return };
        let mut others = Vec::new();
        for (other, way) in leaver.ways.iter_mut().filter(|(_, way)| way.open) {
            way.open = false;
            self.transit.deliver(way.line.reliable_until.max(at), *other, LinkEvent::Disconnected(peer));
            others.push(*other);
        }
        for other in others {
            if let Some(way) = self.way(other, peer) {
                way.open = false;
            }
        }
        self.room.remove(&peer);
    }

    fn put(&mut self, to: PeerId, event: LinkEvent) {
        if let Some(inbox) = self.peers.get_mut(&to).and_then(|peer| peer.inbox.as_mut()) {
            inbox.push_back(event);
        }
    }

    fn way(&mut self, from: PeerId, to: PeerId) -> Option<&mut Way> {
        self.peers.get_mut(&from)?.ways.get_mut(&to)
    }

    fn send(&mut self, from: PeerId, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        let weather = self.transit.weather;
        let way = self.peers.get_mut(&from).and_then(|peer| peer.ways.get_mut(&to));
        let Some(way) = way else { return };
        way.carried.packets += 1;
        way.carried.bytes += bytes.len() as u64;
        match channel {
            _ if !way.is_dead(weather) => self.carry(from, to, channel, bytes),
            Channel::Reliable if way.open => way.held.push(bytes),
            _ => {}
        }
    }

    /// What was held goes on its way, if anything arrives again.
    fn release(&mut self, from: PeerId, to: PeerId) {
        let weather = self.transit.weather;
        let Some(way) = self.way(from, to).filter(|way| !way.is_dead(weather)) else { return };
        let held = core::mem::take(&mut way.held);
        held.into_iter().for_each(|bytes| self.carry(from, to, Channel::Reliable, bytes));
    }

    /// A packet goes on its way, if there is still one.
    fn carry(&mut self, from: PeerId, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        let way = self.peers.get_mut(&from).and_then(|peer| peer.ways.get_mut(&to));
        let Some(way) = way.filter(|way| way.open) else { return };
        let weather = way.weather(self.transit.weather);
        self.transit.send((from, to), channel, bytes, weather, &mut way.line);
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
        self.network.0.borrow_mut().peers.get_mut(&self.peer)?.inbox.as_mut()?.pop_front()
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
        inner.disconnect(self.peer);
        if let Some(peer) = inner.peers.get_mut(&self.peer) {
            peer.inbox = None;
        }
    }
}
