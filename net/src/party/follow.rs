//! The role of a peer that joined: finds the session, loads the world, catches up, and plays turns as they come.
//!
//! Its loop is [`Follow::advance`]: play what is due, report what is due.

mod differ;

use core::time::Duration;
use std::collections::BTreeSet;
use std::rc::Rc;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};

use super::config::{PartyConfig, PartySettings};
use crate::intake::{Intake, Progress};
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::playout::Playout;
use crate::session::{
    Beginning, Build, CommandError, Comparison, DropReason, EndReason, Event, Evidence, Exchange, Greeting, Out, Phase,
    Stage,
};
use crate::transfer::Receiver;
use crate::wire::*;

pub(super) struct Follow<S: Simulation> {
    config: PartyConfig,
    build: Rc<Build<S>>,
    me: PeerId,
    greeting: Greeting,
    /// Peers that can be spoken to.
    connected: BTreeSet<PeerId>,
    /// When the search for the session began.
    since: Duration,
    /// Where the session's sequencer is, as another peer told.
    elsewhere: Option<PeerId>,
    session: Option<Joined<S>>,
}

/// The session this peer was let into.
struct Joined<S: Simulation> {
    sequencer: PeerId,
    epoch: Epoch,
    welcome: Welcome,
    heard: Duration,
    progressed: Duration,
    receiver: Receiver,
    intake: Intake,
    playout: Playout,
    comparison: Comparison,
    evidence: Evidence,
    /// The world, once it is loaded.
    stage: Option<Stage<S>>,
    ready_sent: bool,
}

impl<S: Simulation> Follow<S> {
    pub fn new(config: PartyConfig, build: Rc<Build<S>>, me: PeerId, hello: Hello, now: Duration) -> Self {
        let (greeting, connected) = (Greeting::new(hello), BTreeSet::new());
        Follow { config, build, me, greeting, connected, since: now, elsewhere: None, session: None }
    }

    pub fn stage(&self) -> Option<&Stage<S>> {
        self.session.as_ref()?.stage.as_ref()
    }

    pub fn session_epoch(&self) -> Option<Epoch> {
        self.session.as_ref().map(|session| session.epoch)
    }

    pub fn evidence(&mut self) -> Option<&mut Evidence> {
        self.session.as_mut().map(|session| &mut session.evidence)
    }

    pub fn phase(&self) -> Phase {
        let Some(session) = &self.session else { return Phase::Connecting };
        match &session.stage {
            None => {
                let (bytes, total) = session.receiver.progress();
                Phase::Loading { bytes, total }
            }
            Some(_) if session.evidence.lingers() => Phase::OutOfStep,
            Some(stage) if stage.plays() => Phase::Playing,
            Some(_) => Phase::CatchingUp,
        }
    }

    /// A peer can be spoken to: it may run the session.
    pub fn connected(&mut self, peer: PeerId, now: Duration, out: &mut Out<S>) {
        self.connected.insert(peer);
        if self.session.is_none() {
            self.greeting.connected(peer, now, out);
        }
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId, out: &mut Out<S>) {
        self.connected.remove(&peer);
        self.greeting.settle(peer);
        let Some(session) = &mut self.session else { return };
        session.evidence.lost(peer, out);
        if session.sequencer == peer && !session.evidence.lingers() {
            out.end(EndReason::SequencerLost { silent: false });
        }
    }

    /// Plays and reports what is due.
    pub fn advance(&mut self, now: Duration, out: &mut Out<S>) {
        let settings = self.config.settings();
        match &mut self.session {
            Some(session) => {
                if !session.evidence.lingers() {
                    session.advance(settings, now, out);
                }
                session.evidence.advance(now, out);
            }
            None if now >= self.since + settings.handshake_timeout => {
                out.end(self.elsewhere.map_or(EndReason::NoSession, EndReason::Unreachable));
            }
            None => self.greeting.advance(now, out),
        }
    }

