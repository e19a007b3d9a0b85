//! The players who wait for their handshakes with a relay: first come, first served. A player whose
//! handshake was in vain, or whose connection broke, comes again.

use std::collections::VecDeque;

use matchbox_socket::{PeerEvent, PeerSignal};

use crate::limits::{HANDSHAKE_SIGNALS_MAX, HANDSHAKES_MAX, HANDSHAKES_WAITING_MAX};
use crate::link::PeerId;

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Those whose handshake is to come, and what they have signaled.
    waiting: VecDeque<(PeerId, Vec<PeerEvent>)>,
}

impl Queue {
    /// A player offers a connection, while so many others have their handshakes. Returns whether it
    /// may have its own now; else it is noted, if it is to wait.
    pub fn admits(&mut self, peer: PeerId, handshakes: usize) -> bool {
        if self.waiting.iter().any(|(waiting, _)| *waiting == peer) {
            return false;
        }
        if self.waiting.is_empty() && handshakes < HANDSHAKES_MAX {
            return true;
        }
        if self.waiting.len() < HANDSHAKES_WAITING_MAX {
            self.waiting.push_back((peer, Vec::new()));
        } else {
            tracing::warn!("passed over a player: {HANDSHAKES_WAITING_MAX} others wait to connect");
        }
        false
    }

    /// Keeps a signal of a player that waits. With another offer it begins anew.
    pub fn keep(&mut self, peer: PeerId, signal: PeerEvent) {
        let Some((_, signals)) = self.waiting.iter_mut().find(|(waiting, _)| *waiting == peer) else { return };
        if matches!(signal, PeerEvent::Signal { data: PeerSignal::Offer(_), .. }) {
            signals.clear();
        }
        if signals.len() < HANDSHAKE_SIGNALS_MAX {
            signals.push(signal);
        }
    }

    /// The next player whose turn it is, and what it has signaled.
    pub fn next(&mut self, handshakes: usize) -> Option<(PeerId, Vec<PeerEvent>)> {
        if handshakes < HANDSHAKES_MAX { self.waiting.pop_front() } else { None }
    }

    pub fn left(&mut self, peer: PeerId) {
        self.waiting.retain(|(waiting, _)| *waiting != peer);
    }
}
