//! How settings are checked.

use core::time::Duration;

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

pub fn within<T: PartialOrd + ToString>(setting: &'static str, value: T, min: T, max: T) -> Result<(), ConfigError> {
    if value >= min && value <= max {
        return Ok(());
    }
    let range = format!("{} to {}", min.to_string(), max.to_string());
    Err(ConfigError { setting, value: value.to_string(), range })
}

/// A timeout is at most ten minutes.
pub fn within_time(setting: &'static str, value: Duration, min: Duration) -> Result<(), ConfigError> {
    if value >= min && value <= TIMEOUT_MAX {
        return Ok(());
    }
    let range = format!("{} ms to {} s", min.as_millis(), TIMEOUT_MAX.as_secs());
    Err(ConfigError { setting, value: format!("{} ms", value.as_millis()), range })
}
