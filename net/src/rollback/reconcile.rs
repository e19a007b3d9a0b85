//! How all have one world again, once somebody is gone who told several stories: nobody can say
//! which of them is right, so those who are left go on with the world of most.
//!
//! ```text
//! who is distrusted is gone ─► each tells its checksum ─┬─ it is that of most ─► it plays
//!                                                       └─ Fetch ─► Repair, Chunks ─► it plays
//! ```
//!
//! It must never believe one alone of what is right, unless only two are left, and never wait for
//! long: who comes to no world of the others plays on, and is found to differ. Its loop is
//! [`Play::reconciles`].

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};

use super::play::Play;
use crate::limits::SNAPSHOT_BYTES_MAX;
use crate::session::{DropReason, Event, Io, Outbox, Right};
use crate::transfer::{self, Receiver, SnapshotSender};
use crate::wire::{Message, Repair};

/// Nobody waits longer than that for the next thing that it is told.
const PATIENCE: Duration = Duration::from_secs(2);

/// What there is to do until all have gone on with one world.
#[derive(Default)]
pub(super) struct Reconciliation {
    /// The checksum of this player's world where all go on from: told until that is settled.
    pub told: Option<Checksum>,
    stage: Stage,
    /// When it last got on.
    since: Duration,
    /// To whom this player's world is on its way.
    lent: BTreeMap<PlayerId, SnapshotSender>,
}

#[derive(Default)]
enum Stage {
    /// This world is right, as far as can be told, or nothing was asked.
    #[default]
    Plays,
    /// It waits for what the others tell.
    Compares,
    /// It waits for the world of that player.
    Asks(PlayerId),
    Loads(PlayerId, Repair, Receiver),
}

/// How many have a world of that checksum.
fn alike(told: &BTreeMap<PlayerId, Checksum>, checksum: Checksum) -> usize {
    told.values().filter(|other| **other == checksum).count()
}

/// Whose world counts: that of the first of most, or of as many as any.
fn right(told: &BTreeMap<PlayerId, Checksum>) -> Option<PlayerId> {
    let most = told.values().map(|checksum| alike(told, *checksum)).max()?;
    told.iter().find(|(_, checksum)| alike(told, **checksum) == most).map(|(player, _)| *player)
}

impl<S: Simulation> Play<S> {
    /// An epoch begins at a tick. Whoever is gone since the one before may have told several
    /// stories.
    pub(super) fn begin_reconciling(&mut self, distrusts: bool, from: Tick, now: Duration) {
        // Who had to load a world in the epoch before may not have it yet.
        let is_open = distrusts || self.reconciliation.told.is_some();
        if !is_open || !self.config.settings().stop_on_desync {
            self.reconciliation = Reconciliation::default();
            return;
        }
        let (told, lent) = (Some(self.timeline.checksum_at_base()), BTreeMap::new());
        self.reconciliation = Reconciliation { told, stage: Stage::Compares, since: now, lent };
        self.differences.reconcile(from);
    }

    /// Whether this world may still have to be replaced before it is played.
    pub(super) fn reconciles(&mut self, io: &mut Io<S>) -> bool {
        if self.timeline.first() > self.timeline.base() {
            self.reconciliation.told = None;
        }
        let Reconciliation { told: Some(own), stage, since, .. } = &self.reconciliation else { return false };
        let is_late = io.now >= *since + PATIENCE;
        match stage {
            Stage::Plays => return false,
            Stage::Asks(_) | Stage::Loads(..) if is_late => {}
            Stage::Asks(_) | Stage::Loads(..) => return true,
            Stage::Compares => {
                let told = self.told_at_base();
                if told.len() <= self.remotes.len() && !is_late {
                    return true;
                }
                let asked = right(&told).filter(|player| told[player] != *own);
                if let Some(remote) = asked.and_then(|player| self.remote(player)) {
                    let (player, base) = (remote.player, self.timeline.base());
                    io.out.reliably(self.epoch, remote.peer, &Message::Fetch(base));
                    (self.reconciliation.stage, self.reconciliation.since) = (Stage::Asks(player), io.now);
                    return true;
                }
            }
        }
        self.reconciliation.stage = Stage::Plays;
        false
    }

    /// What each said of its world where all go on from, this player included.
    fn told_at_base(&self) -> BTreeMap<PlayerId, Checksum> {
        let others = self.remotes.iter().map(|remote| (remote.player, remote.at_base));
        let all = others.chain([(self.player, self.reconciliation.told)]);
        all.filter_map(|(player, checksum)| Some((player, checksum?))).collect()
    }

