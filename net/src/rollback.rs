//! One peer's part in a rollback session: two to four players, all there from the start, none of them ever waits for its own commands.
//!
//! Its loop is that of every [`Session`]. Each peer plays its own commands at once, predicts that others do nothing new, and plays the past
//! again when they did. [`ggrs`](https://docs.rs/ggrs) predicts; what it must not see is kept from it in `remote`, what it cannot do, losing a
//! player, is done in `regroup`. What is told by [`Event`]s is settled: every player knows it, and nothing undoes it. What
//! [`simulation`](Session::simulation) shows is predicted.
//!
//! Time is an argument, but ggrs reads the real clock to keep players abreast: on virtual time a session is as exact, and paced by nothing
//! but that time.

mod config;
mod differ;
mod gather;
mod ggrs;
mod own;
mod play;
mod regroup;
mod rehearsal;
mod remote;
mod timeline;

pub use config::{RollbackConfig, RollbackSettings};
pub use rehearsal::{Mismatch, SyncTest, sync_test};

use core::time::Duration;
use std::collections::BTreeSet;
use std::rc::Rc;

use lockstone_sim::{Simulation, Tick, codec};

use crate::link::{LinkEvent, PeerId};
use crate::session::{
    Admitted, Build, CommandError, Door, DropReason, EndReason, Event, Evidence, EvidenceError, Newcomer, Out, Phase,
    PlayerError, SayError, Session, Stats, Transmit,
};
use crate::wire::{CommandBytes, Epoch, Identity, Message, Refusal, Terms};
use gather::Gather;
use play::Play;

/// A peer's part in a rollback session.
pub struct Rollback<S: Simulation> {
    config: RollbackConfig,
    terms: Terms,
    newcomer: Newcomer<S>,
    build: Rc<Build<S>>,
    connected: BTreeSet<PeerId>,
    /// Of them, who has been told that the session takes nobody in.
    turned_away: BTreeSet<PeerId>,
    role: Role<S>,
    door: Door,
    out: Out<S>,
    now: Duration,
    commands_sent: u64,
}

enum Role<S: Simulation> {
    /// Not in the room yet.
    Outside {
        since: Option<Duration>,
    },
    Gather(Box<Gather<S>>),
    Play(Box<Play<S>>),
}

impl<S: Simulation> Role<S> {
    fn evidence(&mut self) -> Option<&mut Evidence> {
        match self {
            Role::Play(play) => Some(&mut play.evidence),
            Role::Outside { .. } | Role::Gather(_) => None,
        }
    }
}

impl<S: Simulation> Rollback<S> {
    /// A peer that will found or join the session of the room that its link enters. `build` makes the world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: RollbackConfig,
        identity: Identity,
        name: &str,
        hero: S::Hero,
        build: impl Fn(u64) -> S + 'static,
    ) -> Result<Self, PlayerError> {
        Ok(Rollback {
            terms: config.terms(identity),
            config,
            newcomer: Newcomer::new(name, hero)?,
            build: Rc::new(build),
            connected: BTreeSet::new(),
            turned_away: BTreeSet::new(),
            role: Role::Outside { since: None },
            door: Door::default(),
            out: Out::new(),
            now: Duration::ZERO,
            commands_sent: 0,
        })
    }

    fn entered(&mut self, me: PeerId, now: Duration) {
        if let Role::Outside { .. } = &self.role {
            let (config, build) = (self.config.clone(), self.build.clone());
            let mut gather = Gather::new(config, self.terms, build, &self.newcomer, me, now);
            self.connected.iter().for_each(|peer| gather.connected(*peer, now, &mut self.out));
            self.role = Role::Gather(Box::new(gather));
        }
    }

    fn packet(&mut self, from: PeerId, bytes: &[u8], now: Duration) {
        match (self.door.admit(from, bytes, now, &mut self.out), &mut self.role) {
            (Some(Admitted::Message(epoch, message)), _) => self.message(from, epoch, message, now),
            (Some(Admitted::Foreign(refusal)), Role::Gather(gather)) => gather.refuse(from, "", refusal, &mut self.out),
            (Some(Admitted::Foreign(refusal)), Role::Play(_)) => self.turn_away(from, "", refusal),
            (Some(Admitted::Foreign(_)), Role::Outside { .. }) => self.out.dropped(DropReason::Malformed),
            (None, _) => {}
        }
    }

    fn message(&mut self, from: PeerId, epoch: Epoch, message: Message, now: Duration) {
        match (&mut self.role, message) {
            (Role::Outside { .. }, _) => self.out.dropped(DropReason::UnknownPeer),
            (Role::Gather(gather), message) => {
                if let Some(play) = gather.handle(from, message, now, &mut self.out) {
                    self.role = Role::Play(Box::new(play));
                }
            }
            // Said again before it had the answer.
            (Role::Play(play), Message::Hello(_)) if play.awaits(from, now) => {}
            (Role::Play(_), Message::Hello(hello)) => {
                let differences = self.terms.differences(hello.protocol, &hello.terms);
                let refusal = if differences.is_empty() {
                    Refusal::Begun
                } else {
                    Refusal::Different(differences.try_into().expect("one of each kind"))
                };
                self.turn_away(from, hello.name.as_str(), refusal);
            }
            // What is said of evidence counts in any epoch.
            (Role::Play(_), Message::Inquiry(_) | Message::Parcel(_)) if epoch != Epoch::default() => {
                self.out.dropped(DropReason::StaleEpoch);
            }
            (Role::Play(play), message) => play.handle(from, epoch, message, now, &mut self.out),
        }
    }

    /// A newcomer is told, once, that the session has begun, or that it would not fit anyway.
    fn turn_away(&mut self, from: PeerId, name: &str, refusal: Refusal) {
        if self.play().is_some_and(|play| play.knows(from)) || !self.turned_away.insert(from) {
            return self.out.dropped(DropReason::Unexpected);
        }
        self.out.reliably(Epoch::default(), from, &Message::Refusal(refusal.clone()));
        self.out.events.push_back(Event::Refused { peer: from, name: name.to_owned(), refusal });
    }

    fn play(&self) -> Option<&Play<S>> {
        match &self.role {
            Role::Play(play) => Some(play),
            Role::Outside { .. } | Role::Gather(_) => None,
        }
    }

    fn tell_end(&mut self) {
        let tick = self.play().map_or_else(Default::default, |play| play.timeline.first());
        self.out.tell_end(tick, self.role.evidence());
    }
}

