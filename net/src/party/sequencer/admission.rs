//! How a party's sequencer lets joiners in: hello, refusal or welcome, the snapshot, and the hero's
//! way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{PlayerId, Simulation, Tick, codec};

use super::{Entry, Guest, Sequencing};
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::Feed;
use crate::session::{Comparison, DropReason, Io, Outbox, Rate};
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

impl<S: Simulation> Sequencing<S> {
    /// Lets a joiner in, or says why not.
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<S>) {
        let waits = |guest: &Guest<S>| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let (sequencer, seed) = (self.stepper.player, self.config.settings().seed);
        let shared = self.shared();
        if shared.bytes.len() > SNAPSHOT_BYTES_MAX {
            return self.guests.refuse(peer, hello.name.as_str(), Refusal::World, &mut io.out);
        }
        let (tick, bytes, snapshot_digest, roster) =
            (shared.tick, shared.bytes.clone(), shared.digest, shared.roster.clone());
        let player = self.guests.number();
        let snapshot_bytes = bytes.len() as u32;
        let welcome = Welcome { player, sequencer, seed, tick, snapshot_bytes, snapshot_digest, roster };
        io.out.reliably(self.leader.epoch, peer, &Message::Welcome(welcome));
        let guest = Guest {
            player,
            name: hello.name,
            feed: Feed::new(tick),
            comparison: Comparison::default(),
            heard_at: io.now,
            chat: Rate::default(),
            entry: Entry::Loading(Loading { hero, sender: SnapshotSender::new(bytes), progressed: io.now }),
        };
        self.guests.insert(peer, player, guest);
        self.flush(io.now, &mut io.out);
    }

    /// The snapshot for a joiner: a recent one if there is one.
    fn shared(&mut self) -> &Shared {
        let stepper = &mut self.stepper;
        self.snapshot.get_or_insert_with(|| {
            let snapshot = stepper.simulation.snapshot();
            let bytes: Arc<[u8]> = stepper.simulation.encode(&snapshot).into();
            stepper.simulation.retire(snapshot);
            let roster: Vec<_> = stepper.roster.iter().map(|(player, name)| (*player, name.clone())).collect();
            let roster = roster.try_into().expect("no more players are let in");
            Shared { tick: stepper.tick(), digest: transfer::digest(&bytes), bytes, roster }
        })
    }

    /// A joiner has caught up: its hero enters with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Outbox<S>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let Entry::Loading(Loading { hero, sender, .. }) = &guest.entry else { return };
        if !sender.done() {
            return out.dropped(DropReason::Unexpected);
        }
        let join = self.stepper.simulation.admit(guest.player, hero.clone());
        match Bytes::try_from(codec::compact(&join)) {
            Ok(join) => {
                self.sequencer.waiting.join(guest.player, guest.name.clone(), join);
                guest.entry = Entry::Playing;
            }
            Err(_) => {
                let name = guest.name.clone();
                self.guests.remove(peer);
                self.guests.forget(peer);
                self.guests.refuse(peer, name.as_str(), Refusal::Hero, out);
            }
        }
    }
}
