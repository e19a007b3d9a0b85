//! Entities: what the engine knows of everything that lives in a world.

use alloc::string::String;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::dice::mix64;
use crate::ids::{EntityId, PlayerId, Tick};
use crate::vec2::Vec2;

/// The game's part of an entity.
///
/// What is serialised is what counts: it is the state that snapshots keep, the wire carries and
/// checksums cover. It holds no float, map, set or `usize`: such a world is refused as it is
/// built.
pub trait Body: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// Whether the entity is an *actor*, which thinks in every tick; if not it is a *prop*, which
    /// stands still, and costs nothing, until an effect reaches it. A player's hero is an actor
    /// whatever this says.
    fn is_actor(&self) -> bool;

    /// The body as its `Debug` shows it: `Some(format!("{self:?}"))`. The desync checker's
    /// `coverage` names by it what is in no encoding, as a field with `serde(skip)`. Nothing that
    /// is simulated asks for it.
    fn debugged(&self) -> Option<String> {
        None
    }
}

/// One thing in the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity<B> {
    /// Its name, for as long as the world lasts.
    pub id: EntityId,
    /// Where it is, in tiles. Changed by the engine alone, which enforces the stride.
    pub pos: Vec2,
    /// Whose hero it is, if it is one.
    pub player: Option<PlayerId>,
    /// What the game knows of it.
    pub body: B,
}

impl<B: Body> Entity<B> {
    pub(crate) fn is_actor(&self) -> bool {
        self.player.is_some() || self.body.is_actor()
    }
}

impl EntityId {
    /// The bit that only heroes lack, so that heroes come first in every cell's id order.
    const NO_HERO: u64 = 1 << 63;

    /// The id of a player's hero that enters at a tick.
    pub fn hero(player: PlayerId, tick: Tick) -> EntityId {
        EntityId(mix64(mix64(u64::from(player.0) + 1) ^ u64::from(tick.0)) & !Self::NO_HERO)
    }

    /// The id of the `n`-th entity that `spawner` makes in a tick.
    pub fn spawned(spawner: u64, tick: Tick, n: u32) -> EntityId {
        EntityId(mix64(mix64(spawner ^ u64::from(tick.0) << 32) ^ u64::from(n)) | Self::NO_HERO)
    }

    /// Whether this is the id of a hero.
    pub const fn is_hero(self) -> bool {
        self.0 & Self::NO_HERO == 0
    }
}
