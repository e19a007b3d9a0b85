//! A party's peer before it is in the room, and which role it has there.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::Simulation;

use super::Party;
use super::config::PartyConfig;
use super::sequencer::Sequencing;
use super::whole::Whole;
use crate::link::PeerId;
use crate::replica::Replica;
use crate::session::{Build, Ingress, Io, Kind, Leader, Newcomer, Peer, PlayerError, Role, Roles};
use crate::wire::{Identity, Terms};

pub struct PartyKind<S: Simulation> {
    config: PartyConfig,
    terms: Terms,
    newcomer: Newcomer<S>,
    build: Build<S>,
}

pub enum PartyRoles<S: Simulation> {
    Sequencer(Box<Sequencing<S>>),
    Replica(Box<Replica<Whole<S>>>),
}

impl<S: Simulation> Party<S> {
    /// A peer that will found or join the session of the room that its link enters. `build` makes
    /// the world of a seed.
    ///
    /// # Errors
    /// [`PlayerError`] if the name or the hero is too long for the wire.
    pub fn new(
        config: PartyConfig,
        identity: Identity,
        name: &str,
        hero: S::Hero,
        build: impl Fn(u64) -> S + Send + Sync + 'static,
    ) -> Result<Self, PlayerError> {
        let (terms, newcomer) = (config.terms(identity), Newcomer::new(name, hero)?);
        Ok(Peer::outside(PartyKind { config, terms, newcomer, build: Arc::new(build) }, Ingress::default()))
    }
}

impl<S: Simulation> Kind for PartyKind<S> {
    type Roles = PartyRoles<S>;

    fn handshake_timeout(&self) -> Duration {
        self.config.settings().handshake_timeout
    }

    fn enter(&mut self, me: PeerId, io: &mut Io<S>) -> PartyRoles<S> {
        match Leader::of_room(me) {
            Some(leader) => {
                let simulation = (self.build)(self.config.settings().seed);
                let config = self.config.clone();
                let role = Sequencing::found(config, self.terms, leader, &self.newcomer, simulation, io);
                PartyRoles::Sequencer(Box::new(role))
            }
            None => {
                let hello = self.newcomer.hello(self.terms);
                let (whole, build) = (Whole::new(), self.build.clone());
                let role = Replica::new(whole, self.config.following(), build, me, hello, io.now);
                PartyRoles::Replica(Box::new(role))
            }
        }
    }
}

impl<S: Simulation> Roles for PartyRoles<S> {
    type Sim = S;

    fn role(&self) -> &dyn Role<Sim = S> {
        match self {
            PartyRoles::Sequencer(role) => &**role,
            PartyRoles::Replica(role) => &**role,
        }
    }

    fn role_mut(&mut self) -> &mut dyn Role<Sim = S> {
        match self {
            PartyRoles::Sequencer(role) => &mut **role,
            PartyRoles::Replica(role) => &mut **role,
        }
    }
}
