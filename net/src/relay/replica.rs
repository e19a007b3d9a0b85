//! A replica: joins a relay's session, and plays its frames.
//!
//! It says hello to whom it is connected with, and the first that welcomes it is its relay: a relay session's carrier connects a replica
//! with nobody else.

mod afar;
mod joined;
mod pending;

use core::time::Duration;
use std::rc::Rc;

use lockstone_sim::{Rules, Simulation, World, codec};

use super::config::RelayConfig;
use super::horizon::{DistantView, Horizon};
use crate::link::{LinkEvent, PeerId};
use crate::session::{
    Admitted, Build, CommandError, Door, DropReason, EndReason, Event, EvidenceError, Greeting, Newcomer, Out, Phase,
    PlayerError, PlayerStats, SayError, Session, Stats, Transmit,
};
use crate::wire::{CommandBytes, Epoch, Hello, Identity, Message, PROTOCOL_VERSION};
use joined::Joined;

/// A peer whose world is a part of the relay's.
pub struct Replica<R: Rules> {
    config: RelayConfig,
    greeting: Greeting,
    build: Rc<Build<World<R>>>,
    /// Until the session has it.
    horizon: Option<Box<dyn Horizon<R>>>,
    /// Its own name, since the room let it in.
    me: Option<PeerId>,
    /// When it began to look for the relay, or came a step nearer to it.
    since: Option<Duration>,
    session: Option<Box<Joined<R>>>,
    door: Door,
    out: Out<World<R>>,
    now: Duration,
    commands_sent: u64,
}

impl<R: Rules> Replica<R> {
    /// A peer that will join the relay of the room that its link enters. `build` makes the world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: RelayConfig,
        identity: Identity,
        name: &str,
        hero: R::Hero,
        build: impl Fn(u64) -> World<R> + 'static,
    ) -> Result<Self, PlayerError> {
        let terms = config.terms(identity);
        let Newcomer { name, hero_bytes: hero, .. } = Newcomer::<World<R>>::new(name, hero)?;
        Ok(Replica {
            config,
            greeting: Greeting::new(Hello { protocol: PROTOCOL_VERSION, terms, name, hero }),
            build: Rc::new(build),
            horizon: None,
            me: None,
            since: None,
            session: None,
            door: Door::default(),
            out: Out::new(),
            now: Duration::ZERO,
            commands_sent: 0,
        })
    }

    /// Lets the player see from afar what the game says, if the relay has the same horizon.
    #[must_use]
    pub fn with_horizon(mut self, horizon: Box<dyn Horizon<R>>) -> Self {
        self.horizon = Some(horizon);
        self
    }

    fn message(&mut self, from: PeerId, epoch: Epoch, message: Message, now: Duration) {
        let out = &mut self.out;
        match (&mut self.session, message) {
            (None, Message::Refusal(refusal)) => {
                let name = self.greeting.hello().name.as_str().to_owned();
                out.events.push_back(Event::Refused { peer: from, name, refusal: refusal.clone() });
                out.end(EndReason::Refused(refusal));
            }
            (None, Message::Welcome(welcome)) => {
                let (config, build, me) = (self.config.clone(), self.build.clone(), self.me.unwrap_or(from));
                let mut session = Joined::new(config, build, (me, from), epoch, welcome, now);
                self.horizon.take().into_iter().for_each(|horizon| session.look_out(horizon));
                self.session = Some(Box::new(session));
            }
            // Another replica, on a carrier that connects all.
            (_, Message::Hello(_)) => {}
            (Some(session), message) if session.relay() == from => session.handle(epoch, message, now, out),
            _ => out.dropped(DropReason::UnknownPeer),
        }
    }

    fn tell_end(&mut self) {
        let tick = self.simulation().map_or_else(Default::default, Simulation::tick);
        self.out.tell_end(tick, self.session.as_mut().map(|session| &mut session.evidence));
    }

    fn players(&self) -> Vec<PlayerStats> {
        let Some((session, stage)) =
            self.session.as_ref().and_then(|session| session.stage().map(|stage| (session, stage)))
        else {
            return Vec::new();
        };
        let row = stage.roster.iter().map(|(player, name)| PlayerStats {
            player: *player,
            name: name.as_str().to_owned(),
            own: *player == stage.player,
            sequencer: *player == session.relay_player(),
            exchange: (*player == session.relay_player()).then(|| session.exchange(&self.out)),
        });
        row.collect()
    }
}

