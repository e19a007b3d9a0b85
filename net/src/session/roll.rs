//! The roll of guests: who asks to be let in, who is refused and why, who is in under which number,
//! and whose time is over. The peer that lets others in has one, in a session of any kind.
//!
//! A number is given to another player only after all other numbers were given. By then its last
//! player is long forgotten.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::{PlayerId, Simulation, codec};

use super::{DropReason, Event, Ledger, Outbox};
use crate::limits::HERO_BYTES_MAX;
use crate::link::PeerId;
use crate::wire::{Epoch, Hello, Message, Refusal, Terms};

/// A guest's place in a roll. Used again when the guest is gone.
pub type Slot = u32;

/// The guests, each with what a session's kind keeps of it.
pub struct Roll<G> {
    terms: Terms,
    players_max: usize,
    seats: Vec<Option<Seat<G>>>,
    vacant: Vec<Slot>,
    by_peer: BTreeMap<PeerId, Slot>,
    by_player: BTreeMap<PlayerId, Slot>,
    refused: Refused,
    /// Numbers that nobody had yet.
    fresh: Range<u16>,
    /// Those whose player is gone, the longest first.
    freed: VecDeque<PlayerId>,
}

struct Seat<G> {
    peer: PeerId,
    player: PlayerId,
    guest: G,
}

/// Connected peers whose time here is over: they were refused, put out, or left. Each is told once.
#[derive(Default)]
pub struct Refused(BTreeSet<PeerId>);

impl Refused {
    /// Tells both sides that a joiner cannot join.
    pub fn refuse<S: Simulation>(&mut self, peer: PeerId, name: &str, refusal: Refusal, out: &mut Outbox<S>) {
        if !self.0.insert(peer) {
            return out.dropped(DropReason::Unexpected);
        }
        out.reliably(Epoch::default(), peer, &Message::Refusal(refusal.clone()));
        out.events.push_back(Event::Refused { peer, name: name.to_owned(), refusal });
    }

    /// The carrier lost a peer.
    pub fn forget(&mut self, peer: PeerId) {
        self.0.remove(&peer);
    }
}

impl<G> Roll<G> {
    /// Of a session of at most `players_max` players.
    pub fn new(terms: Terms, players_max: usize) -> Roll<G> {
        Roll {
            terms,
            players_max,
            seats: Vec::new(),
            vacant: Vec::new(),
            by_peer: BTreeMap::new(),
            by_player: BTreeMap::new(),
            refused: Refused::default(),
            // Who closes ticks is player 0, also without a hero.
            fresh: 1..u16::MAX,
            freed: VecDeque::new(),
        }
    }

    /// Others were there before, as a ledger says. This peer's own player takes no number.
    pub fn follow(&mut self, ledger: &Ledger, own: PlayerId) {
        self.fresh.start = self.fresh.start.max(ledger.fresh());
        self.freed = ledger.freed().filter(|player| *player != own).collect();
    }

    /// A peer asks to be let in. Returns its hero if it may; else it is told why not. `waits` says
    /// whether a guest may not have had its answer yet, and so say hello again.
    pub fn hello<S: Simulation>(
        &mut self,
        peer: PeerId,
        hello: &Hello,
        waits: impl Fn(&G) -> bool,
        out: &mut Outbox<S>,
    ) -> Option<S::Hero> {
        match self.of(peer) {
            Some(guest) if waits(guest) => return None,
            None if !self.refused.0.contains(&peer) => {}
            _ => {
                out.dropped(DropReason::Unexpected);
                return None;
            }
        }
        let differences = self.terms.differences(hello.protocol, &hello.terms);
        let refusal = match codec::read::<S::Hero>(&hello.hero, HERO_BYTES_MAX) {
            _ if !differences.is_empty() => Refusal::Different(differences.try_into().expect("one of each kind")),
            Err(_) => Refusal::Hero,
            Ok(hero) => return Some(hero),
        };
        self.refuse(peer, hello.name.as_str(), refusal, out);
        None
    }

