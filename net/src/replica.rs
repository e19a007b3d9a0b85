//! The role of a peer that follows who closes ticks: it looks for that peer, loads the world, plays
//! what it is fed, and reports.
//!
//! ```text
//! Greeting ─ Welcome ─► Loading ─ the world is whole ─► CatchingUp ─ Ready ─► Entering
//!                                                   Playing ◄─ own join ─────────┘
//! ```
//!
//! A party's replica and a relay's differ in their [`Share`] of the world alone. It never waits for
//! anyone. The loop is [`Replica::advance`](Role::advance): play what is due, report what is due.

mod contradicted;
mod differ;
mod loading;
mod repair;
mod share;
mod succession;
mod witness;

use repair::Mending;
pub use share::{Fed, Share};
use succession::Succession;
pub use succession::{Estate, Mandate};
use witness::Witness;

use core::ops::ControlFlow;
use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use crate::intake::{Given, Intake, Progress};
use crate::key::Claim;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::playout::Playout;
use crate::session::{
    CommandError, Comparison, DistantView, DropReason, EndReason, Entrant, Event, Following, Greeting, Io, Leader,
    Membership, Outbox, Phase, Repairs, Role, Stats, Stepper, turn,
};
use crate::transfer::Receiver;
use crate::wire::*;

/// A replaced leader says who leads now. If it is not heard for so long, it does not know this
/// peer.
const LEADER_CHANGES: Duration = Duration::from_secs(1);
/// Who is known to nobody but its leader takes no part in deciding who leads on. Once it has heard
/// no leader for so long, it looks for the one that leads now.
const JOINER_PATIENCE: Duration = Duration::from_millis(1_500);

/// So long may a player whose hero does not wait go on as a branch. Then its session is over.
const OFFER_STANDS: Duration = Duration::from_secs(10);

pub struct Replica<F: Share> {
    share: F,
    settings: Following,
    entrant: Arc<Entrant<F::Sim>>,
    me: PeerId,
    /// For how long its hero waits in the session without it, if it does.
    hero_waits: Option<Duration>,
    /// The newest epoch in which it voted.
    promised: Epoch,
    /// No older one, also if it was let in by a leader of one since.
    voted: Epoch,
    /// How often it looked for the session again.
    attempts: u32,
    /// Commands of a session that was lost, until its hero plays again.
    given: Given,
    place: Place<F>,
    /// Its part in deciding who leads, if others are not its share to lead.
    witness: Witness,
    /// Whether it is elected, and leads from now on.
    leads: bool,
}

enum Place<F: Share> {
    /// It looks for its session.
    Greeting(Box<Greeting>),
    Joined(Box<Joined<F>>),
}

/// The session that this peer was let into.
struct Joined<F: Share> {
    leader: Leader,
    /// The leader's player.
    sequencer: PlayerId,
    player: PlayerId,
    heard_at: Duration,
    /// When it is clear that who replaced the leader does not know this peer.
    replaced_at: Duration,
    /// When it last got on: something was loaded, or a turn was played.
    progressed: Duration,
    intake: Intake<F::Turn>,
    playout: Playout,
    /// Turns from then on are known, and are not played before their leader is followed: this
    /// member has promised not to count by what it knows of an older one.
    held_from: Option<Tick>,
    /// It has heard no turns yet of who leads now.
    follows_anew: bool,
    comparison: Comparison,
    /// While its world is looked into, and put right.
    mending: Option<Mending>,
    /// When that began lately.
    surveys: Repairs,
    life: Life<F::Sim>,
    /// Once the world is here, if it outlives its leader.
    succession: Option<Succession>,
    /// The session goes on without this peer, and is looked for again. Until it is found this peer
    /// keeps its vote and what it knows: the others may need both.
    seeks: Option<Box<Greeting>>,
}

/// How far a replica has come that was let in.
enum Life<S: Simulation> {
    /// The world is on its way.
    Loading(Welcome, Receiver),
    /// The world is here.
    Here { stepper: Stepper<S>, entry: Entry },
}

/// How far the hero has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// What has happened since is played first, and what is missing is loaded.
    CatchingUp,
    /// The sequencer knows that nothing is left to play.
    Entering,
    Playing,
}

