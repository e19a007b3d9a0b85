//! The carrier over WebRTC data channels, native and in a browser, by `matchbox_socket`.
//!
//! Peers find each other in a room of a signaling server ([`crate::signaling`]); afterwards packets travel between them
//! directly. matchbox's own loop runs beside the game (a thread natively, a task in a browser); [`MatchboxLink::poll`]
//! takes what it left in its queues. It must never block or panic, whatever a peer or the server sends.
//!
//! What a user of a link must know:
//! - A peer whose handshake never completes gives no event at all.
//! - When the signaling connection is lost while peers are connected, they stay connected and nothing is told, but nobody
//!   new can join. The link ends ([`LinkEvent::Closed`]) once the last of them is gone.
//! - The server tells the others when a peer's signaling connection is lost: they then see it disconnected.
//! - Packets handed over just before the link is dropped may be lost: poll a moment longer to say goodbye.

mod end;
mod room;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use futures::channel::oneshot;
use futures::future::AbortHandle;
use matchbox_socket::{PeerState, RtcIceServerConfig, WebRtcSocket, WebRtcSocketBuilder};
use uuid::Uuid;

use crate::link::{Channel, Link, LinkError, LinkEvent, PeerId};
use end::LoopEnd;
pub use room::{ROOM_CHARS_MAX, is_room_name};

/// How many packets of a peer are held until all its channels are open; what comes beyond is dropped.
const HELD_PACKETS_MAX: usize = 64;

/// The channels in the order in which every peer opens them.
const CHANNELS: [Channel; 2] = [Channel::Unreliable, Channel::Reliable];

/// Where a link finds its peers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The signaling server: `ws://host:port` or `wss://host`.
    pub url: String,
    /// The room: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub room: String,
    /// The room's key. The first peer in a room sets it, the others must present the same.
    pub key: Option<String>,
    /// STUN or TURN servers (`stun:host:port`). None are needed on one machine or in one local network.
    pub ice_urls: Vec<String>,
}

/// A [`Link`] over WebRTC. Dropping it closes every connection; the others see it gone within a moment.
#[derive(Debug)]
pub struct MatchboxLink {
    config: Config,
    socket: WebRtcSocket,
    running: Running,
    entered: bool,
    connected: BTreeSet<PeerId>,
    held: BTreeMap<PeerId, Vec<(Channel, Vec<u8>)>>,
    events: VecDeque<LinkEvent>,
    closed: bool,
}

/// matchbox's loop as the link sees it: a handle that ends it, and what it tells.
#[derive(Debug)]
struct Running {
    abort: AbortHandle,
    late: oneshot::Receiver<()>,
    end: oneshot::Receiver<LoopEnd>,
}

impl MatchboxLink {
    /// Starts to enter the room. What becomes of it, good or bad, comes from [`Link::poll`].
    pub fn open(config: Config) -> Self {
        let (socket, looping) = WebRtcSocketBuilder::new(room::url(&config))
            .ice_server(RtcIceServerConfig { urls: config.ice_urls.clone(), username: None, credential: None })
            .reconnect_attempts(Some(1))
            .add_unreliable_channel()
            .add_reliable_channel()
            .build();
        let (watched, running) = end::watch(looping);
        let mut link = Self {
            config,
            socket,
            running,
            entered: false,
            connected: BTreeSet::new(),
            held: BTreeMap::new(),
            events: VecDeque::new(),
            closed: false,
        };
        match room::check(&link.config).and_then(|()| end::run(watched)) {
            Ok(()) => {}
            Err(error) => link.close(error),
        }
        link
    }

    /// Takes everything matchbox has queued. A peer's packets come after its `Connected` and before its `Disconnected`.
    fn gather(&mut self) {
        if !self.entered && !self.enter() {
            return self.gather_end();
        }
        let changes = self.socket.try_update_peers();
        let packets = CHANNELS.map(|channel| self.receive(channel));
        let Ok(changes) = changes else {
            packets.into_iter().flatten().for_each(|(from, channel, bytes)| self.arrive(from, channel, bytes));
            return self.gather_end();
        };
        let last: BTreeMap<_, _> = changes.iter().map(|&(peer, state)| (ours(peer), state)).collect();
        for (peer, _) in changes.iter().filter(|(_, state)| *state == PeerState::Connected) {
            self.connect(ours(*peer));
        }
        packets.into_iter().flatten().for_each(|(from, channel, bytes)| self.arrive(from, channel, bytes));
        for (&peer, _) in last.iter().filter(|(_, state)| **state == PeerState::Disconnected) {
            self.disconnect(peer);
        }
    }

    /// Whether the server has let this peer in by now.
    fn enter(&mut self) -> bool {
        if let Some(id) = self.socket.id() {
            self.entered = true;
            self.events.push_back(LinkEvent::Entered(ours(id)));
        }
        self.entered
    }

    fn receive(&mut self, channel: Channel) -> Vec<(PeerId, Channel, Vec<u8>)> {
        let Ok(packets) = self.socket.get_channel_mut(channel as usize).map(|channel| channel.receive()) else {
            return Vec::new();
        };
        packets.into_iter().map(|(from, bytes)| (ours(from), channel, bytes.into())).collect()
    }

    fn connect(&mut self, peer: PeerId) {
        if self.connected.insert(peer) {
            self.events.push_back(LinkEvent::Connected(peer));
            for (channel, bytes) in self.held.remove(&peer).unwrap_or_default() {
                self.arrive(peer, channel, bytes);
            }
        }
    }

    fn disconnect(&mut self, peer: PeerId) {
        self.held.remove(&peer);
        if self.connected.remove(&peer) {
            self.events.push_back(LinkEvent::Disconnected(peer));
        }
    }

    /// A packet can overtake the news that its sender's channels are open: it is held until then.
    fn arrive(&mut self, from: PeerId, channel: Channel, bytes: Vec<u8>) {
        if bytes.len() > Self::PACKET_BYTES_MAX {
            log::debug!("dropped a packet of {} bytes from {from}", bytes.len());
        } else if self.connected.contains(&from) {
            self.events.push_back(LinkEvent::Packet { from, channel, bytes });
        } else {
            let held = self.held.entry(from).or_default();
            if held.len() < HELD_PACKETS_MAX {
                held.push((channel, bytes));
            }
        }
    }

    /// Closes the link when matchbox's loop has ended, or when the server has not answered in time.
    fn gather_end(&mut self) {
        if let Ok(Some(end)) = self.running.end.try_recv() {
            self.close(end.into_error(&self.config));
        } else if !self.entered && matches!(self.running.late.try_recv(), Ok(Some(()))) {
            self.close(end::silent(&self.config));
        }
    }

    fn close(&mut self, error: LinkError) {
        self.closed = true;
        self.running.abort.abort();
        let connected = std::mem::take(&mut self.connected);
        self.events.extend(connected.into_iter().map(LinkEvent::Disconnected));
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
        if bytes.len() > Self::PACKET_BYTES_MAX || !self.connected.contains(&to) {
            return;
        }
        if let Ok(out) = self.socket.get_channel_mut(channel as usize) {
            // An error means that the loop has ended: the next poll tells why.
            let _ = out.try_send(bytes.into(), theirs(to));
        }
    }
}

impl Drop for MatchboxLink {
    fn drop(&mut self) {
        self.running.abort.abort();
    }
}

fn ours(peer: matchbox_socket::PeerId) -> PeerId {
    PeerId(peer.0.as_u128())
}

fn theirs(peer: PeerId) -> matchbox_socket::PeerId {
    matchbox_socket::PeerId(Uuid::from_u128(peer.0))
}
