//! The relay's end as a session: what comes in is checked here, and what goes out is kept here. The work is the host's.

use core::time::Duration;
use std::rc::Rc;

use lockstone_sim::{Rules, Simulation, World, codec};

use super::config::{RelayConfig, RelaySettings};
use super::horizon::Horizon;
use super::host::Host;
use crate::link::LinkEvent;
use crate::session::{
    Admitted, Allowance, Build, CommandError, Door, DropReason, EndReason, Event, EvidenceError, Newcomer, Out, Phase,
    PlayerError, PlayerStats, SayError, Session, Stats, Transmit,
};
use crate::wire::{CommandBytes, Epoch, Identity, Message, Terms};

/// The peer that closes ticks, simulates all, and gives each replica what it needs. It may have a hero of its own.
pub struct Relay<R: Rules> {
    config: RelayConfig,
    terms: Terms,
    hero: Option<Newcomer<World<R>>>,
    build: Rc<Build<World<R>>>,
    /// Until the host has it.
    horizon: Option<Box<dyn Horizon<R>>>,
    /// Since the room let it in.
    host: Option<Box<Host<R>>>,
    since: Option<Duration>,
    door: Door,
    out: Out<World<R>>,
    now: Duration,
    commands_sent: u64,
}

impl<R: Rules> Relay<R> {
    /// A relay without a hero of its own, for the room that its link enters. `build` makes the world of a seed.
    pub fn dedicated(config: RelayConfig, identity: Identity, build: impl Fn(u64) -> World<R> + 'static) -> Self {
        let RelaySettings { packets_per_s_max: packets, bytes_per_s_max: bytes, .. } = *config.settings();
        Relay {
            terms: config.terms(identity),
            door: Door::with(Allowance { packets, bytes }),
            config,
            hero: None,
            build: Rc::new(build),
            horizon: None,
            host: None,
            since: None,
            out: Out::new(),
            now: Duration::ZERO,
            commands_sent: 0,
        }
    }

    /// A relay in a player's own process: as player 0.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn with_hero(
        config: RelayConfig,
        identity: Identity,
        name: &str,
        hero: R::Hero,
        build: impl Fn(u64) -> World<R> + 'static,
    ) -> Result<Self, PlayerError> {
        let hero = Some(Newcomer::new(name, hero)?);
        Ok(Relay { hero, ..Relay::dedicated(config, identity, build) })
    }

    /// Lets players see from afar what the game says.
    #[must_use]
    pub fn with_horizon(mut self, horizon: Box<dyn Horizon<R>>) -> Self {
        self.horizon = Some(horizon);
        self
    }

    fn message(&mut self, from: crate::PeerId, epoch: Epoch, message: Message, now: Duration) {
        let Some(host) = &mut self.host else { return self.out.dropped(DropReason::UnknownPeer) };
        let timeless = matches!(message, Message::Hello(_) | Message::Parcel(_));
        if epoch != if timeless { Epoch::default() } else { host.epoch() } {
            return self.out.dropped(DropReason::StaleEpoch);
        }
        host.handle(from, message, now, &mut self.out);
    }

    fn tell_end(&mut self) {
        let tick = self.simulation().map_or_else(Default::default, Simulation::tick);
        self.out.tell_end(tick, self.host.as_mut().map(|host| &mut host.evidence));
    }

    fn players(&self) -> Vec<PlayerStats> {
        let Some(host) = &self.host else { return Vec::new() };
        let mut exchanges = host.exchanges(&self.out);
        let roster = host.stage.roster.iter();
        let row = roster.map(|(player, name)| PlayerStats {
            player: *player,
            name: name.as_str().to_owned(),
            own: *player == host.stage.player,
            sequencer: *player == host.stage.player,
            exchange: exchanges.remove(player),
        });
        row.collect()
    }
}

