//! One peer's part in a party: a session in which one peer orders the commands of all into turns.
//!
//! Its loop is that of every [`Session`]. The room's first peer founds the session and closes ticks; everyone else says hello and
//! joins, at any time. What a party shows is always confirmed: nothing here predicts, and nothing here reads a clock.

mod config;
mod follow;
mod lead;

pub use config::{PartyConfig, PartySettings};

use core::time::Duration;
use std::collections::BTreeSet;
use std::rc::Rc;

use lockstone_sim::{Simulation, codec};

use crate::link::{LinkEvent, PeerId};
use crate::session::{
    Admitted, Build, CommandError, Door, DropReason, EndReason, Event, Evidence, EvidenceError, Newcomer, Out, Phase,
    PlayerError, PlayerStats, SayError, Session, Stage, Stats, Transmit,
};
use crate::wire::{CommandBytes, Epoch, Hello, Identity, Message, Name, PROTOCOL_VERSION, Terms};
use follow::Follow;
use lead::Lead;

/// A peer's part in a session.
pub struct Party<S: Simulation> {
    config: PartyConfig,
    terms: Terms,
    newcomer: Newcomer<S>,
    build: Rc<Build<S>>,
    role: Role<S>,
    door: Door,
    out: Out<S>,
    now: Duration,
    commands_sent: u64,
}

enum Role<S: Simulation> {
    /// Not in the room yet; some of its peers may be there already.
    Outside {
        since: Option<Duration>,
        connected: BTreeSet<PeerId>,
    },
    Lead(Box<Lead<S>>),
    Follow(Box<Follow<S>>),
}

impl<S: Simulation> Role<S> {
    fn evidence(&mut self) -> Option<&mut Evidence> {
        match self {
            Role::Outside { .. } => None,
            Role::Lead(lead) => Some(&mut lead.evidence),
            Role::Follow(follow) => follow.evidence(),
        }
    }
}

impl<S: Simulation> Party<S> {
    /// A peer that will found or join the session of the room that its link enters. `build` makes the world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: PartyConfig,
        identity: Identity,
        name: &str,
        hero: S::Hero,
        build: impl Fn(u64) -> S + 'static,
    ) -> Result<Self, PlayerError> {
        Ok(Party {
            terms: config.terms(identity),
            config,
            newcomer: Newcomer::new(name, hero)?,
            build: Rc::new(build),
            role: Role::Outside { since: None, connected: BTreeSet::new() },
            door: Door::default(),
            out: Out::new(),
            now: Duration::ZERO,
            commands_sent: 0,
        })
    }

    fn entered(&mut self, me: PeerId, now: Duration) {
        let Role::Outside { connected, .. } = &mut self.role else { return };
        let connected = core::mem::take(connected);
        self.role = if me.arrival() == 0 {
            let (config, simulation) = (self.config.clone(), (self.build)(self.config.settings().seed));
            let (name, hero) = (self.newcomer.name.clone(), self.newcomer.hero.clone());
            Role::Lead(Box::new(Lead::found(config, self.terms, me, name, hero, simulation, &mut self.out)))
        } else {
            let (terms, name, hero) = (self.terms, self.newcomer.name.clone(), self.newcomer.hero_bytes.clone());
            let hello = Hello { protocol: PROTOCOL_VERSION, terms, name, hero };
            let mut follow = Follow::new(self.config.clone(), self.build.clone(), me, hello, now);
            connected.into_iter().for_each(|peer| follow.connected(peer, now, &mut self.out));
            Role::Follow(Box::new(follow))
        };
    }

    fn packet(&mut self, from: PeerId, bytes: &[u8], now: Duration) {
        match (self.door.admit(from, bytes, now, &mut self.out), &mut self.role) {
            (Some(Admitted::Message(epoch, message)), _) => self.message(from, epoch, message, now),
            (Some(Admitted::Foreign(refusal)), Role::Lead(lead)) => lead.refuse(from, "", refusal, &mut self.out),
            (Some(Admitted::Foreign(_)), _) => self.out.dropped(DropReason::Malformed),
            (None, _) => {}
        }
    }

    fn message(&mut self, from: PeerId, epoch: Epoch, message: Message, now: Duration) {
        let current = match &self.role {
            Role::Outside { .. } => None,
            Role::Lead(lead) => Some(lead.epoch()),
            Role::Follow(follow) => follow.session_epoch(),
        };
        // The first four open a session, so their sender may not know its epoch; what is said of evidence counts in any. They say 0.
        let timeless = matches!(
            message,
            Message::Hello(_)
                | Message::Refusal(_)
                | Message::Elsewhere(_)
                | Message::Welcome(_)
                | Message::Inquiry(_)
                | Message::Parcel(_)
        );
        let expected = if timeless { Some(Epoch::default()) } else { current };
        if expected.is_some_and(|expected| epoch != expected) {
            return self.out.dropped(DropReason::StaleEpoch);
        }
        match &mut self.role {
            Role::Outside { .. } => self.out.dropped(DropReason::UnknownPeer),
            Role::Lead(lead) => lead.handle(from, message, now, &mut self.out),
            Role::Follow(follow) => follow.handle(from, epoch, message, now, &mut self.out),
        }
    }

    fn tell_end(&mut self) {
        let tick = self.stage().map_or_else(Default::default, Stage::tick);
        self.out.tell_end(tick, self.role.evidence());
    }

    fn stage(&self) -> Option<&Stage<S>> {
        match &self.role {
            Role::Outside { .. } => None,
            Role::Lead(lead) => Some(lead.stage()),
            Role::Follow(follow) => follow.stage(),
        }
    }

    fn players(&self) -> Vec<PlayerStats> {
        let Some(stage) = self.stage() else { return Vec::new() };
        let row = |(player, name): (&lockstone_sim::PlayerId, &Name)| {
            let own = *player == stage.player;
            let (sequencer, exchange) = match &self.role {
                Role::Outside { .. } => (false, None),
                Role::Lead(lead) => (own, lead.exchange(*player, &self.out)),
                Role::Follow(follow) if follow.sequencer() == Some(*player) => (true, follow.exchange(&self.out)),
                Role::Follow(_) => (false, None),
            };
            PlayerStats { player: *player, name: name.as_str().to_owned(), own, sequencer, exchange }
        };
        stage.roster.iter().map(row).collect()
    }
}

