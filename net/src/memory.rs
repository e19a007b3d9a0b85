//! A network in one process, on virtual time, from a seed: for tests, and for examples that
//! need no real one.
//!
//! Nothing here reads a clock: the network stands still until [`MemoryNetwork::advance`] is called.
//! The same seed and the same calls give the same packets at the same times. In a mesh everyone is
//! connected with everyone; in a hub network one peer with everyone, and the others with it alone,
//! so that thousands cost no more than their packets.

mod agenda;
mod clock;
mod driver;
mod hub_driver;
mod seat;
mod transit;

pub use clock::Clock;
pub use driver::Driver;
pub use hub_driver::HubDriver;
pub use seat::Seat;
pub use transit::Weather;

use core::cell::RefCell;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use crate::link::{Channel, Link, LinkError, LinkEvent, PeerId};
use transit::Transit;

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
    slot: usize,
    network: MemoryNetwork,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Topology {
    Mesh,
    Hub,
}

struct Inner {
    topology: Topology,
    transit: Transit,
    /// Everyone who ever entered, in that order. What is sent finds its way by these numbers.
    peers: Vec<Peer>,
    slots: BTreeMap<PeerId, usize>,
    /// Who is there.
    room: BTreeSet<PeerId>,
    hub: Option<PeerId>,
    arrivals: u64,
    /// Whose inbox was empty and is not any more, since somebody last asked.
    rung: Vec<usize>,
}

struct Peer {
    /// `None` once nobody holds the link.
    inbox: Option<VecDeque<LinkEvent>>,
    rung: bool,
    ways: BTreeMap<PeerId, Way>,
}

/// From one peer to another. It stays when they are gone, for what it carried.
struct Way {
    to: usize,
    /// Whether both are still there.
    open: bool,
    cut: bool,
    weather: Option<Weather>,
    /// When the last reliable packet arrives: the next one does not before.
    reliable_until: Duration,
    /// When all that was sent is through the line.
    line_free: Duration,
    carried: Carried,
}

impl MemoryNetwork {
    /// A network without peers, where everyone will be connected with everyone.
    pub fn new(seed: u64, weather: Weather) -> MemoryNetwork {
        MemoryNetwork::with(Topology::Mesh, seed, weather)
    }

    /// A network without peers, where the first to enter will be the hub: connected with everyone,
    /// and the others with it alone.
    pub fn hub(seed: u64, weather: Weather) -> MemoryNetwork {
        MemoryNetwork::with(Topology::Hub, seed, weather)
    }

    fn with(topology: Topology, seed: u64, weather: Weather) -> MemoryNetwork {
        MemoryNetwork(Rc::new(RefCell::new(Inner {
            topology,
            transit: Transit::new(seed, weather),
            peers: Vec::new(),
            slots: BTreeMap::new(),
            room: BTreeSet::new(),
            hub: None,
            arrivals: 0,
            rung: Vec::new(),
        })))
    }

    /// A peer enters the room. After a delay it and all others are connected; in a hub network it
    /// and the hub. Who comes while the hub is gone is connected with the next one.
    pub fn enter(&self) -> MemoryLink {
        let as_hub = self.0.borrow().room.is_empty();
        self.enter_as(as_hub)
    }

    /// A peer enters a hub network as its hub, also after others; a hub that is there is dropped
    /// first. In a mesh it enters as anyone does.
    pub fn enter_as_hub(&self) -> MemoryLink {
        let old = self.0.borrow().hub;
        if let Some(old) = old {
            self.drop_peer(old);
        }
        self.enter_as(true)
    }

    fn enter_as(&self, hub: bool) -> MemoryLink {
        let mut inner = self.0.borrow_mut();
        let (peer, slot) = inner.admit(hub);
        let others = match inner.topology {
            Topology::Mesh => inner.room.clone(),
            Topology::Hub if hub => inner.room.clone(),
            Topology::Hub => inner.hub.into_iter().collect(),
        };
        if hub && inner.topology == Topology::Hub {
            inner.hub = Some(peer);
        }
        inner.room.insert(peer);
        for other in others {
            inner.connect(peer, other);
        }
        MemoryLink { peer, slot, network: self.clone() }
    }

