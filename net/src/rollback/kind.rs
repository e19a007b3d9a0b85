//! A rollback session's peer before it is in the room, and which role it has there: it gathers with
//! the others, then plays.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::Simulation;

use super::Rollback;
use super::config::RollbackConfig;
use super::lobby::Lobby;
use super::play::Play;
use crate::link::PeerId;
use crate::session::{Build, Ingress, Io, Kind, Newcomer, Peer, PlayerError, Role, Roles};
use crate::wire::{Identity, Terms};

pub struct RollbackKind<S: Simulation> {
    config: RollbackConfig,
    terms: Terms,
    newcomer: Newcomer<S>,
    build: Build<S>,
}

pub enum RollbackRoles<S: Simulation> {
    Lobby(Box<Lobby<S>>),
    Play(Box<Play<S>>),
}

impl<S: Simulation> Rollback<S> {
    /// A peer that will found or join the session of the room that its link enters. `build` makes
    /// the world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: RollbackConfig,
        identity: Identity,
        name: &str,
        hero: S::Hero,
        build: impl Fn(u64) -> S + Send + Sync + 'static,
    ) -> Result<Self, PlayerError> {
        let (terms, newcomer) = (config.terms(identity), Newcomer::new(name, hero)?);
        Ok(Peer::outside(RollbackKind { config, terms, newcomer, build: Arc::new(build) }, Ingress::default()))
    }
}

impl<S: Simulation> Kind for RollbackKind<S> {
    type Roles = RollbackRoles<S>;

    fn handshake_timeout(&self) -> Duration {
        self.config.settings().handshake_timeout
    }

    fn enter(&mut self, me: PeerId, io: &mut Io<S>) -> RollbackRoles<S> {
        let (config, build) = (self.config.clone(), self.build.clone());
        let lobby = Lobby::new(config, self.terms, build, &self.newcomer, me, io.now);
        RollbackRoles::Lobby(Box::new(lobby))
    }
}

impl<S: Simulation> Roles for RollbackRoles<S> {
    type Sim = S;

    fn role(&self) -> &dyn Role<Sim = S> {
        match self {
            RollbackRoles::Lobby(role) => &**role,
            RollbackRoles::Play(role) => &**role,
        }
    }

    fn role_mut(&mut self) -> &mut dyn Role<Sim = S> {
        match self {
            RollbackRoles::Lobby(role) => &mut **role,
            RollbackRoles::Play(role) => &mut **role,
        }
    }

    fn go_on(&mut self) {
        if let RollbackRoles::Lobby(lobby) = self
            && let Some(play) = lobby.begun.take()
        {
            *self = RollbackRoles::Play(play);
        }
    }
}
