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
//! In a party everyone is connected with everyone. To a relay its players alone connect, and its
//! standby: each player has one pair with each of both, the relay one with each player and with the
//! standby, and nobody takes an offer from anyone else ([`RoomRole`]).
//!
//! What a user of a link must know:
//! - A peer whose handshake never completes gives no event at all. Its connection is offered again
//!   after 1 to 16 s, as long as both are in the room. One that breaks is offered again every four
//!   seconds, so that it is there soon after the two can reach each other. A player that reached
//!   neither its relay nor a standby in 25 s gets [`LinkEvent::Closed`].
//! - If the first peer of a party's room says nothing to those who come, the server begins the room
//!   anew without it: all connections end, and [`LinkEvent::Entered`] tells a new name.
//! - When the signaling connection is lost, peers stay connected, but nobody new can join:
//!   [`LinkEvent::SignalingLost`]. The link looks for the server again, at once if it had it for a
//!   while, then every 0.5 to 2 s, and comes back to the room with the same [`PeerId`]:
//!   [`LinkEvent::SignalingBack`]. A relay does so for as long as it runs. Any other link ends
//!   ([`LinkEvent::Closed`]) once it has had no peer and no server for [`Config::return_within`]. A
//!   server that gives it another name, as those of others do, is of no use: then it ends once the
//!   last of its peers is gone.
//! - The server tells the others when a peer's signaling connection is lost. They ask the peer then
//!   whether it lives, on its own connection. Only if it says nothing for a second, or left such a
//!   question unanswered before, they take it for disconnected.
//! - A link that nobody polled for two seconds, as its page was frozen or its machine asleep, asks
//!   all its peers whether they live. Whoever begins anew before it answers is connected anew at
//!   once.
//! - While the network swallows all, packets wait, or are dropped if they are unreliable: from two
//!   to three seconds on after the peer was heard last, until it is heard again. After half a
//!   minute webrtc ends the connection. matchbox 0.15 gives no way to change that, nor that the ICE
//!   of a handshake seeks for 1.4 s alone.
//! - The first packets to a peer may be lost, on the reliable channel too: webrtc 0.21 acknowledges
//!   and drops what it reads together with the end of the SCTP handshake, because it opens its data
//!   channels only afterwards. So say it again until there is an answer.
//! - What others signal is bounded, each for itself, and so is how many of them are connected, and
//!   how often a handshake is begun with newcomers: see [`limits`](crate::limits). What is more is
//!   dropped, or waits, and costs peers that were connected before nothing.
//! - Packets handed over just before the link is dropped may be lost: poll a moment
//!   longer to say goodbye.

mod bell;
mod bounds;
mod delay;
mod fingerprints;
mod handshake;
mod lasting;
mod mending;
mod name;
mod pair;
mod probe;
mod queue;
mod quota;
mod restless;
mod room;
mod silence;
mod standstill;
mod tasks;
mod ways;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bell::Bells;
use bounds::Bounds;
use delay::Delay;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt};
use matchbox_socket::{PeerEvent, PeerRequest, PeerSignal};
use uuid::Uuid;

use crate::link::{Channel, Link, LinkError, LinkEvent, Obstacle, PeerId};
pub use crate::room::{KEY_BYTES_MAX, ROOM_CHARS_MAX, RoomRole, TOKEN_BYTES_MAX, is_ice_server, is_room_name};
use handshake::Handshake;
use mending::Mending;
use pair::Pair;
use queue::Queue;
use restless::Restless;
pub use room::{Config, Turn};
use standstill::Standstill;
pub use tasks::THREAD_NAME;
use tasks::Tasks;
use ways::Ways;
use wire::{Address, Heard};