    /// Lets time pass: what arrives until `now` can be polled.
    pub fn advance(&self, now: Duration) {
        let mut inner = self.0.borrow_mut();
        inner.transit.pass(now);
        while let Some((to, event)) = inner.transit.arrived(now) {
            inner.put(to, event);
        }
    }

    /// When the next packet arrives.
    pub fn next_arrival(&self) -> Option<Duration> {
        self.0.borrow().transit.next_arrival()
    }

    /// Whether a peer has something to poll.
    pub fn has_mail(&self, peer: PeerId) -> bool {
        let inner = self.0.borrow();
        let inbox = inner.slots.get(&peer).and_then(|&slot| inner.peers[slot].inbox.as_ref());
        inbox.is_some_and(|inbox| !inbox.is_empty())
    }

    /// Appends who got mail since the last call, as [`MemoryLink::slot`] numbers them. Some may
    /// have polled it since.
    fn take_rung(&self, slots: &mut Vec<usize>) {
        let inner = &mut *self.0.borrow_mut();
        inner.rung.iter().for_each(|slot| inner.peers[*slot].rung = false);
        slots.append(&mut inner.rung);
    }

    /// The weather of every direction that has none of its own.
    pub fn set_weather(&self, weather: Weather) {
        self.0.borrow_mut().transit.weather = weather;
    }

    /// The weather of one direction; `None`: that of the network. Nothing changes between peers
    /// that are not connected.
    pub fn set_direction(&self, from: PeerId, to: PeerId, weather: Option<Weather>) {
        if let Some(way) = self.0.borrow_mut().way(from, to) {
            way.weather = weather;
        }
    }

    /// Cuts the way between two peers, or mends it. Neither is told. What is sent on the reliable
    /// channel while it is cut is lost too. Nothing changes between peers that are not connected.
    pub fn set_cut(&self, a: PeerId, b: PeerId, cut: bool) {
        let mut inner = self.0.borrow_mut();
        for (from, to) in [(a, b), (b, a)] {
            if let Some(way) = inner.way(from, to) {
                way.cut = cut;
            }
        }
    }

    /// A peer's connections break: after a delay all whom it was connected with are told, and its
    /// own link is closed.
    pub fn drop_peer(&self, peer: PeerId) {
        let inner = &mut *self.0.borrow_mut();
        let Some(&slot) = inner.slots.get(&peer) else { return };
        inner.disconnect(peer, slot);
        let ended = LinkError::Ended("dropped by the network".to_owned());
        inner.transit.deliver(inner.transit.soon(), slot, LinkEvent::Closed(ended));
    }

    /// What one direction has carried.
    pub fn carried(&self, from: PeerId, to: PeerId) -> Carried {
        self.0.borrow_mut().way(from, to).map_or_else(Carried::default, |way| way.carried)
    }

    /// What all directions together have carried.
    pub fn carried_in_all(&self) -> Carried {
        let inner = self.0.borrow();
        let ways = inner.peers.iter().flat_map(|peer| peer.ways.values());
        ways.fold(Carried::default(), |sum, Way { carried, .. }| Carried {
            packets: sum.packets + carried.packets,
            bytes: sum.bytes + carried.bytes,
        })
    }
}

impl Inner {
    /// Names a newcomer. A hub is always arrival 0, so in its network the others count from 1.
    fn admit(&mut self, as_hub: bool) -> (PeerId, usize) {
        let hub_network = self.topology == Topology::Hub;
        if self.room.is_empty() {
            self.arrivals = u64::from(hub_network);
        }
        let arrival = if hub_network && as_hub { 0 } else { self.arrivals };
        self.arrivals += u64::from(!(hub_network && as_hub));
        let peer = PeerId(u128::from(arrival) << 64 | u128::from(self.transit.random()));
        let slot = self.peers.len();
        self.peers.push(Peer { inbox: Some(VecDeque::new()), rung: false, ways: BTreeMap::new() });
        self.slots.insert(peer, slot);
        self.put(slot, LinkEvent::Entered(peer));
        (peer, slot)
    }

