//! The rooms and the peers in them. Entering, with its number, and leaving happen under one lock.
//! Nothing here waits, but newcomers in [`Rooms::await_peers`].

mod awaited;
mod mailbox;
mod register;
mod room;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use matchbox_protocol::PeerId;
use tokio::sync::Notify;

use super::figures::Figures;
use crate::limits::signaling::{RELAY_PLAYERS_MAX, ROOM_PEERS_MAX, SERVER_PEERS_MAX};
use crate::room::{Malformed, Pass, RoomRole, Secret, check};
use awaited::Awaited;
pub(super) use mailbox::{Inbox, Waiting};
use register::Claim;
pub(super) use register::Register;
use room::Room;

/// Why a peer may not enter: the cause, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("the room has another key")]
    WrongKey,
    #[error("the room is full: it holds {ROOM_PEERS_MAX} peers")]
    Full,
    #[error("the room is full: its relay has {RELAY_PLAYERS_MAX} players, try again later")]
    RelayFull,
    #[error("the server is full: it holds {SERVER_PEERS_MAX} peers, try again later")]
    ServerFull,
    #[error(
        "no relay serves this room, or it has another key or another token: start the relay, or check what you named"
    )]
    NoRelay,
    #[error("the room's relay has lost its connection: try again in a moment")]
    RelayAway,
    #[error("the room belongs to a relay: join it as a player of the relay, or choose another room")]
    RelayRoom,
    #[error("the room belongs to a party, not to a relay: join the party, or choose another room")]
    PartyRoom,
    #[error("the room has a relay with another token: present the same, or choose another room")]
    WrongToken,
    #[error("there were too many tries from this address: try again in a moment")]
    TooManyTries,
    #[error("this address has too many connections: close some of them, or try again later")]
    TooManyConnections,
    #[error("this server lets a relay in only with the server's host token: present that")]
    WrongHostToken,
    #[error("the key or the token is not proven")]
    NotProven,
    #[error("the room's first peer is another: enter it as a new peer")]
    NotFirst,
    #[error("this page's origin is none of those that this server is for")]
    ForeignPage,
}

impl Refusal {
    /// What a player or a standby is told, that would begin no room: the same whether or not there
    /// is one that it may not enter.
    fn to(self, role: &RoomRole) -> Self {
        match (role, self) {
            (RoomRole::Player | RoomRole::Standby { .. }, Self::WrongKey | Self::WrongToken | Self::PartyRoom) => {
                Self::NoRelay
            }
            _ => self,
        }
    }

    /// Whether it may tell somebody who guesses that the guess was wrong.
    pub(super) fn is_of_guess(self) -> bool {
        matches!(
            self,
            Self::WrongKey
                | Self::WrongToken
                | Self::WrongHostToken
                | Self::NotProven
                | Self::NotFirst
                | Self::NoRelay
                | Self::RelayRoom
                | Self::PartyRoom
        )
    }
}

/// Whom a server is for.
#[derive(Debug, Default)]
pub(super) struct Admission {
    /// What every relay must present.
    pub host_token: Option<String>,
    /// The origins of pages that may use it; none: of all.
    pub origins: Vec<String>,
}

/// All rooms of a server.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    admission: Admission,
    inside: Mutex<Inside>,
    /// Makes addresses numbers, which tell nothing else of them.
    numbers: RandomState,
    /// Rung when a peer of an awaited room is back.
    back: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    rooms: HashMap<String, Room>,
    register: Register,
    /// Of a server that was started again.
    awaited: Option<Awaited>,
    peers: usize,
    /// How many have ever entered.
    entries: u64,
    refusals: u64,
}

impl Inside {
    /// Until when newcomers to a room wait for those who were there, as none of them is.
    fn awaited_until(&self, room: &str) -> Option<tokio::time::Instant> {
        let awaited = self.awaited.as_ref().filter(|_| !self.rooms.contains_key(room));
        awaited.and_then(|awaited| awaited.until(room))
    }
}

/// A peer's place in a room. Dropping it leaves the room.
#[derive(Debug)]
pub(super) struct Seat {
    rooms: Arc<Rooms>,
    room: String,
    entry: u64,
    pub(super) peer: PeerId,
}