impl<S: Simulation> Life<S> {
    /// Whether the hero is in the world.
    fn plays(&self) -> bool {
        matches!(self, Life::Here { entry: Entry::Playing, .. })
    }

    fn stepper(&self) -> Option<&Stepper<S>> {
        match self {
            Life::Loading(..) => None,
            Life::Here { stepper, .. } => Some(stepper),
        }
    }
}

impl<F: Share> Replica<F> {
    pub fn new(share: F, settings: Following, entrant: Arc<Entrant<F::Sim>>, me: PeerId, now: Duration) -> Self {
        let place = Place::Greeting(Box::new(Greeting::new(entrant.hello(), settings.handshake_timeout, now)));
        Replica {
            share,
            settings,
            entrant,
            me,
            hero_waits: None,
            promised: Epoch::default(),
            voted: Epoch::default(),
            attempts: 0,
            given: Given::default(),
            place,
            witness: Witness::new(),
            leads: false,
        }
    }

    fn session(&self) -> Option<&Joined<F>> {
        match &self.place {
            Place::Greeting(_) => None,
            Place::Joined(session) => Some(session),
        }
    }

    /// What it keeps as a member of the session, once it is one.
    fn membership(&self) -> Option<&Membership> {
        Some(&self.session()?.succession.as_ref()?.membership)
    }

    /// How it looks for its session, if it does.
    fn greeting(&mut self) -> Option<&mut Greeting> {
        match &mut self.place {
            Place::Greeting(greeting) => Some(greeting),
            Place::Joined(session) => session.seeks.as_deref_mut(),
        }
    }

    /// Takes what was held back of a peer until others named it, if they do.
    fn release(&mut self, io: &mut Io<F::Sim>) {
        let Some(greeting) = self.greeting() else { return };
        let held = greeting.release(io.now);
        held.into_iter().for_each(|(from, epoch, message)| self.handle(from, epoch, message, io));
    }

    /// Whether the session lets this peer in again: as its hero waits, has yet to enter, or entered
    /// so late that whoever leads on may not know.
    fn may_return(&self) -> bool {
        let enters = |session: &Joined<F>| !session.life.plays() || !session.is_known();
        let enters = F::OUTLIVES_LEADER && self.session().is_some_and(enters);
        enters || self.hero_waits.is_some() || self.witness.has_heir()
    }

    /// The session goes on without this peer, as far as it knows, or not at all.
    fn lose_session(&mut self, reason: EndReason, io: &mut Io<F::Sim>) {
        if self.may_return() { self.seek(io) } else { io.out.end(reason) }
    }

    /// Takes a message while it looks for its session.
    fn sought(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<F::Sim>) {
        let promised = self.promised();
        let Some(greeting) = self.greeting() else { return };
        greeting.heard(from, io.now);
        let is_believed = F::may_lead(from) || F::OUTLIVES_LEADER && greeting.names(from, io.now);
        match message {
            Message::Hello(_) => {
                greeting.greeted(from);
                self.release(io);
            }
            Message::Elsewhere(sequencer) => {
                greeting.sent_on(from, sequencer, io.now);
                self.release(io);
            }
            Message::Challenge(nonce) => self.prove(from, epoch, nonce, io),
            Message::Meet(_) => drop(self.met(from, io)),
            Message::Welcome(_) if !F::OUTLIVES_LEADER && epoch < promised => io.out.dropped(DropReason::StaleEpoch),
            Message::Refusal(refusal) if is_believed => greeting.refused(from, refusal, &mut io.out),
            Message::Welcome(welcome) if is_believed => {
                // An answer to another hello counts no more.
                if welcome.attempt != greeting.attempt() {
                    return;
                }
                if welcome.plays.is_some() && epoch < promised {
                    // It has voted for another since it said hello.
                    self.seek(io);
                } else {
                    self.welcomed(from, epoch, welcome, io);
                }
            }
            message => {
                if !F::OUTLIVES_LEADER || !greeting.hold(from, epoch, message) {
                    io.out.dropped(DropReason::UnknownPeer);
                }
            }
        }
    }

    /// The newest epoch in which it voted.
    fn promised(&self) -> Epoch {
        let promised = self.promised.max(self.witness.promised());
        self.membership().map_or(promised, |membership| membership.members.promised())
    }