impl<R: Rules> Session for Relay<R> {
    type Sim = World<R>;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match event {
            LinkEvent::Entered(me) if self.host.is_none() => {
                let simulation = (self.build)(self.config.settings().seed);
                let (config, hero) = (self.config.clone(), self.hero.as_ref());
                let mut host = Host::found(config, self.terms, me, hero, simulation, now, &mut self.out);
                self.horizon.take().into_iter().for_each(|horizon| host.look_out(horizon));
                self.host = Some(Box::new(host));
            }
            LinkEvent::Entered(_) => {}
            LinkEvent::Connected(peer) => self.door.connected(peer),
            LinkEvent::Disconnected(peer) => {
                self.host.iter_mut().for_each(|host| host.disconnected(peer, &mut self.out));
                self.door.disconnected(peer, &mut self.out);
            }
            LinkEvent::Packet { from, bytes, .. } => {
                match (self.door.admit(from, &bytes, now, &mut self.out), &mut self.host) {
                    (Some(Admitted::Message(epoch, message)), _) => self.message(from, epoch, message, now),
                    (Some(Admitted::Foreign(refusal)), Some(host)) => host.refuse(from, "", refusal, &mut self.out),
                    (Some(Admitted::Foreign(_)), None) => self.out.dropped(DropReason::Malformed),
                    (None, _) => {}
                }
            }
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
        match &mut self.host {
            Some(host) => host.advance(now, &mut self.out),
            None if now >= since + self.config.settings().handshake_timeout => self.out.end(EndReason::NotEntered),
            None => {}
        }
        self.tell_end();
    }

    fn command(&mut self, command: R::Command) -> Result<(), CommandError> {
        let bytes = CommandBytes::try_from(codec::compact(&command));
        let bytes = bytes.map_err(|error| CommandError::TooLong(error.len))?;
        let host = self.host.as_mut().filter(|_| self.out.ended.is_none());
        host.ok_or(CommandError::NotPlaying)?.command(bytes)?;
        self.commands_sent += 1;
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        let host = self.host.as_mut().filter(|host| self.out.ended.is_none() && host.stage.plays());
        let host = host.ok_or(SayError::NotPlaying)?;
        let line = self.out.line(text, self.now)?;
        host.said(host.stage.player, line, &mut self.out);
        Ok(())
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        let host = self.host.as_mut().filter(|_| self.out.ended.is_none());
        host.ok_or(EvidenceError::NotWanted)?.evidence.give(bytes, &mut self.out)
    }

    fn leave(&mut self, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match &mut self.host {
            Some(host) => host.leave(&mut self.out),
            None => self.out.end(EndReason::Left),
        }
        self.tell_end();
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<Event<World<R>>> {
        self.out.events.pop_front()
    }

    fn wake_at(&self) -> Duration {
        match &self.host {
            _ if self.out.ended.is_some() => Duration::MAX,
            Some(host) => host.wake_at(),
            None => self.since.map_or(self.now, |since| since + self.config.settings().handshake_timeout),
        }
    }

    fn simulation(&self) -> Option<&World<R>> {
        self.host.as_ref().map(|host| &host.stage.simulation)
    }

    fn phase(&self) -> Phase {
        match (&self.out.ended, &self.host) {
            (Some(reason), _) => Phase::Ended(reason.clone()),
            (None, None) => Phase::Connecting,
            (None, Some(_)) => Phase::Playing,
        }
    }

    fn stats(&self) -> Stats {
        let out = &self.out;
        let tick = self.simulation().map_or_else(Default::default, Simulation::tick);
        Stats {
            player: self.host.as_ref().map(|host| host.stage.player),
            tick,
            settled: tick,
            known: tick,
            players: self.players(),
            commands_sent: self.commands_sent,
            traffic: out.total,
            checksums_compared: out.checksums_compared,
            desyncs: out.desyncs,
            drops: out.drops.clone(),
            relay: self.host.as_ref().map(|host| host.stats()),
            ..Stats::default()
        }
    }
}
