//! How a party's sequencer has a world put right that has become another.
//!
//! ```text
//! a difference ─► census ─► a replica is odd ─ Survey ─► it waits at that tick ─ Parts ─┐
//!                   │                    it plays on ◄─ Repair ─ what differs ◄─────────┘
//!                   └─► this peer is odd: it hands over, and is repaired as a replica
//! ```
//!
//! It must never take the word of one against that of more, and never makes the others wait. A
//! replica whose parts are right is not repaired. If it also says that its checksum was right when
//! it reported another, that report was a lie.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{CellId, Checksum, PlayerId, Simulation, Tick, codec};

use super::{Entry, Guest, Sequencing};
use crate::census::{Census, Judgement, Ruling};
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::Request;
use crate::session::{DropReason, Event, Io, Made, OnDesync, Outbox, Repairs, Right, Stepper, differing};
use crate::transfer::{self, SnapshotSender};
use crate::wire::*;

/// What is right and what is put right, as far as it is known.
pub(super) struct Justice<S: Simulation> {
    census: Census,
    /// States of the ticks at which replicas are repaired.
    copies: BTreeMap<Tick, Copy<S>>,
}

/// The state before the turn of a tick, as it is right.
struct Copy<S: Simulation> {
    snapshot: S::Snapshot,
    parts: Made,
    /// What was asked for, and is in no turn before that one.
    requests: Vec<Request>,
}

/// A guest's comparisons, and its repairs.
#[derive(Default)]
pub(super) struct Checks {
    mending: Option<Mending>,
    /// Its checksums of this tick and earlier ones tell of what is repaired already.
    repaired: Option<Tick>,
    repairs: Repairs,
}

/// The world of a guest is looked into.
struct Mending {
    survey: Survey,
    /// The checksum that it reported of the tick that is disputed.
    reported: Checksum,
    /// When it last got on.
    since: Duration,
    is_proven: bool,
    /// Whether none was begun shortly before. Then only what differs is sent, else all.
    is_first: bool,
    stage: Stage,
}

enum Stage {
    /// It is to tell what its world is made of.
    Surveyed(Told),
    /// What is right is on its way, so many cells.
    Sent(SnapshotSender, u32),
}

/// What it told so far.
#[derive(Default)]
struct Told {
    made: Made,
    /// The checksum that it says to have had at the tick that is disputed.
    disputed: Option<Checksum>,
    is_all: bool,
}

impl<S: Simulation> Justice<S> {
    /// With what is known of this peer's own world.
    pub fn new(stepper: &Stepper<S>) -> Self {
        let mut census = Census::default();
        stepper.checksums.iter().for_each(|(tick, checksum)| census.tell(stepper.player, *tick, *checksum));
        Justice { census, copies: BTreeMap::new() }
    }

    /// This peer's own checksum of a tick.
    pub fn own(&mut self, player: PlayerId, tick: Tick, checksum: Checksum) {
        self.census.tell(player, tick, checksum);
    }

    pub fn reference(&mut self, tick: Tick, checksum: Option<Checksum>) {
        self.census.reference(tick, checksum);
    }
}

impl Checks {
    /// Whether a checksum of a tick tells of a world that was not repaired since.
    pub fn counts(&self, tick: Tick) -> bool {
        self.repaired.is_none_or(|repaired| tick > repaired)
    }

    /// The next piece of what is put right, if one is to be sent.
    pub fn next_chunk(&mut self) -> Option<Bytes<CHUNK_BYTES>> {
        match &mut self.mending.as_mut()?.stage {
            Stage::Sent(sender, _) => sender.next_chunk(),
            Stage::Surveyed(_) => None,
        }
    }

    /// Time in which nobody could be heard is nobody's delay.
    pub fn excuse(&mut self, excuse: impl Fn(&mut Duration)) {
        self.mending.iter_mut().for_each(|mending| excuse(&mut mending.since));
    }
}

impl<S: Simulation> Sequencing<S> {
    pub(super) fn repairs(&self) -> bool {
        self.settings().on_desync == OnDesync::Repair
    }

    /// A member told its checksum of a tick.
    pub(super) fn told(&mut self, player: PlayerId, tick: Tick, checksum: Checksum) {
        let interval = self.settings().checksum_interval_ticks;
        // What is neither recent nor soon due is compared with nothing.
        let is_near = tick.0.abs_diff(self.stepper.tick().0) <= 8 * interval;
        if is_near && tick.0.is_multiple_of(interval) {
            self.justice.census.tell(player, tick, checksum);
        }
    }

    /// A guest's checksum was found to be another than this peer's, by either of them.
    pub(super) fn dispute(&mut self, peer: PeerId, notice: DesyncNotice, now: Duration) {
        let DesyncNotice { tick, agreed, theirs, .. } = notice;
        let Some(guest) = self.guests.of(peer) else { return };
        let is_open = guest.checks.mending.is_none() && guest.checks.counts(tick);
        let differs = self.stepper.checksums.get(&tick).is_some_and(|ours| *ours != theirs);
        if self.repairs() && is_open && differs {
            let player = guest.player;
            self.told(player, tick, theirs);
            self.justice.census.dispute(tick, agreed, now);
        }
    }

