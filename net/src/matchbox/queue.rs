//! The players who wait for their handshakes with a relay: first come, first served, and each has
//! one while it is in the room.

use std::collections::{BTreeSet, VecDeque};

use matchbox_socket::PeerEvent;

use super::SIGNALS_KEPT_MAX;
use crate::link::PeerId;

/// How many players may be in the middle of their handshakes with a relay. Others wait.
const HANDSHAKES_MAX: usize = 16;
/// How many players may wait for their handshakes. An offer beyond is ignored. The player that made
/// it may come again.
const WAITING_MAX: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Those that had their handshake.
    spent: BTreeSet<PeerId>,
    /// Those whose handshake is to come, and what they have signaled.
    waiting: VecDeque<(PeerId, Vec<PeerEvent>)>,
}

impl Queue {
    /// A player offers a connection, while so many others have their handshakes. Returns whether it
    /// may have its own now; else it is noted, if it is to wait.
    pub fn admits(&mut self, peer: PeerId, handshakes: usize) -> bool {
        if self.spent.contains(&peer) || self.waiting.iter().any(|(waiting, _)| *waiting == peer) {
            return false;
        }
        if self.waiting.is_empty() && handshakes < HANDSHAKES_MAX {
            return true;
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back((peer, Vec::new()));
        } else {
            tracing::warn!("passed over a player: {WAITING_MAX} others wait to connect");
        }
        false
    }

    /// Keeps a signal of a player that waits.
    pub fn keep(&mut self, peer: PeerId, signal: PeerEvent) {
        if let Some((_, signals)) = self.waiting.iter_mut().find(|(waiting, _)| *waiting == peer)
            && signals.len() < SIGNALS_KEPT_MAX
        {
            signals.push(signal);
        }
    }

    /// The next player whose turn it is, and what it has signaled.
    pub fn next(&mut self, handshakes: usize) -> Option<(PeerId, Vec<PeerEvent>)> {
        if handshakes < HANDSHAKES_MAX { self.waiting.pop_front() } else { None }
    }

    /// A player had its handshake.
    pub fn served(&mut self, peer: PeerId) {
        self.spent.insert(peer);
    }

    pub fn left(&mut self, peer: PeerId) {
        self.spent.remove(&peer);
        self.waiting.retain(|(waiting, _)| *waiting != peer);
    }
}