impl<S: Simulation> Session for Party<S> {
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
                match &mut self.role {
                    Role::Outside { connected, .. } => {
                        connected.insert(peer);
                    }
                    Role::Lead(_) => {}
                    Role::Follow(follow) => follow.connected(peer, now, &mut self.out),
                }
            }
            LinkEvent::Disconnected(peer) => {
                match &mut self.role {
                    Role::Outside { connected, .. } => {
                        connected.remove(&peer);
                    }
                    Role::Lead(lead) => lead.disconnected(peer, &mut self.out),
                    Role::Follow(follow) => follow.disconnected(peer, &mut self.out),
                }
                self.door.disconnected(peer, &mut self.out);
            }
            LinkEvent::Packet { from, bytes, .. } => self.packet(from, &bytes, now),
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
        match &mut self.role {
            Role::Outside { since, .. } => {
                let since = *since.get_or_insert(now);
                if now >= since + self.config.settings().handshake_timeout {
                    self.out.end(EndReason::NotEntered);
                }
            }
            Role::Lead(lead) => lead.advance(now, &mut self.out),
            Role::Follow(follow) => follow.advance(now, &mut self.out),
        }
        self.tell_end();
    }

    fn command(&mut self, command: S::Command) -> Result<(), CommandError> {
        let bytes = codec::compact(&command);
        let bytes = CommandBytes::try_from(bytes).map_err(|error| CommandError::TooLong(error.len))?;
        match &mut self.role {
            _ if self.out.ended.is_some() => return Err(CommandError::NotPlaying),
            Role::Outside { .. } => return Err(CommandError::NotPlaying),
            Role::Lead(lead) => lead.command(bytes)?,
            Role::Follow(follow) => follow.command(bytes)?,
        }
        self.commands_sent += 1;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        let plays = self.out.ended.is_none() && self.phase() == Phase::Playing;
        let line = plays.then(|| self.out.line(text, self.now)).ok_or(SayError::NotPlaying)??;
        match &mut self.role {
            Role::Outside { .. } => {}
            Role::Lead(lead) => lead.said(None, line, &mut self.out),
            Role::Follow(follow) => follow.say(line, &mut self.out),
        }
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
            Role::Lead(lead) => lead.leave(&mut self.out),
            Role::Follow(follow) => follow.leave(&mut self.out),
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
            Role::Outside { since, .. } => {
                since.map_or(self.now, |since| since + self.config.settings().handshake_timeout)
            }
            Role::Lead(lead) => lead.wake_at(self.now),
            Role::Follow(follow) => follow.wake_at(),
        }
    }

    fn simulation(&self) -> Option<&S> {
        self.stage().map(|stage| &stage.simulation)
    }

    fn phase(&self) -> Phase {
        match (&self.out.ended, &self.role) {
            (Some(reason), _) => Phase::Ended(reason.clone()),
            (None, Role::Outside { .. }) => Phase::Connecting,
            (None, Role::Lead(lead)) => lead.phase(),
            (None, Role::Follow(follow)) => follow.phase(),
        }
    }

    fn stats(&self) -> Stats {
        let out = &self.out;
        let (player, (known, commands_pending)) = match &self.role {
            Role::Outside { .. } => (None, Default::default()),
            Role::Lead(lead) => (Some(lead.stage().player), (lead.open(), 0)),
            Role::Follow(follow) => (follow.player(), follow.reach()),
        };
        Stats {
            player,
            tick: self.stage().map_or_else(Default::default, Stage::tick),
            settled: self.stage().map_or_else(Default::default, Stage::tick),
            known,
            players: self.players(),
            commands_sent: self.commands_sent,
            commands_pending,
            traffic: out.total,
            checksums_compared: out.checksums_compared,
            desyncs: out.desyncs,
            drops: out.drops.clone(),
            ..Stats::default()
        }
    }
}
