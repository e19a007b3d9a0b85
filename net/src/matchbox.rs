//! The carrier over WebRTC data channels, native and in a browser, by `matchbox_socket`.
//!
//! Peers find each other in a room of a signaling server ([`crate::signaling`]); afterwards packets travel between them
//! directly. Signaling and matchbox's loops run beside the game (on a thread natively, as tasks in a browser);
//! [`MatchboxLink::poll`] takes what they left in their queues. It must never block or panic, whatever a peer or the
//! server sends.
//!
//! matchbox 0.15 panics when a peer leaves in the middle of its handshake or sends a broken session description. So every
//! other peer has a matchbox socket of its own (`pair`), and a panic ends only the connection to that peer. It is printed
//! by the panic hook, from a thread called [`THREAD_NAME`]. A program built with `panic = "abort"` has no such shelter.
//!
//! What a user of a link must know:
//! - A peer whose handshake never completes gives no event at all.
//! - When the signaling connection is lost while peers are connected, they stay connected and nothing is told, but nobody
//!   new can join. The link ends ([`LinkEvent::Closed`]) once the last of them is gone.
//! - The server tells the others when a peer's signaling connection is lost: they then take it for disconnected.
//! - Packets handed over just before the link is dropped may be lost: poll a moment longer to say goodbye.

mod pair;
mod room;
mod tasks;
mod wire;

use std::collections::BTreeMap;
use std::collections::VecDeque;

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use matchbox_socket::{PeerEvent, PeerRequest, PeerSignal};

use crate::link::{Channel, Link, LinkError, LinkEvent, PeerId};
use pair::{Pair, PairEvent};
pub use room::{ROOM_CHARS_MAX, is_room_name};
pub use tasks::THREAD_NAME;
use tasks::Tasks;
use wire::Heard;

/// Where a link finds its peers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The signaling server: `ws://host:port` or `wss://host`.
    pub url: String,
    /// The room: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub room: String,
    /// The room's key, at most 128 bytes. The first peer in a room sets it, the others must present the same.
    pub key: Option<String>,
    /// STUN servers (`stun:host:port`). None are needed on one machine or in one local network.
    pub ice_urls: Vec<String>,
}

/// A [`Link`] over WebRTC. Dropping it closes every connection; the others see it gone within a moment.
#[derive(Debug)]
pub struct MatchboxLink {
    ice_urls: Vec<String>,
    tasks: Tasks,
    requests: UnboundedSender<PeerRequest>,
    heard: UnboundedReceiver<Heard>,
    pairs: BTreeMap<PeerId, Pair>,
    /// Why signaling ended, if it has.
    lost: Option<LinkError>,
    events: VecDeque<LinkEvent>,
    closed: bool,
}

impl MatchboxLink {
    /// Starts to enter the room. What becomes of it, good or bad, comes from [`Link::poll`].
    pub fn open(config: Config) -> Self {
        let (requests, requests_rx) = mpsc::unbounded();
        let (heard_tx, heard) = mpsc::unbounded();
        let (tasks, started) = Tasks::start();
        let lost = room::check(&config).and(started).err();
        let link = Self {
            ice_urls: config.ice_urls.clone(),
            tasks,
            requests,
            heard,
            pairs: BTreeMap::new(),
            lost,
            events: VecDeque::new(),
            closed: false,
        };
        if link.lost.is_none() {
            link.tasks.spawn(Box::pin(wire::signal(config, requests_rx, heard_tx)));
        }
        link
    }

    fn gather(&mut self) {
        while let Ok(heard) = self.heard.try_recv() {
            match heard {
                Heard::Event(event) => self.hear(event),
                Heard::Lost(error) => self.lost = Some(error),
            }
        }
        let events = &mut self.events;
        self.pairs.retain(|&from, pair| {
            pair.gather(|event| events.push_back(told(from, event)));
            !pair.is_over()
        });
        if !self.pairs.values().any(Pair::is_connected)
            && let Some(error) = self.lost.take()
        {
            self.close(error);
        }
    }

    fn hear(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::IdAssigned(own) => self.events.push_back(LinkEvent::Entered(ours(own))),
            // Whoever was there first offers, the newcomer answers.
            PeerEvent::NewPeer(peer) | PeerEvent::Signal { sender: peer, data: PeerSignal::Offer(_) } => {
                let pair = || Pair::open(&self.ice_urls, &self.tasks, self.requests.clone());
                self.pairs.entry(ours(peer)).or_insert_with(pair).hear(event);
            }
            PeerEvent::Signal { sender, .. } => {
                if let Some(pair) = self.pairs.get_mut(&ours(sender)) {
                    pair.hear(event);
                }
            }
            PeerEvent::PeerLeft(peer) => {
                if let Some(mut pair) = self.pairs.remove(&ours(peer)) {
                    pair.gather(|event| self.events.push_back(told(ours(peer), event)));
                    pair.leave(|event| self.events.push_back(told(ours(peer), event)));
                }
            }
        }
    }

    fn close(&mut self, error: LinkError) {
        self.closed = true;
        self.pairs.clear();
        self.events.push_back(LinkEvent::Closed(error));
    }
}

impl Link for MatchboxLink {
    fn poll(&mut self) -> Option<LinkEvent> {
        if self.events.is_empty() && !self.closed {
            self.gather();
        }
        self.events.pop_front()
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        debug_assert!(bytes.len() <= Self::PACKET_BYTES_MAX, "a packet of {} bytes", bytes.len());
        if let Some(pair) = self.pairs.get_mut(&to)
            && bytes.len() <= Self::PACKET_BYTES_MAX
        {
            pair.send(channel, bytes);
        }
    }
}

fn told(from: PeerId, event: PairEvent) -> LinkEvent {
    match event {
        PairEvent::Connected => LinkEvent::Connected(from),
        PairEvent::Packet(channel, bytes) => LinkEvent::Packet { from, channel, bytes },
        PairEvent::Disconnected => LinkEvent::Disconnected(from),
    }
}

fn ours(peer: matchbox_socket::PeerId) -> PeerId {
    PeerId(peer.0.as_u128())
}
