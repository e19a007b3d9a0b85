//! The servers that help to find ways to peers, and which kinds of ways were told and heard.
//!
//! It must never keep an address: only that there was one of a kind.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use matchbox_socket::{PeerEvent, PeerRequest, PeerSignal, RtcIceServerConfig};

use super::room::{Config, Turn};
use crate::link::Obstacle;

/// Of a link, shared by all its pairs.
#[derive(Clone, Debug)]
pub(super) struct Ways(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    stun: Vec<String>,
    turn: Mutex<Option<Turn>>,
    /// Whether the TURN server is the one that was named here.
    is_own: bool,
    /// Addresses that this end told: any, from a STUN server, at a TURN server.
    told: AtomicBool,
    told_seen: AtomicBool,
    told_relayed: AtomicBool,
    /// Whether a peer said where it is.
    heard: AtomicBool,
}

impl Ways {
    pub fn new(config: &Config) -> Ways {
        Ways(Arc::new(Inner {
            stun: config.stun.clone(),
            turn: Mutex::new(config.turn.clone()),
            is_own: config.turn.is_some(),
            told: AtomicBool::default(),
            told_seen: AtomicBool::default(),
            told_relayed: AtomicBool::default(),
            heard: AtomicBool::default(),
        }))
    }

    /// Those that the next pair goes by.
    pub fn servers(&self) -> RtcIceServerConfig {
        let (stun, turn) = (&self.0.stun, self.turn().clone());
        let of_turn = turn.iter().flat_map(|turn| [turn.stun(), turn.url.clone()]);
        let urls = stun.iter().cloned().chain(of_turn).collect();
        let (username, credential) = turn.map(|turn| (turn.user, turn.password)).unzip();
        RtcIceServerConfig { urls, username, credential }
    }

    /// Signaling knows a TURN server, and lets this peer in there.
    pub fn lend(&self, turn: Turn) {
        if !self.0.is_own {
            *self.turn() = Some(turn);
        }
    }

    /// Whether there is a TURN server.
    pub fn has_turn(&self) -> bool {
        self.turn().is_some()
    }

    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        self.0.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes notice of what this end signals.
    pub fn tells(&self, request: &PeerRequest) {
        if let PeerRequest::Signal { data: PeerSignal::IceCandidate(candidate), .. } = request {
            self.0.told.store(true, Relaxed);
            self.0.told_seen.fetch_or(is_way(candidate, "srflx"), Relaxed);
            self.0.told_relayed.fetch_or(is_way(candidate, "relay"), Relaxed);
        }
    }

    /// Takes notice of what a peer signals.
    pub fn hears(&self, event: &PeerEvent) {
        let is_way = matches!(event, PeerEvent::Signal { data: PeerSignal::IceCandidate(_), .. });
        self.0.heard.fetch_or(is_way, Relaxed);
    }

    /// What lies between this end and a peer that it was to be connected with, and was not.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let Inner { stun, told, told_seen, told_relayed, heard, .. } = &*self.0;
        let has_turn = self.has_turn();
        if !told.load(Relaxed) && !heard.load(Relaxed) {
            return None;
        }
        Some(if !heard.load(Relaxed) {
            Obstacle::Silence
        } else if has_turn && !told_relayed.load(Relaxed) {
            // Without a STUN server beside it, the TURN server told how this end is seen.
            Obstacle::Turn { refused: stun.is_empty() && told_seen.load(Relaxed) }
        } else if !stun.is_empty() && !told_seen.load(Relaxed) {
            Obstacle::Stun
        } else {
            Obstacle::Firewall { relayed: has_turn }
        })
    }
}

/// Whether what is signaled of a way says that it is of this kind.
pub(super) fn is_way(candidate: &str, kind: &str) -> bool {
    candidate.contains(&format!(" typ {kind}"))
}