    /// It is about to forget whom it voted for. It signs no second vote in an epoch.
    fn remember_votes(&mut self) {
        let voted = self.membership().map_or(self.promised, Membership::voted);
        self.voted = self.voted.max(voted);
    }

    /// Proves to have the key that its hello named.
    fn prove(&self, host: PeerId, epoch: Epoch, nonce: u64, io: &mut Io<F::Sim>) {
        let claim = Claim { epoch, host, joiner: self.me, nonce, binding: io.bindings.of(host) };
        match &self.entrant.key {
            Some(key) => io.out.reliably(epoch, host, &Message::Proof(key.sign(&claim))),
            None => io.out.dropped(DropReason::Unexpected),
        }
    }

    /// Says goodbye to who leads. It is a promise never to vote again, and counts for no leader
    /// that this peer has left for another.
    fn say_goodbye(&self, reason: LeaveReason, io: &mut Io<F::Sim>) {
        if let (Some(session), Some(epoch)) = (self.session(), self.epoch()) {
            Leader { epoch, ..session.leader }.tell(&Message::Bye(reason), &mut io.out);
        }
    }

    /// Whether someone leads, as far as is known here.
    fn is_led(&self) -> bool {
        self.membership().is_none_or(|membership| membership.members.leader().is_some())
    }

    fn leads(&self, peer: PeerId) -> bool {
        self.session().is_some_and(|session| session.leader.peer == peer)
    }

    /// Takes a message of the sequencer.
    fn fed(&mut self, message: Message, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let (out, now) = (&mut io.out, io.now);
        session.heard_at = now;
        let message = match F::turns(message) {
            ControlFlow::Break(turns) => return self.turns(turns, io),
            ControlFlow::Continue(message) => message,
        };
        let received = match (message, &mut session.life) {
            (Message::Chunk(chunk), Life::Loading(_, receiver)) => receiver.take(&chunk).map(Some),
            (Message::Survey(survey), Life::Here { entry: Entry::Playing, .. }) => return self.surveyed(survey, io),
            (Message::Repair(repair), _) => return self.mend(repair, io),
            (Message::Chunk(chunk), _) if session.mending.is_some() => return self.mended(&chunk, io),
            (Message::Said(said), Life::Here { .. }) => return out.said(&said),
            (Message::Inquiry(inquiry), _) => return self.inquired(&inquiry, io),
            (Message::Desync(notice), _) => return self.differs(notice.turned(), F::LEADER_COMPARES, io),
            (Message::Removed(reason), _) => {
                self.say_goodbye(reason, io);
                return match reason {
                    // What was played in this part of the session is discarded.
                    LeaveReason::Yielded if F::OUTLIVES_LEADER => {
                        io.out.events.push_back(Event::Yielded);
                        self.greet_anew(io);
                        self.given = Given::default();
                    }
                    LeaveReason::Desync => io.evidence.put_out(now, &mut io.out),
                    // Unless the player is here from elsewhere.
                    LeaveReason::Replaced => io.out.end(EndReason::Removed(reason)),
                    // It promised just now never to vote again.
                    reason if reason.may_return() && self.may_return() => self.greet_anew(io),
                    reason => io.out.end(EndReason::Removed(reason)),
                };
            }
            (Message::Ending, _) => match &mut session.succession {
                Some(succession) if succession.membership.has_vote() => {
                    return succession.leader_left(session.leader.peer, LeaveReason::Left);
                }
                _ if F::OUTLIVES_LEADER => return self.seek(io),
                _ => return out.end(EndReason::SequencerLeft),
            },
            (Message::Refusal(refusal), _) => return out.end(EndReason::Refused(refusal)),
            (message, Life::Here { stepper, .. }) => {
                self.share.handle(message, Fed { stepper, intake: &mut session.intake }, out)
            }
            _ => return out.dropped(DropReason::Unexpected),
        };
        match received {
            Ok(Some(received)) => {
                session.progressed = now;
                session.leader.tell(&Message::ChunkAck(received), out);
                self.load(io);
            }
            Ok(None) => {}
            Err(error) => out.end(EndReason::Transfer(error)),
        }
    }

