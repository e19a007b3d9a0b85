//! The role of a relay's standby: it follows the relay with the whole world, and leads on if most
//! of the witnesses say that the relay is lost.
//!
//! ```text
//! Seeking ─ Welcome ─► Loading ─► Following ─ a quorum doubts ─► standing ─ promises ─► leads
//!                         ▲         │   ▲                             │
//!                         └ Removed ┘   └────── doubted no more ──────┘
//! ```
//!
//! Whether the relay lives is not its own to judge: the witnesses decide, so that a standby which
//! alone has lost the relay disturbs nobody. It must never take a turn of the relay while it
//! stands, nor lead in an epoch in which it gave up. Its loop is
//! [`Standby::advance`](Role::advance).

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{PlayerId, Rules, Simulation, Tick, World};

use super::host::{Host, Setup};
use crate::intake::{Intake, Progress};
use crate::key::Claim;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::members::{DOUBT_LASTS, EPOCHS_AHEAD_MAX, Electorates, REPEAT};
use crate::session::{CommandError, DropReason, EndReason, Entrant, Io, Leader, Ledger, Phase, Role, Stats, Stepper};
use crate::transfer::Receiver;
use crate::wire::*;

/// Between two hellos to a relay that has not answered.
const HELLO_INTERVAL: Duration = Duration::from_secs(1);
/// A standby that has stood for so long, and is not doubted with any more, gives up.
const STANDS: Duration = Duration::from_secs(1);
/// It stands in a later epoch, if somebody has promised one, after so long at the earliest.
const STANDS_ANEW: Duration = Duration::from_millis(600);
/// Who leads is not known by number before the world is here.
const NOBODY: PlayerId = PlayerId(0);

pub(super) struct Standby<R: Rules> {
    setup: Option<Setup<R>>,
    entrant: Arc<Entrant<World<R>>>,
    me: PeerId,
    /// How often it said hello, and when to whom.
    attempt: u32,
    greeted: BTreeMap<PeerId, Duration>,
    /// Whether the relay feeds it no more.
    is_removed: bool,
    place: Place<R>,
    election: Election,
    leads: bool,
}

enum Place<R: Rules> {
    Seeking,
    Loading(Leader, Box<(Welcome, Receiver, Intake<Frame>)>),
    Following(Leader, Box<Following<R>>),
}

struct Following<R: Rules> {
    stepper: Stepper<World<R>>,
    intake: Intake<Frame>,
    sequencer: PlayerId,
    /// Whether turns came that the relay does not know to be here.
    owes: bool,
    heard_at: Duration,
}

/// What it knows of what the witnesses say.
struct Election {
    /// When each told of a doubt last.
    doubts: BTreeMap<PlayerId, Duration>,
    /// While it stands: since when, and who has promised to follow it.
    stands: Option<(Duration, BTreeSet<PlayerId>)>,
    /// The epoch in which it stands, or stood last.
    epoch: Epoch,
    asked_at: Duration,
}

impl<R: Rules> Standby<R> {
    pub fn new(setup: Setup<R>, entrant: &Arc<Entrant<World<R>>>, me: PeerId) -> Self {
        let (doubts, epoch) = (BTreeMap::new(), Epoch::default());
        Standby {
            setup: Some(setup),
            entrant: entrant.clone(),
            me,
            attempt: 0,
            greeted: BTreeMap::new(),
            is_removed: false,
            place: Place::Seeking,
            election: Election { doubts, stands: None, epoch, asked_at: Duration::ZERO },
            leads: false,
        }
    }

    fn leader(&self) -> Option<Leader> {
        match &self.place {
            Place::Seeking => None,
            Place::Loading(leader, _) | Place::Following(leader, _) => Some(*leader),
        }
    }

    fn following(&self) -> Option<&Following<R>> {
        if let Place::Following(_, following) = &self.place { Some(following) } else { None }
    }

    /// What the turns say that it has: all of them are played.
    fn ledger(&self) -> Option<&Ledger> {
        self.following()?.stepper.ledger.as_deref()
    }

    /// Looks for the relay, as long as it is not followed.
    fn greet(&mut self, io: &mut Io<World<R>>) {
        let follows = self.leader().is_some_and(|leader| io.ingress.is_connected(leader.peer)) && !self.is_removed;
        let Some(peer) = io.ingress.peers().find(|peer| peer.arrival() == 0).filter(|_| !follows) else { return };
        if self.greeted.get(&peer).is_none_or(|said| io.now >= *said + HELLO_INTERVAL) {
            self.greeted.insert(peer, io.now);
            let hello = Hello { attempt: self.attempt, ..self.entrant.hello() };
            io.out.reliably(Epoch::default(), peer, &Message::Hello(hello));
        }
    }

