//! Who is in which room. Entering, with its number, and leaving happen under one lock; nothing here waits.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use matchbox_protocol::{JsonPeerEvent, PeerId};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::matchbox::is_room_name;

/// The most peers in a room.
pub const ROOM_PEERS_MAX: usize = 16;

/// How many messages wait for a peer that does not read; what comes beyond is dropped.
/// A handshake takes about ten, so a full room's joiner needs 150.
const INBOX_MESSAGES_MAX: usize = 512;

/// The longest room key, in bytes.
const KEY_BYTES_MAX: usize = 128;

/// Why a peer may not enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("a room's name is 1 to 64 of A-Z a-z 0-9 _ -")]
    RoomName,
    #[error("a room's key is at most 128 bytes")]
    KeyTooLong,
    #[error("the room has another key")]
    WrongKey,
    #[error("the room is full: it holds 16 peers")]
    Full,
}

/// All rooms of a server.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<HashMap<String, Room>>);

/// A room exists while somebody is in it.
#[derive(Debug)]
struct Room {
    key: Option<String>,
    arrivals: u64,
    peers: BTreeMap<PeerId, mpsc::Sender<String>>,
}

/// A peer's place in a room. Dropping it leaves the room.
#[derive(Debug)]
pub(super) struct Seat {
    rooms: Arc<Rooms>,
    room: String,
    pub(super) peer: PeerId,
}

impl Rooms {
    /// Lets a peer in: it is told its id first of all, then the others are told of it.
    pub(super) fn enter(
        self: &Arc<Self>,
        name: &str,
        key: Option<&str>,
    ) -> Result<(Seat, mpsc::Receiver<String>), Refusal> {
        if !is_room_name(name) {
            return Err(Refusal::RoomName);
        }
        if key.is_some_and(|key| key.len() > KEY_BYTES_MAX) {
            return Err(Refusal::KeyTooLong);
        }
        let mut rooms = self.lock();
        let room = rooms.entry(name.to_owned()).or_insert_with(|| Room::new(key));
        let (peer, inbox) = room.admit(key)?;
        Ok((Seat { rooms: Arc::clone(self), room: name.to_owned(), peer }, inbox))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    fn new(key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), arrivals: 0, peers: BTreeMap::new() }
    }

    fn admit(&mut self, key: Option<&str>) -> Result<(PeerId, mpsc::Receiver<String>), Refusal> {
        if self.key.as_deref() != key {
            return Err(Refusal::WrongKey);
        }
        if self.peers.len() >= ROOM_PEERS_MAX {
            return Err(Refusal::Full);
        }
        let peer = numbered(self.arrivals);
        self.arrivals += 1;
        self.tell_all(&JsonPeerEvent::NewPeer(peer));
        let (outbox, inbox) = mpsc::channel(INBOX_MESSAGES_MAX);
        tell(peer, &outbox, &JsonPeerEvent::IdAssigned(peer));
        self.peers.insert(peer, outbox);
        Ok((peer, inbox))
    }

    fn tell_all(&self, event: &JsonPeerEvent) {
        self.peers.iter().for_each(|(peer, outbox)| tell(*peer, outbox, event));
    }
}

impl Seat {
    /// Passes a signal on to another peer of the same room; to any other it goes nowhere.
    pub(super) fn signal(&self, to: PeerId, data: serde_json::Value) {
        let rooms = self.rooms.lock();
        if let Some(outbox) = rooms.get(&self.room).and_then(|room| room.peers.get(&to)) {
            tell(to, outbox, &JsonPeerEvent::Signal { sender: self.peer, data });
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut rooms = self.rooms.lock();
        let Some(room) = rooms.get_mut(&self.room) else { return };
        room.peers.remove(&self.peer);
        room.tell_all(&JsonPeerEvent::PeerLeft(self.peer));
        if room.peers.is_empty() {
            rooms.remove(&self.room);
        }
        log::info!("{} left room {}", self.peer, self.room);
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