impl<S: Simulation> Session for Rollback<S> {
    type Sim = S;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match event {
            LinkEvent::Entered(me) => self.entered(me, now),
            LinkEvent::Connected(peer) => {
                self.door.connected(peer);
                self.connected.insert(peer);
                if let Role::Gather(gather) = &mut self.role {
                    gather.connected(peer, now, &mut self.out);
                }
            }
            LinkEvent::Disconnected(peer) => {
                match &mut self.role {
                    Role::Outside { .. } => {}
                    Role::Gather(gather) => gather.disconnected(peer, &mut self.out),
                    Role::Play(play) => play.disconnected(peer, now, &mut self.out),
                }
                self.connected.remove(&peer);
                self.turned_away.remove(&peer);
                self.door.disconnected(peer, &mut self.out);
            }
            LinkEvent::Packet { from, bytes, .. } => self.packet(from, &bytes, now),
            LinkEvent::SignalingLost(_) | LinkEvent::SignalingBack => {}
            // Whoever is left goes on alone: nobody can enter anyway.
            LinkEvent::Closed(error) => match &mut self.role {
                Role::Play(play) => play.closed(now, &mut self.out),
                Role::Outside { .. } | Role::Gather(_) => self.out.end(EndReason::Link(error)),
            },
        }
        self.tell_end();
    }

    fn advance(&mut self, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match &mut self.role {
            Role::Outside { since } => {
                let since = *since.get_or_insert(now);
                if now >= since + self.config.settings().handshake_timeout {
                    self.out.end(EndReason::NotEntered);
                }
            }
            Role::Gather(gather) => gather.advance(now, &mut self.out),
            Role::Play(play) => play.advance(now, &mut self.out),
        }
        self.tell_end();
    }

    fn command(&mut self, command: S::Command) -> Result<(), CommandError> {
        let bytes = codec::compact(&command);
        let bytes = CommandBytes::try_from(bytes).map_err(|error| CommandError::TooLong(error.len))?;
        match &mut self.role {
            Role::Play(play) if self.out.ended.is_none() => play.command(bytes)?,
            _ => return Err(CommandError::NotPlaying),
        }
        self.commands_sent += 1;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        let Role::Play(play) = &mut self.role else { return Err(SayError::NotPlaying) };
        let plays = self.out.ended.is_none() && !play.evidence.lingers();
        let line = plays.then(|| self.out.line(text, self.now)).ok_or(SayError::NotPlaying)??;
        play.say(line, &mut self.out);
        Ok(())
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        let evidence = self.role.evidence().filter(|_| self.out.ended.is_none());
        evidence.ok_or(EvidenceError::NotWanted)?.give(bytes, &mut self.out)
    }

    fn leave(&mut self, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match &mut self.role {
            Role::Outside { .. } => self.out.end(EndReason::Left),
            Role::Gather(gather) => gather.leave(&self.connected, &mut self.out),
            Role::Play(play) => play.leave(&mut self.out),
        }
        self.tell_end();
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<Event<S>> {
        self.out.events.pop_front()
    }

    fn wake_at(&self) -> Duration {
        match &self.role {
            _ if self.out.ended.is_some() => Duration::MAX,
            Role::Outside { since } => since.map_or(self.now, |since| since + self.config.settings().handshake_timeout),
            Role::Gather(gather) => gather.wake_at(),
            Role::Play(play) => play.wake_at(),
        }
    }

    fn simulation(&self) -> Option<&S> {
        self.play().map(|play| &play.timeline.simulation)
    }

    fn phase(&self) -> Phase {
        match (&self.out.ended, &self.role) {
            (Some(reason), _) => Phase::Ended(reason.clone()),
            (None, Role::Outside { .. }) => Phase::Connecting,
            (None, Role::Gather(gather)) => gather.phase(),
            (None, Role::Play(play)) => play.phase(),
        }
    }

    fn stats(&self) -> Stats {
        let (out, play) = (&self.out, self.play());
        Stats {
            player: play.map(|play| play.player),
            tick: play.map_or_else(Default::default, |play| play.timeline.simulation.tick()),
            settled: self.settled(),
            known: play.map_or_else(Default::default, |play| play.confirmed),
            players: play.map_or_else(Vec::new, |play| play.players(out)),
            commands_sent: self.commands_sent,
            commands_pending: play.map_or(0, |play| play.own.waiting()),
            traffic: out.total,
            checksums_compared: out.checksums_compared,
            desyncs: out.desyncs,
            drops: out.drops.clone(),
            rollback: play.map(|play| play.timeline.figures),
            relay: None,
        }
    }

    fn settled(&self) -> Tick {
        self.play().map_or_else(Tick::default, |play| play.timeline.first())
    }
}
