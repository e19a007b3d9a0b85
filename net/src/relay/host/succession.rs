//! How the relay keeps a standby in step, and what it waits for meanwhile. How it gives way.
//!
//! ```text
//! vacant ─ hello, proof ─► loading ─ has it all ─► in step ─ has all that was played ─► heir
//!    ▲                        │                       │                                  │ lost
//!    └────────────────────────┴───────────────────────┘◄─ witnesses know ─ dismissed ◄───┘
//! ```
//!
//! From the time on that a standby is in step, a turn is played here, and told to replicas, once
//! the standby has it. So it lacks nothing that anyone has seen. Once it is the heir, witnesses may
//! promise to follow it. The relay cannot know that they have not, so it goes on without its heir
//! only when a quorum of the witnesses knows that there is none.
//!
//! It must never play a turn that its heir may lack. It waits for replicas only if it has lost its
//! heir.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::{PlayerId, Rules, Simulation, Tick, World, codec};

use super::Host;
use super::guest::Guest;
use crate::key::{Claim, PublicKey};
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::members::{EPOCHS_AHEAD_MAX, Electorate, SUSPICION};
use crate::sequencer::{Feed, History};
use crate::session::{DropReason, EndReason, Io, Offer, Outbox};
use crate::transfer::SnapshotSender;
use crate::wire::*;

/// Replicas that are named as witnesses at most.
const WITNESSES_MAX: usize = 15;
/// A replica hears something at least so often, also while nothing is played.
pub(super) const KEEP_ALIVE: Duration = Duration::from_millis(250);
/// Between two pieces of the world to a standby, and what it may lag: the standby acknowledges each
/// piece and each packet of turns, and may send no more than any peer.
const CHUNK_INTERVAL: Duration = Duration::from_millis(20);
const CHUNKS_AT_ONCE: Duration = Duration::from_millis(50);
const TURNS_PER_S_MAX: u32 = 40;
/// An heir that lacks a turn for so long is lost.
const HEIR_SILENCE: Duration = SUSPICION;
/// A relay that goes on from a recording lets nobody in for so long: its standby may lead.
const WARY: Duration = Duration::from_secs(3);
/// Between two epochs that this relay begins, so that nobody makes it begin many.
const EPOCH_INTERVAL: Duration = Duration::from_secs(5);
/// Between two times that the relay of before is told who leads.
const PAUSE: Duration = Duration::from_secs(1);

/// What a relay knows of who may lead on.
pub(super) struct Succession {
    /// By which the standby is known, if there may be one.
    key: Option<PublicKey>,
    /// Who says to be the standby, and is asked to prove it.
    applicant: Option<Applicant>,
    place: Place,
    /// Counts what the replicas were told of the heir.
    number: u32,
    /// Turns that are closed and not played, the next first.
    unplayed: VecDeque<Vec<RawInput>>,
    /// How many commands of each player are in them.
    commands: BTreeMap<PlayerId, u32>,
    /// Since when the first of them waits.
    waits_since: Option<Duration>,
    /// The tick whose turn changed the electorate last, until the heir has it.
    changed: Option<Tick>,
    /// Witnesses that were lost after they were named: they may have forgotten what they promised.
    lapsed: BTreeSet<PlayerId>,
    /// Witnesses that promised to follow another.
    strays: BTreeSet<PlayerId>,
    /// Until when nobody is let in.
    wary_until: Duration,
    /// When this relay began its epoch, and not its first.
    began_at: Option<Duration>,
    /// Whether turns are played though the standby lacks them.
    hurries: bool,
    /// The relay that this one was the standby of, and when it was last told so.
    before: Option<(PeerId, Option<Duration>)>,
}

struct Applicant {
    peer: PeerId,
    nonce: u64,
    hello: Hello,
}

enum Place {
    Vacant,
    Taken(Box<Follower>),
    /// There is no heir any more, and so many witnesses know.
    Dismissed(BTreeSet<PlayerId>),
}

/// The standby.
struct Follower {
    peer: PeerId,
    attempt: u32,
    sender: SnapshotSender,
    /// The turns that it has not acknowledged.
    turns: History<()>,
    feed: Feed,
    heard_at: Duration,
    /// When it is sent the next piece of the world.
    chunk_at: Duration,
    course: Course,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Loading,
    InStep,
    /// The replicas are told that it leads if the relay is lost.
    Heir,
}

