//! Entities: what the engine knows of everything that lives in a world.

use alloc::string::String;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::dice::mix64;
use crate::ids::{EntityId, PlayerId, Tick};
use crate::vec2::Vec2;
use crate::world::entity_checksum;

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

    /// Whether a body is what it was before it thought: mostly `self == before`. A cell in which
    /// nobody moved or changed is left as it is, neither hashed again nor told as touched, so who
    /// waits costs little more than the thought. By the default, `false`, nothing but time is lost.
    ///
    /// It may be true only of bodies that are encoded alike: where they are not, a debug build
    /// panics, and a release build loses the change.
    fn is_unchanged(&self, _before: &Self) -> bool {
        false
    }

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

    /// Whether a thought left it as it was before.
    pub(crate) fn is_unchanged(&self, before: &Self) -> bool {
        let unchanged = self.pos == before.pos && self.body.is_unchanged(&before.body);
        debug_assert!(
            !unchanged || entity_checksum(self) == entity_checksum(before),
            "a `{}` counts as unchanged, but is encoded as another",
            core::any::type_name::<B>()
        );
        unchanged
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
