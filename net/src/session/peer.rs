//! One peer of a session of any kind: what every session does, once. What a kind does otherwise is
//! its [`Kind`] before it is in the room, and a [`Role`] afterwards.
//!
//! ```text
//! link ─► Ingress ─► Peer ─► Role ─► Outbox ─► link, events
//!                      └─► Evidence: beside the role, and alone once out of step
//! ```
//!
//! A role is never asked anything while its peer is out of step or when the session is over.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn, codec};

use super::bindings::{Bindings, Vouching};
use super::config::{Config, Settings};
use super::distant::DistantView;
use super::event::{BranchError, CommandError, EndReason, Event, EvidenceError, Phase, SayError, Transmit, VoteError};
use super::evidence::{Evidence, Witnesses};
use super::ingress::{Admitted, Allowance, Ingress};
use super::observer::Observer;
use super::outbox::{Outbox, Standing};
use super::stats::{DropReason, Stats};
use super::time::Time;
use super::{Continuation, Entrant, Newcomer, PlayerError, Session};
use crate::key::PlayerKey;
use crate::link::{LinkEvent, PeerId};
use crate::wire::{ChatLine, CommandBytes, Epoch, Fitness, Identity, Inquiry, Message, Refusal, Vote, Vouch};

/// A kind of session, set up for one peer that is not in the room yet.
pub trait Kind<S: Simulation> {
    type Settings: Settings;

    fn config(&self) -> &Config<Self::Settings>;

    /// What each of the others may send.
    fn allowance(&self) -> Allowance {
        Allowance::default()
    }

    /// The room let this peer in, as `me`. Returns its role there.
    fn enter(&mut self, entrant: &Arc<Entrant<S>>, me: PeerId, io: &mut Io<S>) -> Box<dyn Role<S>>;
}

/// What a peer does in a room: it closes ticks, follows who does, or plays among its like.
pub trait Role<S: Simulation>: Send {
    /// A peer can be spoken to.
    fn connected(&mut self, peer: PeerId, io: &mut Io<S>) {
        let _ = (peer, io);
    }

    /// The carrier lost a peer.
    fn disconnected(&mut self, peer: PeerId, io: &mut Io<S>);

    /// The link ended.
    fn closed(&mut self, reason: EndReason, io: &mut Io<S>) {
        io.out.end(reason);
    }

    /// A hello came of another version of the wire format: who answers hellos refuses it.
    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<S>) {
        let _ = (from, refusal);
        io.out.dropped(DropReason::Malformed);
    }

    /// The epoch in which the session is; `None` as long as it is not found.
    fn epoch(&self) -> Option<Epoch>;

    /// Whether a message that is bound to an [epoch](Message::epoch) counts in another one as well.
    fn counts_in_any_epoch(&self, from: PeerId, message: &Message) -> bool {
        let _ = (from, message);
        false
    }

    /// A message came that is bound to an epoch that is over, or not begun.
    fn stale(&mut self, from: PeerId, epoch: Epoch, io: &mut Io<S>) {
        let _ = (from, epoch, io);
    }

    /// Takes a message of a connected peer.
    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<S>);

    /// The same while this peer is out of step: what is not about that is passed over.
    fn handle_out_of_step(&mut self, from: PeerId, message: Message, io: &mut Io<S>) {
        let _ = (from, message, io);
    }

    /// Does what is due.
    fn advance(&mut self, io: &mut Io<S>);

    /// When [`advance`](Role::advance) has something to do.
    fn wake_at(&self, now: Duration) -> Duration;

    /// Takes a command of this peer's player.
    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError>;

    /// Whether this peer's player can be heard.
    fn speaks(&self) -> bool {
        self.phase() == Phase::Playing
    }

    /// Says something.
    fn say(&mut self, line: ChatLine, io: &mut Io<S>);

    /// Its player wants to go on as a branch. Returns whether that is offered.
    fn go_on_as_branch(&mut self) -> bool {
        false
    }

    /// Its player wants another out. Returns whether it can.
    fn vote_out(&mut self, player: PlayerId, io: &mut Io<S>) -> bool {
        let _ = (player, io);
        false
    }

    /// Takes the checksum that a replay came to at a tick, if it came to one.
    fn reference(&mut self, tick: Tick, checksum: Option<Checksum>, io: &mut Io<S>) {
        let _ = (tick, checksum, io);
    }

    /// Says goodbye.
    fn leave(&mut self, io: &mut Io<S>);

    fn phase(&self) -> Phase;

    /// Who leads, and since which epoch, once that is decided.
    fn led_by(&self) -> Option<Vote> {
        None
    }

    /// Since when a tick is due that cannot be played now, if one is.
    fn stalled_since(&self, now: Duration) -> Option<Duration> {
        let _ = now;
        None
    }

    /// Predicts the world that this peer's player sees. Returns how many ticks that took.
    fn look_ahead(&mut self, ticks_max: u32, io: &mut Io<S>) -> u32 {
        let _ = (ticks_max, io);
        0
    }

    /// The world that this peer's player sees.
    fn simulation(&self) -> Option<&S>;

    /// The world that is final.
    fn confirmed(&self) -> Option<&S> {
        self.simulation()
    }

    /// The world at the first tick whose turn is not final, to look at.
    fn settled_world(&mut self) -> Option<&S> {
        self.confirmed()
    }

    /// The first tick whose turn is not final.
    fn settled(&self) -> Tick {
        self.confirmed().map_or(Tick(0), Simulation::tick)
    }

    /// If the rules panicked in a turn that is only predicted: see [`Session::broken_turns`].
    fn broken_turns(&self) -> Vec<(Tick, Turn<S>)> {
        Vec::new()
    }

    /// What this peer's player sees beyond what is simulated here.
    fn distant(&self) -> DistantView {
        DistantView::default()
    }

    /// This peer's player, once it is let in.
    fn player(&self) -> Option<PlayerId> {
        None
    }

    /// Fills in the figures that a role has.
    fn figures(&self, stats: &mut Stats, out: &Outbox<S>);

    /// Whether it has come to its end, and its peer goes on in another role.
    fn is_over(&self) -> bool {
        false
    }

    /// The role in which its peer goes on.
    fn next(self: Box<Self>, io: &mut Io<S>) -> Box<dyn Role<S>>;
}

