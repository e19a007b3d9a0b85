//! One peer of a session of any kind: what every session does, once. What a kind does otherwise is
//! its [`Kind`] before it is in the room, and one of its [`Roles`] afterwards.
//!
//! ```text
//! link ─► Ingress ─► Peer ─► Role ─► Outbox ─► link, events
//!                      └─► Evidence: beside the role, and alone once out of step
//! ```
//!
//! A role is never asked anything while its peer is out of step or when the session is over.

use core::time::Duration;

use lockstone_sim::{Simulation, Tick, codec};

use super::Session;
use super::distant::DistantView;
use super::event::{CommandError, EndReason, Event, EvidenceError, Phase, SayError, Transmit};
use super::evidence::Evidence;
use super::ingress::{Admitted, Ingress};
use super::outbox::{Outbox, Standing};
use super::stats::{DropReason, Stats};
use crate::link::{LinkEvent, PeerId};
use crate::wire::{ChatLine, CommandBytes, Epoch, Message, Refusal};

/// A kind of session, set up for one peer that is not in the room yet.
pub trait Kind {
    /// What becomes of it in the room.
    type Roles: Roles;

    /// How long the room may take to let this peer in.
    fn handshake_timeout(&self) -> Duration;

    /// The room let this peer in, as `me`.
    fn enter(&mut self, me: PeerId, io: &mut Io<Sim<Self>>) -> Self::Roles;
}

/// What a kind of session simulates.
pub type Sim<K> = <<K as Kind>::Roles as Roles>::Sim;

/// The roles that a peer of a kind can have, of which it has one at a time.
pub trait Roles {
    type Sim: Simulation;

    fn role(&self) -> &dyn Role<Sim = Self::Sim>;

    fn role_mut(&mut self) -> &mut dyn Role<Sim = Self::Sim>;

    /// Takes the next role, if the present one has come to that.
    fn go_on(&mut self) {}
}

/// A kind with one role.
impl<R: Role> Roles for Box<R> {
    type Sim = R::Sim;

    fn role(&self) -> &dyn Role<Sim = R::Sim> {
        &**self
    }

    fn role_mut(&mut self) -> &mut dyn Role<Sim = R::Sim> {
        &mut **self
    }
}

/// What a peer does in a room: it closes ticks, follows who does, or plays among its like.
pub trait Role {
    type Sim: Simulation;

    /// A peer can be spoken to.
    fn connected(&mut self, peer: PeerId, io: &mut Io<Self::Sim>) {
        let _ = (peer, io);
    }

    /// The carrier lost a peer.
    fn disconnected(&mut self, peer: PeerId, io: &mut Io<Self::Sim>);

    /// The link ended.
    fn closed(&mut self, reason: EndReason, io: &mut Io<Self::Sim>) {
        io.out.end(reason);
    }

    /// A hello came of another version of the wire format: who answers hellos refuses it.
    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<Self::Sim>) {
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

    /// Takes a message of a connected peer.
    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<Self::Sim>);

    /// The same while this peer is out of step: what is not about that is passed over.
    fn handle_out_of_step(&mut self, from: PeerId, message: Message, io: &mut Io<Self::Sim>) {
        let _ = (from, message, io);
    }

    /// Does what is due.
    fn advance(&mut self, io: &mut Io<Self::Sim>);

    /// When [`advance`](Role::advance) has something to do.
    fn wake_at(&self, now: Duration) -> Duration;

    /// Takes a command of this peer's player.
    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError>;

    /// Whether this peer's player can be heard.
    fn speaks(&self) -> bool {
        self.phase() == Phase::Playing
    }

    /// Says something.
    fn say(&mut self, line: ChatLine, io: &mut Io<Self::Sim>);

    /// Says goodbye.
    fn leave(&mut self, io: &mut Io<Self::Sim>);

    fn phase(&self) -> Phase;

    fn simulation(&self) -> Option<&Self::Sim>;

    /// The first tick whose turn is not final.
    fn settled(&self) -> Tick {
        self.simulation().map_or(Tick(0), Simulation::tick)
    }

    /// What this peer's player sees beyond what is simulated here.
    fn distant(&self) -> DistantView {
        DistantView::default()
    }

    /// Fills in the figures that a role has.
    fn figures(&self, stats: &mut Stats, out: &Outbox<Self::Sim>);
}

/// What a role works with beside its own state.
pub struct Io<S: Simulation> {
    pub ingress: Ingress,
    pub out: Outbox<S>,
    pub evidence: Evidence,
    /// The time, as it was told last.
    pub now: Duration,
}

/// A peer's part in a session of a kind.
pub struct Peer<K: Kind> {
    pub(crate) kind: K,
    place: Place<K::Roles>,
    io: Io<Sim<K>>,
    commands_sent: u64,
}

enum Place<R> {
    /// Not in the room yet, since it was first asked to do something.
    Outside {
        since: Option<Duration>,
    },
    Inside(R),
}

impl<R: Roles> Place<R> {
    fn role(&self) -> Option<&dyn Role<Sim = R::Sim>> {
        match self {
            Place::Outside { .. } => None,
            Place::Inside(roles) => Some(roles.role()),
        }
    }
}

impl<K: Kind> Peer<K> {
    pub(crate) fn outside(kind: K, ingress: Ingress) -> Peer<K> {
        let (out, evidence) = (Outbox::new(), Evidence::default());
        let io = Io { ingress, out, evidence, now: Duration::ZERO };
        Peer { kind, place: Place::Outside { since: None }, io, commands_sent: 0 }
    }

    fn is_over(&self) -> bool {
        self.io.out.standing.end().is_some()
    }

