//! What others may have a link do, whatever they signal: each for itself, and newcomers together.
//!
//! It must never be that a peer with which there was a connection has less as newcomers want more.

use std::collections::{BTreeMap, BTreeSet};

use matchbox_socket::{PeerEvent, PeerSignal};

use super::RoomRole;
use super::quota::Quota;
use super::wire::Address;
use crate::limits::{
    HOSTS_MAX, NEWCOMERS_MAX, NEWCOMERS_TIME, PEER_OFFERS_MAX, PEER_SIGNALS_MAX, PEER_SIGNALS_TIME, PEERS_KNOWN_MAX,
    PEERS_MAX, RELAY_PLAYERS_MAX,
};
use crate::link::PeerId;

#[derive(Debug)]
pub(super) struct Bounds {
    /// How many peers are connected at most, or to be.
    pub peers_max: usize,
    /// Peers with which there was a connection.
    known: BTreeSet<PeerId>,
    /// How many others may be offered a connection, and be answered.
    offered: Quota,
    answered: Quota,
    /// Peers that sent too much which nobody wanted.
    barred: BTreeSet<PeerId>,
    /// What each peer of the room may signal.
    signals: BTreeMap<PeerId, Signals>,
}

#[derive(Debug)]
struct Signals {
    address: Address,
    all: Quota,
    offers: Quota,
}

impl Bounds {
    pub fn new(role: &RoomRole) -> Bounds {
        let peers_max = match role {
            RoomRole::Peer => PEERS_MAX,
            RoomRole::Player => HOSTS_MAX,
            RoomRole::Relay { .. } | RoomRole::Standby { .. } => RELAY_PLAYERS_MAX,
        };
        let newcomers = || Quota::new(NEWCOMERS_MAX, NEWCOMERS_TIME);
        let (offered, answered) = (newcomers(), newcomers());
        Bounds {
            peers_max,
            known: BTreeSet::new(),
            offered,
            answered,
            barred: BTreeSet::new(),
            signals: BTreeMap::new(),
        }
    }

    /// There is a connection with a peer.
    pub fn know(&mut self, peer: PeerId, is_connected: impl Fn(&PeerId) -> bool) {
        if self.known.len() >= PEERS_KNOWN_MAX {
            self.known.retain(is_connected);
        }
        self.known.insert(peer);
    }

    /// A peer is connected no more: whatever it signals is passed over.
    pub fn bar(&mut self, peer: PeerId) {
        if self.barred.len() >= PEERS_KNOWN_MAX {
            self.barred.pop_first();
        }
        self.barred.insert(peer);
    }

    /// Whether a peer is connected no more.
    pub fn has_barred(&self, peer: PeerId) -> bool {
        self.barred.contains(&peer)
    }

    /// Whether there was a connection with a peer.
    pub fn knows(&self, peer: PeerId) -> bool {
        self.known.contains(&peer)
    }

    /// Whether there never was a connection.
    pub fn knows_nobody(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether a peer may be offered a connection now.
    pub fn may_offer(&mut self, peer: PeerId) -> bool {
        self.knows(peer) || self.offered.take()
    }

    /// Whether so many newcomers came of late that the offers left are for those who stay: others
    /// may be gone in a moment.
    pub fn is_rush(&mut self) -> bool {
        self.offered.left() <= NEWCOMERS_MAX / 2
    }

    /// Whether a peer that offers one may be answered.
    pub fn may_answer(&mut self, peer: PeerId) -> bool {
        self.knows(peer) || self.answered.take()
    }

    /// Whether a signal of a peer is taken.
    pub fn admits(&mut self, peer: PeerId, address: Address, signal: &PeerEvent) -> bool {
        if self.has_barred(peer) || !self.signals.contains_key(&peer) && self.signals.len() >= self.peers_max {
            return false;
        }
        let quota = |max| Quota::new(max, PEER_SIGNALS_TIME);
        let new = || Signals { address, all: quota(PEER_SIGNALS_MAX), offers: quota(PEER_OFFERS_MAX) };
        let signals = self.signals.entry(peer).or_insert_with(new);
        signals.address = address;
        let is_offer = matches!(signal, PeerEvent::Signal { data: PeerSignal::Offer(_), .. });
        signals.all.take() && (!is_offer || signals.offers.take())
    }

    /// Where a peer's signals come from.
    pub fn address(&self, peer: &PeerId) -> Address {
        self.signals.get(peer).and_then(|signals| signals.address)
    }

    /// A peer has left the room.
    pub fn left(&mut self, peer: PeerId) {
        self.signals.remove(&peer);
    }

    /// Nobody is in the room, as far as is known.
    pub fn forget_signals(&mut self) {
        self.signals.clear();
    }
}