impl Succession {
    /// The same, but it plays turns that the standby may lack.
    pub fn hurrying(self, hurries: bool) -> Succession {
        Succession { hurries, ..self }
    }

    /// Of a relay that begins to lead: `past` if it goes on from a recording, `before` the relay
    /// that it was the standby of.
    pub fn new(key: Option<PublicKey>, past: bool, before: Option<PeerId>, now: Duration) -> Succession {
        Succession {
            key,
            applicant: None,
            place: Place::Vacant,
            number: 0,
            unplayed: VecDeque::new(),
            commands: BTreeMap::new(),
            waits_since: None,
            changed: None,
            lapsed: BTreeSet::new(),
            strays: BTreeSet::new(),
            wary_until: if past && key.is_some() { now + WARY } else { now },
            began_at: None,
            hurries: false,
            before: before.map(|peer| (peer, None)),
        }
    }

    fn follower(&mut self) -> Option<&mut Follower> {
        if let Place::Taken(follower) = &mut self.place { Some(follower) } else { None }
    }

    /// The standby's peer, if there is one.
    pub fn standby(&self) -> Option<PeerId> {
        if let Place::Taken(follower) = &self.place { Some(follower.peer) } else { None }
    }

    fn is_standby(&self, peer: PeerId) -> bool {
        self.standby() == Some(peer)
    }

    /// Whether a turn is played only once the standby has it.
    fn holds(&self) -> bool {
        match &self.place {
            Place::Vacant => false,
            Place::Taken(follower) => follower.course != Course::Loading,
            Place::Dismissed(_) => true,
        }
    }

    /// Whether turns may be played up to a tick.
    fn releases(&self, tick: Tick) -> bool {
        self.hurries
            || match &self.place {
                Place::Taken(follower) => follower.course == Course::Loading || follower.feed.known() > tick,
                Place::Vacant => true,
                Place::Dismissed(_) => false,
            }
    }

    /// Whether the session stands still, as this relay may have been replaced.
    pub fn stands_still(&self, now: Duration) -> bool {
        self.holds() && self.waits_since.is_some_and(|since| now >= since + HEIR_SILENCE)
    }

    /// How many of a player's commands are in turns that are not played. They may be lost with
    /// this relay, so its replica is not told of them.
    pub fn commands_unplayed(&self, player: PlayerId) -> u32 {
        self.commands.get(&player).copied().unwrap_or(0)
    }

    /// Who leads on, as replicas are told.
    fn heir(&self) -> Option<Heir> {
        let peer = match &self.place {
            Place::Taken(follower) if follower.course == Course::Heir => Some(follower.peer),
            Place::Dismissed(_) => None,
            Place::Vacant | Place::Taken(_) => return None,
        };
        Some(Heir { number: self.number, peer })
    }

    /// A guest is no more what it was: what it says does not count as that witness's.
    pub fn lapse(&mut self, player: PlayerId) {
        self.lapsed.insert(player);
        if let Place::Dismissed(knowing) = &mut self.place {
            knowing.remove(&player);
        }
    }
}

impl<R: Rules> Host<R> {
    /// The first tick that is not closed.
    pub(super) fn open(&self) -> Tick {
        self.stepper.tick().plus(self.succession.unplayed.len() as u32)
    }

    /// Whether another tick may be closed: not many wait for the standby.
    pub(super) fn may_close(&self) -> bool {
        (self.succession.unplayed.len() as u32) < self.config.settings().ticks_per_s.max(2)
    }

    /// Takes a turn that is closed.
    pub(super) fn closed(&mut self, inputs: Vec<RawInput>, now: Duration, out: &mut Outbox<World<R>>) {
        self.ledger.closed(self.open(), &inputs);
        if let Some(follower) = self.succession.follower() {
            let peer = follower.peer;
            match turn(&inputs) {
                Some(None) => follower.turns.close_empty(),
                Some(Some(encoded)) => follower.turns.close((), encoded),
                // A turn that is larger than any packet cannot be told.
                None => self.remove_standby(peer, out),
            }
        }
        for player in inputs.iter().filter_map(commander) {
            *self.succession.commands.entry(player).or_insert(0) += 1;
        }
        self.succession.unplayed.push_back(inputs);
        self.succession.waits_since.get_or_insert(now);
    }