/// A [`Link`] over WebRTC. Dropping it closes every connection; the others see it gone
/// within a moment.
#[derive(Debug)]
pub struct MatchboxLink {
    role: RoomRole,
    ways: Ways,
    return_within: Duration,
    /// Once the room let it in.
    me: Option<PeerId>,
    tasks: Tasks,
    requests: UnboundedSender<PeerRequest>,
    heard: UnboundedReceiver<Heard>,
    bells: Bells,
    /// Signaling's.
    bell: Waker,
    pairs: BTreeMap<PeerId, Pair>,
    mending: Mending,
    /// Of a relay, or its standby.
    queue: Queue,
    restless: Restless,
    standstill: Standstill,
    /// Of a player: until when it tries to reach a host for the first time, once it has begun.
    answered_by: Option<Delay>,
    /// While the signaling server is looked for.
    away: Option<Away>,
    bounds: Bounds,
    /// Why signaling ended, if it has.
    lost: Option<LinkError>,
    events: VecDeque<LinkEvent>,
    closed: bool,
}

#[derive(Debug)]
struct Away {
    error: LinkError,
    /// When the link ends, if it has no peer.
    alone: Option<Delay>,
}

impl MatchboxLink {
    /// Starts to enter the room. What becomes of it, good or bad, comes from [`Link::poll`].
    pub fn open(config: Config) -> Self {
        let (requests, requests_rx) = mpsc::unbounded();
        let (heard_tx, heard) = mpsc::unbounded();
        let (tasks, started) = Tasks::start();
        let lost = room::check(&config).and(started).err();
        let bells = Bells::default();
        let bell = bells.hang(None);
        let link = Self {
            role: config.role.clone(),
            ways: Ways::new(&config),
            return_within: config.return_within,
            me: None,
            tasks,
            requests,
            heard,
            restless: Restless::new(bell.clone()),
            standstill: Standstill::default(),
            bell,
            bells,
            pairs: BTreeMap::new(),
            mending: Mending::default(),
            queue: Queue::default(),
            answered_by: None,
            away: None,
            bounds: Bounds::new(&config.role),
            lost,
            events: VecDeque::new(),
            closed: false,
        };
        if link.lost.is_none() {
            let secret = Uuid::new_v4().simple().to_string();
            link.tasks.spawner().spawn(Box::pin(wire::signal(config, secret, requests_rx, heard_tx)));
        }
        link
    }

    fn gather(&mut self) {
        let rung = self.bells.take();
        if self.standstill.is_over() {
            self.pairs.values_mut().for_each(Pair::stood_still);
        }
        while let Poll::Ready(Some(heard)) = self.heard.poll_next_unpin(&mut Context::from_waker(&self.bell)) {
            match heard {
                Heard::Entered(own) => self.entered(own),
                Heard::Turn(turn) => self.ways.lend(turn),
                Heard::Event(event, address) => self.hear(event, address),
                Heard::Away(error) => self.signaling_away(error),
                Heard::Back => {
                    self.away = None;
                    self.events.push_back(LinkEvent::SignalingBack);
                }
                Heard::Lost(error) => self.signaling_lost(error),
            }
        }
        for peer in self.mending.due(&self.bell) {
            if !self.pairs.contains_key(&peer) {
                self.approach(peer);
            }
        }
        let opened = self.bells.take();
        rung.iter().chain(&opened).copied().flatten().for_each(|peer| self.gather_pair(peer));
        while let Some((peer, signals)) = self.next_in_queue() {
            self.restless.comes(peer, self.bounds.address(&peer));
            self.open_pair(peer, false, Handshake::answering());
            signals.into_iter().for_each(|signal| self.signaled(peer, signal));
        }
        self.end_if_unanswered();
        self.end_if_alone();
    }

    /// The room let this peer in, or begins anew for all who waited in it: then nobody is connected
    /// any more.
    fn entered(&mut self, own: PeerId) {
        if self.me.replace(own).is_some() {
            for (peer, mut pair) in core::mem::take(&mut self.pairs) {
                self.restless.forget(peer);
                pair.leave(&mut self.events);
            }
            self.mending.clear();
            self.bounds.forget_signals();
        }
        self.events.push_back(LinkEvent::Entered(own));
    }