    /// Looks for the relay again. It keeps the world until it has another: the witnesses may need
    /// it.
    fn seek(&mut self) {
        if let Place::Loading(..) = self.place {
            self.place = Place::Seeking;
        }
        self.is_removed = true;
        self.attempt = self.attempt.wrapping_add(1);
        self.greeted.clear();
    }

    fn prove(&mut self, host: PeerId, epoch: Epoch, nonce: u64, io: &mut Io<World<R>>) {
        if let Some(key) = &self.entrant.key {
            let proof = key.sign(&Claim { epoch, host, joiner: self.me, nonce, binding: io.bindings.of(host) });
            io.out.reliably(epoch, host, &Message::Proof(proof));
        }
    }

    fn welcomed(&mut self, from: PeerId, epoch: Epoch, welcome: Welcome, io: &mut Io<World<R>>) {
        if welcome.attempt != self.attempt {
            return;
        }
        self.is_removed = false;
        // The next time it looks for the relay is another.
        self.attempt = self.attempt.wrapping_add(1);
        self.election.stands = None;
        let receiver = Receiver::new(welcome.snapshot_bytes, welcome.snapshot_digest);
        let intake = Intake::new(welcome.tick, Duration::ZERO);
        self.place = Place::Loading(Leader { peer: from, epoch }, Box::new((welcome, receiver, intake)));
        self.load(io);
    }