    /// The next turn that is closed, if it may be played.
    pub(super) fn release(&mut self, now: Duration) -> Option<Vec<RawInput>> {
        let tick = self.stepper.tick();
        let inputs = if self.succession.releases(tick) { self.succession.unplayed.pop_front() } else { None };
        if let Some(inputs) = &inputs {
            let Succession { commands, unplayed, waits_since, .. } = &mut self.succession;
            for player in inputs.iter().filter_map(commander) {
                commands.entry(player).and_modify(|count| *count -= 1);
            }
            if unplayed.is_empty() {
                commands.clear();
            }
            *waits_since = (!unplayed.is_empty()).then_some(now);
        }
        inputs
    }

    /// What the next turn says of the witnesses.
    pub(super) fn name_witnesses(&mut self) -> Vec<RawInput> {
        let (own, open) = (self.stepper.player, self.open());
        let electorates = &self.ledger.electorates;
        self.succession.lapsed.retain(|player| electorates.iter().any(|named| named == *player));
        let known = match &self.succession.place {
            Place::Taken(follower) if follower.course != Course::Loading => follower.feed.known(),
            Place::Dismissed(_) => return Vec::new(),
            // Nobody else may decide.
            Place::Vacant | Place::Taken(_) => {
                self.succession.changed = None;
                let alone = Electorate::of([own].into_iter());
                return match electorates.settled() {
                    Some(settled) if *settled == alone => Vec::new(),
                    _ => vec![RawInput::Electorate(alone), RawInput::Settled],
                };
            }
        };
        if let Some(changed) = self.succession.changed {
            self.succession.changed = Some(changed).filter(|changed| known <= *changed);
            return if known > changed { vec![RawInput::Settled] } else { Vec::new() };
        }
        let Some(settled) = electorates.settled() else { return Vec::new() };
        let next = self.witnesses(settled);
        if next == *settled {
            return Vec::new();
        }
        self.succession.changed = Some(open);
        vec![RawInput::Electorate(next)]
    }

    /// Replicas whose heroes are in the world: those that are witnesses already, then others. If
    /// there are none, this relay decides alone.
    fn witnesses(&self, settled: &Electorate) -> Electorate {
        let own = self.stepper.player;
        let plays = |player| {
            let guest = self.guests.slot_of(player).and_then(|slot| self.guests.get(slot));
            player != own && guest.is_some_and(Guest::plays) && !self.succession.lapsed.contains(&player)
        };
        let present = |player: &PlayerId| self.ledger.members.get(player).is_some_and(|member| member.away.is_none());
        let kept = settled.members.iter().copied().filter(|player| present(player) && plays(*player));
        let kept: BTreeSet<_> = kept.collect();
        let others = self.ledger.present().map(|(player, _)| player);
        let others = others.filter(|player| !kept.contains(player) && plays(*player));
        let named: BTreeSet<_> = others.take(WITNESSES_MAX - kept.len().min(WITNESSES_MAX)).collect();
        let named: BTreeSet<_> = kept.into_iter().chain(named).collect();
        let next = Electorate::of(if named.is_empty() { vec![own] } else { Vec::from_iter(named) }.into_iter());
        let senior = if next.members.contains(&settled.senior) { settled.senior } else { next.senior };
        Electorate { senior, ..next }
    }