    /// When [`advance`](Follow::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        let settings = self.config.settings();
        let Some(session) = &self.session else {
            return (self.since + settings.handshake_timeout).min(self.greeting.wake_at());
        };
        if session.evidence.lingers() {
            return session.evidence.wake_at();
        }
        let at =
            session.evidence.wake_at().min(session.intake.report_at()).min(session.heard + settings.silence_timeout);
        let at = at.min(session.give_up_at(settings.load_timeout));
        session.next_play_at().map_or(at, |play| at.min(play))
    }

    /// Takes a message of a peer.
    pub fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, now: Duration, out: &mut Out<S>) {
        // The first epoch is led by the room's first peer: nobody else can answer a hello or welcome anyone.
        let founder = from.arrival() == 0;
        match (&mut self.session, message) {
            (None, Message::Hello(_)) => {}
            (Some(session), Message::Hello(_)) => {
                out.reliably(Epoch::default(), from, &Message::Elsewhere(session.sequencer));
            }
            (None, Message::Elsewhere(sequencer)) => {
                self.greeting.settle(from);
                self.elsewhere = Some(sequencer);
            }
            (Some(_), Message::Elsewhere(_)) => {}
            (None, Message::Refusal(refusal)) if founder => {
                let name = self.greeting.hello().name.as_str().to_owned();
                out.events.push_back(Event::Refused { peer: from, name, refusal: refusal.clone() });
                out.end(EndReason::Refused(refusal));
            }
            // Of any witness, those who are out of step included.
            (Some(session), Message::Parcel(parcel)) => session.evidence.handle(from, parcel, now, out),
            (None, Message::Welcome(welcome)) if founder => self.welcomed(from, epoch, welcome, now, out),
            (Some(session), message) if session.sequencer == from => {
                session.heard = now;
                self.told(message, now, out);
            }
            _ => out.dropped(DropReason::UnknownPeer),
        }
    }

    fn welcomed(&mut self, from: PeerId, epoch: Epoch, welcome: Welcome, now: Duration, out: &mut Out<S>) {
        let receiver = Receiver::new(welcome.snapshot_bytes, welcome.snapshot_digest);
        self.session = Some(Joined {
            sequencer: from,
            epoch,
            heard: now,
            progressed: now,
            receiver,
            intake: Intake::new(welcome.tick, self.config.packet_interval()),
            playout: Playout::new(self.config.period()),
            comparison: Comparison::default(),
            evidence: Evidence::default(),
            stage: None,
            ready_sent: false,
            welcome,
        });
        // A world of no bytes is whole already.
        self.load(out);
    }

    /// Takes a message of the sequencer.
    fn told(&mut self, message: Message, now: Duration, out: &mut Out<S>) {
        let stop = self.config.settings().stop_on_desync;
        let Some(session) = &mut self.session else { return };
        match message {
            Message::Inquiry(inquiry) => self.inquired(&inquiry, now, out),
            Message::Removed(_) if session.evidence.lingers() => session.evidence.put_out(now, out),
            // The game goes on without this peer.
            _ if session.evidence.lingers() => {}
            Message::Chunk(chunk) if session.stage.is_none() => match session.receiver.take(&chunk) {
                Ok(received) => {
                    session.progressed = now;
                    out.reliably(session.epoch, session.sequencer, &Message::ChunkAck(received));
                    self.load(out);
                }
                Err(error) => out.end(EndReason::Transfer(error)),
            },
            Message::Turns(turns) => session.turns(turns, now, stop, out),
            Message::Said(said) if session.stage.is_some() => out.said(&said),
            Message::Desync(DesyncNotice { tick, agreed, ours, theirs }) => {
                session.differs(DesyncNotice { tick, agreed, ours: theirs, theirs: ours }, false, stop, now, out);
            }
            Message::Removed(LeaveReason::Desync) => session.evidence.put_out(now, out),
            Message::Removed(reason) => out.end(EndReason::Removed(reason)),
            Message::Ending => out.end(EndReason::SequencerLeft),
            Message::Refusal(refusal) => out.end(EndReason::Refused(refusal)),
            _ => out.dropped(DropReason::Unexpected),
        }
    }

    /// Sets up the world once all of it is here.
    fn load(&mut self, out: &mut Out<S>) {
        let Some(session) = &mut self.session else { return };
        let bytes = match session.receiver.finish() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return out.end(EndReason::Transfer(error)),
        };
        let Welcome { player, seed, tick, .. } = session.welcome;
        let mut simulation = (self.build)(seed);
        match simulation.decode(&bytes) {
            Ok(snapshot) => simulation.restore(&snapshot),
            Err(error) => return out.end(EndReason::Snapshot(error)),
        }
        if simulation.tick() != tick {
            let error = lockstone_sim::codec::CodecError::Malformed("a world of another tick than announced");
            return out.end(EndReason::Snapshot(error));
        }
        let beginning = Beginning { simulation, player, seed, snapshot: bytes };
        let mut stage = Stage::begin(beginning, self.config.telling(), out);
        for (player, name) in session.welcome.roster.iter() {
            stage.roster.insert(*player, name.clone());
            out.events.push_back(Event::PlayerJoined { player: *player, name: name.as_str().to_owned() });
        }
        session.stage = Some(stage);
    }

    /// Takes a command of this peer's player.
    pub fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        let Some(session) = &mut self.session else { return Err(CommandError::NotPlaying) };
        if session.evidence.lingers() || !session.stage.as_ref().is_some_and(Stage::plays) {
            return Err(CommandError::NotPlaying);
        }
        session.intake.command(command).map_err(|_| CommandError::Full)
    }

    /// Says something to all.
    pub fn say(&mut self, line: ChatLine, out: &mut Out<S>) {
        if let Some(session) = &self.session {
            out.reliably(session.epoch, session.sequencer, &Message::Say(line));
        }
    }

    /// Leaves the session.
    pub fn leave(&mut self, out: &mut Out<S>) {
        match &self.session {
            // It has said so.
            Some(session) if session.evidence.lingers() => return out.end(EndReason::Desync),
            Some(session) => out.reliably(session.epoch, session.sequencer, &Message::Bye(LeaveReason::Left)),
            None => {}
        }
        out.end(EndReason::Left);
    }

    pub fn player(&self) -> Option<PlayerId> {
        self.session.as_ref().map(|session| session.welcome.player)
    }

    pub fn sequencer(&self) -> Option<PlayerId> {
        self.session.as_ref().map(|session| session.welcome.sequencer)
    }

    /// The first tick that is not known here, and commands that are not acknowledged.
    pub fn reach(&self) -> (Tick, usize) {
        let intake = self.session.as_ref().map(|session| &session.intake);
        intake.map_or((Tick(0), 0), |intake| (intake.known(), intake.commands_pending()))
    }

    /// The figures of the exchange with the sequencer.
    pub fn exchange(&self, out: &Out<S>) -> Option<Exchange> {
        let session = self.session.as_ref()?;
        Some(Exchange {
            peer: session.sequencer,
            rtt: session.intake.rtt(),
            traffic: out.traffic(session.sequencer),
            checksums_compared: session.comparison.compared,
            desyncs: session.comparison.desyncs,
            last_check: session.comparison.last,
        })
    }
}