    /// Sets up the world once all of it is here.
    fn load(&mut self, io: &mut Io<World<R>>) {
        let Place::Loading(leader, loading) = &mut self.place else { return };
        let (leader, (welcome, receiver, _)) = (*leader, &mut **loading);
        let bytes = match receiver.finish() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return io.out.end(EndReason::Transfer(error)),
        };
        let mut simulation = (self.entrant.build)(welcome.seed);
        let (ledger, snapshot) = match read(&bytes, welcome.tick, &mut simulation) {
            Ok(read) => read,
            Err(error) => return io.out.end(EndReason::Snapshot(error)),
        };
        let Some(setup) = &self.setup else { return };
        let own = (welcome.player, welcome.seed);
        let settings = setup.config.following();
        let stepper = Stepper::begin(simulation, snapshot, own, Some(ledger), settings, &mut io.out);
        let sequencer = welcome.sequencer;
        if let Place::Loading(_, loading) = core::mem::replace(&mut self.place, Place::Seeking) {
            let (_, _, intake) = *loading;
            let following = Following { stepper, intake, sequencer, owes: true, heard_at: io.now };
            self.place = Place::Following(leader, Box::new(following));
        }
    }

    /// Takes a message of the relay.
    fn fed(&mut self, message: Message, io: &mut Io<World<R>>) {
        let (stands, now) = (self.election.stands.is_some(), io.now);
        if let Place::Following(_, following) = &mut self.place {
            following.heard_at = now;
        }
        match (message, &mut self.place) {
            (Message::Ending, _) => io.out.end(EndReason::SequencerLeft),
            (Message::Removed(_), _) => self.seek(),
            (Message::Chunk(chunk), Place::Loading(leader, loading)) => match loading.1.take(&chunk) {
                Ok(received) => {
                    leader.tell(&Message::ChunkAck(received), &mut io.out);
                    self.load(io);
                }
                Err(error) => io.out.end(EndReason::Transfer(error)),
            },
            // What it took now, the relay would tell to all.
            (Message::Frames(_), Place::Following(..)) if stands => {}
            (Message::Frames(frames), Place::Loading(_, loading)) => {
                take(&mut loading.2, frames, io);
            }
            (Message::Frames(frames), Place::Following(_, following)) => {
                following.owes |= take(&mut following.intake, frames, io);
            }
            _ => io.out.dropped(DropReason::Unexpected),
        }
    }

    /// Plays all turns that are here, and says so.
    fn play(&mut self, io: &mut Io<World<R>>) {
        let stands = self.election.stands.is_some();
        let Place::Following(leader, following) = &mut self.place else { return };
        while let Some(frame) = following.intake.next_turn() {
            following.stepper.play(&frame.inputs, Vec::new(), &mut io.out);
        }
        if !stands && (following.owes || io.now >= following.intake.report_at()) {
            following.owes = false;
            let report = Message::Report(following.intake.report(io.now, None));
            io.out.send(leader.epoch, leader.peer, Channel::Unreliable, &report);
        }
    }

    /// A witness says what it thinks of the relay.
    fn told(&mut self, from: PeerId, stand: Stand, io: &mut Io<World<R>>) {
        let Some(player) = self.ledger().and_then(|ledger| ledger.player(from)) else { return };
        let Some(leader) = self.leader() else { return };
        let Election { doubts, stands, epoch, .. } = &mut self.election;
        if stand.doubts.is_some() {
            doubts.insert(player, io.now);
        }
        let ahead = stand.vote.epoch.0.saturating_sub(epoch.0.max(leader.epoch.0));
        let may_stand_anew = stands.as_ref().is_none_or(|(since, _)| io.now >= *since + STANDS_ANEW);
        if (1..=EPOCHS_AHEAD_MAX).contains(&ahead) && may_stand_anew {
            // It has promised that epoch to a standby before this.
            (*epoch, *stands) = (stand.vote.epoch, None);
        }
        match stands {
            Some((_, promised)) if stand.vote.epoch == *epoch => drop(promised.insert(player)),
            None if stand.vote.epoch > leader.epoch => self.absolve(from, io),
            _ => {}
        }
    }

    /// Tells a witness that it need not keep its promise: this standby follows the relay.
    fn absolve(&self, witness: PeerId, io: &mut Io<World<R>>) {
        let (Some(leader), Some(following)) = (self.leader(), self.following()) else { return };
        // It may have lost the relay itself, and is to be lost by it then.
        if io.ingress.is_connected(leader.peer) {
            let vote = Vote { epoch: leader.epoch, leader: following.sequencer };
            let known = Known { epoch: leader.epoch, end: following.intake.known(), ..Known::default() };
            let stand = Message::Stand(Stand::of(vote, known));
            io.out.reliably(Epoch::default(), witness, &stand);
        }
    }

    /// Those whose votes count, with their peers.
    fn witnesses(&self) -> Vec<PeerId> {
        let Some(ledger) = self.ledger() else { return Vec::new() };
        let peer = |player| Some(ledger.members.get(&player)?.peer);
        ledger.electorates.iter().filter_map(peer).collect()
    }

    /// Stands once a quorum doubts, leads once a quorum has promised to follow it.
    fn elect(&mut self, io: &mut Io<World<R>>) {
        let (Some(leader), Some(following)) = (self.leader(), self.following()) else { return };
        let known = Known { epoch: leader.epoch, end: following.intake.known(), ..Known::default() };
        let Some(electorates) = self.ledger().map(|ledger| ledger.electorates.clone()) else { return };
        let is_doubted = self.election.is_doubted(&electorates, io.now);
        match &self.election.stands {
            None if is_doubted => {
                let epoch = self.election.epoch.max(leader.epoch).0.saturating_add(1);
                self.election.epoch = Epoch(epoch);
                self.election.stands = Some((io.now, BTreeSet::new()));
                self.election.asked_at = Duration::ZERO;
            }
            Some((_, promised)) if electorates.is_quorum_of_each(|player| promised.contains(&player)) => {
                self.leads = true;
                return;
            }
            Some((since, _)) if !is_doubted && io.now >= *since + STANDS => {
                self.election.stands = None;
                self.witnesses().into_iter().for_each(|witness| self.absolve(witness, io));
            }
            _ => {}
        }
        if self.election.stands.is_some() && io.now >= self.election.asked_at + REPEAT {
            self.election.asked_at = io.now;
            // The number that it will have is of no use to anyone but itself.
            let vote = Vote { epoch: self.election.epoch, leader: NOBODY };
            let stand = Message::Stand(Stand::of(vote, known));
            for witness in self.witnesses() {
                io.out.send(Epoch::default(), witness, Channel::Unreliable, &stand);
            }
        }
    }
}

impl Election {
    fn is_doubted(&self, electorates: &Electorates, now: Duration) -> bool {
        let doubts = |player| self.doubts.get(&player).is_some_and(|told| now < *told + DOUBT_LASTS);
        electorates.is_quorum_of_each(doubts)
    }
}

/// Takes turns. Returns whether there are some that the relay does not know to be here.
fn take<R: Rules>(intake: &mut Intake<Frame>, frames: Frames, io: &mut Io<World<R>>) -> bool {
    // What it is not given, its world cannot be given.
    if frames.turns.iter().any(|(_, frame)| !frame.given.is_empty()) {
        io.out.dropped(DropReason::Unexpected);
        return false;
    }
    match intake.take_turns(frames, io.now) {
        Ok(progress) => matches!(progress, Progress::New(_)),
        Err(_) => {
            io.out.dropped(DropReason::Replayed);
            false
        }
    }
}

