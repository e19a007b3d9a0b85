//! One room: a party's, where every peer hears of every other, or a relay's, where players hear of
//! the relay alone.
//!
//! In a party whoever was there first offers the newcomer a connection. To a relay its players
//! offer one, so that somebody who only sits in the room costs the relay nothing. So they do to its
//! standby, and that to the relay.
//!
//! If the first of a party says nothing to newcomers, it has to go, and they are numbered anew: so
//! one of them is the first, and founds the session.
//!
//! Who comes back has the id that it had, by its secret: also if the server was restarted, and
//! remembers nobody. It must never give one peer's id to another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::Instant;

use matchbox_protocol::{JsonPeerEvent, PeerId};
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Refusal;
use super::mailbox::{Inbox, Mailbox, Waiting, mailbox};
use crate::limits::signaling::{
    INBOX_BYTES_MAX, RELAY_INBOX_BYTES_MAX, RELAY_PLAYERS_MAX, ROOM_PEERS_MAX, SIGNALS, YOUNG,
};
use crate::room::{Pass, RoomRole};
use crate::signaling::count::Count;

/// What is digested with a peer's secret to make its id.
const DIGESTED: &str = "lockstone: a peer's id";

/// It exists while somebody is in it.
#[derive(Debug)]
pub(super) struct Room {
    key: Option<String>,
    /// `None`: it was begun anew, and nobody else was ever its first.
    since: Option<Instant>,
    /// The number of the next newcomer.
    arrivals: u64,
    /// Who may come back to a party's room as number 0.
    first: Vec<PeerId>,
    /// Whose room it is, by token and name, also while its connection is lost.
    relay: Option<(String, PeerId)>,
    /// The standbys of a relay that are connected.
    standbys: BTreeSet<PeerId>,
    /// Who is connected. Most rooms have few peers: a peer that is alone takes little memory so.
    present: BTreeMap<PeerId, Box<Present>>,
    /// What those are called by now who were there when the room was begun anew, by their entries.
    renamed: BTreeMap<u64, PeerId>,
}

#[derive(Debug)]
struct Present {
    /// Which of the server's: by this a connection that another has replaced is known.
    entry: u64,
    /// The number of its address in this room.
    address: u32,
    mailbox: Mailbox,
    since: Instant,
    /// When it last said something to another.
    spoke: Option<Instant>,
    /// What it signaled each other of late. A relay and its standby are trusted.
    signals: Option<BTreeMap<PeerId, Count>>,
    /// Whether it can be in the room's session: it founds that, it was there before, or one who can
    /// be said something to it.
    is_attended: bool,
    /// Whether all who were there have to offer it a connection. Who comes back may have those that
    /// it had.
    is_newcomer: bool,
}

impl Present {
    /// Counts a signal to another. Returns whether it may be passed on.
    fn may_signal(&mut self, to: PeerId, now: Instant) -> bool {
        let Some(signals) = &mut self.signals else { return true };
        // Those to whom it said nothing of late need not be remembered.
        if signals.len() >= ROOM_PEERS_MAX && !signals.contains_key(&to) {
            signals.retain(|_, count| !count.at(now, &SIGNALS).is_none());
        }
        signals.entry(to).or_insert(Count::none(now)).take(now, &SIGNALS)
    }
}

impl Room {
    /// As the first to enter makes it. A player cannot.
    pub(super) fn new(key: Option<&str>, first: &RoomRole, pass: Pass<'_>) -> Self {
        let relay = match first {
            RoomRole::Relay { token } => Some((token.clone(), id(0, pass))),
            RoomRole::Peer | RoomRole::Player | RoomRole::Standby { .. } => None,
        };
        Self {
            key: key.map(str::to_owned),
            since: Some(Instant::now()),
            arrivals: u64::from(relay.is_some()),
            first: Vec::new(),
            standbys: BTreeSet::new(),
            present: BTreeMap::new(),
            renamed: BTreeMap::new(),
            relay,
        }
    }