    fn turns(&mut self, turns: Turns<F::Turn>, io: &mut Io<F::Sim>) {
        let (Place::Joined(session), now) = (&mut self.place, io.now) else { return };
        if !session.follows() {
            // They need not go on from the turns that are known here: their leader tells first.
            return io.out.dropped(DropReason::StaleEpoch);
        }
        let checksums = turns.checksums.clone();
        match session.intake.take_turns(turns, now) {
            Err(_) => return io.out.dropped(DropReason::Replayed),
            Ok(Progress::TooFarAhead) => io.out.dropped(DropReason::TooFarAhead),
            Ok(Progress::New(first)) => {
                match core::mem::take(&mut session.follows_anew) {
                    true => session.playout.caught_up(first, session.intake.known(), now),
                    false => session.playout.arrived(first, session.intake.known(), now),
                }
                session.note_closed(first);
            }
            Ok(Progress::Old | Progress::Gap) => {}
        }
        if let Some(succession) = &mut session.succession {
            succession.membership.members.heard(session.sequencer, now);
        }
        let Some(stepper) = session.life.stepper() else { return };
        let ours = &stepper.checksums;
        let compare = |(tick, theirs): &(Tick, Checksum)| session.comparison.theirs(*tick, *theirs, ours, &mut io.out);
        let differing: Vec<_> = checksums.iter().filter_map(compare).collect();
        for notice in differing {
            self.differs(notice, true, io);
        }
    }

    /// Plays the turns whose time has come.
    fn play(&mut self, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        session.playout.advance(io.now);
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            let Place::Joined(session) = &mut self.place else { return };
            session.tell_parts(io);
            if session.next_play_at().is_none_or(|at| io.now < at) {
                return session.caught_up(&self.share, &mut io.out);
            }
            let (Some(turn), Life::Here { stepper, entry }) = (session.intake.next_turn(), &mut session.life) else {
                return;
            };
            let checksum = match self.share.play(stepper, turn, session.leader, &mut io.out) {
                Ok(checksum) => checksum,
                Err(error) => return io.out.end(EndReason::Transfer(error)),
            };
            let enters = *entry == Entry::Entering && stepper.plays();
            if enters {
                *entry = Entry::Playing;
            }
            if let Some(succession) = &mut session.succession {
                succession.membership.ledger.requests.asked(&stepper.simulation);
            }
            if enters {
                let ledger = session.succession.as_ref().map(|succession| &succession.membership.ledger);
                let closed = ledger.map_or(session.intake.taken(), |ledger| ledger.commands(session.player));
                session.intake.resume_commands(core::mem::take(&mut self.given), closed);
            }
            session.progressed = io.now;
            if let Some((tick, checksum)) = checksum {
                session.intake.checksum(tick, checksum);
                if let Some(notice) = session.comparison.ours(tick, checksum, &mut io.out) {
                    self.differs(notice, true, io);
                }
            }
            if !io.out.standing.is_in_step() {
                return;
            }
        }
    }

    fn report(&mut self, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        if !io.out.standing.is_in_step() {
            return;
        }
        session.life.stepper().into_iter().for_each(|stepper| self.share.played(stepper));
        if session.follows() && io.now >= session.intake.report_at() {
            let next = session.intake.next();
            let rtt = session.intake.rtt().filter(|_| session.intake.sends_commands(io.now));
            let enters = rtt.and_then(|rtt| session.playout.commanded(next, io.now, rtt));
            let report = Message::Report(session.intake.report(io.now, enters));
            io.out.send(session.leader.epoch, session.leader.peer, Channel::Unreliable, &report);
        }
    }
}

impl<F: Share> Joined<F> {
    /// Whether who leads knows it.
    fn follows(&self) -> bool {
        self.succession.as_ref().is_none_or(|succession| succession.membership.followed() == self.leader.epoch)
    }

    /// Whether those know it who decide who leads on.
    fn is_known(&self) -> bool {
        self.succession.as_ref().is_some_and(|succession| succession.membership.is_known())
    }

    /// When it has heard no leader for too long.
    fn lost_at(&self, settings: Following, hero_waits: bool) -> Duration {
        let patience = match (F::OUTLIVES_LEADER, self.is_known()) {
            (true, false) => JOINER_PATIENCE,
            (true, true) if !hero_waits => settings.silence_timeout + OFFER_STANDS,
            _ => settings.silence_timeout,
        };
        self.heard_at + patience
    }