/// Reads what the relay sent of the whole session.
fn read<R: Rules>(bytes: &[u8], tick: Tick, simulation: &mut World<R>) -> Result<(Ledger, Vec<u8>), CodecError> {
    let (ledger, snapshot): (Vec<u8>, Vec<u8>) = codec::read(bytes, SNAPSHOT_BYTES_MAX)?;
    simulation.restore_from(&snapshot)?;
    if simulation.tick() != tick {
        return Err(CodecError::Malformed("a world of another tick than announced"));
    }
    Ok((Ledger::decode(&ledger)?, snapshot))
}

impl<R: Rules> Role<World<R>> for Standby<R> {
    fn disconnected(&mut self, peer: PeerId, _: &mut Io<World<R>>) {
        self.greeted.remove(&peer);
        if let Place::Loading(leader, _) = &self.place
            && leader.peer == peer
        {
            self.seek();
        }
    }

    fn epoch(&self) -> Option<Epoch> {
        self.leader().map(|leader| leader.epoch)
    }

    fn counts_in_any_epoch(&self, _: PeerId, message: &Message) -> bool {
        matches!(message, Message::Lead(_))
    }

    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<World<R>>) {
        let is_leader = self.leader().is_some_and(|leader| leader.peer == from);
        match message {
            Message::Stand(stand) => self.told(from, stand, io),
            Message::Hello(_) if self.election.stands.is_none() => {
                if let Some(leader) = self.leader() {
                    io.out.reliably(Epoch::default(), from, &Message::Elsewhere(leader.peer));
                }
            }
            Message::Hello(_) => {}
            Message::Challenge(nonce) if from.arrival() == 0 => self.prove(from, epoch, nonce, io),
            Message::Welcome(welcome) if from.arrival() == 0 => self.welcomed(from, epoch, welcome, io),
            Message::Refusal(refusal) if from.arrival() == 0 => io.out.end(EndReason::Refused(refusal)),
            Message::Lead(_) if is_leader => {
                if let Place::Loading(leader, _) | Place::Following(leader, _) = &mut self.place {
                    leader.epoch = leader.epoch.max(epoch);
                }
            }
            message if is_leader => self.fed(message, io),
            _ => io.out.dropped(DropReason::UnknownPeer),
        }
    }

    fn advance(&mut self, io: &mut Io<World<R>>) {
        self.greet(io);
        self.play(io);
        self.elect(io);
    }

    fn wake_at(&self, now: Duration) -> Duration {
        // What is due next is due within that time, whatever it is.
        now + REPEAT
    }

    fn is_over(&self) -> bool {
        self.leads
    }

    fn next(mut self: Box<Self>, io: &mut Io<World<R>>) -> Box<dyn Role<World<R>>> {
        let place = core::mem::replace(&mut self.place, Place::Seeking);
        match (place, self.setup.take()) {
            (Place::Following(before, following), Some(setup)) => {
                let leader = Leader { peer: self.me, epoch: self.election.epoch };
                Box::new(Host::take_over(setup, &self.entrant, (leader, before.peer), following.stepper, io))
            }
            _ => self,
        }
    }

    fn command(&mut self, _: CommandBytes) -> Result<(), CommandError> {
        Err(CommandError::NotPlaying)
    }

    fn speaks(&self) -> bool {
        false
    }

    fn say(&mut self, _: ChatLine, _: &mut Io<World<R>>) {}

    fn leave(&mut self, io: &mut Io<World<R>>) {
        if let Some(leader) = self.leader() {
            leader.tell(&Message::Bye(LeaveReason::Left), &mut io.out);
        }
    }

    fn phase(&self) -> Phase {
        match &self.place {
            Place::Seeking => Phase::Connecting,
            Place::Loading(_, loading) => {
                let (bytes, total) = loading.1.progress();
                Phase::Loading { bytes, total }
            }
            Place::Following(..) if self.election.stands.is_some() => Phase::Regrouping,
            Place::Following(..) => Phase::StandingBy,
        }
    }

    fn led_by(&self) -> Option<Vote> {
        let (leader, following) = (self.leader()?, self.following()?);
        Some(Vote { epoch: leader.epoch, leader: following.sequencer })
    }

    fn simulation(&self) -> Option<&World<R>> {
        Some(&self.following()?.stepper.simulation)
    }

    fn figures(&self, stats: &mut Stats, _: &crate::session::Outbox<World<R>>) {
        let Some(following) = self.following() else { return };
        stats.known = following.intake.known();
        stats.players = following.stepper.players(following.sequencer, |_| None);
    }
}
