//! What a party is set up with, checked once.

use core::time::Duration;

use crate::limits::PLAYERS_MAX;
use crate::wire::{Digests, PROTOCOL_VERSION};

/// The settings of a session. All peers must have the same tick rate, delay and intervals; the rest is each peer's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Ticks a second, 1 to 100. Default 20.
    pub ticks_per_s: u32,
    /// How many ticks ahead of its own time the sequencer closes, 1 to 20: a command plays about that much later. Default 3.
    pub input_delay_ticks: u32,
    /// Between two packets of turns, 1 to the input delay. Default 2. At the input delay packets are fewest, and turns still arrive
    /// in time to be played when the sequencer plays them, if the way takes no more than a tick. Each tick less lets replicas
    /// play a tick sooner, and a lost packet costs them a tick less.
    pub packet_interval_ticks: u32,
    /// Between two checksums, 1 to 1,000. Default 10.
    pub checksum_interval_ticks: u32,
    /// Places in the session, 1 to 16. Default 16.
    pub players_max: usize,
    /// The founder holds tick 0 until so many players are there. Default 1.
    pub players_at_start: usize,
    /// The seed of the world that a founder starts. Default 0.
    pub seed: u64,
    /// A peer that is not heard of for so long is gone, 2 s to 10 min. Default 10 s.
    pub silence_timeout: Duration,
    /// How long a joiner looks for the session and waits to be let in, 1 s to 10 min. Default 15 s.
    pub handshake_timeout: Duration,
    /// How long a joiner may load without progress, 1 s to 10 min. Default 30 s.
    pub load_timeout: Duration,
    /// Whether a replica whose world has become another ends its session. Default yes.
    pub stop_on_desync: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ticks_per_s: 20,
            input_delay_ticks: 3,
            packet_interval_ticks: 2,
            checksum_interval_ticks: 10,
            players_max: PLAYERS_MAX,
            players_at_start: 1,
            seed: 0,
            silence_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(15),
            load_timeout: Duration::from_secs(30),
            stop_on_desync: true,
        }
    }
}

/// A setting out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {value}, but must be {range}")]
pub struct ConfigError {
    /// The setting's name.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// What is allowed.
    pub range: String,
}

/// Settings that have been checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartyConfig(Settings);

impl PartyConfig {
    /// Checks settings.
    ///
    /// # Errors
    /// [`ConfigError`] for the first one that is out of its range.
    pub fn new(settings: Settings) -> Result<PartyConfig, ConfigError> {
        let s = &settings;
        within("ticks_per_s", s.ticks_per_s, 1, 100)?;
        within("input_delay_ticks", s.input_delay_ticks, 1, 20)?;
        within("packet_interval_ticks", s.packet_interval_ticks, 1, s.input_delay_ticks)?;
        within("checksum_interval_ticks", s.checksum_interval_ticks, 1, 1_000)?;
        within("players_max", s.players_max, 1, PLAYERS_MAX)?;
        within("players_at_start", s.players_at_start, 1, s.players_max)?;
        let (s1, s2, min10) = (Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(600));
        for (setting, value, min) in [
            ("silence_timeout", s.silence_timeout, s2),
            ("handshake_timeout", s.handshake_timeout, s1),
            ("load_timeout", s.load_timeout, s1),
        ] {
            if value < min || value > min10 {
                let range = format!("{} s to {} s", min.as_secs(), min10.as_secs());
                return Err(ConfigError { setting, value: format!("{} ms", value.as_millis()), range });
            }
        }
        Ok(PartyConfig(settings))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.0
    }

    /// The time of one tick.
    pub fn period(&self) -> Duration {
        Duration::from_secs(1) / self.0.ticks_per_s
    }

    pub(super) fn packet_interval(&self) -> Duration {
        self.period() * self.0.packet_interval_ticks
    }

    /// What of a peer must equal ours.
    pub(super) fn digests(&self, identity: Identity) -> Digests {
        let s = &self.0;
        let mut bytes = Vec::new();
        let shared =
            [s.ticks_per_s, s.input_delay_ticks, s.packet_interval_ticks, s.checksum_interval_ticks, PROTOCOL_VERSION];
        for value in shared {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&identity.config.to_le_bytes());
        let config = xxhash_rust::xxh3::xxh3_64(&bytes);
        Digests { rules: identity.rules, table: identity.table, config }
    }
}

/// What the game is, as digests. Peers with different ones refuse each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Of the rules: the code that steps the simulation.
    pub rules: u64,
    /// Of the random table.
    pub table: u128,
    /// Of the game's configuration.
    pub config: u64,
}

fn within<T: PartialOrd + ToString>(setting: &'static str, value: T, min: T, max: T) -> Result<(), ConfigError> {
    if value >= min && value <= max {
        return Ok(());
    }
    let range = format!("{} to {}", min.to_string(), max.to_string());
    Err(ConfigError { setting, value: value.to_string(), range })
}
