//! What of a hero is kept for another dungeon, and whether there can be such a one.
//!
//! A player may bring anything along. So every peer checks it as the hero enters, by the same
//! rules that made it: what they cannot have made begins anew.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BAG, Event, GOLD_MAX, Hero, LEVEL_MAX, POTIONS_MAX, experience_needed};
use crate::loot::{Gear, Slot};

/// What of a hero is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// From 1.
    pub level: u8,
    /// Towards the next level.
    pub experience: u32,
    /// Gold pieces.
    pub gold: u32,
    /// Potions.
    pub potions: u8,
    /// What it wears, by [`Slot`].
    pub worn: [Option<Gear>; Slot::ALL.len()],
    /// What else it carries.
    pub bag: [Option<Gear>; BAG],
}

/// What no rules can have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flaw {
    /// A level that there is not.
    Level(u8),
    /// Experience that would have been another level.
    Experience,
    /// More gold than a hero can carry.
    Gold,
    /// More potions than that.
    Potions,
    /// A piece that no monster leaves and no chest holds, or that is worn in another's place.
    Gear,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Level(level) => write!(f, "there is no level {level}, but 1 to {LEVEL_MAX}"),
            Flaw::Experience => f.write_str("with its experience it would have another level"),
            Flaw::Gold => write!(f, "nobody can carry more than {GOLD_MAX} gold"),
            Flaw::Potions => write!(f, "nobody can carry more than {POTIONS_MAX} potions"),
            Flaw::Gear => f.write_str("it has a piece that is found nowhere"),
        }
    }
}

impl Kept {
    /// What is kept of a hero.
    pub fn of(hero: &Hero) -> Kept {
        let Hero { level, experience, gold, potions, worn, bag, .. } = *hero;
        Kept { level, experience, gold, potions, worn, bag }
    }

    /// What there cannot be about it, if anything.
    pub fn flaw(&self) -> Option<Flaw> {
        if !(1..=LEVEL_MAX).contains(&self.level) {
            return Some(Flaw::Level(self.level));
        }
        let fits = |slot: &Slot| self.worn[*slot as usize].is_none_or(|gear| gear.slot == *slot);
        let mut pieces = self.worn.iter().chain(&self.bag).flatten();
        let flaws = [
            (self.level < LEVEL_MAX && self.experience >= experience_needed(self.level), Flaw::Experience),
            (self.gold > GOLD_MAX, Flaw::Gold),
            (self.potions > POTIONS_MAX, Flaw::Potions),
            (!Slot::ALL.iter().all(fits) || !pieces.all(Gear::can_be), Flaw::Gear),
        ];
        flaws.into_iter().find(|(is_so, _)| *is_so).map(|(_, flaw)| flaw)
    }

    /// All experience that it ever made.
    pub fn experience_in_all(&self) -> u64 {
        (1..self.level).map(|level| u64::from(experience_needed(level))).sum::<u64>() + u64::from(self.experience)
    }
}

impl Hero {
    /// Becomes what was kept, if that can be. What came of it is told once the hero thinks.
    pub(super) fn become_again(&mut self, kept: &Kept) {
        if let Some(flaw) = kept.flaw() {
            self.greeting = Some(Event::BeganAnew(flaw));
            return;
        }
        let Kept { level, experience, gold, potions, worn, bag } = *kept;
        (self.level, self.experience, self.gold, self.potions) = (level, experience, gold, potions);
        (self.worn, self.bag) = (worn, bag);
        self.greeting = Some(Event::Came(level));
    }
}
