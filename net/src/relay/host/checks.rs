//! Whether a replica's core is that of the relay's world, and what is done if it is not.
//!
//! Each replica has its own ticks at which its core is compared. A difference is told to both
//! sides, and the replica answers with the checksums of its cells at one tick; what differs there,
//! and what that can have reached since, is given to it whole in a frame. A core too large for that
//! is loaded anew. Repairs are few: a replica that needs more is put out.

use core::time::Duration;
use std::collections::{BTreeMap, HashMap};

use lockstone_sim::{CellId, CellRect, Checksum, PlayerId, Rules, Tick, World};

use super::Host;
use crate::limits::*;
use crate::link::PeerId;
use crate::session::trace::{self, At};
use crate::session::{DropReason, Event, Io, Outbox, Repairs, Slot, differing};
use crate::wire::{CellBytes, CoreTree, DesyncNotice, Inquiry, LeaveReason, List, Message, RawGiven};

/// A replica that does not say for so long where its core differs is put out.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// Ticks at which a replica may answer where its core differs.
const TREES_KEPT_MAX: usize = 16;

/// The time between two calls for evidence is doubled so often at most: to about an hour.
const INQUIRY_DOUBLINGS_MAX: u32 = 6;

/// The checksums of cores as of one tick: replicas with the same core share one.
pub(super) type CoreSums = HashMap<CellRect, Checksum>;

/// A replica's comparisons, and its repairs.
#[derive(Default)]
pub(super) struct Checks {
    /// The newest checksums of the cores that it had.
    sums: BTreeMap<Tick, Checksum>,
    /// While the replica is asked for its cells' checksums.
    asked: Option<Asked>,
    /// What the next frame repairs.
    to_repair: Vec<CellId>,
    /// Comparisons of this tick and earlier ones tell of what is repaired already.
    repaired: Tick,
    /// When it was repaired lately.
    repairs: Repairs,
}

/// A replica is to tell where its core differs.
struct Asked {
    since: Duration,
    /// It answered for a tick that is not among these: the next difference asks again.
    again: bool,
    /// The relay's own checksums, of each tick at which it may answer.
    trees: BTreeMap<Tick, Vec<(CellId, Checksum)>>,
}

impl Checks {
    /// Whether the replica was asked where its core differs, and has not said so for too long.
    pub fn is_unanswered(&self, now: Duration) -> bool {
        self.asked.as_ref().is_some_and(|asked| now >= asked.since + ANSWER_TIME)
    }
}

impl<R: Rules> Host<R> {
    /// Notes the checksum of a replica's core, if it is its turn.
    pub(super) fn note_checksum(&mut self, slot: Slot, sums: &mut CoreSums) {
        let tick = self.stepper.tick();
        let interval = self.config.settings().checksum_interval_ticks;
        let Host { guests, stepper, .. } = self;
        let Some(guest) = guests.get_mut(slot) else { return };
        let core = guest.area.bounds().core;
        if !crate::relay::checks_at(tick, guest.player, interval) || core.is_empty() {
            return;
        }
        let sum = *sums.entry(core).or_insert_with(|| stepper.simulation.part_checksum(core));
        keep(&mut guest.checks.sums, tick, sum, CHECKSUMS_KEPT_MAX);
        if let Some(asked) = &mut guest.checks.asked {
            keep(&mut asked.trees, tick, stepper.simulation.part_tree(core), TREES_KEPT_MAX);
        }
    }

    /// Compares what a replica tells of its core.
    pub(super) fn compare(&mut self, from: PeerId, sums: &[(Tick, Checksum)], io: &mut Io<World<R>>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let Checks { sums: ours, repaired, .. } = &guest.checks;
        let since = sums.iter().filter(|(tick, _)| tick > repaired);
        let notices = since.filter_map(|(tick, theirs)| guest.comparison.theirs(*tick, *theirs, ours, &mut io.out));
        if let Some(notice) = notices.min_by_key(|notice| notice.tick) {
            self.differs(from, notice, io);
        }
    }