impl Rooms {
    pub(super) fn new(admission: Admission) -> Self {
        Self { admission, ..Self::default() }
    }

    /// Whether who says this origin, or none, may use the server: browsers tell the truth of it.
    pub(super) fn admit_page(&self, origin: Option<&[u8]>) -> Result<(), Refusal> {
        let origins = &self.admission.origins;
        let is_foreign = |origin: &[u8]| !origins.is_empty() && origins.iter().all(|one| one.as_bytes() != origin);
        if origin.is_some_and(is_foreign) { Err(Refusal::ForeignPage) } else { Ok(()) }
    }

    pub(super) fn count_refusal(&self) {
        self.lock().refusals += 1;
    }

    /// Of rooms alone.
    pub(super) fn figures(&self) -> Figures {
        let Inside { rooms, peers, entries, refusals, .. } = &*self.lock();
        let (rooms, peers, entries, refusals) = (rooms.len(), *peers, *entries, *refusals);
        Figures { rooms, peers, entries, refusals, ..Figures::default() }
    }

    /// Of a server that was started again, with what it remembers. It awaits the peers of those
    /// rooms, or of all, if it does not know which there were.
    pub(super) fn remembering(self, register: Register, was_there: bool) -> Self {
        let rooms = was_there.then(|| register.parties().cloned().collect());
        let awaited = Some(Awaited::since_now(rooms));
        let inside = Inside { register, awaited, ..Inside::default() };
        Self { inside: Mutex::new(inside), ..self }
    }

    /// The server ends: nobody leaves a room by that.
    pub(super) fn close(&self) {
        self.lock().register.close();
    }

    /// Returns when a newcomer that might begin a room may enter: once a peer is in it that was
    /// there before the server was started again, or none is awaited any more.
    pub(super) async fn await_peers(&self, room: &str, role: &RoomRole, pass: Pass<'_>) {
        let may_begin = matches!(role, RoomRole::Peer | RoomRole::Relay { .. });
        while may_begin && pass.arrival.is_none() {
            let back = self.back.notified();
            let awaited = self.lock().awaited_until(room);
            let Some(until) = awaited else { return };
            let _ = tokio::time::timeout_at(until, back).await;
        }
    }

    /// Lets a peer in, of whose key and token the locks are known: it is told its id first of all,
    /// then whoever shall offer it a connection, or it whom it shall offer one. So of two that both
    /// come back exactly one offers.
    pub(super) fn enter(
        self: &Arc<Self>,
        name: &str,
        key: Option<&str>,
        role: &RoomRole,
        pass: Pass<'_>,
        (addr, waiting): (IpAddr, Waiting),
    ) -> Result<(Seat, Inbox), Refusal> {
        check(name, key, role, pass)?;
        if let (Some(lock), Some(wanted)) = (role.token(), &self.admission.host_token)
            && lock != Secret::Token.lock(name, wanted)
        {
            return Err(Refusal::WrongHostToken);
        }
        let inside = &mut *self.lock();
        if inside.peers >= SERVER_PEERS_MAX {
            return Err(Refusal::ServerFull);
        }
        let address = self.numbers.hash_one((name, addr)) as u32;
        self.let_in(inside, name, key, role, pass, (address, waiting)).map_err(|refusal| refusal.to(role))
    }

