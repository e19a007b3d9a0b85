//! What a rollback session is set up with, checked once. Its peer gathers with the others, then
//! plays.

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::Simulation;

use super::lobby::Lobby;
use crate::limits::{CHECKSUMS_HELD, INPUTS_HELD, ROLLBACK_PLAYERS_MAX};
use crate::link::PeerId;
use crate::session::{Common, Config, ConfigError, Entrant, Io, Kind, Role, Settings, within, within_time};
use crate::wire::SessionKind;

/// The settings of a rollback session. All peers must have the same tick rate, delay, prediction
/// and checksum interval; the rest is each peer's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollbackSettings {
    /// Ticks a second, 1 to 100. Default 20.
    pub ticks_per_s: u32,
    /// How much later a command plays, its own player's included, 0 to 20 ticks and at most
    /// `max_prediction_ticks`. Default 0. Each tick more saves others a tick of prediction, and
    /// this peer's player waits a tick longer for what they see of it.
    pub input_delay_ticks: u32,
    /// How many ticks a peer plays ahead of what it knows, 2 to 30. Default 8. Beyond, it waits. A
    /// round trip and its jitter should fit in, but each tick costs a step of the world whenever a
    /// prediction was wrong. With 1 every other tick would be waited for.
    pub max_prediction_ticks: u32,
    /// Between two checksums, 1 to 1,000 ticks. Default 10.
    pub checksum_interval_ticks: u32,
    /// The founder begins when so many players are there, 2 to 4. Default 2. Nobody can enter
    /// later.
    pub players: usize,
    /// The seed of the world that a founder starts. Default 0.
    pub seed: u64,
    /// A peer that is not heard of for so long is lost, 500 ms to 10 min and at least five ticks.
    /// Default 1.5 s. The world stands still from the end of the prediction until then; for a peer
    /// that speaks, but gives no inputs, twice as long. Peers that are no quorum wait for as long,
    /// and end: on lines that fail for longer now and then, set it so that all survive that.
    pub silence_timeout: Duration,
    /// A peer for which the others wait more than half of the time is told of when that has come to
    /// 2 s, and lost when it has come to so long, 1 s to 10 min, or to twice `silence_timeout` if
    /// that is longer. Default 10 s. As long as more than half of the packets of all are lost,
    /// nobody is to blame.
    pub slowness_timeout: Duration,
    /// How long a joiner looks for the session, and how long a player may take to speak first, 1 s
    /// to 10 min. Default 15 s.
    pub handshake_timeout: Duration,
    /// Whether a peer whose world has become another than most peers' is out. Default yes.
    pub stop_on_desync: bool,
    /// Whether each checksum is told with its parts, for a recording to hold them:
    /// [`Simulation::tree`](lockstone_sim::Simulation::tree). Default no.
    pub emit_trees: bool,
}

impl Default for RollbackSettings {
    fn default() -> Self {
        RollbackSettings {
            ticks_per_s: 20,
            input_delay_ticks: 0,
            max_prediction_ticks: 8,
            checksum_interval_ticks: 10,
            players: 2,
            seed: 0,
            silence_timeout: Duration::from_millis(1_500),
            slowness_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(15),
            stop_on_desync: true,
            emit_trees: false,
        }
    }
}

/// The settings of a rollback session that have been checked.
pub type RollbackConfig = Config<RollbackSettings>;

impl Settings for RollbackSettings {
    fn common(&self) -> Common {
        Common {
            kind: SessionKind::Rollback { max_prediction_ticks: self.max_prediction_ticks },
            ticks_per_s: self.ticks_per_s,
            input_delay_ticks: self.input_delay_ticks,
            checksum_interval_ticks: self.checksum_interval_ticks,
            handshake_timeout: self.handshake_timeout,
            silence_timeout: self.silence_timeout,
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let (delay, prediction, interval) =
            (self.input_delay_ticks, self.max_prediction_ticks, self.checksum_interval_ticks);
        within("input_delay_ticks", delay, 0, 20)?;
        within("max_prediction_ticks", prediction, 2, 30)?;
        within("players", self.players, 2, ROLLBACK_PLAYERS_MAX)?;
        within_time("silence_timeout", self.silence_timeout, Duration::from_millis(500))?;
        within_time("slowness_timeout", self.slowness_timeout, Duration::from_secs(1))?;
        ConfigError::unless(delay <= prediction, "input_delay_ticks", delay, || {
            format!("at most max_prediction_ticks, {prediction}: nobody can play what is delayed beyond it")
        })?;
        // Two peers are at most so far apart: one waits at the end of its prediction for the other,
        // who waits likewise.
        let apart = 2 * prediction + 2 * delay;
        ConfigError::unless(apart < interval * CHECKSUMS_HELD, "checksum_interval_ticks", interval, || {
            let min = apart / CHECKSUMS_HELD + 1;
            format!("at least {min} with this delay and prediction: checksums would be forgotten before they meet")
        })?;
        debug_assert!(apart < INPUTS_HELD, "the ranges leave room for all inputs");
        let (silence, ticks5) = (self.silence_timeout, Duration::from_secs(5) / self.ticks_per_s);
        let value = format!("{} ms", silence.as_millis());
        ConfigError::unless(silence >= ticks5, "silence_timeout", value, || {
            format!("at least five ticks, {} ms: a peer speaks once a tick", ticks5.as_millis())
        })
    }
}

impl<S: Simulation> Kind<S> for RollbackConfig {
    type Settings = RollbackSettings;

    fn config(&self) -> &Self {
        self
    }

    fn enter(&mut self, entrant: &Arc<Entrant<S>>, me: PeerId, io: &mut Io<S>) -> Box<dyn Role<S>> {
        Box::new(Lobby::new(self.clone(), entrant, me, io.now))
    }
}
