//! How the sequencer lets joiners in: hello, refusal or welcome, the snapshot, and the hero's way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation, Tick, codec};

use super::{Guest, Lead};
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::Feed;
use crate::session::{Comparison, DropReason, Event, Out, Rate};
use crate::transfer::{self, BadAck, SnapshotSender};
use crate::wire::*;

/// A snapshot as several joiners may get it.
pub(super) struct Shared {
    pub tick: Tick,
    bytes: Arc<[u8]>,
    digest: u128,
    roster: List<(PlayerId, Name), PLAYERS_MAX>,
}

/// A guest on its way in.
pub(super) struct Loading<S: Simulation> {
    hero: S::Hero,
    pub sender: SnapshotSender,
    pub progressed: Duration,
}

impl<S: Simulation> Loading<S> {
    pub fn acknowledge(&mut self, received: u32, now: Duration) -> Result<(), BadAck> {
        self.sender.acknowledge(received)?;
        self.progressed = now;
        Ok(())
    }
}

impl<S: Simulation> Lead<S> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, now: Duration, out: &mut Out<S>) {
        match self.guests.get(&peer) {
            // Said again before it had the answer.
            Some(guest) if guest.loading.is_some() => return,
            None if !self.past.contains(&peer) => {}
            _ => return out.dropped(DropReason::Unexpected),
        }
        let differences = self.terms.differences(hello.protocol, &hello.terms);
        let players_max = self.config.settings().players_max;
        let refusal = match codec::read::<S::Hero>(&hello.hero, HERO_BYTES_MAX) {
            _ if !differences.is_empty() => Refusal::Different(differences.try_into().expect("one of each kind")),
            _ if self.guests.len() + 1 >= players_max || self.next_player == u16::MAX => {
                Refusal::Full { players_max: players_max as u16 }
            }
            Err(_) => Refusal::Hero,
            Ok(hero) => return self.welcome(peer, hello.name, hero, now, out),
        };
        self.refuse(peer, hello.name.as_str(), refusal, out);
    }

    /// Tells both sides that a joiner cannot join.
    pub(in crate::party) fn refuse(&mut self, peer: PeerId, name: &str, refusal: Refusal, out: &mut Out<S>) {
        if !self.past.insert(peer) {
            return out.dropped(DropReason::Unexpected);
        }
        out.reliably(Epoch::default(), peer, &Message::Refusal(refusal.clone()));
        out.events.push_back(Event::Refused { peer, name: name.to_owned(), refusal });
    }

    fn welcome(&mut self, peer: PeerId, name: Name, hero: S::Hero, now: Duration, out: &mut Out<S>) {
        let player = PlayerId(self.next_player);
        let (sequencer, seed) = (self.stage.player, self.config.settings().seed);
        let shared = self.shared();
        if shared.bytes.len() > SNAPSHOT_BYTES_MAX {
            return self.refuse(peer, name.as_str(), Refusal::World, out);
        }
        let welcome = Welcome {
            player,
            sequencer,
            seed,
            tick: shared.tick,
            snapshot_bytes: shared.bytes.len() as u32,
            snapshot_digest: shared.digest,
            roster: shared.roster.clone(),
        };
        let (feed, sender) = (Feed::new(shared.tick), SnapshotSender::new(shared.bytes.clone()));
        self.next_player += 1;
        out.reliably(self.epoch, peer, &Message::Welcome(welcome));
        let loading = Some(Loading { hero, sender, progressed: now });
        let guest =
            Guest { player, name, feed, comparison: Comparison::default(), heard: now, chat: Rate::default(), loading };
        self.guests.insert(peer, guest);
        self.flush(now, out);
    }

    /// The snapshot for a joiner: a recent one if there is one.
    fn shared(&mut self) -> &Shared {
        let stage = &mut self.stage;
        self.snapshot.get_or_insert_with(|| {
            let snapshot = stage.simulation.snapshot();
            let bytes: Arc<[u8]> = stage.simulation.encode(&snapshot).into();
            stage.simulation.retire(snapshot);
            let roster: Vec<_> = stage.roster.iter().map(|(player, name)| (*player, name.clone())).collect();
            let roster = roster.try_into().expect("no more players are let in");
            Shared { tick: stage.tick(), digest: transfer::digest(&bytes), bytes, roster }
        })
    }

    /// A joiner has caught up: its hero enters with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Out<S>) {
        let Some(guest) = self.guests.get_mut(&peer) else { return };
        let Some(loading) = guest.loading.take_if(|loading| loading.sender.done()) else {
            return out.dropped(DropReason::Unexpected);
        };
        let join = self.stage.simulation.admit(guest.player, loading.hero);
        match Bytes::try_from(codec::compact(&join)) {
            Ok(join) => self.sequencer.join(guest.player, guest.name.clone(), join),
            Err(_) => {
                let name = guest.name.clone();
                self.guests.remove(&peer);
                self.refuse(peer, name.as_str(), Refusal::Hero, out);
            }
        }
    }
}