    /// Takes what a pair has.
    fn gather_pair(&mut self, peer: PeerId) {
        let Some(pair) = self.pairs.get_mut(&peer) else { return };
        let was_connected = pair.is_connected();
        pair.gather(&mut self.events);
        if pair.is_connected() {
            self.mending.forget(peer);
            let is_connected = |known: &PeerId| self.pairs.get(known).is_some_and(Pair::is_connected);
            self.bounds.know(peer, is_connected);
            self.restless.is_here(peer);
        } else if pair.is_over() || pair.is_late(self.queue.has_others(self.bounds.address(&peer), &mut self.restless))
        {
            self.end_pair(peer, was_connected);
        }
    }

    fn forget_pair(&mut self, peer: PeerId) -> Option<Pair> {
        self.restless.went(peer);
        self.pairs.remove(&peer)
    }

    /// A connection is over, or a handshake was in vain.
    fn end_pair(&mut self, peer: PeerId, was_connected: bool) {
        let Some(mut pair) = self.forget_pair(peer) else { return };
        if pair.is_unwanted {
            tracing::warn!(%peer, "it sends what nobody answers, and is connected no more");
            return self.bounds.bar(peer);
        }
        let is_reachable = !pair.has_left && self.away.is_none() && self.lost.is_none();
        // A relay and its standby are offered connections, and offer none.
        let offers_again = is_reachable && (pair.offers || self.role == RoomRole::Peer);
        let knocks = pair.take_knocks();
        if offers_again && was_connected {
            self.mending.broke(peer, pair.offers);
            if pair.offers && pair.is_presumed_gone() && knocks.is_empty() {
                // It is there, and waits for that.
                self.mending.answered(peer);
            }
        } else if offers_again && pair.offers {
            self.mending.failed(peer);
        }
        knocks.into_iter().for_each(|knock| self.signaled(peer, knock));
    }

    /// A player whose relay could not be reached for so long gives up.
    fn end_if_unanswered(&mut self) {
        let Some(until) = self.answered_by.as_mut().filter(|_| self.bounds.knows_nobody()) else { return };
        if until.poll_unpin(&mut Context::from_waker(&self.bell)).is_ready() {
            let error = || LinkError::Ended("the room's relay does not answer: try again later".into());
            self.lost.get_or_insert_with(error);
        }
    }

    /// A link without a server and without peers ends after a while.
    fn end_if_alone(&mut self) {
        let is_alone = !self.pairs.values().any(Pair::is_connected);
        if let Some(error) = self.lost.take_if(|_| is_alone) {
            return self.close(error);
        }
        let is_hub = self.is_hub();
        let Some(Away { error, alone }) = &mut self.away else { return };
        if !is_alone || is_hub {
            *alone = None;
            return;
        }
        let until = alone.get_or_insert_with(|| Delay::new(self.return_within));
        if until.poll_unpin(&mut Context::from_waker(&self.bell)).is_ready() {
            let error = error.clone();
            self.close(error);
        }
    }

    /// Signaling tries to come back. No handshake of now can be completed then.
    fn signaling_away(&mut self, error: LinkError) {
        tracing::warn!("nobody new can join for now: {error}");
        let Self { pairs, events, .. } = self;
        pairs.values_mut().for_each(|pair| pair.gather(events));
        let over: Vec<_> = pairs.iter().filter(|(_, pair)| !pair.is_connected()).map(|(peer, _)| *peer).collect();
        over.into_iter().for_each(|peer| drop(self.forget_pair(peer)));
        self.queue.clear();
        self.mending.clear();
        self.bounds.forget_signals();
        self.answered_by = None;
        self.events.push_back(LinkEvent::SignalingLost(error.clone()));
        self.away = Some(Away { error, alone: None });
    }

    fn signaling_lost(&mut self, error: LinkError) {
        if self.pairs.values().any(Pair::is_connected) {
            tracing::warn!("nobody new can join: {error}");
            self.events.push_back(LinkEvent::SignalingLost(error.clone()));
        }
        self.away = None;
        self.lost = Some(error);
    }