    /// Numbers a newcomer and tells it; then tells who hears of whom. Who comes back takes the
    /// place of its connection before, whose inbox ends.
    pub(super) fn admit(
        &mut self,
        key: Option<&str>,
        role: &RoomRole,
        pass: Pass<'_>,
        (entry, address, waiting): (u64, u32, Waiting),
    ) -> Result<(PeerId, Inbox), Refusal> {
        if self.key.as_deref() != key {
            return Err(Refusal::WrongKey);
        }
        let (peer, bytes_max) = match (role, &self.relay) {
            (RoomRole::Peer, Some(_)) => return Err(Refusal::RelayRoom),
            (RoomRole::Relay { .. } | RoomRole::Standby { .. } | RoomRole::Player, None) => {
                return Err(Refusal::PartyRoom);
            }
            (RoomRole::Relay { token } | RoomRole::Standby { token }, Some((wanted, _))) if wanted != token => {
                return Err(Refusal::WrongToken);
            }
            (RoomRole::Relay { .. }, Some((_, relay))) => (*relay, RELAY_INBOX_BYTES_MAX),
            (RoomRole::Standby { .. }, _) => (self.number(pass)?, RELAY_INBOX_BYTES_MAX),
            (RoomRole::Player, Some((_, relay))) if !self.present.contains_key(relay) && self.standbys.is_empty() => {
                return Err(Refusal::RelayAway);
            }
            (RoomRole::Peer | RoomRole::Player, _) => (self.number(pass)?, INBOX_BYTES_MAX),
        };
        if let Some(before) = self.present.get(&peer).map(|present| present.entry) {
            self.leave(peer, before);
        }
        let (mailbox, inbox) = mailbox(bytes_max, waiting);
        tell(peer, &mailbox, &JsonPeerEvent::IdAssigned(peer));
        match (role, &self.relay) {
            (RoomRole::Peer, _) => self.tell_all(&JsonPeerEvent::NewPeer(peer)),
            (RoomRole::Player, Some((_, relay))) => {
                for host in self.standbys.iter().chain([relay]).filter(|host| self.present.contains_key(host)) {
                    tell(peer, &mailbox, &JsonPeerEvent::NewPeer(*host));
                }
            }
            // All offer a connection to it who have none.
            (RoomRole::Relay { .. }, _) => self.tell_all(&JsonPeerEvent::NewPeer(peer)),
            (RoomRole::Standby { .. }, Some((_, relay))) => {
                if self.present.contains_key(relay) {
                    tell(peer, &mailbox, &JsonPeerEvent::NewPeer(*relay));
                }
                let hosts = |other: &PeerId| other == relay || self.standbys.contains(other);
                let players = self.present.keys().copied().filter(|other| !hosts(other));
                players.for_each(|player| self.tell(player, &JsonPeerEvent::NewPeer(peer)));
                self.standbys.insert(peer);
            }
            (RoomRole::Player | RoomRole::Standby { .. }, None) => {}
        }
        let is_newcomer = pass.arrival.is_none();
        let is_attended = !is_newcomer || arrival(peer) == 0;
        let (since, spoke) = (Instant::now(), None);
        let signals = matches!(role, RoomRole::Peer | RoomRole::Player).then(BTreeMap::new);
        let present = Present { entry, address, mailbox, since, spoke, signals, is_attended, is_newcomer };
        self.present.insert(peer, Box::new(present));
        Ok((peer, inbox))
    }

    /// The id of a peer that is not the relay: the one that it had, if it comes back.
    fn number(&mut self, pass: Pass<'_>) -> Result<PeerId, Refusal> {
        let arrival = pass.arrival.unwrap_or(self.arrivals);
        let peer = id(arrival, pass);
        let others = self.present.len() - usize::from(self.present.contains_key(&peer));
        match &self.relay {
            None if others >= ROOM_PEERS_MAX => return Err(Refusal::Full),
            // The relay is one of those present.
            Some(_) if others > RELAY_PLAYERS_MAX => return Err(Refusal::RelayFull),
            _ => {}
        }
        if arrival == 0 && !self.first.contains(&peer) {
            let is_young = self.since.is_some_and(|since| since.elapsed() < YOUNG) && self.first.len() < ROOM_PEERS_MAX;
            if self.relay.is_some() || !is_young {
                return Err(Refusal::NotFirst);
            }
            self.first.push(peer);
        }
        self.arrivals = self.arrivals.max(arrival + 1);
        Ok(peer)
    }

    /// A party's peers reach each other; a relay and its standby reach each other and their
    /// players; nobody else does. What a peer signals another beyond [`SIGNALS`] goes nowhere.
    pub(super) fn signal(&mut self, from: PeerId, entry: u64, to: PeerId, data: serde_json::Value) {
        let from = self.called(from, entry);
        let reaches = match &self.relay {
            None => true,
            Some((_, relay)) => [from, to].iter().any(|peer| peer == relay || self.standbys.contains(peer)),
        };
        // Of those who are not there none is counted: anybody can name as many as it likes.
        let (is_there, now) = (self.present.contains_key(&to), Instant::now());
        let sender = self.present.get_mut(&from).filter(|present| reaches && present.entry == entry);
        let Some(sender) = sender else { return };
        sender.spoke = Some(now);
        let passes = is_there && sender.may_signal(to, now);
        let (address, is_attended) = (sender.address, sender.is_attended);
        let Some(receiver) = self.present.get_mut(&to).filter(|_| passes) else { return };
        receiver.is_attended |= is_attended;
        // matchbox's, with a field more: a relay shares its handshakes out among addresses.
        let signal = json!({ "Signal": { "sender": from, "data": data, "address": address } });
        tell(to, &receiver.mailbox, &signal);
    }