    fn connect(&mut self, peer: PeerId, other: PeerId) {
        let at = self.transit.soon();
        let (slot, other_slot) = (self.slots[&peer], self.slots[&other]);
        self.transit.deliver(at, other_slot, LinkEvent::Connected(peer));
        self.transit.deliver(at, slot, LinkEvent::Connected(other));
        // What is said at once must not come before the connection does.
        let way = |to| Way {
            to,
            open: true,
            cut: false,
            weather: None,
            reliable_until: at,
            line_free: at,
            carried: Carried::default(),
        };
        self.peers[slot].ways.insert(other, way(other_slot));
        self.peers[other_slot].ways.insert(peer, way(slot));
    }

    /// Everyone connected with a peer hears that it is gone, after all that it had sent reliably.
    fn disconnect(&mut self, peer: PeerId, slot: usize) {
        let at = self.transit.soon();
        let mut others = Vec::new();
        for way in self.peers[slot].ways.values_mut().filter(|way| way.open) {
            way.open = false;
            self.transit.deliver(way.reliable_until.max(at), way.to, LinkEvent::Disconnected(peer));
            others.push(way.to);
        }
        for other in others {
            if let Some(way) = self.peers[other].ways.get_mut(&peer) {
                way.open = false;
            }
        }
        self.room.remove(&peer);
        self.hub = self.hub.filter(|hub| *hub != peer);
    }

    fn put(&mut self, slot: usize, event: LinkEvent) {
        let peer = &mut self.peers[slot];
        let Some(inbox) = &mut peer.inbox else { return };
        inbox.push_back(event);
        if !core::mem::replace(&mut peer.rung, true) {
            self.rung.push(slot);
        }
    }

    fn way(&mut self, from: PeerId, to: PeerId) -> Option<&mut Way> {
        let slot = *self.slots.get(&from)?;
        self.peers[slot].ways.get_mut(&to)
    }

    fn send(&mut self, from: PeerId, slot: usize, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        let Some(way) = self.peers[slot].ways.get_mut(&to) else { return };
        way.carried.packets += 1;
        way.carried.bytes += bytes.len() as u64;
        if way.cut || !way.open {
            return;
        }
        let weather = way.weather.unwrap_or(self.transit.weather);
        if channel == Channel::Unreliable && self.transit.is_full(weather, way.line_free) {
            return;
        }
        let through = self.transit.through(weather, bytes.len(), &mut way.line_free);
        let event = LinkEvent::Packet { from, channel, bytes };
        match channel {
            Channel::Reliable => self.transit.send_reliably(way.to, weather, event, through, &mut way.reliable_until),
            Channel::Unreliable => self.transit.send_unreliably(way.to, weather, event, through),
        }
    }
}

impl MemoryLink {
    /// This end's peer.
    pub fn peer(&self) -> PeerId {
        self.peer
    }

    /// How many had entered the network before.
    fn slot(&self) -> usize {
        self.slot
    }
}

impl Link for MemoryLink {
    fn poll(&mut self) -> Option<LinkEvent> {
        self.network.0.borrow_mut().peers[self.slot].inbox.as_mut()?.pop_front()
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        if bytes.len() <= Self::PACKET_BYTES_MAX {
            self.network.0.borrow_mut().send(self.peer, self.slot, to, channel, bytes);
        }
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        let mut inner = self.network.0.borrow_mut();
        if inner.room.contains(&self.peer) {
            inner.disconnect(self.peer, self.slot);
        }
        inner.peers[self.slot].inbox = None;
    }
}