impl<R: Rules> Session for Replica<R> {
    type Sim = World<R>;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match event {
            LinkEvent::Entered(me) => {
                self.me = Some(me);
                self.since = Some(now);
            }
            LinkEvent::Connected(peer) => {
                self.since = Some(now);
                self.door.connected(peer);
                if self.session.is_none() {
                    self.greeting.connected(peer, now, &mut self.out);
                }
            }
            LinkEvent::Disconnected(peer) => {
                self.greeting.settle(peer);
                self.session.iter_mut().for_each(|session| session.disconnected(peer, &mut self.out));
                self.door.disconnected(peer, &mut self.out);
            }
            LinkEvent::Packet { from, bytes, .. } => match self.door.admit(from, &bytes, now, &mut self.out) {
                Some(Admitted::Message(epoch, message)) => self.message(from, epoch, message, now),
                Some(Admitted::Foreign(_)) => self.out.dropped(DropReason::Malformed),
                None => {}
            },
            LinkEvent::SignalingLost(_) | LinkEvent::SignalingBack => {}
            LinkEvent::Closed(error) => self.out.end(EndReason::Link(error)),
        }
        self.tell_end();
    }

    fn advance(&mut self, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        let since = *self.since.get_or_insert(now);
        match &mut self.session {
            Some(session) => session.advance(now, &mut self.out),
            None if now >= since + self.config.settings().handshake_timeout => {
                self.out.end(if self.me.is_some() { EndReason::NoSession } else { EndReason::NotEntered });
            }
            None => self.greeting.advance(now, &mut self.out),
        }
        self.tell_end();
    }

    fn command(&mut self, command: R::Command) -> Result<(), CommandError> {
        let bytes = CommandBytes::try_from(codec::compact(&command));
        let bytes = bytes.map_err(|error| CommandError::TooLong(error.len))?;
        let session = self.session.as_mut().filter(|_| self.out.ended.is_none());
        session.ok_or(CommandError::NotPlaying)?.command(bytes)?;
        self.commands_sent += 1;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        let plays = self.out.ended.is_none() && self.phase() == Phase::Playing;
        let line = plays.then(|| self.out.line(text, self.now)).ok_or(SayError::NotPlaying)??;
        self.session.iter().for_each(|session| session.say(line.clone(), &mut self.out));
        Ok(())
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        let session = self.session.as_mut().filter(|_| self.out.ended.is_none());
        session.ok_or(EvidenceError::NotWanted)?.evidence.give(bytes, &mut self.out)
    }

    fn leave(&mut self, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        self.session.iter_mut().for_each(|session| session.leave(&mut self.out));
        self.out.end(EndReason::Left);
        self.tell_end();
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<Event<World<R>>> {
        self.out.events.pop_front()
    }

    fn wake_at(&self) -> Duration {
        match &self.session {
            _ if self.out.ended.is_some() => Duration::MAX,
            Some(session) => session.wake_at(),
            None => self.since.map_or(self.now, |since| {
                (since + self.config.settings().handshake_timeout).min(self.greeting.wake_at())
            }),
        }
    }

    fn simulation(&self) -> Option<&World<R>> {
        self.session.as_ref()?.stage().map(|stage| &stage.simulation)
    }

    fn distant(&self) -> DistantView {
        self.session.as_ref().map_or_else(DistantView::default, |session| session.distant())
    }

    fn phase(&self) -> Phase {
        match (&self.out.ended, &self.session) {
            (Some(reason), _) => Phase::Ended(reason.clone()),
            (None, None) => Phase::Connecting,
            (None, Some(session)) => session.phase(),
        }
    }

    fn stats(&self) -> Stats {
        let out = &self.out;
        let tick = self.simulation().map_or_else(Default::default, Simulation::tick);
        let session = self.session.as_ref();
        Stats {
            player: session.map(|session| session.player()),
            tick,
            settled: tick,
            known: session.map_or(tick, |session| session.known()),
            players: self.players(),
            commands_sent: self.commands_sent,
            commands_pending: session.map_or(0, |session| session.commands_pending()),
            traffic: out.total,
            checksums_compared: out.checksums_compared,
            desyncs: out.desyncs,
            drops: out.drops.clone(),
            ..Stats::default()
        }
    }
}