    /// When the next turn is to be played, if it is known.
    fn next_play_at(&self) -> Option<Duration> {
        let next = self.intake.next();
        if self.waits_until().is_some() {
            return None;
        }
        let known = self.held_from.map_or(self.intake.known(), |held| held.min(self.intake.known()));
        (self.life.stepper().is_some() && next < known).then(|| self.playout.time_of(next)).flatten()
    }

    /// When loading has made no progress for too long, as long as something is to be loaded.
    fn give_up_at(&self, load_timeout: Duration) -> Duration {
        match self.life {
            Life::Loading(..) | Life::Here { entry: Entry::CatchingUp, .. } => self.progressed + load_timeout,
            Life::Here { entry: Entry::Entering | Entry::Playing, .. } => Duration::MAX,
        }
    }

    /// Nothing is left to play now: the hero may enter, if it has a place to.
    fn caught_up(&mut self, share: &F, out: &mut Outbox<F::Sim>) {
        if let Life::Here { stepper, entry: entry @ Entry::CatchingUp } = &mut self.life
            && share.is_placed(stepper)
        {
            *entry = Entry::Entering;
            self.leader.tell(&Message::Ready, out);
        }
    }
}

impl<F: Share> Role<F::Sim> for Replica<F> {
    fn connected(&mut self, peer: PeerId, io: &mut Io<F::Sim>) {
        if let Some(greeting) = self.greeting() {
            if F::may_lead(peer) {
                greeting.since = io.now;
            }
            greeting.connected(peer, io.now, &mut io.out);
        }
    }

    fn disconnected(&mut self, peer: PeerId, io: &mut Io<F::Sim>) {
        if let Some(greeting) = self.greeting() {
            greeting.disconnected(peer);
            self.release(io);
        }
        match &mut self.place {
            Place::Joined(session) if session.leader.peer == peer => match &mut session.succession {
                Some(succession) if succession.membership.has_vote() => succession.leader_left(peer, LeaveReason::Lost),
                _ if F::OUTLIVES_LEADER => self.seek(io),
                _ => self.lose_session(EndReason::SequencerLost { silent: false }, io),
            },
            Place::Joined(_) | Place::Greeting(_) => {}
        }
    }

    fn epoch(&self) -> Option<Epoch> {
        // Who answers it may be of another.
        let session = self.session().filter(|session| session.seeks.is_none())?;
        let promised = session.succession.as_ref().map(|succession| succession.membership.members.promised());
        Some(promised.unwrap_or(session.leader.epoch.max(self.witness.promised())))
    }

    fn counts_in_any_epoch(&self, _: PeerId, message: &Message) -> bool {
        match message {
            Message::Lead(_) => !F::OUTLIVES_LEADER,
            // Who has not voted yet asks one that has. What was signed counts for good.
            Message::Fetch(_) | Message::Attested(_) => F::OUTLIVES_LEADER,
            _ => false,
        }
    }

    fn stale(&mut self, from: PeerId, epoch: Epoch, io: &mut Io<F::Sim>) {
        if let Place::Joined(session) = &mut self.place
            && let Some(Succession { membership, .. }) = &mut session.succession
            && membership.player(from).is_some()
            && membership.members.has_left(epoch)
        {
            membership.answer(from, &mut io.out);
        } else if epoch < self.witness.promised() {
            self.tell_stand(Some(from), io);
        }
    }

    fn is_over(&self) -> bool {
        self.leads
    }

