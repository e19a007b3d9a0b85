//! One room: a party's, where every peer hears of every other, or a relay's, where players hear of
//! the relay alone.
//!
//! In a party whoever was there first offers the newcomer a connection. To a relay its players
//! offer one, so that somebody who only sits in the room costs the relay nothing.

use std::collections::BTreeMap;

use matchbox_protocol::{JsonPeerEvent, PeerId};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{EntryRole, Refusal};

/// The most peers in a party's room.
pub const ROOM_PEERS_MAX: usize = 16;

/// The most players in a relay's room.
pub const RELAY_PLAYERS_MAX: usize = 4_096;

/// How many messages wait for a peer that does not read; what comes beyond is dropped.
/// A handshake takes about ten, so a full party's joiner needs 150.
const INBOX_MESSAGES_MAX: usize = 512;

/// How many messages wait for a relay: 500 handshakes at once.
const RELAY_INBOX_MESSAGES_MAX: usize = 8_192;

/// It exists while somebody is in it.
#[derive(Debug)]
pub(super) struct Room {
    key: Option<String>,
    arrivals: u64,
    /// A relay's room: its players.
    peers: BTreeMap<PeerId, mpsc::Sender<String>>,
    relay: Option<Relay>,
}

/// Whose room it is, also while its connection is lost.
#[derive(Debug)]
struct Relay {
    token: String,
    peer: PeerId,
    /// Its present connection: which entry of the server's, and what waits for it.
    present: Option<(u64, mpsc::Sender<String>)>,
}

/// What a peer is in its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Membership {
    Peer,
    /// With the entry, by which a connection that another has replaced is known.
    Relay(u64),
    Player,
}

type Admitted = (PeerId, Membership, mpsc::Receiver<String>);

impl Room {
    /// As the first to enter makes it. A player cannot.
    pub(super) fn new(key: Option<&str>, first: EntryRole<'_>) -> Self {
        let relay = match first {
            EntryRole::Relay { token } => Some(Relay { token: token.to_owned(), peer: numbered(0), present: None }),
            EntryRole::Peer | EntryRole::Player => None,
        };
        Self { key: key.map(str::to_owned), arrivals: u64::from(relay.is_some()), peers: BTreeMap::new(), relay }
    }

    pub(super) fn admit(&mut self, key: Option<&str>, role: EntryRole<'_>, entry: u64) -> Result<Admitted, Refusal> {
        if self.key.as_deref() != key {
            return Err(Refusal::WrongKey);
        }
        match (role, &mut self.relay) {
            (EntryRole::Peer, None) => self.admit_peer(),
            (EntryRole::Relay { token }, Some(relay)) => relay.admit(token, entry),
            (EntryRole::Player, Some(_)) => self.admit_player(),
            (EntryRole::Peer, Some(_)) => Err(Refusal::RelayRoom),
            (EntryRole::Relay { .. } | EntryRole::Player, None) => Err(Refusal::PartyRoom),
        }
    }

    fn admit_peer(&mut self) -> Result<Admitted, Refusal> {
        if self.peers.len() >= ROOM_PEERS_MAX {
            return Err(Refusal::Full);
        }
        let (peer, inbox) = self.seat(|room, peer, _| room.tell_all(&JsonPeerEvent::NewPeer(peer)));
        Ok((peer, Membership::Peer, inbox))
    }

    fn admit_player(&mut self) -> Result<Admitted, Refusal> {
        let Some(relay) = self.relay.as_ref().filter(|relay| relay.present.is_some()) else {
            return Err(Refusal::RelayAway);
        };
        if self.peers.len() >= RELAY_PLAYERS_MAX {
            return Err(Refusal::RelayFull);
        }
        let relay = relay.peer;
        let (peer, inbox) = self.seat(|_, peer, outbox| tell(peer, outbox, &JsonPeerEvent::NewPeer(relay)));
        Ok((peer, Membership::Player, inbox))
    }

    /// Numbers a newcomer and tells it; then `introduce` says who hears of whom.
    fn seat(
        &mut self,
        introduce: impl FnOnce(&Self, PeerId, &mpsc::Sender<String>),
    ) -> (PeerId, mpsc::Receiver<String>) {
        let peer = numbered(self.arrivals);
        self.arrivals += 1;
        let (outbox, inbox) = mpsc::channel(INBOX_MESSAGES_MAX);
        tell(peer, &outbox, &JsonPeerEvent::IdAssigned(peer));
        introduce(self, peer, &outbox);
        self.peers.insert(peer, outbox);
        (peer, inbox)
    }

    /// A party's peers reach each other; a relay and its players reach each other;
    /// nobody else does.
    pub(super) fn signal(&self, part: Membership, from: PeerId, to: PeerId, data: serde_json::Value) {
        let outbox = match part {
            Membership::Peer => self.peers.get(&to),
            Membership::Relay(entry) => self.present(entry).and_then(|_| self.peers.get(&to)),
            Membership::Player => {
                let relay = self.relay.as_ref().filter(|relay| relay.peer == to);
                relay.and_then(|relay| relay.present.as_ref()).map(|(_, outbox)| outbox)
            }
        };
        if let Some(outbox) = outbox {
            tell(to, outbox, &JsonPeerEvent::Signal { sender: from, data });
        }
    }

    /// The relay, if that entry is still its connection.
    fn present(&self, entry: u64) -> Option<&Relay> {
        self.relay.as_ref().filter(|relay| relay.present.as_ref().is_some_and(|(present, _)| *present == entry))
    }

    /// Players are not told that their relay's signaling is lost: their links to it live on.
    pub(super) fn leave(&mut self, part: Membership, peer: PeerId) {
        match part {
            Membership::Relay(entry) => {
                let present = self.present(entry).is_some();
                if let Some(relay) = self.relay.as_mut().filter(|_| present) {
                    relay.present = None;
                }
            }
            Membership::Peer | Membership::Player => {
                self.peers.remove(&peer);
                let left = JsonPeerEvent::PeerLeft(peer);
                match &self.relay {
                    None => self.tell_all(&left),
                    Some(Relay { peer, present: Some((_, outbox)), .. }) => tell(*peer, outbox, &left),
                    Some(Relay { present: None, .. }) => {}
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.peers.is_empty() && self.relay.as_ref().is_none_or(|relay| relay.present.is_none())
    }

    fn tell_all(&self, event: &JsonPeerEvent) {
        self.peers.iter().for_each(|(peer, outbox)| tell(*peer, outbox, event));
    }
}

impl Relay {
    /// Its first connection, or one that takes the place of another: that one's inbox ends.
    fn admit(&mut self, token: &str, entry: u64) -> Result<Admitted, Refusal> {
        if self.token != token {
            return Err(Refusal::WrongToken);
        }
        let (outbox, inbox) = mpsc::channel(RELAY_INBOX_MESSAGES_MAX);
        tell(self.peer, &outbox, &JsonPeerEvent::IdAssigned(self.peer));
        self.present = Some((entry, outbox));
        Ok((self.peer, Membership::Relay(entry), inbox))
    }
}

fn tell(peer: PeerId, outbox: &mpsc::Sender<String>, event: &JsonPeerEvent) {
    if outbox.try_send(event.to_string()).is_err() {
        log::warn!("dropped a message for {peer}, who does not read");
    }
}

/// High 64 bits: the arrival. Low 64 bits: random, so that an id is never reused.
fn numbered(arrival: u64) -> PeerId {
    let random = Uuid::new_v4().as_u64_pair().1;
    PeerId(Uuid::from_u64_pair(arrival, random))
}
