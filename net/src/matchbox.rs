//! The carrier over WebRTC data channels, native and in a browser, by `matchbox_socket`.
//!
//! Peers find each other in a room of a signaling server (`signaling`); afterwards packets travel
//! between them directly. Signaling and matchbox's loops run beside the game (on a thread natively,
//! as tasks in a browser); [`MatchboxLink::poll`] takes what they left in their queues, and whoever
//! drives the link is woken when there is something (`bell`). It must never block or panic,
//! whatever a peer or the server sends.
//!
//! matchbox 0.15 panics when a peer leaves in the middle of its handshake or sends a broken session
//! description. So every other peer has a matchbox socket of its own (`pair`), and a panic ends
//! only the connection to that peer. It is printed by the panic hook, from a thread called
//! [`THREAD_NAME`]. A program built with `panic = "abort"` has no such shelter.
//!
//! In a party everyone is connected with everyone. To a relay its players alone connect: each
//! player has one pair, the relay one with each player, and nobody takes an offer from anyone
//! else ([`RoomRole`]).
//!
//! What a user of a link must know:
//! - A peer whose handshake never completes gives no event at all. A player whose relay does not
//!   answer gets [`LinkEvent::Closed`] within half a minute.
//! - When the signaling connection is lost while peers are connected, they stay connected, but
//!   nobody new can join: [`LinkEvent::SignalingLost`]. A relay tries to get it back, for as long
//!   as it runs. Any other link ends ([`LinkEvent::Closed`]) once the last of its peers is gone.
//! - The server tells the others when a peer's signaling connection is lost: they then take it
//!   for disconnected. But a relay's players are told nothing: their links live on while the
//!   relay comes back.
//! - The first packets to a peer may be lost, on the reliable channel too: webrtc 0.21 acknowledges
//!   and drops what it reads together with the end of the SCTP handshake, because it opens its data
//!   channels only afterwards. So say it again until there is an answer.
//! - Packets handed over just before the link is dropped may be lost: poll a moment
//!   longer to say goodbye.

mod bell;
mod pair;
mod room;
mod tasks;
mod wire;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::{Context, Poll, Waker};

use bell::Bells;
use futures::StreamExt;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use matchbox_socket::{PeerEvent, PeerRequest, PeerSignal};

use crate::link::{Channel, Link, LinkError, LinkEvent, PeerId};
pub use crate::room::{KEY_BYTES_MAX, ROOM_CHARS_MAX, RoomRole, TOKEN_BYTES_MAX, is_room_name};
use pair::Pair;
pub use tasks::THREAD_NAME;
use tasks::Tasks;
use wire::Heard;

/// How many players may be in the middle of their handshakes with a relay. Others wait.
const HANDSHAKES_MAX: usize = 16;
/// How many players may wait for their handshakes. An offer beyond is ignored. The player that made
/// it may come again.
const WAITING_MAX: usize = 512;
/// What is kept of the signals of one that waits: an offer and its ways to be reached are fewer.
const WAITING_SIGNALS_MAX: usize = 32;

/// Where a link finds its peers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The signaling server: `ws://host:port` or `wss://host`.
    pub url: String,
    /// The room: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub room: String,
    /// The room's key, at most 128 bytes. The first peer in a room sets it, the others must
    /// present the same.
    pub key: Option<String>,
    /// STUN servers (`stun:host:port`). None are needed on one machine or in one local network.
    pub ice_urls: Vec<String>,
    /// As what the room is entered.
    pub role: RoomRole,
}

/// A [`Link`] over WebRTC. Dropping it closes every connection; the others see it gone
/// within a moment.
#[derive(Debug)]
pub struct MatchboxLink {
    role: RoomRole,
    ice_urls: Vec<String>,
    tasks: Tasks,
    requests: UnboundedSender<PeerRequest>,
    heard: UnboundedReceiver<Heard>,
    bells: Bells,
    /// Signaling's.
    bell: Waker,
    pairs: BTreeMap<PeerId, Pair>,
    /// Players in a relay's room that had their handshake: each has one.
    spent: BTreeSet<PeerId>,
    /// Players in a relay's room whose handshake is to come, and what they have signaled. First
    /// come, first served.
    waiting: VecDeque<(PeerId, Vec<PeerEvent>)>,
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
        let bells = Bells::default();
        let link = Self {
            role: config.role.clone(),
            ice_urls: config.ice_urls.clone(),
            tasks,
            requests,
            heard,
            bell: bells.hang(None),
            bells,
            pairs: BTreeMap::new(),
            spent: BTreeSet::new(),
            waiting: VecDeque::new(),
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
        let rung = self.bells.take();
        while let Poll::Ready(Some(heard)) = self.heard.poll_next_unpin(&mut Context::from_waker(&self.bell)) {
            match heard {
                Heard::Event(event) => self.hear(event),
                Heard::Away(error) => self.signaling_away(error),
                Heard::Back => self.events.push_back(LinkEvent::SignalingBack),
                Heard::Lost(error) => self.signaling_lost(error),
            }
        }
        let opened = self.bells.take();
        let in_vain = self.gather_pairs(rung.iter().chain(&opened).copied().flatten());
        self.admit_waiting();
        if in_vain && self.role == RoomRole::Player {
            let error = || LinkError::Ended("the room's relay does not answer: try again later".into());
            self.lost.get_or_insert_with(error);
        }
        if !self.pairs.values().any(Pair::is_connected)
            && let Some(error) = self.lost.take()
        {
            self.close(error);
        }
    }