/// What a role works with beside its own state.
pub struct Io<S: Simulation> {
    pub ingress: Ingress,
    /// To whom its connections lead.
    pub bindings: Bindings,
    pub out: Outbox<S>,
    pub evidence: Evidence,
    /// How well this peer can lead.
    pub fitness: Fitness,
    /// The time, as it was told last.
    pub now: Duration,
}

impl<S: Simulation> Io<S> {
    /// Calls for the evidence of others, unless evidence was called for less than `interval` ago.
    /// `inquiry` is what they are told. Returns whether it did.
    pub fn inquire(&mut self, interval: Duration, witnesses: Witnesses, inquiry: Inquiry) -> bool {
        let peers: Vec<_> = witnesses.others.iter().map(|(_, peer)| *peer).collect();
        let begun = self.evidence.begin(interval, witnesses, self.now, &mut self.out);
        if begun {
            let message = Message::Inquiry(inquiry);
            peers.into_iter().for_each(|peer| self.out.reliably(Epoch::default(), peer, &message));
        }
        begun
    }
}

/// A peer's part in a session of a kind.
pub struct Peer<S: Simulation, K> {
    pub(crate) kind: K,
    entrant: Arc<Entrant<S>>,
    place: Place<S>,
    io: Io<S>,
    time: Time,
    observer: Observer<S>,
}

enum Place<S: Simulation> {
    /// Not in the room yet, since it was first asked to do something.
    Outside {
        since: Option<Duration>,
    },
    Inside(Box<dyn Role<S>>),
}

impl<S: Simulation> Place<S> {
    fn role(&self) -> Option<&dyn Role<S>> {
        match self {
            Place::Outside { .. } => None,
            Place::Inside(role) => Some(&**role),
        }
    }

    fn role_mut(&mut self) -> Option<&mut Box<dyn Role<S>>> {
        match self {
            Place::Outside { .. } => None,
            Place::Inside(role) => Some(role),
        }
    }

    /// Goes on in another role, if the present one is over.
    fn go_on(&mut self, io: &mut Io<S>) {
        if self.role().is_some_and(Role::is_over)
            && let Place::Inside(role) = core::mem::replace(self, Place::Outside { since: None })
        {
            *self = Place::Inside(role.next(io));
        }
    }
}

