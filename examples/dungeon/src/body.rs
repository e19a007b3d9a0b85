//! What there is in the dungeon, and what one thing can do to another.
//!
//! Bodies are flat and small: no list in them grows.

#![deny(clippy::float_arithmetic)]

use lockstone::sim::{self, EntityId, Seen};
use serde::{Deserialize, Serialize};

use crate::hero::Hero;
use crate::loot::{Chest, Loot, Ware};
use crate::map::Spot;
use crate::monsters::{Monster, Race};
use crate::projectile::Projectile;

/// One being or thing.
// A hero is large, and there are few; a box would be one more allocation for each copy of a cell.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// A player's hero.
    Hero(Hero),
    /// What hunts heroes.
    Monster(Monster),
    /// An arrow or an orb in flight.
    Projectile(Projectile),
    /// Something to pick up.
    Loot(Loot),
    /// A chest.
    Chest(Chest),
}

impl sim::Body for Body {
    fn is_actor(&self) -> bool {
        match self {
            Body::Hero(_) | Body::Projectile(_) => true,
            Body::Monster(monster) => monster.is_awake(),
            Body::Loot(loot) => loot.claimed_by.is_some(),
            Body::Chest(chest) => chest.opened,
        }
    }

    #[inline(always)]
    fn is_unchanged(&self, before: &Body) -> bool {
        self == before
    }
}

impl Body {
    /// The hero, if it is one.
    pub fn hero(&self) -> Option<&Hero> {
        match self {
            Body::Hero(hero) => Some(hero),
            _ => None,
        }
    }

    /// The monster, if it is one.
    pub fn monster(&self) -> Option<&Monster> {
        match self {
            Body::Monster(monster) => Some(monster),
            _ => None,
        }
    }

    /// The loot, if it is some.
    pub fn loot(&self) -> Option<&Loot> {
        match self {
            Body::Loot(loot) => Some(loot),
            _ => None,
        }
    }

    /// Whether it can be hurt by a hero now.
    pub fn is_foe(&self) -> bool {
        self.monster().is_some_and(|monster| !monster.is_slain())
    }
}

/// The nearest of those that are accepted, of several equally near the one with the least id, where
/// `Near::nearest` takes the first. What is farther than the best so far is not asked about.
pub(crate) fn nearest<'w>(
    seen: impl Iterator<Item = Seen<'w, Body>>,
    accept: impl Fn(&Seen<'w, Body>) -> bool,
) -> Option<Seen<'w, Body>> {
    let key = |seen: &Seen<'w, Body>| (seen.distance_squared(), seen.id);
    seen.fold(None, |best, next| {
        let is_nearer = best.is_none_or(|best| key(&next) < key(&best));
        if is_nearer && accept(&next) { Some(next) } else { best }
    })
}

/// What one being or thing does to another. It takes effect when all have thought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Takes life, less what armour keeps off.
    Hurt {
        /// How much, before armour.
        by: u16,
        /// What did it; `None` for a hero.
        race: Option<Race>,
    },
    /// A pack hunter tells another of its prey.
    Call {
        /// Whom it hunts.
        prey: EntityId,
        /// Where that was seen.
        place: Spot,
    },
    /// A hero comes near a sleeper.
    Stir,
    /// A hero opens a chest.
    Open,
    /// A hero wants a piece of loot: the first claim in a tick counts.
    Claim,
    /// A piece of loot hands itself over to who claimed it.
    Give(Ware),
    /// A monster was slain nearby.
    Reward {
        /// Experience.
        experience: u16,
        /// What was slain.
        race: Race,
    },
}