    fn let_in(
        self: &Arc<Self>,
        inside: &mut Inside,
        name: &str,
        key: Option<&str>,
        role: &RoomRole,
        pass: Pass<'_>,
        (address, waiting): (u32, Waiting),
    ) -> Result<(Seat, Inbox), Refusal> {
        let is_awaited = inside.awaited_until(name).is_some();
        let room = match inside.rooms.entry(name.to_owned()) {
            Entry::Occupied(room) => room.into_mut(),
            Entry::Vacant(place) => {
                let claim = inside.register.claim(name).filter(|claim| claim.is_relays() || is_awaited);
                claim.map_or(Ok(()), |claim| holds(claim, name, key, role))?;
                if matches!(role, RoomRole::Player | RoomRole::Standby { .. }) {
                    return Err(Refusal::NoRelay);
                }
                inside.register.enter(name, Claim::new(name, key, role));
                place.insert(Room::new(key, role, pass))
            }
        };
        let entry = inside.entries;
        let (peer, inbox) = room.admit(key, role, pass, (entry, address, waiting))?;
        if is_awaited {
            self.back.notify_waiters();
        }
        inside.peers += 1;
        inside.entries += 1;
        let (rooms, room) = (Arc::clone(self), name.to_owned());
        Ok((Seat { rooms, room, entry, peer }, inbox))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a room that nobody is in yet, but that is claimed, is open to a peer.
fn holds(claim: &Claim, room: &str, key: Option<&str>, role: &RoomRole) -> Result<(), Refusal> {
    match role {
        _ if !claim.has_key(room, key) => Err(Refusal::WrongKey),
        RoomRole::Peer if claim.is_relays() => Err(Refusal::RelayRoom),
        RoomRole::Relay { .. } | RoomRole::Standby { .. } | RoomRole::Player if !claim.is_relays() => {
            Err(Refusal::PartyRoom)
        }
        RoomRole::Relay { token } | RoomRole::Standby { token } if !claim.has_token(room, token) => {
            Err(Refusal::WrongToken)
        }
        RoomRole::Standby { .. } | RoomRole::Player => Err(Refusal::RelayAway),
        RoomRole::Peer | RoomRole::Relay { .. } => Ok(()),
    }
}

impl Seat {
    /// Passes a signal on, if the room connects this peer with the other, and takes one more of
    /// it; else it goes nowhere.
    pub(super) fn signal(&self, to: PeerId, data: serde_json::Value) {
        if let Some(room) = self.rooms.lock().rooms.get_mut(&self.room) {
            room.signal(self.peer, self.entry, to, data);
        }
    }

    /// Once this peer is there for [`OFFERS_WITHIN`](crate::limits::signaling::OFFERS_WITHIN): who
    /// offers nobody a connection goes. If nobody is left whom it could join, the room begins anew.
    pub(super) fn evict_silent(&self) {
        if let Some(room) = self.rooms.lock().rooms.get_mut(&self.room) {
            room.evict_silent(self.peer, self.entry);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let inside = &mut *self.rooms.lock();
        inside.peers -= 1;
        let Some(room) = inside.rooms.get_mut(&self.room) else { return };
        room.leave(self.peer, self.entry);
        if room.is_empty() {
            inside.rooms.remove(&self.room);
            inside.register.leave(&self.room);
        }
        tracing::info!("{} left room {}", self.peer, self.room);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// Too many for sockets in a test.
    #[test]
    fn a_relays_room_and_a_server_have_their_limits() {
        let rooms = Arc::new(Rooms::default());
        let host = RoomRole::Relay { token: "t".to_owned() };
        let enter = |room: &str, role| {
            rooms.enter(room, None, role, Pass::default(), (Ipv4Addr::LOCALHOST.into(), Waiting::default()))
        };
        let relay = |room: &str| enter(room, &host).expect("there is room");
        let player = |room: &str| enter(room, &RoomRole::Player);
        let refusal = |room: &str| player(room).expect_err("it is refused");
        let (full, wide) = (relay("full"), relay("wide"));
        let mut players: Vec<_> = (0..RELAY_PLAYERS_MAX).map(|_| player("full").expect("there is room")).collect();
        assert_eq!(refusal("full"), Refusal::RelayFull);
        let peer = |room: &str| enter(room, &RoomRole::Peer).ok();
        let others = (0..).map_while(|n| peer(&format!("party-{}", n / ROOM_PEERS_MAX)));
        let others: Vec<_> = others.collect();
        assert_eq!(players.len() + others.len() + 2, SERVER_PEERS_MAX);
        assert_eq!(refusal("wide"), Refusal::ServerFull);
        players.pop();
        let last = player("wide").expect("one has left");
        assert_eq!(refusal("full"), Refusal::ServerFull);
        drop((players, others, full, wide, last));
        let inside = rooms.lock();
        assert_eq!((inside.peers, inside.rooms.len()), (0, 0));
    }
}
