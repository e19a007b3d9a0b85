//! The rooms and the peers in them. Entering, with its number, and leaving happen under one lock.
//! Nothing here waits.

mod room;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use matchbox_protocol::PeerId;
use tokio::sync::mpsc;

use crate::room::{KEY_BYTES_MAX, ROOM_CHARS_MAX, TOKEN_BYTES_MAX, is_room_name};
use room::{Membership, Room};
pub use room::{RELAY_PLAYERS_MAX, ROOM_PEERS_MAX};

/// The most peers of a server, in all rooms together.
pub const SERVER_PEERS_MAX: usize = 16_384;

/// How many signals of a player are passed on. A handshake takes about ten, and a player has one.
const PLAYER_SIGNALS_MAX: u32 = 128;

/// Why a peer may not enter: the cause, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("a room's name is 1 to {ROOM_CHARS_MAX} of A-Z a-z 0-9 _ -")]
    RoomName,
    #[error("a room's key is at most {KEY_BYTES_MAX} bytes")]
    KeyTooLong,
    #[error("a relay's token is 1 to {TOKEN_BYTES_MAX} bytes")]
    BadToken,
    #[error("the room has another key")]
    WrongKey,
    #[error("the room is full: it holds {ROOM_PEERS_MAX} peers")]
    Full,
    #[error("the room is full: its relay has {RELAY_PLAYERS_MAX} players, try again later")]
    RelayFull,
    #[error("the server is full: it holds {SERVER_PEERS_MAX} peers, try again later")]
    ServerFull,
    #[error("no relay serves this room: start the relay first, or check the room's name")]
    NoRelay,
    #[error("the room's relay has lost its connection: try again in a moment")]
    RelayAway,
    #[error("the room belongs to a relay: join it as a player of the relay, or choose another room")]
    RelayRoom,
    #[error("the room belongs to a party, not to a relay: join the party, or choose another room")]
    PartyRoom,
    #[error("the room has a relay with another token: present the same, or choose another room")]
    WrongToken,
    #[error("this server lets a relay in only with the server's host token: present that")]
    WrongHostToken,
}

/// As what a peer enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryRole<'a> {
    /// One of a party, where everyone is connected with everyone.
    Peer,
    /// The relay: the room is its own.
    Relay { token: &'a str },
    /// A player, to be connected with the room's relay alone.
    Player,
}

/// All rooms of a server.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    /// What every relay must present.
    host_token: Option<String>,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    rooms: HashMap<String, Room>,
    peers: usize,
    /// How many have ever entered.
    entries: u64,
}

/// A peer's place in a room. Dropping it leaves the room.
#[derive(Debug)]
pub(super) struct Seat {
    rooms: Arc<Rooms>,
    room: String,
    part: Membership,
    signals: u32,
    pub(super) peer: PeerId,
}

impl Rooms {
    pub(super) fn new(host_token: Option<String>) -> Self {
        Self { host_token, inside: Mutex::default() }
    }

    /// Lets a peer in: it is told its id first of all, then whoever shall offer it a connection, or
    /// it whom it shall offer one.
    pub(super) fn enter(
        self: &Arc<Self>,
        name: &str,
        key: Option<&str>,
        role: EntryRole<'_>,
    ) -> Result<(Seat, mpsc::Receiver<String>), Refusal> {
        self.check(name, key, role)?;
        let inside = &mut *self.lock();
        if inside.peers >= SERVER_PEERS_MAX {
            return Err(Refusal::ServerFull);
        }
        let (peer, part, inbox) = match inside.rooms.entry(name.to_owned()) {
            Entry::Occupied(room) => room.into_mut().admit(key, role, inside.entries),
            Entry::Vacant(_) if role == EntryRole::Player => Err(Refusal::NoRelay),
            Entry::Vacant(place) => place.insert(Room::new(key, role)).admit(key, role, inside.entries),
        }?;
        inside.peers += 1;
        inside.entries += 1;
        let signals = if part == Membership::Player { PLAYER_SIGNALS_MAX } else { u32::MAX };
        Ok((Seat { rooms: Arc::clone(self), room: name.to_owned(), part, signals, peer }, inbox))
    }