impl<S: Simulation, K: Kind<S>> Peer<S, K> {
    /// A peer with a player, that will found or join the session of the room that its link enters.
    /// `build` makes the world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: impl Into<K>,
        identity: Identity,
        name: &str,
        hero: S::Hero,
        build: impl Fn(u64) -> S + Send + Sync + 'static,
    ) -> Result<Self, PlayerError> {
        Ok(Peer::outside(config.into(), identity, Some(Newcomer::new(name, hero)?), build))
    }

    pub(crate) fn outside(
        kind: K,
        identity: Identity,
        newcomer: Option<Newcomer<S>>,
        build: impl Fn(u64) -> S + Send + Sync + 'static,
    ) -> Self {
        let entrant =
            Entrant { terms: kind.config().terms(identity), newcomer, key: None, past: None, build: Arc::new(build) };
        let (ingress, out, evidence) = (Ingress::new(kind.allowance()), Outbox::new(), Evidence::default());
        let (bindings, fitness) = (Bindings::default(), Fitness::default());
        let io = Io { ingress, bindings, out, evidence, fitness, now: Duration::ZERO };
        let observer = Observer::new(kind.config().period());
        // One leap alone is nobody's silence.
        let time = Time::new(kind.config().settings().common().silence_timeout * 3 / 4);
        Peer { kind, entrant: Arc::new(entrant), place: Place::Outside { since: None }, io, time, observer }
    }

    /// The same peer, which goes on with a session if it founds one.
    pub(crate) fn with_past(mut self, continuation: Continuation<S>) -> Self {
        if let Some(entrant) = Arc::get_mut(&mut self.entrant) {
            entrant.past = Some(continuation.end());
        }
        self
    }

    /// The same peer, whose player is known again by a key: if it is lost, it comes back to its
    /// hero, also from another process or machine, as long as the simulation keeps the hero
    /// ([`Simulation::away_ticks`]). Before the peer is in the room.
    #[must_use]
    pub fn with_key(mut self, key: PlayerKey) -> Self {
        if let Some(entrant) = Arc::get_mut(&mut self.entrant) {
            entrant.key = Some(key);
        }
        self
    }

    fn is_over(&self) -> bool {
        self.io.out.standing.end().is_some()
    }

    /// The role, as long as it has a say.
    fn active(&mut self) -> Option<(&mut dyn Role<S>, &mut Io<S>)> {
        match &mut self.place {
            Place::Inside(role) if self.io.out.standing.is_in_step() => Some((&mut **role, &mut self.io)),
            _ => None,
        }
    }

    /// Looks at the role, as long as it has a say.
    fn observe(&mut self) {
        let role = self.place.role().filter(|_| self.io.out.standing.is_in_step());
        self.observer.look(role.and_then(|role| role.stalled_since(self.io.now)), self.io.now);
        self.observer.follow(role.and_then(Role::led_by));
    }

    /// The tick of the world that this peer plays: a rollback session has no confirmed one.
    fn tick(&self) -> Tick {
        let role = self.place.role();
        role.and_then(|role| role.confirmed().or(role.simulation())).map_or(Tick(0), Simulation::tick)
    }

    /// The embedder says how late it is. Returns what this peer goes by.
    fn tell(&mut self, told: Duration) -> Duration {
        let due = if self.time.leaps(told) { self.due() } else { Duration::ZERO };
        self.io.now = self.time.tell(told, due);
        self.io.now
    }

    /// When something is to be done, by what this peer goes by.
    fn due(&self) -> Duration {
        let Io { out, evidence, now, .. } = &self.io;
        match &self.place {
            _ if self.is_over() => Duration::MAX,
            Place::Outside { since } => since.map_or(*now, |since| since + self.handshake_timeout()),
            Place::Inside(role) if out.standing.is_in_step() => role.wake_at(*now).min(evidence.wake_at(&out.standing)),
            Place::Inside(_) => evidence.wake_at(&out.standing),
        }
    }

    /// How long the room may take to let this peer in.
    fn handshake_timeout(&self) -> Duration {
        self.kind.config().settings().common().handshake_timeout
    }

    /// The room let this peer in. If it looks for the session still, the room may have begun anew
    /// without a founder that never spoke.
    fn enter(&mut self, me: PeerId) {
        if self.place.role().is_none_or(|role| role.phase() == Phase::Connecting) {
            self.io.bindings.enter(me);
            let mut role = self.kind.enter(&self.entrant, me, &mut self.io);
            let connected: Vec<_> = self.io.ingress.peers().collect();
            connected.into_iter().for_each(|peer| role.connected(peer, &mut self.io));
            self.place = Place::Inside(role);
        }
    }

    fn disconnected(&mut self, peer: PeerId) {
        self.io.ingress.disconnected(peer);
        self.io.bindings.disconnected(peer);
        self.io.evidence.lost(peer, &mut self.io.out);
        if let Some((role, io)) = self.active() {
            role.disconnected(peer, io);
        }
        self.io.out.forget(peer);
    }

    fn closed(&mut self, reason: EndReason) {
        match &mut self.place {
            Place::Outside { .. } => self.io.out.end(reason),
            Place::Inside(role) if self.io.out.standing.is_in_step() => role.closed(reason, &mut self.io),
            Place::Inside(_) => self.io.out.end(EndReason::Desync),
        }
    }

    fn packet(&mut self, from: PeerId, bytes: &[u8]) {
        let Io { ingress, out, now, .. } = &mut self.io;
        match ingress.admit(from, bytes, *now, out) {
            Ok(Admitted::Message(epoch, message)) => self.message(from, epoch, message),
            Ok(Admitted::Foreign(refusal)) => match self.active() {
                Some((role, io)) => role.foreign(from, refusal, io),
                None => self.io.out.dropped(DropReason::Malformed),
            },
            Err(reason) => out.dropped(reason),
        }
    }

    fn message(&mut self, from: PeerId, epoch: Epoch, message: Message) {
        let Peer { place: Place::Inside(role), io, .. } = self else {
            return self.io.out.dropped(DropReason::UnknownPeer);
        };
        // A relay's standby has that of a secret, which may be short: who learns its public half
        // can try which secrets fit.
        let key = self.entrant.key.as_ref().filter(|_| self.entrant.newcomer.is_some());
        if let Some(vouch) = io.bindings.vouch(from, key) {
            io.out.reliably(Epoch::default(), from, &vouch);
        }
        let expected = message.epoch(role.epoch());
        if expected.is_some_and(|expected| epoch != expected) && !role.counts_in_any_epoch(from, &message) {
            role.stale(from, epoch, io);
            return io.out.dropped(DropReason::StaleEpoch);
        }
        match message {
            Message::Vouch(vouch) => self.vouched(from, &vouch),
            // Of those who are out of step too.
            Message::Parcel(parcel) if role.simulation().is_some() => {
                io.evidence.handle(from, parcel, io.now, &mut io.out);
            }
            message if io.out.standing.is_in_step() => {
                role.handle(from, epoch, message, io);
                self.place.go_on(&mut self.io);
            }
            message => role.handle_out_of_step(from, message, io),
        }
    }

    /// A peer says that it is at the other end of the connection. If someone else is, the
    /// connection is of no use.
    fn vouched(&mut self, from: PeerId, vouch: &Vouch) {
        match self.io.bindings.vouched(from, vouch) {
            Vouching::Proven => {}
            Vouching::Unexpected => self.io.out.dropped(DropReason::Unexpected),
            Vouching::False => {
                self.io.out.events.push_back(Event::Intercepted { peer: from });
                self.disconnected(from);
            }
        }
    }

    /// Tells the end, once, as the last event. Evidence that is on its way will not arrive.
    fn emit_end(&mut self) {
        let Io { out, evidence, .. } = &mut self.io;
        if let Standing::Ending(reason) = &out.standing {
            let reason = reason.clone();
            evidence.close(out);
            let tick = self.place.role().map_or(Tick(0), |role| role.settled());
            out.standing = Standing::Over(reason.clone());
            out.events.push_back(Event::Ended { tick, reason });
        }
    }
}

