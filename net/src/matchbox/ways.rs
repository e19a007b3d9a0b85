//! The servers that help to find ways to peers, and which kinds of ways were told and heard.
//!
//! It must never keep an address: only that there was one of a kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use matchbox_socket::{PeerEvent, PeerRequest, PeerSignal, RtcIceServerConfig};

use super::room::Config;
use crate::link::Obstacle;

/// Of a link, shared by all its pairs.
#[derive(Clone, Debug)]
pub(super) struct Ways(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    servers: RtcIceServerConfig,
    has_stun: bool,
    /// Addresses that this end told: any, from a STUN server, at a TURN server.
    told: AtomicBool,
    told_seen: AtomicBool,
    told_relayed: AtomicBool,
    /// Whether a peer said where it is.
    heard: AtomicBool,
}

impl Ways {
    pub fn new(config: &Config) -> Ways {
        let Config { stun, turn, .. } = config;
        let urls = stun.iter().chain(turn.iter().map(|turn| &turn.url)).cloned().collect();
        let username = turn.as_ref().map(|turn| turn.user.clone());
        let credential = turn.as_ref().map(|turn| turn.password.clone());
        Ways(Arc::new(Inner {
            servers: RtcIceServerConfig { urls, username, credential },
            has_stun: !stun.is_empty(),
            told: AtomicBool::default(),
            told_seen: AtomicBool::default(),
            told_relayed: AtomicBool::default(),
            heard: AtomicBool::default(),
        }))
    }

    pub fn servers(&self) -> RtcIceServerConfig {
        self.0.servers.clone()
    }

    /// Takes notice of what this end signals.
    pub fn tells(&self, request: &PeerRequest) {
        if let PeerRequest::Signal { data: PeerSignal::IceCandidate(candidate), .. } = request {
            let is = |kind: &str| candidate.contains(&format!(" typ {kind}"));
            self.0.told.store(true, Relaxed);
            self.0.told_seen.fetch_or(is("srflx"), Relaxed);
            self.0.told_relayed.fetch_or(is("relay"), Relaxed);
        }
    }

    /// Takes notice of what a peer signals.
    pub fn hears(&self, event: &PeerEvent) {
        let is_way = matches!(event, PeerEvent::Signal { data: PeerSignal::IceCandidate(_), .. });
        self.0.heard.fetch_or(is_way, Relaxed);
    }

    /// What lies between this end and a peer that it was to be connected with, and was not.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let Inner { servers, has_stun, told, told_seen, told_relayed, heard } = &*self.0;
        let has_turn = servers.credential.is_some();
        if !told.load(Relaxed) && !heard.load(Relaxed) {
            return None;
        }
        Some(if !heard.load(Relaxed) {
            Obstacle::Silence
        } else if has_turn && !told_relayed.load(Relaxed) {
            Obstacle::Turn
        } else if *has_stun && !told_seen.load(Relaxed) {
            Obstacle::Stun
        } else {
            Obstacle::Firewall { relayed: has_turn }
        })
    }
}
