//! Whether a replica's core is that of the relay's world, and what is done if it is not.
//!
//! Each replica has its own ticks at which its core is compared. A replica that reported another
//! checksum answers with those of its cells at one tick. What differs there, and what that can have
//! reached since, is given to it whole in a frame. A core too large for that is loaded anew.
//! Repairs are few: a replica that needs more is put out. If nothing differs, the report was a lie.

use core::time::Duration;
use std::collections::{BTreeMap, HashMap};

use lockstone_sim::{CellId, CellRect, Checksum, PlayerId, Rules, Simulation, Tick, World};

use super::Host;
use crate::limits::*;
use crate::link::PeerId;
use crate::relay::keep;
use crate::session::trace::{self, At};
use crate::session::{DropReason, Event, Io, Outbox, Repairs, Slot, Witnesses, differing};
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
    /// What it reported, and was told to be false.
    notice: DesyncNotice,
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

/// Differences of which it is open whether the relay's own world went wrong, as a replica may lie.
/// A replay of the relay's recording tells.
#[derive(Default)]
pub(super) struct Doubts {
    /// Differences that no replay was asked about yet.
    open: Option<Doubt>,
    /// What is played again, up to a tick, and the checksum of this world there.
    asked: Option<(Tick, Checksum, Doubt)>,
}

struct Doubt {
    differences: u64,
    /// All cores were equal up to there.
    agreed: Option<Tick>,
}

impl Doubts {
    fn add(&mut self, agreed: Option<Tick>) {
        let doubt = self.open.get_or_insert(Doubt { differences: 0, agreed });
        doubt.differences += 1;
        doubt.agreed = doubt.agreed.min(agreed);
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

    /// A replica says that its core is another. It is asked where: until it answers, that may be a
    /// lie.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, io: &mut Io<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let fresh = Asked { since: io.now, notice, again: true, trees: BTreeMap::new() };
        let asked = guest.checks.asked.get_or_insert(fresh);
        if core::mem::take(&mut asked.again) {
            asked.notice = notice;
            io.out.reliably(self.leader.epoch, peer, &Message::Desync(notice));
        }
    }

    /// A replica's core is another: told here once, and both sides look into it.
    fn is_odd(&mut self, peer: PeerId, notice: DesyncNotice, io: &mut Io<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let player = guest.player;
        if guest.comparison.differs(true, &mut io.out) {
            let DesyncNotice { tick, agreed, ours, theirs } = notice;
            self.stepper.emit_keyframe(&mut io.out);
            io.out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        }
        self.doubts.add(notice.agreed);
        self.ask_for_replay(io);
        self.inquire(player, peer, io);
    }

    /// Has what led to the differences played again, one replay at a time.
    fn ask_for_replay(&mut self, io: &mut Io<World<R>>) {
        if self.doubts.asked.is_none()
            && let Some(doubt) = self.doubts.open.take()
        {
            let (tick, agreed) = (self.stepper.tick(), doubt.agreed);
            self.doubts.asked = Some((tick, self.stepper.simulation.checksum(), doubt));
            io.out.events.push_back(Event::ReferenceWanted { tick, agreed });
        }
    }

    /// A replay came to a checksum at a tick, or to none. If it is that of this world, what
    /// differed before was no fault of it.
    pub(super) fn replayed(&mut self, tick: Tick, checksum: Option<Checksum>, io: &mut Io<World<R>>) {
        if let Some((_, ours, doubt)) = self.doubts.asked.take_if(|(asked, ..)| *asked == tick) {
            io.out.stats.acquitted += if checksum == Some(ours) { doubt.differences } else { 0 };
            self.ask_for_replay(io);
        }
    }

    /// Calls for the evidence of both sides. The longer a session goes on with differences, the
    /// rarer: whoever tells false checksums again and again must not keep a relay busy. The relay's
    /// own stays here, for it is of the whole world.
    fn inquire(&mut self, player: PlayerId, peer: PeerId, io: &mut Io<World<R>>) {
        let interval = INQUIRY_INTERVAL * (1 << self.inquiries.min(INQUIRY_DOUBLINGS_MAX));
        let witnesses = vec![(self.stepper.player, self.leader.peer), (player, peer)];
        let inquiry = Inquiry { witnesses: List::try_from(witnesses).expect("two are allowed") };
        let witnesses = Witnesses { may_know: false, ..Witnesses::of(vec![(player, peer)], 2) };
        self.inquiries += u32::from(io.inquire(interval, witnesses, inquiry));
    }

    /// A replica tells the checksums of its cells: those that differ are repaired with the next
    /// frame. If none does, and the replica now says that it had another checksum than it
    /// reported, the report was a lie.
    pub(super) fn core_tree(&mut self, from: PeerId, tree: CoreTree, io: &mut Io<World<R>>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let Some(asked) = &mut guest.checks.asked else { return io.out.dropped(DropReason::Unexpected) };
        let Some(ours) = asked.trees.remove(&tree.tick) else {
            asked.again = true;
            return io.out.dropped(DropReason::Unexpected);
        };
        let notice = asked.notice;
        guest.checks.asked = None;
        if *tree.cells == *ours && tree.disputed != Some(notice.theirs) {
            return self.lied(from, &mut io.out);
        }
        self.is_odd(from, notice, io);
        self.repair(from, &tree, &ours, io.now, &mut io.out);
    }

    /// A replica reported a false checksum of a right core. It is named, and put out.
    fn lied(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        out.events.push_back(Event::Liar { player: guest.player });
        out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Lied));
        self.remove(peer, LeaveReason::Lied);
    }

    fn repair(
        &mut self,
        peer: PeerId,
        tree: &CoreTree,
        ours: &[(CellId, Checksum)],
        now: Duration,
        out: &mut Outbox<World<R>>,
    ) {
        let repairs_max = self.config.settings().repairs_max as usize;
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let Some(is_first) = guest.checks.repairs.admit(repairs_max, now) else {
            out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Desync));
            return self.remove(peer, LeaveReason::Desync);
        };
        self.stats.repairs += 1;
        let bounds = guest.area.bounds();
        // What differs spreads until it is repaired: if it was repaired in vain, all of the core
        // is. Of the halo nobody knows.
        guest.checks.to_repair = match is_first {
            true => {
                let differing = differing(ours, &tree.cells).into_iter().filter(|cell| bounds.core.contains(*cell));
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
