//! One peer's part in a session: sans-IO, for any [`Simulation`].
//!
//! ```text
//! loop {
//!     while let Some(event) = link.poll()            { party.handle(event, now) }
//!     party.advance(now)
//!     while let Some(packet) = party.poll_transmit() { link.send(packet.to, packet.channel, packet.bytes) }
//!     while let Some(event) = party.poll_event()     { record it, show it }
//!     sleep until party.wake_at(), or until the link has something
//! }
//! ```
//!
//! The room's first peer founds the session and closes ticks; everyone else says hello and joins. What a party shows is always
//! confirmed: nothing here predicts, and nothing here reads a clock.

mod comparison;
mod config;
mod event;
mod follow;
mod lead;
mod out;
mod stage;
mod stats;

pub use config::{ConfigError, Identity, PartyConfig, Settings};
pub use event::{CommandError, EndReason, Event, Phase, Transmit};
pub use stats::{DropReason, Drops, Exchange, PlayerStats, Stats, SyncCheck, Traffic};

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_sim::{Simulation, codec};

use crate::limits::PACKETS_PER_S_MAX;
use crate::link::{LinkEvent, PeerId};
use crate::wire::{
    self, Bytes, CommandBytes, Difference, Digests, Epoch, Hello, Message, Name, PROTOCOL_VERSION, Refusal, Subject,
    WireError,
};
use follow::Follow;
use lead::Lead;
use out::Out;
use stage::Stage;

/// Builds the world of a seed, as it is before tick 0.
type Build<S> = dyn Fn(u64) -> S;

/// A peer's part in a session.
pub struct Party<S: Simulation> {
    config: PartyConfig,
    digests: Digests,
    name: Name,
    hero: S::Hero,
    hero_bytes: Bytes<{ crate::limits::HERO_BYTES_MAX }>,
    build: Rc<Build<S>>,
    role: Role<S>,
    rates: BTreeMap<PeerId, Rate>,
    out: Out<S>,
    now: Duration,
    commands_sent: u64,
    end_told: bool,
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

/// What this peer brings along is not fit for any session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartyError {
    /// The name.
    #[error("a name must have 1 to {} bytes and no control characters", crate::limits::NAME_BYTES_MAX)]
    Name,
    /// The hero.
    #[error("the hero's encoding has {0} bytes, where at most {max} are allowed", max = crate::limits::HERO_BYTES_MAX)]
    Hero(usize),
}