    /// Decides who is right, if worlds differ, and does what follows.
    pub(super) fn judge(&mut self, io: &mut Io<S>) {
        let Some(tick) = self.justice.census.disputed().filter(|_| self.leads()) else { return };
        let votes = |guest: &&Guest<S>| {
            // A guest that does not know yet who leads tells its checksums soon.
            let plays = matches!(guest.entry, Entry::Playing | Entry::Untold(_));
            plays && guest.checks.mending.is_none() && guest.checks.counts(tick)
        };
        let own = self.stepper.player;
        let guests = self.guests.iter().map(|(_, guest)| guest).filter(votes);
        let voters: Vec<_> = guests.map(|guest| guest.player).chain([own]).collect();
        match self.justice.census.judge(own, &voters, io.now) {
            None => {}
            Some(Judgement::Replay { tick, agreed }) => {
                io.out.events.push_back(Event::ReferenceWanted { tick, agreed });
            }
            Some(Judgement::Found(Ruling { sound, odd, .. })) if odd.contains_key(&own) => {
                // Someone who is right leads on, and repairs this peer.
                let is_heard = |player: &PlayerId| self.hears(*player, io.now);
                if let Some(heir) = sound.into_iter().find(is_heard) {
                    self.membership.members.hand_over(heir, io.now);
                    self.elect(io);
                }
            }
            Some(Judgement::Found(finding)) => {
                for (player, reported) in finding.odd {
                    self.survey(player, (finding.tick, reported), finding.is_proven, io);
                }
            }
        }
    }

    /// Asks a player's peer what its world is made of, at a tick that it cannot have played yet, as
    /// it reported another checksum.
    fn survey(&mut self, player: PlayerId, reported: (Tick, Checksum), is_proven: bool, io: &mut Io<S>) {
        let (disputed, reported) = reported;
        let tick = self.membership.history.open().max(self.stepper.tick().next());
        let Some((peer, guest)) = self.guests.peers_mut().find(|(_, guest)| guest.player == player) else { return };
        if is_proven {
            guest.comparison.acquit(&mut io.out);
        }
        let Some(is_first) = guest.checks.repairs.admit(REPAIRS_MAX as usize, io.now) else {
            self.inquire(peer, io);
            return self.put_out(peer, LeaveReason::Desync, &mut io.out);
        };
        let (survey, stage) = (Survey { tick, disputed }, Stage::Surveyed(Told::default()));
        guest.checks.mending = Some(Mending { survey, reported, since: io.now, is_proven, is_first, stage });
        io.out.reliably(self.leader.epoch, peer, &Message::Survey(survey));
    }

    /// Keeps the state as it is now, if replicas are repaired at this tick.
    pub(super) fn keep_copy(&mut self, io: &mut Io<S>) {
        let tick = self.stepper.tick();
        let here = |guest: &Guest<S>| guest.checks.mending.as_ref().is_some_and(|mending| mending.survey.tick == tick);
        let peers: Vec<_> = self.guests.peers().filter(|(_, guest)| here(guest)).map(|(peer, _)| peer).collect();
        if peers.is_empty() {
            return;
        }
        let Stepper { simulation, ledger, .. } = &mut self.stepper;
        let requests = ledger.as_ref().expect("it plays the whole world").requests.open();
        let copy = Copy { snapshot: simulation.snapshot(), parts: Made::of(simulation), requests };
        self.justice.copies.insert(tick, copy);
        peers.into_iter().for_each(|peer| self.mend(peer, io));
    }

    /// A replica tells what its world is made of, or a piece of it.
    pub(super) fn parts(&mut self, from: PeerId, parts: Parts, io: &mut Io<S>) {
        let mending = self.guests.of_mut(from).and_then(|guest| guest.checks.mending.as_mut());
        let Some(Mending { survey, since, stage: Stage::Surveyed(told), .. }) = mending else {
            return io.out.dropped(DropReason::Unexpected);
        };
        let made = &mut told.made;
        let last = made.cells.last().map(|(cell, _)| *cell);
        let goes_on = parts.cells.first().is_none_or(|(cell, _)| last.is_none_or(|last| last < *cell));
        let fits = made.cells.len() + parts.cells.len() <= PARTS_MAX;
        if parts.tick != survey.tick || told.is_all || !goes_on || !fits {
            return io.out.dropped(DropReason::Unexpected);
        }
        (made.checksum, made.rest) = (parts.checksum, parts.rest);
        made.cells.extend(parts.cells.into_vec());
        (*since, told.disputed, told.is_all) = (io.now, parts.disputed, !parts.more);
        self.mend(from, io);
    }

