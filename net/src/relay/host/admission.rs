//! How the relay lets joiners in: hello, refusal or welcome, the world's outline, the first load, and the hero's way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{PlayerId, Rules, Simulation, Tick, World, codec};

use super::Host;
use super::budget::Budget;
use super::guest::{Guest, Joining};
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{DropReason, Event, Out};
use crate::transfer::{self, SnapshotSender};
use crate::wire::*;

/// A world's outline as several joiners may get it.
pub(super) struct Outline {
    tick: Tick,
    bytes: Arc<[u8]>,
    digest: u128,
}

impl<R: Rules> Host<R> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, now: Duration, out: &mut Out<World<R>>) {
        match self.guests.of(peer) {
            // Said again before it had the answer.
            Some(guest) if guest.joining.is_some() => return,
            None if !self.past.contains(&peer) => {}
            _ => return out.dropped(DropReason::Unexpected),
        }
        let differences = self.terms.differences(hello.protocol, &hello.terms);
        let players_max = self.config.settings().players_max;
        let refusal = match codec::read::<R::Hero>(&hello.hero, HERO_BYTES_MAX) {
            _ if !differences.is_empty() => Refusal::Different(differences.try_into().expect("one of each kind")),
            _ if self.guests.len() + self.own_players() >= players_max || self.next_player == u16::MAX => {
                Refusal::Full { players_max: players_max as u16 }
            }
            Err(_) => Refusal::Hero,
            Ok(hero) => return self.welcome(peer, hello.name, hero, now, out),
        };
        self.refuse(peer, hello.name.as_str(), refusal, out);
    }

    /// Tells both sides that a joiner cannot join.
    pub fn refuse(&mut self, peer: PeerId, name: &str, refusal: Refusal, out: &mut Out<World<R>>) {
        if !self.past.insert(peer) {
            return out.dropped(DropReason::Unexpected);
        }
        out.reliably(Epoch::default(), peer, &Message::Refusal(refusal.clone()));
        out.events.push_back(Event::Refused { peer, name: name.to_owned(), refusal });
    }

    fn welcome(&mut self, peer: PeerId, name: Name, hero: R::Hero, now: Duration, out: &mut Out<World<R>>) {
        let player = PlayerId(self.next_player);
        let join = self.stage.simulation.admit(player, hero);
        let fits = codec::compact(&join).len() <= JOIN_BYTES_MAX;
        let Outline { tick, bytes, digest } = self.outline();
        let refusal = match (fits, bytes.len() <= SNAPSHOT_BYTES_MAX) {
            (true, true) => None,
            (false, _) => Some(Refusal::Hero),
            (_, false) => Some(Refusal::World),
        };
        if let Some(refusal) = refusal {
            return self.refuse(peer, name.as_str(), refusal, out);
        }
        self.next_player += 1;
        let welcome = Welcome {
            player,
            sequencer: self.stage.player,
            seed: self.config.settings().seed,
            tick,
            snapshot_bytes: bytes.len() as u32,
            snapshot_digest: digest,
            // Who else is there, a replica learns as they come near.
            roster: List::default(),
        };
        out.reliably(self.epoch, peer, &Message::Welcome(welcome));
        let joining = Joining { join, outline: SnapshotSender::new(bytes), progressed: now };
        let budget = Budget::new(self.config.settings().budget_bytes_per_s, now);
        let slot = self.guests.insert(Guest::new((peer, player, name), joining, tick, budget));
        self.answering.push(slot);
    }

    /// The world's tick and facts, without any cell: what a joiner begins with. Of a tick the same for all.
    fn outline(&mut self) -> Outline {
        let stage = &mut self.stage;
        let tick = stage.tick();
        self.outline.take_if(|outline| outline.tick != tick);
        let outline = self.outline.get_or_insert_with(|| {
            let snapshot = stage.simulation.outline();
            let bytes: Arc<[u8]> = stage.simulation.encode(&snapshot).into();
            Outline { tick, digest: transfer::digest(&bytes), bytes }
        });
        Outline { tick, bytes: outline.bytes.clone(), digest: outline.digest }
    }

    /// A joiner knows the place where its hero enters, and has caught up: the hero enters with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Out<World<R>>) {
        let Some(guest) = self.guests.of(peer) else { return };
        let placed = !guest.bounds.core.is_empty();
        let Some(joining) = guest.joining.take_if(|_| placed) else {
            return out.dropped(DropReason::Unexpected);
        };
        let join = Bytes::try_from(codec::compact(&joining.join)).expect("checked at the welcome");
        self.waiting.join(guest.player, guest.name.clone(), join);
    }
}