    /// The role, as long as it has a say.
    #[allow(clippy::type_complexity)]
    fn active(&mut self) -> Option<(&mut dyn Role<Sim = Sim<K>>, &mut Io<Sim<K>>)> {
        match &mut self.place {
            Place::Inside(roles) if self.io.out.standing.is_in_step() => Some((roles.role_mut(), &mut self.io)),
            _ => None,
        }
    }

    fn enter(&mut self, me: PeerId) {
        if let Place::Outside { .. } = self.place {
            let mut roles = self.kind.enter(me, &mut self.io);
            let connected: Vec<_> = self.io.ingress.peers().collect();
            connected.into_iter().for_each(|peer| roles.role_mut().connected(peer, &mut self.io));
            self.place = Place::Inside(roles);
        }
    }

    fn disconnected(&mut self, peer: PeerId) {
        self.io.ingress.disconnected(peer);
        self.io.evidence.lost(peer, &mut self.io.out);
        if let Some((role, io)) = self.active() {
            role.disconnected(peer, io);
        }
        self.io.out.forget(peer);
    }

    fn closed(&mut self, reason: EndReason) {
        match &mut self.place {
            Place::Outside { .. } => self.io.out.end(reason),
            Place::Inside(roles) if self.io.out.standing.is_in_step() => roles.role_mut().closed(reason, &mut self.io),
            Place::Inside(_) => self.io.out.end(EndReason::Desync),
        }
    }

    fn packet(&mut self, from: PeerId, bytes: &[u8]) {
        let Io { ingress, out, now, .. } = &mut self.io;
        match ingress.admit(from, bytes, *now, out) {
            Some(Admitted::Message(epoch, message)) => self.message(from, epoch, message),
            Some(Admitted::Foreign(refusal)) => match self.active() {
                Some((role, io)) => role.foreign(from, refusal, io),
                None => self.io.out.dropped(DropReason::Malformed),
            },
            None => {}
        }
    }

    fn message(&mut self, from: PeerId, epoch: Epoch, message: Message) {
        let Peer { place: Place::Inside(roles), io, .. } = self else {
            return self.io.out.dropped(DropReason::UnknownPeer);
        };
        let role = roles.role_mut();
        let expected = message.epoch().of(role.epoch());
        if expected.is_some_and(|expected| epoch != expected) && !role.counts_in_any_epoch(from, &message) {
            return io.out.dropped(DropReason::StaleEpoch);
        }
        match message {
            // Of those who are out of step too.
            Message::Parcel(parcel) if role.simulation().is_some() => {
                io.evidence.handle(from, parcel, io.now, &mut io.out);
            }
            message if io.out.standing.is_in_step() => {
                role.handle(from, epoch, message, io);
                roles.go_on();
            }
            message => role.handle_out_of_step(from, message, io),
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

impl<K: Kind> Session for Peer<K> {
    type Sim = Sim<K>;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.io.now = now;
        if self.is_over() {
            return;
        }
        match event {
            LinkEvent::Entered(me) => self.enter(me),
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
        self.io.now = now;
        if self.is_over() {
            return;
        }
        let Peer { kind, place, io, .. } = self;
        match place {
            Place::Outside { since } => {
                if now >= *since.get_or_insert(now) + kind.handshake_timeout() {
                    io.out.end(EndReason::NotEntered);
                }
            }
            Place::Inside(roles) => {
                if io.out.standing.is_in_step() {
                    roles.role_mut().advance(io);
                }
                io.evidence.advance(now, &mut io.out);
            }
        }
        self.emit_end();
    }

    fn command(&mut self, command: <Self::Sim as Simulation>::Command) -> Result<(), CommandError> {
        let bytes = CommandBytes::try_from(codec::compact(&command));
        let bytes = bytes.map_err(|error| CommandError::TooLong(error.len))?;
        self.active().ok_or(CommandError::NotPlaying)?.0.command(bytes)?;
        self.commands_sent += 1;
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

    fn leave(&mut self, now: Duration) {
        self.io.now = now;
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

    fn poll_event(&mut self) -> Option<Event<Self::Sim>> {
        self.io.out.events.pop_front()
    }

    fn wake_at(&self) -> Duration {
        let Io { out, evidence, now, .. } = &self.io;
        match &self.place {
            _ if self.is_over() => Duration::MAX,
            Place::Outside { since } => since.map_or(*now, |since| since + self.kind.handshake_timeout()),
            Place::Inside(roles) if out.standing.is_in_step() => {
                roles.role().wake_at(*now).min(evidence.wake_at(&out.standing))
            }
            Place::Inside(_) => evidence.wake_at(&out.standing),
        }
    }

    fn simulation(&self) -> Option<&Self::Sim> {
        self.place.role()?.simulation()
    }

    fn distant(&self) -> DistantView {
        self.place.role().map_or_else(DistantView::default, |role| role.distant())
    }

    fn settled(&self) -> Tick {
        self.place.role().map_or(Tick(0), |role| role.settled())
    }

    fn phase(&self) -> Phase {
        match (&self.io.out.standing, self.place.role()) {
            (Standing::Ending(reason) | Standing::Over(reason), _) => Phase::Ended(reason.clone()),
            (Standing::OutOfStep { .. }, _) => Phase::OutOfStep,
            (Standing::InStep, None) => Phase::Connecting,
            (Standing::InStep, Some(role)) => role.phase(),
        }
    }

    fn stats(&self) -> Stats {
        let out = &self.io.out;
        let mut stats = Stats {
            commands_sent: self.commands_sent,
            traffic: out.total,
            checksums_compared: out.checksums_compared,
            desyncs: out.desyncs,
            drops: out.drops.clone(),
            settled: self.settled(),
            ..Stats::default()
        };
        if let Some(role) = self.place.role() {
            stats.tick = role.simulation().map_or(Tick(0), Simulation::tick);
            role.figures(&mut stats, out);
        }
        stats
    }
}