    /// Takes what these pairs have. Returns whether a handshake failed.
    fn gather_pairs(&mut self, rung: impl Iterator<Item = PeerId>) -> bool {
        let Self { pairs, events, spent, role, .. } = self;
        let mut in_vain = false;
        for from in rung {
            let Some(pair) = pairs.get_mut(&from) else { continue };
            let shaking = !pair.is_connected();
            pair.gather(events);
            if pair.is_over() || pair.is_late() {
                in_vain |= shaking;
                pairs.remove(&from);
                if matches!(role, RoomRole::Relay { .. }) {
                    spent.insert(from);
                }
            }
        }
        in_vain
    }

    /// A relay's signaling tries to come back. No handshake of now can be completed then.
    fn signaling_away(&mut self, error: LinkError) {
        tracing::warn!("nobody new can join for now: {error}");
        self.pairs.retain(|_, pair| pair.is_connected());
        self.spent.clear();
        self.waiting.clear();
        self.events.push_back(LinkEvent::SignalingLost(error));
    }

    fn signaling_lost(&mut self, error: LinkError) {
        if self.role != RoomRole::Player && self.pairs.values().any(Pair::is_connected) {
            tracing::warn!("nobody new can join: {error}");
            self.events.push_back(LinkEvent::SignalingLost(error.clone()));
        }
        self.lost = Some(error);
    }

    fn hear(&mut self, event: PeerEvent) {
        match event {
            PeerEvent::IdAssigned(own) => self.events.push_back(LinkEvent::Entered(ours(own))),
            PeerEvent::NewPeer(peer) | PeerEvent::Signal { sender: peer, data: PeerSignal::Offer(_) } => {
                if !self.pairs.contains_key(&ours(peer)) && self.wants(&event) {
                    self.open_pair(ours(peer));
                }
                self.hear_signal(ours(peer), event);
            }
            PeerEvent::Signal { sender, .. } => self.hear_signal(ours(sender), event),
            PeerEvent::PeerLeft(peer) => {
                self.spent.remove(&ours(peer));
                self.waiting.retain(|(waiting, _)| *waiting != ours(peer));
                if let Some(mut pair) = self.pairs.remove(&ours(peer)) {
                    pair.gather(&mut self.events);
                    pair.leave(&mut self.events);
                }
            }
        }
    }

    fn open_pair(&mut self, peer: PeerId) {
        let bell = self.bells.hang(Some(peer));
        let (requests, hurried) = (self.requests.clone(), self.role != RoomRole::Peer);
        self.pairs.insert(peer, Pair::open(peer, &self.ice_urls, &self.tasks, requests, bell, hurried));
    }

    /// Passes a signal on to the pair that it is for, or keeps it for one that is to come.
    fn hear_signal(&mut self, peer: PeerId, event: PeerEvent) {
        if let Some(pair) = self.pairs.get_mut(&peer) {
            pair.hear(event);
        } else if let Some((_, signals)) = self.waiting.iter_mut().find(|(waiting, _)| *waiting == peer)
            && signals.len() < WAITING_SIGNALS_MAX
        {
            signals.push(event);
        }
    }

    /// Begins the handshakes for which there is room now.
    fn admit_waiting(&mut self) {
        while !self.waiting.is_empty()
            && self.has_room()
            && let Some((peer, signals)) = self.waiting.pop_front()
        {
            self.open_pair(peer);
            signals.into_iter().for_each(|signal| self.hear_signal(peer, signal));
        }
    }

    /// Whether a handshake with a relay may begin.
    fn has_room(&self) -> bool {
        self.pairs.values().filter(|pair| !pair.is_connected()).count() < HANDSHAKES_MAX
    }

    /// Whether a peer that is told of, or that offers a connection, is one to connect with now. A
    /// relay notes who has to wait.
    fn wants(&mut self, event: &PeerEvent) -> bool {
        match (&self.role, event) {
            // The peer that was there first offers, the newcomer answers.
            (RoomRole::Peer, _) => true,
            // A player offers, its relay answers.
            (RoomRole::Player, PeerEvent::NewPeer(_)) => self.pairs.is_empty(),
            (RoomRole::Relay { .. }, PeerEvent::Signal { sender, .. }) => {
                let peer = ours(*sender);
                if self.spent.contains(&peer) || self.waiting.iter().any(|(waiting, _)| *waiting == peer) {
                    return false;
                }
                if self.waiting.is_empty() && self.has_room() {
                    return true;
                }
                if self.waiting.len() < WAITING_MAX {
                    self.waiting.push_back((peer, Vec::new()));
                } else {
                    tracing::warn!("passed over a player: {WAITING_MAX} others wait to connect");
                }
                false
            }
            (RoomRole::Player | RoomRole::Relay { .. }, _) => false,
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

    fn wake_with(&mut self, driver: &Waker) -> bool {
        self.bells.wake(driver);
        true
    }
}

fn ours(peer: matchbox_socket::PeerId) -> PeerId {
    PeerId(peer.0.as_u128())
}
