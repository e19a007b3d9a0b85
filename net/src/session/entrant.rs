//! What a peer brings along into the room: its player, and how it builds the world.

use std::sync::Arc;

use lockstone_sim::{Simulation, codec};

use super::Past;
use crate::key::PlayerKey;
use crate::limits::HERO_BYTES_MAX;
use crate::wire::{Bytes, Epoch, Hello, Name, PROTOCOL_VERSION, Terms, TooMany};

/// What this peer brings along is not fit for any session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// The name.
    #[error(
        "a name must have 1 to {} bytes and no characters that control or turn around text",
        crate::limits::NAME_BYTES_MAX
    )]
    Name,
    /// The hero.
    #[error("the hero's encoding has {0} bytes, where at most {max} are allowed", max = crate::limits::HERO_BYTES_MAX)]
    Hero(usize),
}

/// Builds the world of a seed, as it is before tick 0.
pub type Build<S> = Arc<dyn Fn(u64) -> S + Send + Sync>;

/// What a peer brings along into the room, whatever role it has there.
pub struct Entrant<S: Simulation> {
    pub terms: Terms,
    /// Its player. One that leads may have none.
    pub newcomer: Option<Newcomer<S>>,
    /// By which it is known again.
    pub key: Option<PlayerKey>,
    /// Where it goes on, if it founds the session.
    pub past: Option<Past>,
    pub build: Build<S>,
}

/// A player as this peer brings it along.
pub struct Newcomer<S: Simulation> {
    pub name: Name,
    pub hero: S::Hero,
    pub hero_bytes: Bytes<HERO_BYTES_MAX>,
}

impl<S: Simulation> Newcomer<S> {
    pub fn new(name: &str, hero: S::Hero) -> Result<Self, PlayerError> {
        let name = Name::new(name).ok_or(PlayerError::Name)?;
        let hero_bytes = codec::compact(&hero).try_into().map_err(|error: TooMany| PlayerError::Hero(error.len))?;
        Ok(Newcomer { name, hero, hero_bytes })
    }
}

impl<S: Simulation> Entrant<S> {
    /// How it presents itself to whoever lets it in. A relay's standby has no player.
    pub fn hello(&self) -> Hello {
        let player = self.newcomer.as_ref().map(|newcomer| (newcomer.name.clone(), newcomer.hero_bytes.clone()));
        let standby = || (Name::new("standby").expect("it is short"), Bytes::default());
        let (name, hero) = player.unwrap_or_else(standby);
        Hello {
            protocol: PROTOCOL_VERSION,
            terms: self.terms,
            name,
            hero,
            key: self.key.as_ref().map(PlayerKey::public),
            promised: Epoch::default(),
            attempt: 0,
        }
    }
}
