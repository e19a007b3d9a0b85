//! A relay and a replica before they are in the room.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{Rules, World};

use super::config::{RelayConfig, RelaySettings};
use super::horizon::Horizon;
use super::host::Host;
use super::part::Part;
use super::{Relay, Replica};
use crate::link::PeerId;
use crate::session::{Allowance, Build, Ingress, Io, Kind, Newcomer, Peer, PlayerError};
use crate::wire::{Hello, Identity, Terms};

pub struct RelayKind<R: Rules> {
    config: RelayConfig,
    terms: Terms,
    newcomer: Option<Newcomer<World<R>>>,
    build: Build<World<R>>,
    /// Until the host has it.
    horizon: Option<Box<dyn Horizon<R>>>,
}

impl<R: Rules> Relay<R> {
    /// A relay without a hero of its own, for the room that its link enters. `build` makes the
    /// world of a seed.
    pub fn dedicated(
        config: RelayConfig,
        identity: Identity,
        build: impl Fn(u64) -> World<R> + Send + Sync + 'static,
    ) -> Self {
        let RelaySettings { packets_per_s_max: packets, bytes_per_s_max: bytes, .. } = *config.settings();
        let terms = config.terms(identity);
        let kind = RelayKind { config, terms, newcomer: None, build: Arc::new(build), horizon: None };
        Peer::outside(kind, Ingress::with(Allowance { packets, bytes }))
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
        build: impl Fn(u64) -> World<R> + Send + Sync + 'static,
    ) -> Result<Self, PlayerError> {
        let newcomer = Newcomer::new(name, hero)?;
        let mut relay = Relay::dedicated(config, identity, build);
        relay.kind.newcomer = Some(newcomer);
        Ok(relay)
    }

    /// Lets players see from afar what the game says.
    #[must_use]
    pub fn with_horizon(mut self, horizon: Box<dyn Horizon<R>>) -> Self {
        self.kind.horizon = Some(horizon);
        self
    }
}

impl<R: Rules> Kind for RelayKind<R> {
    type Roles = Box<Host<R>>;

    fn handshake_timeout(&self) -> Duration {
        self.config.settings().handshake_timeout
    }

    fn enter(&mut self, me: PeerId, io: &mut Io<World<R>>) -> Self::Roles {
        let simulation = (self.build)(self.config.settings().seed);
        let (config, newcomer) = (self.config.clone(), self.newcomer.as_ref());
        Box::new(Host::found(config, self.terms, me, newcomer, simulation, self.horizon.take(), io))
    }
}

pub struct ReplicaKind<R: Rules> {
    config: RelayConfig,
    hello: Hello,
    build: Build<World<R>>,
    /// Until the role has it.
    horizon: Option<Box<dyn Horizon<R>>>,
}

impl<R: Rules> Replica<R> {
    /// A peer that will join the relay of the room that its link enters. `build` makes the
    /// world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: RelayConfig,
        identity: Identity,
        name: &str,
        hero: R::Hero,
        build: impl Fn(u64) -> World<R> + Send + Sync + 'static,
    ) -> Result<Self, PlayerError> {
        let hello = Newcomer::<World<R>>::new(name, hero)?.hello(config.terms(identity));
        let kind = ReplicaKind { config, hello, build: Arc::new(build), horizon: None };
        Ok(Peer::outside(kind, Ingress::default()))
    }

    /// Lets the player see from afar what the game says, if the relay has the same horizon.
    #[must_use]
    pub fn with_horizon(mut self, horizon: Box<dyn Horizon<R>>) -> Self {
        self.kind.horizon = Some(horizon);
        self
    }
}

impl<R: Rules> Kind for ReplicaKind<R> {
    type Roles = Box<crate::replica::Replica<Part<R>>>;

    fn handshake_timeout(&self) -> Duration {
        self.config.settings().handshake_timeout
    }

    fn enter(&mut self, me: PeerId, io: &mut Io<World<R>>) -> Self::Roles {
        let share = Part::new(self.config.settings().checksum_interval_ticks, self.horizon.take());
        let (following, build) = (self.config.following(), self.build.clone());
        Box::new(crate::replica::Replica::new(share, following, build, me, self.hello.clone(), io.now))
    }
}