    /// Has a replica's world put right if it differs, once both states of the tick are known. Only
    /// then evidence is called for, ahead of the repair: before, the difference may be a lie.
    fn mend(&mut self, peer: PeerId, io: &mut Io<S>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let Some(mending) = &mut guest.checks.mending else { return };
        let tick = mending.survey.tick;
        let Some(copy) = self.justice.copies.get(&tick) else { return };
        let Stage::Surveyed(Told { made: theirs, disputed, is_all: true }) = &mending.stage else { return };
        let ours = &copy.parts;
        let differs = differing(&ours.cells, &theirs.cells);
        let in_parts = ours.rest.is_some() && theirs.rest.is_some();
        let rest_differs = ours.rest != theirs.rest;
        let (out, epoch, player) = (&mut io.out, self.leader.epoch, guest.player);
        guest.checks.repaired = Some(tick);
        if ours.checksum == theirs.checksum || in_parts && differs.is_empty() && !rest_differs {
            // A world may come right by itself. But what it was, was reported as it was.
            let lied = *disputed != Some(mending.reported);
            guest.checks.mending = None;
            out.reliably(epoch, peer, &Message::Repair(None));
            if lied {
                guest.comparison.lied(out);
                out.events.push_back(Event::Liar { player });
                return self.put_out(peer, LeaveReason::Lied, out);
            }
            return guest.comparison.put_right(tick);
        }
        guest.comparison.put_right(tick);
        // If what differs was put right in vain, all is replaced.
        let is_whole = !in_parts || !mending.is_first;
        self.inquire(peer, io);
        self.send_right(peer, is_whole, &Vec::from_iter(differs), rest_differs, io);
    }

    /// Sends a replica what is right: all of the state, or the cells that differ, and the rest if
    /// that does.
    fn send_right(&mut self, peer: PeerId, is_whole: bool, cells: &[CellId], rest_differs: bool, io: &mut Io<S>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let Some(mending) = &mut guest.checks.mending else { return };
        let Some(copy) = self.justice.copies.get(&mending.survey.tick) else { return };
        let (out, epoch) = (&mut io.out, self.leader.epoch);
        let simulation = &self.stepper.simulation;
        let right = Right {
            requests: copy.requests.clone().try_into().expect("no more are kept"),
            cells: if is_whole { 0 } else { cells.len() as u32 },
            is_whole,
            bytes: match is_whole {
                true => simulation.encode(&copy.snapshot),
                false => simulation.encode_parts(&copy.snapshot, cells, rest_differs),
            },
        };
        let bytes = codec::compact(&right);
        if bytes.len() > SNAPSHOT_BYTES_MAX {
            return self.put_out(peer, LeaveReason::Desync, out);
        }
        let repair = Repair {
            tick: mending.survey.tick,
            checksum: copy.parts.checksum,
            bytes: bytes.len() as u32,
            digest: transfer::digest(&bytes),
            is_proven: mending.is_proven,
        };
        out.reliably(epoch, peer, &Message::Repair(Some(repair)));
        (mending.since, mending.stage) = (io.now, Stage::Sent(SnapshotSender::new(bytes.into()), right.cells));
    }

    /// A guest that plays acknowledges pieces of what is put right.
    pub(super) fn mended(&mut self, from: PeerId, received: u32, now: Duration, out: &mut Outbox<S>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let Some(Mending { survey, since, is_proven, stage: Stage::Sent(sender, cells), .. }) =
            &mut guest.checks.mending
        else {
            return out.dropped(DropReason::Unexpected);
        };
        if sender.acknowledge(received).is_err() {
            // It may be of a repair that was begun before, and given up.
            return out.dropped(DropReason::Unexpected);
        }
        *since = now;
        if sender.done() {
            let (player, tick, cells, is_proven) = (guest.player, survey.tick, *cells, *is_proven);
            out.stats.repairs += 1;
            out.events.push_back(Event::Repaired { player, tick, cells, is_proven });
            guest.checks.mending = None;
        }
    }

    /// Gives up repairs that do not get on, and forgets what nobody needs any more. A world that
    /// still differs is looked into again.
    pub(super) fn watch_repairs(&mut self, now: Duration) {
        for (_, guest) in self.guests.peers_mut() {
            guest.checks.mending.take_if(|mending| now >= mending.since + SURVEY_TIME);
        }
        let (guests, simulation) = (&self.guests, &mut self.stepper.simulation);
        let is_needed = |tick: &Tick| {
            let mut mending = guests.iter().filter_map(|(_, guest)| guest.checks.mending.as_ref());
            mending.any(|mending| mending.survey.tick == *tick)
        };
        let (kept, old) = core::mem::take(&mut self.justice.copies).into_iter().partition(|(tick, _)| is_needed(tick));
        self.justice.copies = kept;
        let old: BTreeMap<Tick, Copy<S>> = old;
        old.into_values().for_each(|copy| simulation.retire(copy.snapshot));
    }
}