    /// Does what is due for the standby, and without it.
    pub(super) fn tend_standby(&mut self, io: &mut Io<World<R>>) {
        let (now, epoch, open, played) = (io.now, self.leader.epoch, self.open(), self.stepper.tick());
        let settings = self.config.settings();
        let (has_waited, hurries) = (self.succession.stands_still(now), self.succession.hurries);
        let Some(follower) = self.succession.follower() else { return self.tell_before(io) };
        while now >= follower.chunk_at
            && let Some(chunk) = follower.sender.next_chunk()
        {
            follower.chunk_at = follower.chunk_at.max(now.saturating_sub(CHUNKS_AT_ONCE)) + CHUNK_INTERVAL;
            io.out.reliably(epoch, follower.peer, &Message::Chunk(chunk));
        }
        let rests = follower.feed.sent_at().is_some_and(|sent| now < sent + KEEP_ALIVE);
        if follower.feed.due(open, settings.ticks_per_s.div_ceil(TURNS_PER_S_MAX)) || !rests {
            for (channel, turns) in follower.feed.packets(&follower.turns, open, now, 0) {
                io.out.send_turns(epoch, follower.peer, channel, TurnsKind::Frames, &turns);
            }
        }
        let known = follower.feed.known();
        match follower.course {
            Course::Loading if follower.sender.done() && open.since(known) <= settings.ticks_per_s => {
                follower.course = Course::InStep;
            }
            Course::InStep if known >= played || hurries => {
                follower.course = Course::Heir;
                self.succession.number += 1;
                self.tell_heir(&mut io.out);
            }
            _ => {}
        }
        let Some(follower) = self.succession.follower() else { return };
        let is_full = follower.turns.bytes() > HISTORY_BYTES_MAX;
        if now >= follower.heard_at + settings.silence_timeout || is_full || has_waited {
            let peer = follower.peer;
            self.remove_standby(peer, &mut io.out);
        }
    }

