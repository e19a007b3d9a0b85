//! A relay and a replica before they are in the room.

use std::sync::Arc;

use lockstone_sim::{Rules, World};

use super::Relay;
use super::config::{RelayConfig, RelaySettings};
use super::horizon::Horizon;
use super::host::{Host, Setup};
use super::part::Part;
use super::standby::Standby;
use crate::key::{PlayerKey, PublicKey};
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
    standby: Option<StandbyKey>,
    /// Whether turns are told though the standby may lack them.
    hurries: bool,
}

/// What a relay has to do with a standby.
#[derive(Clone, Copy)]
enum StandbyKey {
    /// It may have one, of that key.
    Has(PublicKey),
    /// It is one.
    Is,
}

impl<R: Rules, const HOSTS: bool> From<RelayConfig> for End<R, HOSTS> {
    fn from(config: RelayConfig) -> Self {
        End { config, horizon: None, halo_rings_less: 0, standby: None, hurries: false }
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

    /// A relay without a hero that follows another with the whole world, and leads on if the
    /// witnesses say that the other is lost. The other knows it by its key, see
    /// [`with_standby`](Relay::with_standby). Both need the same settings, and a carrier that
    /// connects it with the other and with all its players.
    pub fn standby(
        config: RelayConfig,
        identity: Identity,
        key: PlayerKey,
        build: impl Fn(u64) -> World<R> + Send + Sync + 'static,
    ) -> Self {
        let mut relay = Relay::dedicated(config, identity, build).with_key(key);
        relay.kind.standby = Some(StandbyKey::Is);
        relay
    }

    /// The same relay, which may have a standby: whoever proves to have that key. It is sent the
    /// whole world, and every turn before anyone else.
    #[must_use]
    pub fn with_standby(mut self, key: PublicKey) -> Self {
        self.kind.standby = Some(StandbyKey::Has(key));
        self
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

#[cfg(feature = "tamper")]
impl<R: Rules> Relay<R> {
    /// Tells turns to all before its standby has them, so that they can be lost: for the test that
    /// shows what comes of it.
    #[must_use]
    pub fn hurrying(mut self) -> Self {
        self.kind.hurries = true;
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
            let (halo_rings_less, hurries) = (self.halo_rings_less, self.hurries);
            let setup = Setup { config: config.clone(), halo_rings_less, horizon, hurries };
            return match self.standby {
                Some(StandbyKey::Is) => Box::new(Standby::new(setup, entrant, me)),
                Some(StandbyKey::Has(key)) => Box::new(Host::found(setup, Some(key), entrant, me, io)),
                None => Box::new(Host::found(setup, None, entrant, me, io)),
            };
        }
        let share = Part::new(config.settings().checksum_interval_ticks, horizon);
        Box::new(Replica::new(share, config.following(), entrant.clone(), me, io.now))
    }
}
