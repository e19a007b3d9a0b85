//! The players who wait for their handshakes with a relay: next is who is of the address that has
//! the fewest, and among equals who came first. A player whose handshake was in vain, or whose
//! connection broke, comes again. Those of an address whose players come and go wait longer
//! (`restless`).
//!
//! It must never be that many players of one address keep out those of another.

use std::collections::{BTreeMap, VecDeque};

use matchbox_socket::{PeerEvent, PeerSignal};

use super::restless::Restless;
use super::wire::Address;
use crate::limits::{ADDRESS_HANDSHAKES_MAX, HANDSHAKE_SIGNALS_MAX, HANDSHAKES_MAX, HANDSHAKES_WAITING_MAX};
use crate::link::PeerId;

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    peer: PeerId,
    address: Address,
    /// What it has signaled.
    signals: Vec<PeerEvent>,
}

impl Queue {
    /// A player offers a connection, and is noted, if there is a place to wait.
    pub fn admit(&mut self, peer: PeerId, address: Address) {
        if self.waiting.iter().any(|waiting| waiting.peer == peer) {
            return;
        }
        self.waiting.push_back(Waiting { peer, address, signals: Vec::new() });
        if self.waiting.len() > HANDSHAKES_WAITING_MAX {
            tracing::warn!("passed over a player: {HANDSHAKES_WAITING_MAX} others wait to connect");
            let counts = counts(self.waiting.iter().map(|waiting| waiting.address));
            let most = self.waiting.iter().enumerate().max_by_key(|(_, waiting)| counts[&waiting.address]);
            most.map(|(last, _)| last).and_then(|last| self.waiting.remove(last));
        }
    }

    /// Keeps a signal of a player that waits. With another offer it begins anew.
    pub fn keep(&mut self, peer: PeerId, signal: PeerEvent) {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.peer == peer);
        let Some(Waiting { signals, .. }) = waiting else { return };
        if matches!(signal, PeerEvent::Signal { data: PeerSignal::Offer(_), .. }) {
            signals.clear();
        }
        if signals.len() < HANDSHAKE_SIGNALS_MAX {
            signals.push(signal);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a player of another address waits for nothing but its turn.
    pub fn has_others(&self, address: Address, restless: &mut Restless) -> bool {
        self.waiting.iter().any(|waiting| waiting.address != address && !restless.waits(waiting.address))
    }

    /// The next player whose turn it is, and what it has signaled, while there are handshakes with
    /// players of these addresses.
    pub fn next(&mut self, handshakes: Vec<Address>, restless: &mut Restless) -> Option<(PeerId, Vec<PeerEvent>)> {
        if handshakes.len() >= HANDSHAKES_MAX {
            return None;
        }
        let counts = counts(handshakes.into_iter());
        let under_way = |address: &Address| counts.get(address).copied().unwrap_or(0);
        let addresses = self.waiting.iter().map(|waiting| waiting.address).enumerate();
        let open = addresses.filter(|(_, address)| under_way(address) < ADDRESS_HANDSHAKES_MAX);
        let rested = open.filter(|(_, address)| !restless.waits(*address));
        let (next, _) = rested.min_by_key(|(_, address)| under_way(address))?;
        let Waiting { peer, signals, .. } = self.waiting.remove(next)?;
        Some((peer, signals))
    }

    pub fn left(&mut self, peer: PeerId) {
        self.waiting.retain(|waiting| waiting.peer != peer);
    }

    /// Nobody waits, as far as is known.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// How many are of each address.
fn counts(addresses: impl Iterator<Item = Address>) -> BTreeMap<Address, usize> {
    let mut counts = BTreeMap::new();
    addresses.for_each(|address| *counts.entry(address).or_default() += 1);
    counts
}