    /// A newcomer of a party is there for so long that all had to offer it a connection: who was
    /// there before, and said nothing to anybody since, holds a place, or the room, for nobody.
    pub(super) fn evict_silent(&mut self, newcomer: PeerId, entry: u64) {
        let newcomer = self.called(newcomer, entry);
        if self.relay.is_some() || !self.is_present(newcomer, entry) || !self.present[&newcomer].is_newcomer {
            return;
        }
        let since = self.present[&newcomer].since;
        let is_silent = |one: &Present| one.since < since && one.spoke.is_none_or(|spoke| spoke < since);
        let silent = self.present.iter().filter(|(_, one)| is_silent(one)).map(|(peer, one)| (*peer, one.entry));
        for (peer, entry) in Vec::from_iter(silent) {
            tracing::info!("{peer} offers nobody a connection, and has to go");
            self.present[&peer].mailbox.evict();
            self.leave(peer, entry);
        }
        if !self.present.values().any(|one| one.is_attended) {
            self.begin_anew();
        }
    }

    /// All wait in vain: nobody is there who founds a session, or may be in one. They are numbered
    /// anew, in their order, and the first of them founds one.
    fn begin_anew(&mut self) {
        let waiting = core::mem::take(&mut self.present);
        (self.since, self.arrivals) = (None, waiting.len() as u64);
        self.first.clear();
        for (arrival, (peer, mut one)) in (0..).zip(waiting) {
            let peer = numbered(arrival, peer.0.as_u64_pair().1);
            one.is_attended = arrival == 0;
            self.first.extend(Some(peer).filter(|_| one.is_attended));
            self.renamed.insert(one.entry, peer);
            tell(peer, &one.mailbox, &JsonPeerEvent::IdAssigned(peer));
            self.tell_all(&JsonPeerEvent::NewPeer(peer));
            self.present.insert(peer, one);
        }
    }

    /// What the peer of an entry is called by now.
    fn called(&self, peer: PeerId, entry: u64) -> PeerId {
        self.renamed.get(&entry).copied().unwrap_or(peer)
    }

    /// Players are not told that their relay's signaling is lost: their links to it live on.
    pub(super) fn leave(&mut self, peer: PeerId, entry: u64) {
        let peer = self.called(peer, entry);
        self.renamed.remove(&entry);
        if !self.is_present(peer, entry) {
            return;
        }
        self.present.remove(&peer);
        let left = JsonPeerEvent::PeerLeft(peer);
        match &self.relay {
            None => self.tell_all(&left),
            Some((_, relay)) => self.standbys.iter().chain([relay]).for_each(|host| self.tell(*host, &left)),
        }
        self.standbys.remove(&peer);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// Whether that entry is a peer's connection still.
    fn is_present(&self, peer: PeerId, entry: u64) -> bool {
        self.present.get(&peer).is_some_and(|present| present.entry == entry)
    }

    fn tell(&self, peer: PeerId, event: &impl Display) {
        if let Some(present) = self.present.get(&peer) {
            tell(peer, &present.mailbox, event);
        }
    }

    fn tell_all(&self, event: &JsonPeerEvent) {
        self.present.iter().for_each(|(peer, present)| tell(*peer, &present.mailbox, event));
    }
}

fn tell(peer: PeerId, mailbox: &Mailbox, event: &impl Display) {
    if !mailbox.put(event.to_string()) {
        tracing::debug!("dropped a message for {peer}, who does not read");
    }
}

/// High 64 bits: the arrival. Low 64 bits: of the peer's secret, or random, so that no two peers
/// have the same id.
fn id(arrival: u64, pass: Pass<'_>) -> PeerId {
    let low = match pass.secret {
        Some(secret) => {
            let digest = Sha256::new().chain_update(DIGESTED).chain_update(secret).finalize();
            digest.iter().take(8).fold(0, |low, byte| low << 8 | u64::from(*byte))
        }
        None => Uuid::new_v4().as_u64_pair().1,
    };
    numbered(arrival, low)
}

fn numbered(arrival: u64, low: u64) -> PeerId {
    PeerId(Uuid::from_u64_pair(arrival, low))
}

fn arrival(peer: PeerId) -> u64 {
    peer.0.as_u64_pair().0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn back(arrival: u64, secret: &str) -> Pass<'_> {
        Pass { secret: Some(secret), arrival: Some(arrival) }
    }

    /// Nobody can be told to wait a minute for it.
    #[test]
    fn the_first_of_a_room_that_is_not_young_is_nobody_else() {
        let newcomer = Pass { secret: Some(SECRET), arrival: None };
        let mut room = Room::new(None, &RoomRole::Peer, newcomer);
        let first = room.number(newcomer).expect("it founds the room");
        let back_early = room.number(back(0, "another secret, of one that was there")).expect("the room is young");
        room.since = Some(Instant::now().checked_sub(YOUNG).expect("this machine runs for longer"));
        assert_eq!(room.number(back(0, SECRET)), Ok(first));
        assert_eq!(room.number(back(0, "another secret, of one that was there")), Ok(back_early));
        assert_eq!(room.number(back(0, "a stranger's secret")), Err(Refusal::NotFirst));
        let later = room.number(back(7, "a stranger's secret")).expect("any other number is fine");
        assert_eq!(later.0.as_u64_pair().0, 7);
        assert_ne!(later.0.as_u64_pair().1, first.0.as_u64_pair().1);
        assert_eq!(room.arrivals, 8);
    }
}