    /// Another asks for the world before a tick.
    pub(super) fn lend(&mut self, to: PlayerId, tick: Tick, io: &mut Io<S>) {
        let told = self.told_at_base();
        let (base, settled) = (self.timeline.base(), self.timeline.first());
        let is_wanted = tick == base && settled <= base && !self.reconciliation.lent.contains_key(&to);
        let (Some(checksum), true, Some(peer)) =
            (self.reconciliation.told, is_wanted, self.remote(to).map(|remote| remote.peer))
        else {
            return io.out.dropped(DropReason::Unexpected);
        };
        let bytes = codec::compact(&self.timeline.right());
        if bytes.len() > SNAPSHOT_BYTES_MAX {
            return;
        }
        let is_proven = 2 * alike(&told, checksum) > self.remotes.len() + 1;
        let (length, digest) = (bytes.len() as u32, transfer::digest(&bytes));
        let repair = Repair { tick, checksum, bytes: length, digest, is_proven };
        io.out.reliably(self.epoch, peer, &Message::Repair(Some(repair)));
        self.reconciliation.lent.insert(to, SnapshotSender::new(bytes.into()));
        self.lend_on(to, &mut io.out);
    }

    /// Another says how much it has of this player's world.
    pub(super) fn lent(&mut self, to: PlayerId, received: u32, out: &mut Outbox<S>) {
        let sender = self.reconciliation.lent.get_mut(&to);
        match sender.map(|sender| sender.acknowledge(received)) {
            Some(Ok(())) => self.lend_on(to, out),
            Some(Err(_)) | None => out.dropped(DropReason::Unexpected),
        }
    }

    fn lend_on(&mut self, to: PlayerId, out: &mut Outbox<S>) {
        let Some(peer) = self.remote(to).map(|remote| remote.peer) else { return };
        let Some(sender) = self.reconciliation.lent.get_mut(&to) else { return };
        while let Some(chunk) = sender.next_chunk() {
            out.reliably(self.epoch, peer, &Message::Chunk(chunk));
        }
    }

    /// The world of another is on its way.
    pub(super) fn borrow(&mut self, from: PlayerId, repair: Repair, io: &mut Io<S>) {
        let told = self.remote(from).and_then(|remote| remote.at_base);
        let is_asked = matches!(self.reconciliation.stage, Stage::Asks(player) if player == from);
        if !is_asked || repair.tick != self.timeline.base() || told != Some(repair.checksum) {
            return io.out.dropped(DropReason::Unexpected);
        }
        let receiver = Receiver::new(repair.bytes, repair.digest);
        (self.reconciliation.stage, self.reconciliation.since) = (Stage::Loads(from, repair, receiver), io.now);
    }

    /// A piece of it has arrived.
    pub(super) fn borrowed(&mut self, from: PlayerId, chunk: &[u8], io: &mut Io<S>) {
        let Some(peer) = self.remote(from).map(|remote| remote.peer) else { return };
        let (repair, receiver) = match &mut self.reconciliation.stage {
            Stage::Loads(player, repair, receiver) if *player == from => (*repair, receiver),
            _ => return io.out.dropped(DropReason::Unexpected),
        };
        self.reconciliation.since = io.now;
        let taken = receiver.take(chunk).and_then(|received| Ok((received, receiver.finish()?)));
        let put_in = match taken {
            Ok((received, bytes)) => {
                io.out.reliably(self.epoch, peer, &Message::ChunkAck(received));
                bytes.map(|bytes| self.put_in(&repair, &bytes, &mut io.out))
            }
            Err(_) => Some(Err(CodecError::Malformed("not what was announced"))),
        };
        let Some(put_in) = put_in else { return };
        // If that cannot be, it plays on as it is, and differs again.
        self.reconciliation.stage = Stage::Plays;
        if put_in.is_err() {
            io.out.dropped(DropReason::BadRepair);
        }
    }

    fn put_in(&mut self, repair: &Repair, bytes: &[u8], out: &mut Outbox<S>) -> Result<(), CodecError> {
        let right: Right = codec::read(bytes, bytes.len())?;
        self.timeline.replace(&right, repair.checksum)?;
        let (tick, player, seed) = (repair.tick, self.player, self.seed);
        // What came before is told of the world that it was.
        self.settle_until(tick, out);
        let snapshot = self.timeline.simulation.encoded();
        out.events.push_back(Event::Started { tick, seed, player, snapshot });
        out.stats.repairs += 1;
        out.events.push_back(Event::Repaired { player, tick, cells: 0, is_proven: repair.is_proven });
        Ok(())
    }
}