impl<S: Simulation> Party<S> {
    /// A peer that will found or join the session of the room that its link enters. `build` makes the world of a seed.
    ///
    /// # Errors
    /// [`PartyError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: PartyConfig,
        identity: Identity,
        name: &str,
        hero: S::Hero,
        build: impl Fn(u64) -> S + 'static,
    ) -> Result<Self, PartyError> {
        Ok(Party {
            digests: config.digests(identity),
            config,
            name: Name::new(name).ok_or(PartyError::Name)?,
            hero_bytes: codec::compact(&hero).try_into().map_err(|error: wire::TooMany| PartyError::Hero(error.len))?,
            hero,
            build: Rc::new(build),
            role: Role::Outside { since: None, connected: BTreeSet::new() },
            rates: BTreeMap::new(),
            out: Out::new(),
            now: Duration::ZERO,
            commands_sent: 0,
            end_told: false,
        })
    }

    /// Takes what the link has to tell.
    pub fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.now = now;
        if self.out.ended.is_some() {
            return;
        }
        match event {
            LinkEvent::Entered(me) => self.entered(me, now),
            LinkEvent::Connected(peer) => {
                self.rates.insert(peer, Rate::default());
                match &mut self.role {
                    Role::Outside { connected, .. } => {
                        connected.insert(peer);
                    }
                    Role::Lead(_) => {}
                    Role::Follow(follow) => follow.connected(peer, &mut self.out),
                }
            }
            LinkEvent::Disconnected(peer) => {
                match &mut self.role {
                    Role::Outside { connected, .. } => {
                        connected.remove(&peer);
                    }
                    Role::Lead(lead) => lead.disconnected(peer),
                    Role::Follow(follow) => follow.disconnected(peer, &mut self.out),
                }
                self.rates.remove(&peer);
                self.out.forget(peer);
            }
            LinkEvent::Packet { from, bytes, .. } => self.packet(from, &bytes, now),
            LinkEvent::Closed(error) => self.out.end(EndReason::Link(error)),
        }
        self.tell_end();
    }

    fn entered(&mut self, me: PeerId, now: Duration) {
        let Role::Outside { connected, .. } = &mut self.role else { return };
        let connected = core::mem::take(connected);
        self.role = if me.arrival() == 0 {
            let (config, simulation) = (self.config.clone(), (self.build)(self.config.settings().seed));
            let (name, hero) = (self.name.clone(), self.hero.clone());
            Role::Lead(Box::new(Lead::found(config, self.digests, name, hero, simulation, &mut self.out)))
        } else {
            let (digests, name, hero) = (self.digests, self.name.clone(), self.hero_bytes.clone());
            let hello = Hello { protocol: PROTOCOL_VERSION, digests, name, hero };
            let mut follow = Follow::new(self.config.clone(), self.build.clone(), hello, now);
            connected.into_iter().for_each(|peer| follow.connected(peer, &mut self.out));
            Role::Follow(Box::new(follow))
        };
    }

    fn packet(&mut self, from: PeerId, bytes: &[u8], now: Duration) {
        // A packet that comes after its sender is gone must leave no trace.
        let Some(rate) = self.rates.get_mut(&from) else { return self.out.dropped(DropReason::UnknownPeer) };
        self.out.received(from, bytes.len());
        if !rate.admits(now) {
            return self.out.dropped(DropReason::OverRate);
        }
        match wire::decode(bytes) {
            Ok((epoch, message)) => self.message(from, epoch, message, now),
            Err(WireError::Oversized { .. }) => self.out.dropped(DropReason::Oversized),
            Err(_) => match (wire::hello_version(bytes), &mut self.role) {
                (Some(protocol), Role::Lead(lead)) if protocol != PROTOCOL_VERSION => {
                    let (session, joiner) = (PROTOCOL_VERSION.into(), protocol.into());
                    let difference = vec![Difference { what: Subject::Protocol, session, joiner }];
                    let refusal = Refusal::Different(difference.try_into().expect("one is allowed"));
                    lead.refuse(from, "", refusal, &mut self.out);
                }
                _ => self.out.dropped(DropReason::Malformed),
            },
        }
    }

    fn message(&mut self, from: PeerId, epoch: Epoch, message: Message, now: Duration) {
        let current = match &self.role {
            Role::Outside { .. } => None,
            Role::Lead(lead) => Some(lead.epoch()),
            Role::Follow(follow) => follow.session_epoch(),
        };
        // These four open a session, so their sender may not know its epoch; they say 0.
        let opening =
            matches!(message, Message::Hello(_) | Message::Refusal(_) | Message::Elsewhere(_) | Message::Welcome(_));
        let expected = if opening { Some(Epoch::default()) } else { current };
        if expected.is_some_and(|expected| epoch != expected) {
            return self.out.dropped(DropReason::StaleEpoch);
        }
        match &mut self.role {
            Role::Outside { .. } => self.out.dropped(DropReason::UnknownPeer),
            Role::Lead(lead) => lead.handle(from, message, now, &mut self.out),
            Role::Follow(follow) => follow.handle(from, epoch, message, now, &mut self.out),
        }
    }

    /// Does what is due: call it when [`wake_at`](Party::wake_at) says so, and after `handle` and `command`.
    /// Plays at most [`TICKS_PER_ADVANCE_MAX`](crate::limits::TICKS_PER_ADVANCE_MAX) turns.
    pub fn advance(&mut self, now: Duration) {
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

    /// Gives a command of this peer's player. It travels with the next [`advance`](Party::advance).
    ///
    /// # Errors
    /// [`CommandError`] if it cannot be taken now, or ever.
    pub fn command(&mut self, command: S::Command) -> Result<(), CommandError> {
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

    /// Leaves the session; as its sequencer, ends it for everyone. Packets that say so are still to be sent.
    pub fn leave(&mut self, now: Duration) {
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

    fn tell_end(&mut self) {
        if let Some(reason) = self.out.ended.clone().filter(|_| !self.end_told) {
            self.end_told = true;
            let tick = self.stage().map_or_else(Default::default, Stage::tick);
            self.out.events.push_back(Event::Ended { tick, reason });
        }
    }

    /// The next packet to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.transmits.pop_front()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event<S>> {
        self.out.events.pop_front()
    }

    /// When [`advance`](Party::advance) must be called next, if nothing else happens before; never, once the session is over.
    pub fn wake_at(&self) -> Duration {
        match &self.role {
            _ if self.out.ended.is_some() => Duration::MAX,
            Role::Outside { since, .. } => {
                since.map_or(self.now, |since| since + self.config.settings().handshake_timeout)
            }
            Role::Lead(lead) => lead.wake_at(self.now),
            Role::Follow(follow) => follow.wake_at(),
        }
    }

    /// The world, once it is there: confirmed state, to look at. It stays after the session's end.
    pub fn simulation(&self) -> Option<&S> {
        self.stage().map(|stage| &stage.simulation)
    }

    fn stage(&self) -> Option<&Stage<S>> {
        match &self.role {
            Role::Outside { .. } => None,
            Role::Lead(lead) => Some(lead.stage()),
            Role::Follow(follow) => follow.stage(),
        }
    }

    /// How far this peer has come.
    pub fn phase(&self) -> Phase {
        match (&self.out.ended, &self.role) {
            (Some(reason), _) => Phase::Ended(reason.clone()),
            (None, Role::Outside { .. }) => Phase::Connecting,
            (None, Role::Lead(lead)) => lead.phase(),
            (None, Role::Follow(follow)) => follow.phase(),
        }
    }

    /// Figures.
    pub fn stats(&self) -> Stats {
        let out = &self.out;
        let (player, (known, commands_pending)) = match &self.role {
            Role::Outside { .. } => (None, Default::default()),
            Role::Lead(lead) => (Some(lead.stage().player), (lead.open(), 0)),
            Role::Follow(follow) => (follow.player(), follow.reach()),
        };
        Stats {
            player,
            tick: self.stage().map_or_else(Default::default, Stage::tick),
            known,
            players: self.players(),
            commands_sent: self.commands_sent,
            commands_pending,
            traffic: out.total,
            checksums_compared: out.checksums_compared,
            desyncs: out.desyncs,
            drops: out.drops.clone(),
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

/// How many packets a peer may still send now.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    used: u32,
    at: Duration,
}

impl Rate {
    fn admits(&mut self, now: Duration) -> bool {
        let earned = now.saturating_sub(self.at).as_millis() * u128::from(PACKETS_PER_S_MAX) / 1_000;
        if earned > 0 {
            self.used = self.used.saturating_sub(u32::try_from(earned).unwrap_or(u32::MAX));
            self.at = now;
        }
        let admitted = self.used < PACKETS_PER_S_MAX + PACKETS_PER_S_MAX / 2;
        self.used += u32::from(admitted);
        admitted
    }
}