    /// The standby is to load the world anew.
    fn remove_standby(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::TooSlow));
        self.lose_standby(peer, out);
    }

    /// The standby is lost.
    pub(super) fn lose_standby(&mut self, peer: PeerId, out: &mut Outbox<World<R>>) {
        self.succession.applicant.take_if(|applicant| applicant.peer == peer);
        let Some(follower) = self.succession.follower().filter(|follower| follower.peer == peer) else { return };
        let was_heir = follower.course == Course::Heir;
        if was_heir {
            self.succession.place = Place::Dismissed(BTreeSet::new());
            self.succession.number += 1;
            self.tell_heir(out);
            self.settle_dismissal();
        } else {
            self.succession.place = Place::Vacant;
        }
    }

    fn tell_heir(&self, out: &mut Outbox<World<R>>) {
        self.guests.peers().for_each(|(peer, _)| self.tell_heir_to(peer, out));
    }

    /// Tells a replica who leads on, if there is something to tell.
    pub(super) fn tell_heir_to(&self, peer: PeerId, out: &mut Outbox<World<R>>) {
        if let Some(heir) = self.succession.heir() {
            out.reliably(self.leader.epoch, peer, &Message::Heir(heir));
        }
    }

    /// A replica knows who leads on.
    pub(super) fn heir_known(&mut self, from: PeerId, heir: Heir) {
        let Some(guest) = self.guests.of(from) else { return };
        let (player, counts) = (guest.player, guest.plays());
        let Succession { place, lapsed, number, .. } = &mut self.succession;
        if let Place::Dismissed(knowing) = place
            && heir.number == *number
            && counts
            && !lapsed.contains(&player)
        {
            knowing.insert(player);
            self.settle_dismissal();
        }
    }

    /// Goes on alone once a quorum of the witnesses follows no other.
    fn settle_dismissal(&mut self) {
        let own = self.stepper.player;
        if let Place::Dismissed(knowing) = &self.succession.place
            && self.ledger.electorates.is_quorum_of_each(|player| player == own || knowing.contains(&player))
        {
            self.succession.place = Place::Vacant;
        }
    }

    /// A replica has promised to follow another.
    pub(super) fn strays(&mut self, from: PeerId, stand: Stand, io: &mut Io<World<R>>) {
        let Some(player) = self.guests.of(from).map(|guest| guest.player) else { return };
        if stand.vote.epoch <= self.leader.epoch || !self.succession.holds() {
            return io.out.dropped(DropReason::Unexpected);
        }
        self.succession.strays.insert(player);
        let strays = &self.succession.strays;
        if self.ledger.electorates.is_quorum_of_each(|player| strays.contains(&player)) {
            self.give_up(io);
        }
    }

    /// Another leads in this relay's place: who is still here is to look for it.
    fn give_up(&self, io: &mut Io<World<R>>) {
        for (peer, _) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Lost));
        }
        io.out.end(EndReason::Superseded);
    }

    /// Begins an epoch after the one that somebody has promised, if nobody can lead in that.
    /// Returns whether it did.
    fn outruns(&mut self, promised: Epoch, io: &mut Io<World<R>>) -> bool {
        let ahead = promised.0.saturating_sub(self.leader.epoch.0);
        let succession = &mut self.succession;
        let may = !succession.holds() && io.now >= succession.wary_until && ahead < EPOCHS_AHEAD_MAX;
        if !may || succession.began_at.is_some_and(|at| io.now < at + EPOCH_INTERVAL) {
            return false;
        }
        succession.began_at = Some(io.now);
        succession.strays.clear();
        let from = Known { epoch: self.leader.epoch, end: self.stepper.tick() };
        self.leader.epoch = Epoch(promised.0.saturating_add(1));
        let lead = Message::Lead(Lead { from, before: List::default(), gone: List::default() });
        let standby = self.succession.follower().map(|follower| follower.peer);
        let peers = self.guests.peers().map(|(peer, _)| peer).chain(standby);
        peers.for_each(|peer| io.out.reliably(self.leader.epoch, peer, &lead));
        true
    }

    /// Whether a joiner may be let in now. It asks again.
    pub(super) fn admits(&mut self, hello: &Hello, io: &mut Io<World<R>>) -> bool {
        let is_open = io.now >= self.succession.wary_until && !self.succession.stands_still(io.now);
        is_open && (hello.promised <= self.leader.epoch || self.outruns(hello.promised, io))
    }

    /// Whether a hello is the standby's, as far as it says so. Then it is asked to prove it.
    pub(super) fn asks_standby(&mut self, peer: PeerId, hello: &Hello, io: &mut Io<World<R>>) -> bool {
        if self.succession.key.is_none() || hello.key != self.succession.key {
            return false;
        }
        let differences = self.entrant.terms.differences(hello.protocol, &hello.terms);
        if !differences.is_empty() {
            let refusal = Refusal::Different(differences.try_into().expect("one of each kind"));
            self.guests.refuse(peer, hello.name.as_str(), refusal, &mut io.out);
            return true;
        }
        let nonce = match &self.succession.applicant {
            Some(applicant) if applicant.peer == peer => applicant.nonce,
            _ => io.now.as_nanos() as u64 ^ peer.0 as u64,
        };
        self.succession.applicant = Some(Applicant { peer, nonce, hello: hello.clone() });
        io.out.reliably(self.leader.epoch, peer, &Message::Challenge(nonce));
        true
    }

    /// Takes a proof, if it is the standby's.
    pub(super) fn proves_standby(&mut self, peer: PeerId, proof: &Proof, io: &mut Io<World<R>>) -> bool {
        let Some(applicant) = self.succession.applicant.take_if(|applicant| applicant.peer == peer) else {
            return false;
        };
        let claim = Claim { epoch: self.leader.epoch, host: self.leader.peer, joiner: peer, nonce: applicant.nonce };
        if !self.succession.key.is_some_and(|key| key.proves(&claim, proof)) {
            self.guests.refuse(peer, applicant.hello.name.as_str(), Refusal::Key, &mut io.out);
        } else if applicant.hello.promised > self.leader.epoch {
            self.give_up(io);
        } else {
            self.take_standby(peer, applicant.hello.attempt, io);
        }
        true
    }

    /// Sends the standby the whole world, unless there is one, or was just now: it asks again.
    fn take_standby(&mut self, peer: PeerId, attempt: u32, io: &mut Io<World<R>>) {
        if self.succession.follower().is_some_and(|follower| follower.peer == peer && follower.attempt != attempt) {
            self.lose_standby(peer, &mut io.out);
        }
        let Place::Vacant = self.succession.place else { return };
        let stepper = &mut self.stepper;
        let snapshot = stepper.simulation.encoded();
        let ledger = stepper.ledger.as_ref().expect("it plays the whole world").encode();
        let offer = Offer::new(stepper, codec::compact(&(ledger, snapshot)), List::default());
        if offer.is_too_large() {
            return self.guests.refuse(peer, "", Refusal::World, &mut io.out);
        }
        let sender = offer.make(self.leader, peer, attempt, (stepper.player, Some(0)), &mut io.out);
        self.succession.place = Place::Taken(Box::new(Follower {
            peer,
            attempt,
            sender,
            turns: History::starting_at(offer.tick()),
            feed: Feed::new(offer.tick()),
            heard_at: io.now,
            chunk_at: io.now,
            course: Course::Loading,
        }));
    }

    /// Takes a message of the standby. Returns it if it is none.
    pub(super) fn of_standby(
        &mut self,
        from: PeerId,
        epoch: Epoch,
        message: Message,
        io: &mut Io<World<R>>,
    ) -> Option<Message> {
        if let Message::Challenge(nonce) = message {
            self.prove_standby(from, epoch, nonce, io);
            return None;
        }
        if !self.succession.is_standby(from) {
            return Some(message);
        }
        let open = self.open();
        let follower = self.succession.follower()?;
        follower.heard_at = io.now;
        match message {
            Message::ChunkAck(received) => {
                if follower.sender.acknowledge(received).is_err() {
                    io.out.dropped(DropReason::ForgedAck);
                }
            }
            Message::Report(report) => match follower.feed.take(&report, open, io.now) {
                Ok(()) => follower.turns.forget(follower.feed.known()),
                Err(reason) => io.out.dropped(reason),
            },
            Message::Bye(_) => self.lose_standby(from, &mut io.out),
            _ => io.out.dropped(DropReason::Unexpected),
        }
        None
    }

    /// Tells the relay that this one was the standby of that it is not the relay any more.
    fn tell_before(&mut self, io: &mut Io<World<R>>) {
        let Some((peer, told)) = &mut self.succession.before else { return };
        if io.ingress.is_connected(*peer) && told.is_none_or(|told| io.now >= told + PAUSE) {
            *told = Some(io.now);
            let hello = Hello { promised: self.leader.epoch, ..self.entrant.hello() };
            io.out.reliably(Epoch::default(), *peer, &Message::Hello(hello));
        }
    }

    /// Another is connected: if it is the room's relay, it is not any more.
    pub(super) fn meets(&mut self, peer: PeerId, io: &mut Io<World<R>>) {
        if self.succession.before.is_none() {
            return;
        }
        if peer.arrival() == 0 {
            self.succession.before = Some((peer, None));
        } else {
            self.tell_lead(peer, io);
        }
    }

    /// Proves to the relay of before that this is its standby.
    fn prove_standby(&mut self, host: PeerId, epoch: Epoch, nonce: u64, io: &mut Io<World<R>>) {
        let is_before = self.succession.before.is_some_and(|(before, _)| before == host);
        match self.entrant.key.as_ref().filter(|_| is_before) {
            Some(key) => {
                let proof = key.prove(&Claim { epoch, host, joiner: self.leader.peer, nonce });
                io.out.reliably(epoch, host, &Message::Proof(proof));
            }
            None => io.out.dropped(DropReason::Unexpected),
        }
    }

    /// Tells a replica that this relay leads now.
    pub(super) fn tell_lead(&self, peer: PeerId, io: &mut Io<World<R>>) {
        let from = Known { epoch: Epoch::default(), end: self.stepper.tick() };
        let lead = Lead { from, before: List::default(), gone: List::default() };
        io.out.send(self.leader.epoch, peer, Channel::Reliable, &Message::Lead(lead));
    }
}

/// Whose command it is, if it is one.
fn commander(input: &RawInput) -> Option<PlayerId> {
    if let RawInput::Command(player, _) = input { Some(*player) } else { None }
}

/// A turn as the standby is told it, if it can be; an empty one has no bytes.
fn turn(inputs: &[RawInput]) -> Option<Option<Encoded>> {
    if inputs.is_empty() {
        return Some(None);
    }
    let inputs = List::try_from(inputs.to_vec()).ok()?;
    let encoded = Encoded::frame(&Frame { inputs, ..Frame::default() });
    (encoded.size() <= FRAME_BYTES_MAX).then_some(Some(encoded))
}
