//! One room: a party's, where every peer hears of every other, or a relay's, where players hear of
//! the relay alone.
//!
//! In a party whoever was there first offers the newcomer a connection. To a relay its players
//! offer one, so that somebody who only sits in the room costs the relay nothing.

use std::collections::BTreeMap;

use matchbox_protocol::{JsonPeerEvent, PeerId};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::Refusal;
use crate::room::RoomRole;

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
    /// Whose room it is, by token and name, also while its connection is lost.
    relay: Option<(String, PeerId)>,
    /// Who is connected.
    present: BTreeMap<PeerId, Present>,
}

#[derive(Debug)]
struct Present {
    /// Which of the server's: by this a connection that another has replaced is known.
    entry: u64,
    outbox: mpsc::Sender<String>,
}

impl Room {
    /// As the first to enter makes it. A player cannot.
    pub(super) fn new(key: Option<&str>, first: &RoomRole) -> Self {
        let relay = match first {
            RoomRole::Relay { token } => Some((token.clone(), numbered(0))),
            RoomRole::Peer | RoomRole::Player => None,
        };
        Self { key: key.map(str::to_owned), arrivals: u64::from(relay.is_some()), present: BTreeMap::new(), relay }
    }

    /// Numbers a newcomer and tells it; then tells who hears of whom. A relay that comes again
    /// takes the place of its connection before, whose inbox ends.
    pub(super) fn admit(
        &mut self,
        key: Option<&str>,
        role: &RoomRole,
        entry: u64,
    ) -> Result<(PeerId, mpsc::Receiver<String>), Refusal> {
        if self.key.as_deref() != key {
            return Err(Refusal::WrongKey);
        }
        let (peer, messages_max) = match (role, &self.relay) {
            (RoomRole::Peer, Some(_)) => return Err(Refusal::RelayRoom),
            (RoomRole::Relay { .. } | RoomRole::Player, None) => return Err(Refusal::PartyRoom),
            (RoomRole::Peer, None) if self.present.len() >= ROOM_PEERS_MAX => return Err(Refusal::Full),
            (RoomRole::Relay { token }, Some((wanted, _))) if wanted != token => return Err(Refusal::WrongToken),
            (RoomRole::Relay { .. }, Some((_, relay))) => (*relay, RELAY_INBOX_MESSAGES_MAX),
            (RoomRole::Player, Some((_, relay))) if !self.present.contains_key(relay) => {
                return Err(Refusal::RelayAway);
            }
            // The relay is one of those present.
            (RoomRole::Player, _) if self.present.len() > RELAY_PLAYERS_MAX => return Err(Refusal::RelayFull),
            (RoomRole::Peer | RoomRole::Player, _) => {
                self.arrivals += 1;
                (numbered(self.arrivals - 1), INBOX_MESSAGES_MAX)
            }
        };
        let (outbox, inbox) = mpsc::channel(messages_max);
        tell(peer, &outbox, &JsonPeerEvent::IdAssigned(peer));
        match (role, &self.relay) {
            (RoomRole::Peer, _) => self.tell_all(&JsonPeerEvent::NewPeer(peer)),
            (RoomRole::Player, Some((_, relay))) => tell(peer, &outbox, &JsonPeerEvent::NewPeer(*relay)),
            (RoomRole::Player | RoomRole::Relay { .. }, _) => {}
        }
        self.present.insert(peer, Present { entry, outbox });
        Ok((peer, inbox))
    }

    /// A party's peers reach each other; a relay and its players reach each other;
    /// nobody else does.
    pub(super) fn signal(&self, from: PeerId, entry: u64, to: PeerId, data: serde_json::Value) {
        let reaches = match &self.relay {
            None => true,
            Some((_, relay)) => (from == *relay) != (to == *relay),
        };
        if reaches && self.is_present(from, entry) {
            self.tell(to, &JsonPeerEvent::Signal { sender: from, data });
        }
    }

    /// Players are not told that their relay's signaling is lost: their links to it live on.
    pub(super) fn leave(&mut self, peer: PeerId, entry: u64) {
        if !self.is_present(peer, entry) {
            return;
        }
        self.present.remove(&peer);
        let left = JsonPeerEvent::PeerLeft(peer);
        match &self.relay {
            None => self.tell_all(&left),
            Some((_, relay)) => self.tell(*relay, &left),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// Whether that entry is a peer's connection still.
    fn is_present(&self, peer: PeerId, entry: u64) -> bool {
        self.present.get(&peer).is_some_and(|present| present.entry == entry)
    }

    fn tell(&self, peer: PeerId, event: &JsonPeerEvent) {
        if let Some(present) = self.present.get(&peer) {
            tell(peer, &present.outbox, event);
        }
    }

    fn tell_all(&self, event: &JsonPeerEvent) {
        self.present.iter().for_each(|(peer, present)| tell(*peer, &present.outbox, event));
    }
}

fn tell(peer: PeerId, outbox: &mpsc::Sender<String>, event: &JsonPeerEvent) {
    if outbox.try_send(event.to_string()).is_err() {
        tracing::warn!("dropped a message for {peer}, who does not read");
    }
}

/// High 64 bits: the arrival. Low 64 bits: random, so that an id is never reused.
fn numbered(arrival: u64) -> PeerId {
    let random = Uuid::new_v4().as_u64_pair().1;
    PeerId(Uuid::from_u64_pair(arrival, random))
}
