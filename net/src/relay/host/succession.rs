//! How the relay keeps a standby in step, and what it waits for meanwhile. How it gives way.
//!
//! ```text
//! vacant ─ hello, proof ─► loading ─ has it all ─► in step ─ has all that was played ─► heir
//!    ▲                        │                       │                           ▲      │ lost
//!    └────────────────────────┴───────────────────────┘◄─ witnesses know ─ dismissed ◄───┘
//!                                                                              │ has a turn more
//!                                                                              └─► heir
//! ```
//!
//! From the time on that a standby is in step, a turn is played here, and told to replicas, once
//! the standby has it. So it lacks nothing that anyone has seen. Once it is the heir, witnesses may
//! promise to follow it. The relay cannot know that they have not, so it goes on without its heir
//! only when a quorum of the witnesses knows that there is none. An heir that was only slow is fed
//! until then. What it acknowledges it has, whoever follows it, so the relay may go on with it too.
//!
//! It must never play a turn that its heir may lack. It waits for replicas only if it has lost its
//! heir.

mod follower;
mod witnesses;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::{PlayerId, Rules, Tick, World};

use super::Host;
use crate::key::{Claim, PublicKey};
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::members::SUSPICION;
use crate::session::{DropReason, Io, Outbox};
use crate::wire::*;
use follower::{Applicant, Course, Follower};

/// A replica hears something at least so often, also while nothing is played.
pub(super) const KEEP_ALIVE: Duration = Duration::from_millis(250);
/// An heir that lacks a turn for so long is lost.
const HEIR_SILENCE: Duration = SUSPICION;
/// A relay that goes on from a recording lets nobody in for so long: its standby may lead.
const WARY: Duration = Duration::from_secs(3);
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
    /// When it gave up its standby to begin an epoch, and until when it takes none for that.
    parted_at: Option<Duration>,
    alone_until: Duration,
    /// Whether turns are played though the standby lacks them.
    hurries: bool,
    /// The relay that this one was the standby of, and when it was last told so.
    before: Option<(PeerId, Option<Duration>)>,
}

enum Place {
    Vacant,
    Taken(Box<Follower>),
    /// There is no heir any more, and so many witnesses know. The one that there was may only have
    /// been slow.
    Dismissed {
        slow: Option<Box<Follower>>,
        knowing: BTreeSet<PlayerId>,
    },
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
            parted_at: None,
            alone_until: now,
            hurries: false,
            before: before.map(|peer| (peer, None)),
        }
    }

    fn follower(&mut self) -> Option<&mut Follower> {
        match &mut self.place {
            Place::Taken(follower) => Some(follower),
            Place::Dismissed { slow, .. } => slow.as_deref_mut(),
            Place::Vacant => None,
        }
    }

    /// The standby's peer, if there is one.
    pub fn standby(&self) -> Option<PeerId> {
        match &self.place {
            Place::Taken(follower) => Some(follower.peer),
            Place::Dismissed { slow, .. } => slow.as_ref().map(|slow| slow.peer),
            Place::Vacant => None,
        }
    }

    fn is_standby(&self, peer: PeerId) -> bool {
        self.standby() == Some(peer)
    }

    /// Whether a turn is played only once the standby has it.
    fn holds(&self) -> bool {
        match &self.place {
            Place::Vacant => false,
            Place::Taken(follower) => follower.course != Course::Loading,
            Place::Dismissed { .. } => true,
        }
    }

    /// Whether turns may be played up to a tick.
    fn releases(&self, tick: Tick) -> bool {
        self.hurries
            || match &self.place {
                Place::Taken(follower) => follower.course == Course::Loading || follower.feed.known() > tick,
                Place::Vacant => true,
                Place::Dismissed { .. } => false,
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
            Place::Dismissed { .. } => None,
            Place::Vacant | Place::Taken(_) => return None,
        };
        Some(Heir { number: self.number, peer })
    }

    /// A guest is no more what it was: what it says does not count as that witness's.
    pub fn lapse(&mut self, player: PlayerId) {
        self.lapsed.insert(player);
        if let Place::Dismissed { knowing, .. } = &mut self.place {
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
            let Succession { commands, unplayed, waits_since, strays, .. } = &mut self.succession;
            // The heir takes turns: it does not stand, and whoever promised to follow it need not.
            strays.clear();
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
                let binding = io.bindings.of(host);
                let proof = key.sign(&Claim { epoch, host, joiner: self.leader.peer, nonce, binding });
                io.out.reliably(epoch, host, &Message::Proof(proof));
            }
            None => io.out.dropped(DropReason::Unexpected),
        }
    }

    /// Tells a replica that this relay leads now.
    pub(super) fn tell_lead(&self, peer: PeerId, io: &mut Io<World<R>>) {
        let from = Known { epoch: Epoch::default(), end: self.stepper.tick(), ..Known::default() };
        let lead = Lead { from, ..Lead::default() };
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
