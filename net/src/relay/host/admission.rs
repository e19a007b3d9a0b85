//! How the relay lets joiners in: hello, refusal or welcome, the world's outline, the first load,
//! and the hero's way into a turn.
//!
//! The game goes on meanwhile; nothing here makes it wait.

use std::sync::Arc;

use lockstone_sim::{Rules, Simulation, Tick, World, codec};

use super::Host;
use super::budget::Budget;
use super::guest::{Entry, Guest};
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{DropReason, Io, Outbox};
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
    pub(super) fn hello(&mut self, peer: PeerId, hello: Hello, io: &mut Io<World<R>>) {
        let waits = |guest: &Guest<R>| !guest.plays();
        let Some(hero) = self.guests.hello(peer, &hello, waits, &mut io.out) else { return };
        let player = self.guests.number();
        let join = self.stepper.simulation.admit(player, hero);
        let fits = codec::compact(&join).len() <= JOIN_BYTES_MAX;
        let Outline { tick, bytes, digest } = self.outline();
        let refusal = match (fits, bytes.len() <= SNAPSHOT_BYTES_MAX) {
            (true, true) => None,
            (false, _) => Some(Refusal::Hero),
            (_, false) => Some(Refusal::World),
        };
        if let Some(refusal) = refusal {
            self.guests.give_back(player);
            return self.guests.refuse(peer, hello.name.as_str(), refusal, &mut io.out);
        }
        let welcome = Welcome {
            player,
            sequencer: self.stepper.player,
            seed: self.config.settings().seed,
            tick,
            snapshot_bytes: bytes.len() as u32,
            snapshot_digest: digest,
            // A replica learns of other players as they come near.
            roster: List::default(),
        };
        io.out.reliably(self.leader.epoch, peer, &Message::Welcome(welcome));
        let budget = Budget::new(self.config.settings().budget_bytes_per_s, io.now);
        let loading = (join, SnapshotSender::new(bytes));
        let guest = Guest::new((peer, player, hello.name), loading, (tick, io.now), budget);
        let slot = self.guests.insert(peer, player, guest);
        self.answering.push(slot);
    }

    /// The world's tick and facts, without any cell: what a joiner begins with. Of a tick
    /// the same for all.
    fn outline(&mut self) -> Outline {
        let stepper = &mut self.stepper;
        let tick = stepper.tick();
        self.outline.take_if(|outline| outline.tick != tick);
        let outline = self.outline.get_or_insert_with(|| {
            let snapshot = stepper.simulation.outline();
            let bytes: Arc<[u8]> = stepper.simulation.encode(&snapshot).into();
            Outline { tick, digest: transfer::digest(&bytes), bytes }
        });
        Outline { tick, bytes: outline.bytes.clone(), digest: outline.digest }
    }

    /// A joiner knows the place where its hero enters, and has caught up: the hero enters
    /// with the next turn.
    pub(super) fn admit(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let placed = !guest.area.bounds().core.is_empty();
        let Entry::Joining { join, .. } = &guest.entry else { return out.dropped(DropReason::Unexpected) };
        if !placed {
            return out.dropped(DropReason::Unexpected);
        }
        let join = Bytes::try_from(codec::compact(join)).expect("checked at the welcome");
        guest.entry = Entry::Playing;
        self.waiting.join(guest.player, guest.name.clone(), join);
    }
}
