//! The settings of a session, from what the command line says.

use lockstone_net::session::ConfigError;
use lockstone_net::wire::{Identity, Terms};
use lockstone_net::{PartyConfig, PartySettings, RollbackConfig, RollbackSettings};

use super::args::Shared;
use super::failure::Failure;

/// The settings of a session of either kind, checked.
#[derive(Clone)]
pub(super) enum Config {
    Party(PartyConfig),
    Rollback(RollbackConfig),
}

impl Config {
    /// Of a session that begins when `peers` are there.
    pub fn new(shared: &Shared, peers: Option<u16>, seed: u64) -> Result<Config, Failure> {
        if shared.rollback { rollback(shared, peers, seed) } else { party(shared, peers, seed) }
    }

    pub fn terms(&self, identity: Identity) -> Terms {
        match self {
            Config::Party(config) => config.terms(identity),
            Config::Rollback(config) => config.terms(identity),
        }
    }

    pub fn ticks_per_s(&self) -> u32 {
        match self {
            Config::Party(config) => config.settings().ticks_per_s,
            Config::Rollback(config) => config.settings().ticks_per_s,
        }
    }
}

fn party(shared: &Shared, peers: Option<u16>, seed: u64) -> Result<Config, Failure> {
    let mut settings = PartySettings { seed, emit_trees: true, ..PartySettings::default() };
    settings.players_at_start = peers.map_or(settings.players_at_start, usize::from);
    settings.input_delay_ticks = shared.input_delay;
    let advice = if shared.input_delay == Some(0) { "; only --rollback plays without input delay" } else { "" };
    PartyConfig::new(settings).map(Config::Party).map_err(|error| Failure::new(in_options(&error) + advice))
}

fn rollback(shared: &Shared, peers: Option<u16>, seed: u64) -> Result<Config, Failure> {
    let mut settings = RollbackSettings { seed, emit_trees: true, ..RollbackSettings::default() };
    settings.players = peers.map_or(settings.players, usize::from);
    settings.input_delay_ticks = shared.input_delay.unwrap_or(settings.input_delay_ticks);
    settings.max_prediction_ticks = shared.max_prediction.unwrap_or(settings.max_prediction_ticks);
    let refused = |error: ConfigError| match error.setting {
        "players" => format!(
            "a rollback session has {} peers, not {}: leave out --rollback for any other number",
            error.range, error.value
        ),
        _ => in_options(&error),
    };
    RollbackConfig::new(settings).map(Config::Rollback).map_err(|error| Failure::new(refused(error)))
}

/// What is wrong with a setting, by the names of the options that set it.
fn in_options(error: &ConfigError) -> String {
    let told = error.to_string();
    told.replace("input_delay_ticks", "--input-delay").replace("max_prediction_ticks", "--max-prediction")
}
