//! Settings, and how they are checked.

use core::fmt::Display;
use core::time::Duration;

use crate::limits::TICKS_PER_S_MAX;
use crate::wire::{Identity, SessionKind, Terms};

/// The longest time that a setting may be.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);

/// A setting out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {value}, but must be {range}")]
pub struct ConfigError {
    /// The setting's name.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// What is allowed, and why if it depends on others.
    pub range: String,
}

/// The settings of a kind of session.
pub trait Settings {
    fn common(&self) -> Common;

    /// Checks those that are the kind's own, and those that must go together.
    fn check(&self) -> Result<(), ConfigError>;
}

/// What the settings of every kind hold. All but the timeouts must be the same on all peers.
pub struct Common {
    pub kind: SessionKind,
    pub ticks_per_s: u32,
    pub input_delay_ticks: u32,
    pub checksum_interval_ticks: u32,
    pub handshake_timeout: Duration,
    pub silence_timeout: Duration,
}

/// The settings that concern a peer that plays turns: a replica all of them, who closes ticks what
/// is told of each.
#[derive(Clone, Copy)]
pub struct Following {
    pub period: Duration,
    pub packet_interval: Duration,
    pub handshake_timeout: Duration,
    pub silence_timeout: Duration,
    pub load_timeout: Duration,
    pub on_desync: OnDesync,
    /// Between two checksums that are compared.
    pub checksum_interval_ticks: u32,
    /// Between two checksums that are told with their parts, if any are.
    pub tree_interval_ticks: Option<u32>,
}

/// What a peer does once a replica's world has become another. Evidence is gathered in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDesync {
    /// The odd world is found and put right, and everyone plays on. Who is odd again and again, or
    /// lies again and again, is put out.
    #[default]
    Repair,
    /// The session ends for the replica.
    Stop,
    /// Nothing: it is counted.
    GoOn,
}

/// Settings that have been checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config<T>(T);

impl<T: Settings> Config<T> {
    /// Checks settings, each by itself and with the others.
    ///
    /// # Errors
    /// [`ConfigError`] for the first one that is out of its range, or cannot work with the others.
    pub fn new(settings: T) -> Result<Config<T>, ConfigError> {
        let common = settings.common();
        within("ticks_per_s", common.ticks_per_s, 1, TICKS_PER_S_MAX)?;
        within("checksum_interval_ticks", common.checksum_interval_ticks, 1, 1_000)?;
        within_time("handshake_timeout", common.handshake_timeout, Duration::from_secs(1))?;
        settings.check()?;
        Ok(Config(settings))
    }

    /// The settings.
    pub fn settings(&self) -> &T {
        &self.0
    }

    /// The time of one tick.
    pub fn period(&self) -> Duration {
        Duration::from_secs(1) / self.0.common().ticks_per_s
    }

    /// What a session of these settings demands of its peers.
    pub fn terms(&self, identity: Identity) -> Terms {
        let Common { kind, ticks_per_s, input_delay_ticks, checksum_interval_ticks, .. } = self.0.common();
        Terms { identity, kind, ticks_per_s, input_delay_ticks, checksum_interval_ticks }
    }
}

impl ConfigError {
    /// Refuses a value unless something holds.
    pub(crate) fn unless(
        holds: bool,
        setting: &'static str,
        value: impl Display,
        range: impl FnOnce() -> String,
    ) -> Result<(), ConfigError> {
        if holds { Ok(()) } else { Err(ConfigError { setting, value: value.to_string(), range: range() }) }
    }
}

pub fn within<T>(setting: &'static str, value: T, min: T, max: T) -> Result<(), ConfigError>
where
    T: PartialOrd + Display + Copy,
{
    ConfigError::unless((min..=max).contains(&value), setting, value, || format!("{min} to {max}"))
}

/// A timeout is at most ten minutes.
pub fn within_time(setting: &'static str, value: Duration, min: Duration) -> Result<(), ConfigError> {
    let range = || format!("{} ms to {} s", min.as_millis(), TIMEOUT_MAX.as_secs());
    ConfigError::unless((min..=TIMEOUT_MAX).contains(&value), setting, format!("{} ms", value.as_millis()), range)
}