    fn hear(&mut self, event: PeerEvent, address: Address) {
        match event {
            // The server has only one name for this peer.
            PeerEvent::IdAssigned(_) => {}
            PeerEvent::NewPeer(peer) => self.met(ours(peer)),
            PeerEvent::PeerLeft(peer) => self.left(ours(peer)),
            PeerEvent::Signal { sender, .. } => {
                if self.bounds.admits(ours(sender), address, &event) {
                    self.signaled(ours(sender), event);
                }
            }
        }
    }

    /// A peer entered the room, perhaps again. The peer that was there first offers, the newcomer
    /// answers; in a relay's room a player offers, its relay answers.
    fn met(&mut self, peer: PeerId) {
        let Some(pair) = self.pairs.get_mut(&peer) else {
            let may_come = !self.bounds.has_barred(peer);
            if may_come && !matches!(self.role, RoomRole::Relay { .. }) && self.has_place(peer) {
                self.meet(peer);
            }
            return;
        };
        pair.gather(&mut self.events);
        if pair.is_connected() {
            // It may know nothing of that.
            (pair.offers, pair.has_left) = (true, false);
            pair.doubt();
        } else if !matches!(self.role, RoomRole::Relay { .. }) {
            // What was signaled until now did not reach it.
            self.forget_pair(peer);
            self.meet(peer);
        }
    }

    /// Whether this is a relay, or may become one.
    fn is_hub(&self) -> bool {
        matches!(self.role, RoomRole::Relay { .. } | RoomRole::Standby { .. })
    }

    /// Whether there is a place for a peer. One that is idle gives way to it.
    fn has_place(&mut self, peer: PeerId) -> bool {
        let mended = self.mending.peers().filter(|mended| !self.pairs.contains_key(mended));
        let is_here = self.pairs.contains_key(&peer) || self.mending.peers().any(|mended| *mended == peer);
        if is_here || self.pairs.len() + mended.count() < self.bounds.peers_max {
            return true;
        }
        let idle = self.pairs.iter_mut().find_map(|(peer, pair)| pair.is_idle().then_some(*peer));
        let ended = idle.and_then(|peer| self.forget_pair(peer));
        ended.map(|mut pair| pair.leave(&mut self.events)).is_some()
    }

    /// A peer has left the room, or lost its way to the server.
    fn left(&mut self, peer: PeerId) {
        self.queue.left(peer);
        self.bounds.left(peer);
        self.mending.forget(peer);
        let Some(pair) = self.pairs.get_mut(&peer) else { return };
        pair.gather(&mut self.events);
        if pair.is_connected() {
            pair.has_left = true;
            pair.doubt();
        } else {
            self.forget_pair(peer);
            self.answered_by = None;
        }
    }

    /// Passes a signal on to the pair that it is for, or keeps it for one that is to come.
    fn signaled(&mut self, peer: PeerId, signal: PeerEvent) {
        let is_offer = matches!(signal, PeerEvent::Signal { data: PeerSignal::Offer(_), .. });
        let is_answer = matches!(signal, PeerEvent::Signal { data: PeerSignal::Answer(_), .. });
        if (is_offer || is_answer) && self.is_newcomer(peer) && self.restless.waits(self.bounds.address(&peer)) {
            return self.rest(peer);
        }
        let (mut handshake, is_hub) = (Handshake::answering(), self.is_hub());
        if let Some(pair) = self.pairs.get_mut(&peer) {
            // Of two that offer at the same time the one that entered first does.
            let is_crossed = is_offer && pair.offers && !pair.is_connected() && self.role == RoomRole::Peer;
            let is_anew = is_offer && pair.may_answer_anew() && (is_hub || self.bounds.may_answer(peer));
            handshake = pair.handshake.anew();
            if !is_anew && (!is_crossed || Some(peer) > self.me) {
                pair.hear(signal);
                return self.visits(peer);
            }
            if self.queue.has_others(self.bounds.address(&peer), &mut self.restless) {
                // Its turn is over: it waits for another.
                self.forget_pair(peer);
                return self.signaled(peer, signal);
            }
        } else if !is_offer || !self.answers(peer) {
            if self.bounds.knows(peer) {
                self.mending.answered(peer);
            }
            return self.queue.keep(peer, signal);
        }
        self.open_pair(peer, false, handshake).hear(signal);
        self.visits(peer);
    }