impl<S: Simulation> Joined<S> {
    fn advance(&mut self, settings: &PartySettings, now: Duration, out: &mut Out<S>) {
        if now >= self.heard + settings.silence_timeout {
            return out.end(EndReason::SequencerLost { silent: true });
        }
        if now >= self.give_up_at(settings.load_timeout) {
            return out.end(EndReason::LoadTimeout);
        }
        self.play(now, settings.stop_on_desync, out);
        self.report(now, out);
    }

    fn turns(&mut self, turns: Turns, now: Duration, stop: bool, out: &mut Out<S>) {
        let checksums = turns.checksums.clone();
        match self.intake.take_turns(turns, now) {
            Err(_) => return out.dropped(DropReason::Replayed),
            Ok(Progress::TooFarAhead) => out.dropped(DropReason::TooFarAhead),
            Ok(Progress::New(first)) => self.playout.arrived(first, self.intake.known(), now),
            Ok(Progress::Old | Progress::Gap) => {}
        }
        let Some(stage) = &self.stage else { return };
        let compare = |(tick, theirs): &(Tick, Checksum)| self.comparison.theirs(*tick, *theirs, &stage.checksums, out);
        let differing: Vec<_> = checksums.iter().filter_map(compare).collect();
        for notice in differing {
            self.differs(notice, true, stop, now, out);
        }
    }

    /// When loading has made no progress for too long.
    fn give_up_at(&self, load_timeout: Duration) -> Duration {
        if self.ready_sent { Duration::MAX } else { self.progressed + load_timeout }
    }

    /// When the next turn is to be played, if it is known.
    fn next_play_at(&self) -> Option<Duration> {
        let next = self.intake.next();
        (self.stage.is_some() && next < self.intake.known()).then(|| self.playout.time_of(next)).flatten()
    }

    /// Plays the turns whose time has come.
    fn play(&mut self, now: Duration, stop: bool, out: &mut Out<S>) {
        self.playout.advance(now);
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            if self.next_play_at().is_none_or(|at| now < at) {
                return self.caught_up(out);
            }
            let (Some(turn), Some(stage)) = (self.intake.next_turn(), &mut self.stage) else { return };
            self.progressed = now;
            if let Some((tick, checksum)) = stage.play(&turn, out) {
                self.intake.checksum(tick, checksum);
                self.compare(tick, checksum, stop, now, out);
            }
            if self.evidence.lingers() {
                return;
            }
        }
    }

    fn compare(&mut self, tick: Tick, checksum: Checksum, stop: bool, now: Duration, out: &mut Out<S>) {
        if let Some(notice) = self.comparison.ours(tick, checksum, out) {
            self.differs(notice, true, stop, now, out);
        }
    }

    /// Nothing is left to play now: the hero may enter.
    fn caught_up(&mut self, out: &mut Out<S>) {
        if self.stage.is_some() && !self.ready_sent {
            self.ready_sent = true;
            out.reliably(self.epoch, self.sequencer, &Message::Ready);
        }
    }

    fn report(&mut self, now: Duration, out: &mut Out<S>) {
        if !self.evidence.lingers() && now >= self.intake.report_at() {
            let report = self.intake.report(now);
            out.send(self.epoch, self.sequencer, Channel::Unreliable, &Message::Report(report));
        }
    }
}