    fn next(self: Box<Self>, io: &mut Io<F::Sim>) -> Box<dyn Role<F::Sim>> {
        (*self).take_over(io)
    }

    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<F::Sim>) {
        let Some(message) = self.of_members(from, epoch, message, io) else { return };
        let Some(message) = self.of_heir(from, epoch, message, io) else { return };
        if self.greeting().is_some() {
            return self.sought(from, epoch, message, io);
        }
        let Place::Joined(session) = &mut self.place else { return };
        match message {
            // This peer does, once it has what the others know.
            Message::Elsewhere(sequencer) if sequencer == self.me => {}
            Message::Elsewhere(_) => {
                // The leader was replaced, and by one that knows this peer if it is in the world.
                let patience = if session.life.plays() { LEADER_CHANGES } else { Duration::ZERO };
                if session.leader.peer == from {
                    session.replaced_at = session.replaced_at.min(io.now + patience);
                }
            }
            // It answers a hello that was said before it was known to lead: it sends the world.
            Message::Welcome(welcome)
                if session.leader.peer == from && welcome.plays.is_some() && welcome.attempt == self.attempts =>
            {
                self.welcomed(from, epoch, welcome, io);
            }
            // It was said before it was elected.
            Message::Hello(hello) if session.leader.peer == from && hello.promised < session.leader.epoch => {}
            // The leader takes this peer for lost, or looks for the session itself.
            Message::Meet(_) | Message::Hello(_) if session.leader.peer == from => self.seek(io),
            // It leads a branch of the session, or one of its own, and looks for this one's leader.
            Message::Meet(_) | Message::Hello(_) => {
                let leader = session.leader.peer;
                let comes_along = matches!(message, Message::Meet(_)) && self.met(from, io);
                if !comes_along {
                    io.out.reliably(Epoch::default(), from, &Message::Elsewhere(leader));
                }
            }
            message if session.leader.peer == from => self.fed(message, io),
            _ => io.out.dropped(DropReason::UnknownPeer),
        }
    }

    fn handle_out_of_step(&mut self, from: PeerId, message: Message, io: &mut Io<F::Sim>) {
        match message {
            Message::Inquiry(inquiry) if self.leads(from) => self.inquired(&inquiry, io),
            Message::Removed(_) if self.leads(from) => io.evidence.put_out(io.now, &mut io.out),
            // The game goes on without this peer.
            _ => {}
        }
    }

    fn advance(&mut self, io: &mut Io<F::Sim>) {
        let (settings, hero_waits, now) = (self.settings, self.hero_waits.is_some(), io.now);
        self.bear_witness(io);
        if let Some(greeting) = self.greeting() {
            greeting.advance(now, &mut io.out);
            self.release(io);
            return self.elect(io);
        }
        match &mut self.place {
            Place::Greeting(_) => {}
            Place::Joined(session) if now >= session.replaced_at => self.seek(io),
            Place::Joined(session) if now >= session.lost_at(settings, hero_waits) => {
                self.lose_session(EndReason::SequencerLost { silent: true }, io);
            }
            Place::Joined(session) if now >= session.give_up_at(settings.load_timeout) => {
                io.out.end(EndReason::LoadTimeout);
            }
            Place::Joined(session) => {
                if session.waits_until().is_some_and(|until| now >= until) {
                    session.mending = None;
                }
                self.play(io);
                self.report(io);
                self.elect(io);
                self.audit(io);
                self.depose_liar(io);
            }
        }
    }

    fn wake_at(&self, _: Duration) -> Duration {
        let session = match &self.place {
            Place::Greeting(greeting) => return greeting.wake_at().min(self.bears_witness_at()),
            Place::Joined(session) => session,
        };
        if let (Some(greeting), Some(succession)) = (&session.seeks, &session.succession) {
            return greeting.wake_at().min(succession.membership.members.wake_at());
        }
        let at = session.lost_at(self.settings, self.hero_waits.is_some()).min(session.replaced_at);
        let at = at.min(self.bears_witness_at());
        let at = session.succession.as_ref().map_or(at, |succession| at.min(succession.membership.members.wake_at()));
        let at = if session.follows() { at.min(session.intake.report_at()) } else { at };
        let at = at.min(session.give_up_at(self.settings.load_timeout));
        let at = at.min(session.waits_until().unwrap_or(Duration::MAX));
        session.next_play_at().map_or(at, |play| at.min(play))
    }

    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        let Place::Joined(session) = &mut self.place else { return Err(CommandError::NotPlaying) };
        if !session.life.stepper().is_some_and(Stepper::plays) {
            return Err(CommandError::NotPlaying);
        }
        session.intake.command(command)
    }

    fn say(&mut self, line: ChatLine, io: &mut Io<F::Sim>) {
        if let Some(session) = self.session() {
            session.leader.tell(&Message::Say(line), &mut io.out);
        }
    }

    fn vote_out(&mut self, player: PlayerId, io: &mut Io<F::Sim>) -> bool {
        match &mut self.place {
            Place::Joined(session) => session.vote_out(player, io),
            Place::Greeting(_) => false,
        }
    }

    fn go_on_as_branch(&mut self) -> bool {
        let Place::Joined(session) = &mut self.place else { return false };
        let Some(succession) = &mut session.succession else { return false };
        self.leads = succession.take_offer();
        self.leads
    }

    fn leave(&mut self, io: &mut Io<F::Sim>) {
        self.say_goodbye(LeaveReason::Left, io);
    }

    fn phase(&self) -> Phase {
        match self.session().filter(|session| session.seeks.is_none()).map(|session| &session.life) {
            None if self.hero_waits.is_some() => Phase::Returning,
            None => Phase::Connecting,
            Some(Life::Loading(_, receiver)) => {
                let (bytes, total) = receiver.progress();
                Phase::Loading { bytes, total }
            }
            Some(Life::Here { entry: Entry::Playing, .. }) if self.is_led() => Phase::Playing,
            Some(Life::Here { entry: Entry::Playing, .. }) => Phase::Regrouping,
            Some(Life::Here { entry: Entry::CatchingUp | Entry::Entering, .. }) => Phase::CatchingUp,
        }
    }

    fn led_by(&self) -> Option<Vote> {
        let session = self.session().filter(|session| session.follows() && session.seeks.is_none())?;
        session.life.stepper()?;
        Some(Vote { epoch: session.leader.epoch, leader: session.sequencer })
    }

    fn stalled_since(&self, now: Duration) -> Option<Duration> {
        let session = self.session().filter(|session| session.life.plays())?;
        let next = session.intake.next();
        let due = session.playout.time_of(next).filter(|_| next >= session.intake.known())?;
        (due < now).then_some(due)
    }

    fn look_ahead(&mut self, ticks_max: u32, io: &mut Io<F::Sim>) -> u32 {
        let Place::Joined(session) = &mut self.place else { return 0 };
        let Joined { intake, playout, succession, life, seeks: None, .. } = &mut **session else { return 0 };
        let Life::Here { stepper, entry: Entry::Playing } = life else { return 0 };
        let Some(wanted) = intake.rtt().and_then(|rtt| playout.delay_ticks(io.now, rtt)) else { return 0 };
        let player = stepper.player;
        let closed = succession.as_ref().map_or(0, |succession| succession.membership.ledger.commands(player));
        let own: Vec<_> = intake.on_their_way(closed).collect();
        let at = |tick: Tick| {
            if tick < intake.known() {
                return intake.turn(tick).map_or(Turn::EMPTY, F::ahead);
            }
            let due = own.iter().filter(|(enters, _)| *enters == tick);
            let due: Vec<_> = due.map(|(_, command)| RawInput::Command(player, (*command).clone())).collect();
            turn(&due, Vec::new(), || {})
        };
        stepper.look_ahead(&self.entrant.build, (wanted, ticks_max), at, &mut io.out)
    }

    fn simulation(&self) -> Option<&F::Sim> {
        self.session()?.life.stepper().map(Stepper::shown)
    }

    fn confirmed(&self) -> Option<&F::Sim> {
        self.session()?.life.stepper().map(|stepper| &stepper.simulation)
    }

    fn distant(&self) -> DistantView {
        self.confirmed().map_or_else(DistantView::default, |simulation| self.share.distant(simulation))
    }

    fn player(&self) -> Option<PlayerId> {
        self.session().map(|session| session.player)
    }

    fn figures(&self, stats: &mut Stats, out: &Outbox<F::Sim>) {
        let Some(session) = self.session() else { return };
        let (sequencer, stamps) = (session.sequencer, session.intake.stamps());
        let with_leader = || session.comparison.exchange(session.leader.peer, stamps, out);
        stats.known = session.intake.known();
        stats.commands_pending = session.intake.commands_pending();
        let Some(stepper) = session.life.stepper() else { return };
        stats.players = stepper.players(sequencer, |player| (player == sequencer).then(with_leader));
        if let Some(membership) = self.membership() {
            stats.away = stepper.away(&membership.ledger);
            stats.branch = membership.ledger.branch;
        } else if stats.sequencer().is_none() {
            stats.host = Some(with_leader());
        }
    }
}