    /// A replica's core is another: told to both sides once, and the replica is asked where.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, io: &mut Io<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let (now, out) = (io.now, &mut io.out);
        let first = guest.comparison.differs(true, out);
        let player = guest.player;
        let asked = guest.checks.asked.get_or_insert(Asked { since: now, again: true, trees: BTreeMap::new() });
        if core::mem::take(&mut asked.again) {
            out.reliably(self.leader.epoch, peer, &Message::Desync(notice));
        }
        if first {
            let DesyncNotice { tick, agreed, ours, theirs } = notice;
            self.stepper.emit_keyframe(out);
            out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        }
        self.inquire(player, peer, io);
    }

    /// Calls for the evidence of both sides. The longer a session goes on with differences, the
    /// rarer: whoever tells false checksums again and again must not keep a relay busy.
    fn inquire(&mut self, player: PlayerId, peer: PeerId, io: &mut Io<World<R>>) {
        let interval = INQUIRY_INTERVAL * (1 << self.inquiries.min(INQUIRY_DOUBLINGS_MAX));
        let witnesses = vec![(self.stepper.player, self.leader.peer), (player, peer)];
        let inquiry = Inquiry { witnesses: List::try_from(witnesses).expect("two are allowed") };
        self.inquiries += u32::from(io.inquire(interval, vec![(player, peer)], 2, inquiry));
    }

    /// A replica tells the checksums of its cells: those that differ are repaired with the next
    /// frame.
    pub(super) fn core_tree(&mut self, from: PeerId, tree: CoreTree, now: Duration, out: &mut Outbox<World<R>>) {
        let repairs_max = self.config.settings().repairs_max as usize;
        let Some(guest) = self.guests.of_mut(from) else { return };
        let Some(asked) = &mut guest.checks.asked else { return out.dropped(DropReason::Unexpected) };
        let Some(ours) = asked.trees.remove(&tree.tick) else {
            asked.again = true;
            return out.dropped(DropReason::Unexpected);
        };
        guest.checks.asked = None;
        let Some(is_first) = guest.checks.repairs.admit(repairs_max, now) else {
            out.reliably(self.leader.epoch, from, &Message::Removed(LeaveReason::Desync));
            return self.remove(from, LeaveReason::Desync);
        };
        self.stats.repairs += 1;
        let bounds = guest.area.bounds();
        // What differs spreads until it is repaired: if it was repaired in vain, all of the core
        // is. Of the halo nobody knows.
        guest.checks.to_repair = match is_first {
            true => {
                let differing = differing(&ours, &tree.cells).into_iter().filter(|cell| bounds.core.contains(*cell));
                differing.chain(bounds.given()).collect()
            }
            false => bounds.halo.iter().collect(),
        };
    }

    /// Gives a replica the cells of its core that are to be repaired, whole. Comparisons of earlier
    /// ticks say no more.
    pub(super) fn draft_repairs(&mut self, slot: Slot) {
        let Host { guests, stepper, .. } = self;
        let Some(guest) = guests.get_mut(slot).filter(|guest| !guest.checks.to_repair.is_empty()) else { return };
        let given = |cell: CellId| match stepper.simulation.cell_state(cell) {
            Some(state) => RawGiven::Cell(cell, CellBytes::new(state.encode())),
            None => RawGiven::Pristine(cell),
        };
        let at = At { me: Some(stepper.player), tick: stepper.tick(), epoch: self.leader.epoch };
        trace::repaired(at, guest.player, guest.checks.to_repair.len());
        guest.draft.given.extend(guest.checks.to_repair.drain(..).map(given));
        guest.checks.repaired = stepper.tick();
    }
}

/// Adds to what is kept of the newest ticks.
fn keep<T>(kept: &mut BTreeMap<Tick, T>, tick: Tick, value: T, max: usize) {
    kept.insert(tick, value);
    if kept.len() > max {
        kept.pop_first();
    }
}
