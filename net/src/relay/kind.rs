//! A relay and a replica before they are in the room.

use std::sync::Arc;

use lockstone_sim::{Rules, World};

use super::Relay;
use super::config::{RelayConfig, RelaySettings};
use super::horizon::Horizon;
use super::host::Host;
use super::part::Part;
use crate::link::PeerId;
use crate::replica::Replica;
use crate::session::{Allowance, Continuation, Entrant, Io, Kind, Peer, Role};
use crate::wire::Identity;

/// One of the two ends of a relay session: the relay, if `HOSTS`, or a replica.
pub struct End<R: Rules, const HOSTS: bool> {
    config: RelayConfig,
    /// Until the role has it.
    horizon: Option<Box<dyn Horizon<R>>>,
    /// So many rings of the halo that keeps a core exact are held back.
    halo_rings_less: u16,
}

impl<R: Rules, const HOSTS: bool> From<RelayConfig> for End<R, HOSTS> {
    fn from(config: RelayConfig) -> Self {
        End { config, horizon: None, halo_rings_less: 0 }
    }
}

impl<R: Rules, const HOSTS: bool> Peer<World<R>, End<R, HOSTS>> {
    /// Lets players see from afar what the game says. The relay and its replicas must have the same
    /// horizon.
    #[must_use]
    pub fn with_horizon(mut self, horizon: Box<dyn Horizon<R>>) -> Self {
        self.kind.horizon = Some(horizon);
        self
    }
}

impl<R: Rules> Relay<R> {
    /// A relay without a hero of its own, for the room that its link enters. `build` makes the
    /// world of a seed. One in a player's own process, as player 0, is made by
    /// [`new`](Peer::new).
    pub fn dedicated(
        config: RelayConfig,
        identity: Identity,
        build: impl Fn(u64) -> World<R> + Send + Sync + 'static,
    ) -> Self {
        Peer::outside(config.into(), identity, None, build)
    }

    /// The same relay, which begins no new session, but goes on with one that ended.
    #[must_use]
    pub fn continuing(self, continuation: Continuation<World<R>>) -> Self {
        self.with_past(continuation)
    }

    /// Holds back so many rings of the halo that keeps a core exact, so that cores go wrong: for
    /// the tests that show what comes of it.
    #[cfg(feature = "tamper")]
    #[must_use]
    pub fn with_halo_rings_less(mut self, halo_rings_less: u16) -> Self {
        self.kind.halo_rings_less = halo_rings_less;
        self
    }
}

impl<R: Rules, const HOSTS: bool> Kind<World<R>> for End<R, HOSTS> {
    type Settings = RelaySettings;

    fn config(&self) -> &RelayConfig {
        &self.config
    }

    fn allowance(&self) -> Allowance {
        let RelaySettings { packets_per_s_max: packets, bytes_per_s_max: bytes, .. } = *self.config.settings();
        if HOSTS { Allowance { packets, bytes } } else { Allowance::default() }
    }

    fn enter(
        &mut self,
        entrant: &Arc<Entrant<World<R>>>,
        me: PeerId,
        io: &mut Io<World<R>>,
    ) -> Box<dyn Role<World<R>>> {
        let (config, horizon) = (&self.config, self.horizon.take());
        if HOSTS {
            return Box::new(Host::found(config.clone(), self.halo_rings_less, horizon, entrant, me, io));
        }
        let share = Part::new(config.settings().checksum_interval_ticks, horizon);
        Box::new(Replica::new(share, config.following(), entrant.clone(), me, io.now))
    }
}