impl<S: Simulation, K: Kind<S>> Session for Peer<S, K> {
    type Sim = S;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.tell(now);
        if self.is_over() {
            return;
        }
        self.observe();
        self.observer.hear(&event);
        match event {
            LinkEvent::Entered(me) => self.enter(me),
            LinkEvent::Secured { peer, binding } => self.io.bindings.secured(peer, binding),
            LinkEvent::Connected(peer) => {
                self.io.ingress.connected(peer);
                if let Some((role, io)) = self.active() {
                    role.connected(peer, io);
                }
            }
            LinkEvent::Disconnected(peer) => self.disconnected(peer),
            LinkEvent::Packet { from, bytes, .. } => self.packet(from, &bytes),
            LinkEvent::SignalingLost(_) | LinkEvent::SignalingBack => {}
            LinkEvent::Closed(error) => self.closed(EndReason::Link(error)),
        }
        self.emit_end();
    }

    fn advance(&mut self, now: Duration) {
        let now = self.tell(now);
        if self.is_over() {
            return;
        }
        let timeout = self.handshake_timeout();
        let Peer { place, io, .. } = self;
        match place {
            Place::Outside { since } => {
                if now >= *since.get_or_insert(now) + timeout {
                    io.out.end(EndReason::NotEntered);
                }
            }
            Place::Inside(role) => {
                if io.out.standing.is_in_step() {
                    role.advance(io);
                    place.go_on(io);
                }
                io.evidence.advance(now, &mut io.out);
            }
        }
        self.observe();
        self.emit_end();
        if self.observer.is_due(now) {
            self.observer.tell(&self.stats());
        }
    }

    fn command(&mut self, command: S::Command) -> Result<(), CommandError> {
        let bytes = CommandBytes::try_from(codec::compact(&command));
        let bytes = bytes.map_err(|error| CommandError::TooLong(error.len))?;
        self.active().ok_or(CommandError::NotPlaying)?.0.command(bytes)?;
        self.observer.given(self.tick(), command);
        self.io.out.stats.commands_sent += 1;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        let (role, io) = self.active().filter(|(role, _)| role.speaks()).ok_or(SayError::NotPlaying)?;
        let line = io.out.line(text, io.now)?;
        role.say(line, io);
        Ok(())
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        if self.is_over() {
            return Err(EvidenceError::NotWanted);
        }
        self.io.evidence.give(bytes, &mut self.io.out)
    }

    fn give_reference(&mut self, tick: Tick, checksum: Option<Checksum>) {
        if let Some((role, io)) = self.active() {
            role.reference(tick, checksum, io);
        }
    }

    fn go_on_as_branch(&mut self) -> Result<(), BranchError> {
        let offered = self.active().is_some_and(|(role, _)| role.go_on_as_branch());
        self.place.go_on(&mut self.io);
        if offered { Ok(()) } else { Err(BranchError) }
    }

    fn vote_out(&mut self, player: PlayerId) -> Result<(), VoteError> {
        let counts = self.active().is_some_and(|(role, io)| role.vote_out(player, io));
        if counts { Ok(()) } else { Err(VoteError) }
    }

    fn set_fitness(&mut self, fitness: Fitness) {
        self.io.fitness = fitness;
    }

    fn leave(&mut self, now: Duration) {
        self.tell(now);
        // Who is out of step has said so.
        let out_of_step = matches!(self.io.out.standing, Standing::OutOfStep { .. });
        if let Some((role, io)) = self.active() {
            role.leave(io);
        }
        self.io.out.end(if out_of_step { EndReason::Desync } else { EndReason::Left });
        self.emit_end();
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.io.out.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<Event<S>> {
        let event = self.io.out.events.pop_front()?;
        self.observer.told(&event, self.tick());
        Some(event)
    }

    fn wake_at(&self) -> Duration {
        self.time.shown(self.due())
    }

    fn look_ahead(&mut self, ticks_max: u32) -> u32 {
        self.active().map_or(0, |(role, io)| role.look_ahead(ticks_max, io))
    }

    fn simulation(&self) -> Option<&S> {
        self.place.role()?.simulation()
    }

    fn confirmed(&self) -> Option<&S> {
        self.place.role()?.confirmed()
    }

    fn settled_world(&mut self) -> Option<&S> {
        self.place.role_mut()?.settled_world()
    }

    fn distant(&self) -> DistantView {
        self.place.role().map_or_else(DistantView::default, |role| role.distant())
    }

    fn settled(&self) -> Tick {
        self.place.role().map_or(Tick(0), |role| role.settled())
    }

    fn broken_turns(&self) -> Vec<(Tick, Turn<S>)> {
        self.place.role().map_or_else(Vec::new, |role| role.broken_turns())
    }

    fn phase(&self) -> Phase {
        match (&self.io.out.standing, self.place.role()) {
            (Standing::Ending(reason) | Standing::Over(reason), _) => Phase::Ended(reason.clone()),
            (Standing::OutOfStep { .. }, _) => Phase::OutOfStep,
            (Standing::InStep, None) => Phase::Connecting,
            (Standing::InStep, Some(role)) => role.phase(),
        }
    }

    fn player(&self) -> Option<PlayerId> {
        self.place.role()?.player()
    }

    fn stats(&self) -> Stats {
        let out = &self.io.out;
        let mut stats = Stats { player: self.player(), settled: self.settled(), ..out.stats.clone() };
        stats.traffic = stats.traffic_by_class.total();
        self.observer.figures(&mut stats);
        if let Some(role) = self.place.role() {
            stats.tick = role.simulation().map_or(Tick(0), Simulation::tick);
            role.figures(&mut stats, out);
            for player in &mut stats.players {
                let other = player.exchange.as_ref().and_then(|exchange| self.io.bindings.key(exchange.peer));
                player.key = if player.own { self.entrant.key.as_ref().map(PlayerKey::public) } else { other };
            }
        }
        stats
    }
}