    /// A peer is in the middle of its handshake, which may be all of a newcomer's visit.
    fn visits(&mut self, peer: PeerId) {
        if self.is_newcomer(peer) {
            self.restless.comes(peer, self.bounds.address(&peer));
        }
    }

    /// Whether this is a party's room, and there never was a connection with a peer.
    fn is_newcomer(&self, peer: PeerId) -> bool {
        self.role == RoomRole::Peer && !self.bounds.knows(peer)
    }

    /// Lets a newcomer of a party wait whose address is restless. If it was offered a connection,
    /// it is again.
    fn rest(&mut self, peer: PeerId) {
        if self.forget_pair(peer).is_some_and(|pair| pair.offers) {
            self.mending.rest(peer);
        }
    }

    /// Whether a peer that offers a connection is to be answered now.
    fn answers(&mut self, peer: PeerId) -> bool {
        match self.role {
            RoomRole::Peer => self.has_place(peer) && self.bounds.may_answer(peer),
            RoomRole::Player => false,
            RoomRole::Relay { .. } | RoomRole::Standby { .. } => {
                if self.has_place(peer) {
                    self.queue.admit(peer, self.bounds.address(&peer));
                }
                false
            }
        }
    }

    /// The player with whom a relay's next handshake is, and what it has signaled.
    fn next_in_queue(&mut self) -> Option<(PeerId, Vec<PeerEvent>)> {
        if self.queue.is_empty() {
            return None;
        }
        let handshakes = self.pairs.iter().filter(|(_, pair)| !pair.is_connected());
        let addresses = handshakes.map(|(peer, _)| self.bounds.address(peer)).collect();
        self.queue.next(addresses, &mut self.restless)
    }

    /// Offers a peer that entered a connection, once those that came before it are offered one, and
    /// in a rush if it stays.
    fn meet(&mut self, peer: PeerId) {
        if self.bounds.knows(peer) || !self.mending.has_waiting() && !self.bounds.is_rush() {
            self.approach(peer);
        } else {
            self.mending.wait(peer);
        }
    }

    /// Offers a connection, now or a little later.
    fn approach(&mut self, peer: PeerId) {
        if self.is_newcomer(peer) && self.restless.waits(self.bounds.address(&peer)) {
            self.mending.rest(peer);
        } else if self.bounds.may_offer(peer) {
            self.offer(peer);
        } else {
            self.mending.wait(peer);
        }
    }

    fn offer(&mut self, peer: PeerId) {
        if self.role == RoomRole::Player {
            self.answered_by.get_or_insert_with(|| Delay::new(handshake::WITHIN));
        }
        let handshake = Handshake::offering(self.mending.patience(peer), self.ways.has_turn());
        self.open_pair(peer, true, handshake).hear(PeerEvent::NewPeer(theirs(peer)));
    }

    /// Begins a handshake, in the place of one before.
    fn open_pair(&mut self, peer: PeerId, offers: bool, handshake: Handshake) -> &mut Pair {
        let bell = self.bells.hang(Some(peer));
        let pair = Pair::open(peer, &self.ways, &self.tasks, self.requests.clone(), bell, (offers, handshake));
        self.pairs.entry(peer).insert_entry(pair).into_mut()
    }

    fn close(&mut self, error: LinkError) {
        self.closed = true;
        self.pairs.clear();
        self.tasks.end();
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

    fn obstacle(&self) -> Option<Obstacle> {
        self.bounds.knows_nobody().then(|| self.ways.obstacle()).flatten()
    }

    fn wake_with(&mut self, driver: &Waker) -> bool {
        self.bells.wake(driver);
        true
    }
}

fn ours(peer: matchbox_socket::PeerId) -> PeerId {
    PeerId(peer.0.as_u128())
}

fn theirs(peer: PeerId) -> matchbox_socket::PeerId {
    matchbox_socket::PeerId(Uuid::from_u128(peer.0))
}