    /// What can be said without looking into any room.
    fn check(&self, name: &str, key: Option<&str>, role: EntryRole<'_>) -> Result<(), Refusal> {
        if !is_room_name(name) {
            return Err(Refusal::RoomName);
        }
        if key.is_some_and(|key| key.len() > KEY_BYTES_MAX) {
            return Err(Refusal::KeyTooLong);
        }
        match role {
            EntryRole::Relay { token } if !(1..=TOKEN_BYTES_MAX).contains(&token.len()) => Err(Refusal::BadToken),
            EntryRole::Relay { token } if self.host_token.as_deref().is_some_and(|wanted| wanted != token) => {
                Err(Refusal::WrongHostToken)
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Passes a signal on, if the room connects this peer with the other; else it goes nowhere.
    pub(super) fn signal(&mut self, to: PeerId, data: serde_json::Value) {
        let Some(left) = self.signals.checked_sub(1) else { return };
        self.signals = if self.part == Membership::Player { left } else { u32::MAX };
        if let Some(room) = self.rooms.lock().rooms.get(&self.room) {
            room.signal(self.part, self.peer, to, data);
        }
    }

    pub(super) fn is_player(&self) -> bool {
        self.part == Membership::Player
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let inside = &mut *self.rooms.lock();
        inside.peers -= 1;
        let Some(room) = inside.rooms.get_mut(&self.room) else { return };
        room.leave(self.part, self.peer);
        if room.is_empty() {
            inside.rooms.remove(&self.room);
        }
        log::info!("{} left room {}", self.peer, self.room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entered = Result<(Seat, mpsc::Receiver<String>), Refusal>;

    fn refusal(entered: Entered) -> Refusal {
        entered.expect_err("it is refused")
    }

    /// Too many for sockets in a test.
    #[test]
    fn a_relays_room_and_a_server_have_their_limits() {
        let rooms = Arc::new(Rooms::default());
        let relay = |room: &str| rooms.enter(room, None, EntryRole::Relay { token: "t" }).expect("there is room");
        let player = |room: &str| rooms.enter(room, None, EntryRole::Player);
        let (full, wide) = (relay("full"), relay("wide"));
        let mut players: Vec<_> = (0..RELAY_PLAYERS_MAX).map(|_| player("full").expect("there is room")).collect();
        assert_eq!(refusal(player("full")), Refusal::RelayFull);
        let others =
            (0..).map_while(|n| rooms.enter(&format!("party-{}", n / ROOM_PEERS_MAX), None, EntryRole::Peer).ok());
        let others: Vec<_> = others.collect();
        assert_eq!(players.len() + others.len() + 2, SERVER_PEERS_MAX);
        assert_eq!(refusal(player("wide")), Refusal::ServerFull);
        players.pop();
        let last = player("wide").expect("one has left");
        assert_eq!(refusal(player("full")), Refusal::ServerFull);
        drop((players, others, full, wide, last));
        let inside = rooms.lock();
        assert_eq!((inside.peers, inside.rooms.len()), (0, 0));
    }

    /// An entry whose seat was replaced must not take the room away from the next when it ends.
    #[test]
    fn a_replaced_relay_leaves_nothing_behind() {
        let rooms = Arc::new(Rooms::default());
        let relay = || rooms.enter("r", None, EntryRole::Relay { token: "t" }).expect("the token is right");
        let ((first, mut first_inbox), (mut second, _inbox)) = (relay(), relay());
        assert_eq!(first.peer, second.peer);
        assert!(first_inbox.try_recv().is_ok_and(|own| own.contains("IdAssigned")));
        assert!(matches!(first_inbox.try_recv(), Err(mpsc::error::TryRecvError::Disconnected)));
        let (player, mut inbox) = rooms.enter("r", None, EntryRole::Player).expect("a relay is there");
        drop(first);
        inbox.try_recv().expect("its id");
        inbox.try_recv().expect("its relay");
        second.signal(player.peer, "hello".into());
        assert!(inbox.try_recv().is_ok_and(|signal| signal.contains("hello")));
        drop(second);
        assert_eq!(refusal(rooms.enter("r", None, EntryRole::Player)), Refusal::RelayAway);
    }
}
