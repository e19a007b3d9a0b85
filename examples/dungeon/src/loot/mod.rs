//! Things on the ground, and how they change hands.
//!
//! A hero claims loot by an effect; in the next tick the loot hands itself over and vanishes. Of
//! two claims in one tick the first in the engine's order counts, and a claim that cannot be met
//! lapses: nothing is ever doubled, nothing lost.

#![deny(clippy::float_arithmetic)]

mod gear;

pub use gear::{Affix, AffixKind, Gear, Rarity, Slot};

use lockstone::sim::{Cause, Dice, EntityId, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::body::{Body, Effect};
use crate::measures::REACH;
use crate::rules::DungeonMind;

/// What can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ware {
    /// So many pieces of gold.
    Gold(u16),
    /// A potion.
    Potion,
    /// Something to wear.
    Gear(Gear),
}

/// A ware on the ground.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loot {
    /// What it is.
    pub ware: Ware,
    /// Who is about to get it.
    pub claimed_by: Option<EntityId>,
}

/// A closed chest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chest {
    /// How good its content is.
    pub level: u8,
    /// Whether someone has just opened it.
    pub opened: bool,
}

impl Loot {
    /// A ware that lies there.
    pub fn body(ware: Ware) -> Body {
        Body::Loot(Loot { ware, claimed_by: None })
    }

    pub(crate) fn apply(&mut self, effect: &Effect, cause: &mut Cause) {
        if *effect == Effect::Claim && self.claimed_by.is_none() {
            self.claimed_by = Some(cause.source);
        }
    }
}

/// Claimed loot hands itself over to who claimed it, or lies there again if that hero
/// is gone or slain.
pub(crate) fn think(me: &mut Loot, mind: &mut DungeonMind<'_>) {
    let claimant = me.claimed_by.take().and_then(|id| mind.find(id));
    if let Some(hero) = claimant.filter(|seen| seen.body.hero().is_some_and(|hero| hero.is_alive())) {
        mind.affect(hero, Effect::Give(me.ware));
        mind.vanish();
    }
}

/// An opened chest leaves its content around it.
pub(crate) fn think_chest(me: &mut Chest, mind: &mut DungeonMind<'_>) {
    let here = mind.pos();
    let gold = Ware::Gold(mind.dice().range(10..=30) as u16 * u16::from(me.level));
    let gear = Ware::Gear(Gear::roll(mind.dice(), me.level, 3));
    for (ware, dx) in [(gold, -1), (gear, 0), (Ware::Potion, 1)] {
        mind.spawn(here + Vec2::new(Fx::ratio(dx, 4), Fx::ZERO), Loot::body(ware));
    }
    mind.vanish();
}

/// What a slain monster leaves.
pub(crate) fn drop_from(dice: &mut Dice, level: u8) -> Option<Ware> {
    match dice.weighted(&[52, 26, 10, 12])? {
        1 => Some(Ware::Gold(dice.range(2..=8) as u16 * (2 + u16::from(level)) / 2)),
        2 => Some(Ware::Potion),
        3 => Some(Ware::Gear(Gear::roll(dice, level, 1))),
        _ => None,
    }
}

const _: () = assert!(REACH.to_bits() > Fx::ONE.to_bits(), "who claims loot must be seen by it a tick later");