    /// Tells both sides that a joiner cannot join.
    pub fn refuse<S: Simulation>(&mut self, peer: PeerId, name: &str, refusal: Refusal, out: &mut Outbox<S>) {
        self.refused.refuse(peer, name, refusal, out);
    }

    /// The number of another player, which is now given away. `others` is how many places those
    /// take who are no guests now.
    ///
    /// # Errors
    /// [`Refusal::Full`] if there is no place.
    pub fn number(&mut self, others: usize) -> Result<PlayerId, Refusal> {
        let (players_max, full) = (self.players_max, Refusal::Full { players_max: self.players_max as u16 });
        if self.len() + others >= players_max {
            return Err(full);
        }
        self.fresh.next().map(PlayerId).or_else(|| self.freed.pop_front()).ok_or(full)
    }

    /// A number is free again: nobody is, or will be, that player.
    pub fn free(&mut self, player: PlayerId) {
        self.freed.push_back(player);
    }

    pub fn insert(&mut self, peer: PeerId, player: PlayerId, guest: G) -> Slot {
        let slot = self.vacant.pop().unwrap_or(self.seats.len() as Slot);
        self.by_peer.insert(peer, slot);
        self.by_player.insert(player, slot);
        if slot as usize == self.seats.len() {
            self.seats.push(None);
        }
        self.seats[slot as usize] = Some(Seat { peer, player, guest });
        slot
    }

    /// A guest's time is over.
    pub fn remove(&mut self, peer: PeerId) -> Option<G> {
        let (player, guest) = self.vacate(peer)?;
        self.refused.0.insert(peer);
        self.free(player);
        Some(guest)
    }

    /// A guest is away: the number stays the player's, and the peer may say hello again.
    pub fn vacate(&mut self, peer: PeerId) -> Option<(PlayerId, G)> {
        let slot = self.by_peer.remove(&peer)?;
        self.vacant.push(slot);
        let Seat { player, guest, .. } = self.seats[slot as usize].take()?;
        self.by_player.remove(&player);
        Some((player, guest))
    }

    /// The carrier lost a peer, who is no guest any more.
    pub fn forget(&mut self, peer: PeerId) {
        self.refused.forget(peer);
    }

    pub fn len(&self) -> usize {
        self.by_peer.len()
    }

    /// The slots that there are, those of nobody included.
    pub fn slots(&self) -> Range<Slot> {
        0..self.seats.len() as Slot
    }

    pub fn slot(&self, peer: PeerId) -> Option<Slot> {
        self.by_peer.get(&peer).copied()
    }

    pub fn slot_of(&self, player: PlayerId) -> Option<Slot> {
        self.by_player.get(&player).copied()
    }

    pub fn get(&self, slot: Slot) -> Option<&G> {
        self.seats.get(slot as usize)?.as_ref().map(|seat| &seat.guest)
    }

    pub fn get_mut(&mut self, slot: Slot) -> Option<&mut G> {
        self.seats.get_mut(slot as usize)?.as_mut().map(|seat| &mut seat.guest)
    }

    pub fn of(&self, peer: PeerId) -> Option<&G> {
        self.get(self.slot(peer)?)
    }

    pub fn of_mut(&mut self, peer: PeerId) -> Option<&mut G> {
        let slot = self.slot(peer)?;
        self.get_mut(slot)
    }

    /// The guests by slot.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &G)> {
        (0..).zip(&self.seats).filter_map(|(slot, seat)| Some((slot, &seat.as_ref()?.guest)))
    }

    /// The guests with their peers, by slot.
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &G)> {
        self.seats.iter().flatten().map(|seat| (seat.peer, &seat.guest))
    }

    pub fn peers_mut(&mut self) -> impl Iterator<Item = (PeerId, &mut G)> {
        self.seats.iter_mut().flatten().map(|seat| (seat.peer, &mut seat.guest))
    }
}
