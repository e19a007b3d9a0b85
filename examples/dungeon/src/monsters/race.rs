//! The kinds of monsters: their numbers.

use lockstone::sim::Fx;
use serde::{Deserialize, Serialize};

/// What a monster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Race {
    /// Hunts in packs.
    Hunter,
    /// Shoots, and keeps its distance.
    Archer,
    /// Sleeps until someone comes near.
    Sleeper,
    /// Spawns broodlings.
    BroodMother,
    /// Bites.
    Broodling,
    /// Guards the portal.
    Warden,
}

/// A race's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    /// Its name.
    pub name: &'static str,
    /// Life at the first level.
    pub life: i32,
    /// Life for each further level.
    pub life_per_level: i32,
    /// The least and the most damage of a blow at the first level.
    pub damage: (i32, i32),
    /// Damage for each further level.
    pub damage_per_level: i32,
    /// Keeps off damage.
    pub armour: i32,
    /// How far it strikes, in tiles.
    pub range: Fx,
    /// How long from blow to blow.
    pub attack_ticks: u8,
    /// How far it walks in a tick, in tiles.
    pub step: Fx,
    /// What it gives at the first level; half of it more for each further one.
    pub experience: u16,
}

impl Race {
    /// Whether its end is worth telling.
    pub const fn is_great(self) -> bool {
        matches!(self, Race::BroodMother | Race::Warden)
    }

    /// Its numbers.
    pub const fn measures(self) -> &'static Measures {
        match self {
            Race::Hunter => &HUNTER,
            Race::Archer => &ARCHER,
            Race::Sleeper => &SLEEPER,
            Race::BroodMother => &BROOD_MOTHER,
            Race::Broodling => &BROODLING,
            Race::Warden => &WARDEN,
        }
    }
}

const HUNTER: Measures = Measures {
    name: "hunter",
    life: 26,
    life_per_level: 9,
    damage: (4, 8),
    damage_per_level: 2,
    armour: 1,
    range: Fx::ratio(13, 10),
    attack_ticks: 20,
    step: Fx::ratio(19, 100),
    experience: 9,
};

const ARCHER: Measures = Measures {
    name: "bone archer",
    life: 20,
    life_per_level: 7,
    damage: (5, 9),
    damage_per_level: 2,
    armour: 0,
    range: Fx::int(8),
    attack_ticks: 34,
    step: Fx::ratio(16, 100),
    experience: 11,
};

const SLEEPER: Measures = Measures {
    name: "sleeper",
    life: 62,
    life_per_level: 20,
    damage: (11, 18),
    damage_per_level: 3,
    armour: 8,
    range: Fx::ratio(3, 2),
    attack_ticks: 32,
    step: Fx::ratio(13, 100),
    experience: 22,
};

const BROOD_MOTHER: Measures = Measures {
    name: "brood-mother",
    life: 190,
    life_per_level: 42,
    damage: (9, 16),
    damage_per_level: 3,
    armour: 6,
    range: Fx::ratio(19, 10),
    attack_ticks: 30,
    step: Fx::ratio(5, 100),
    experience: 90,
};

const BROODLING: Measures = Measures {
    name: "broodling",
    life: 11,
    life_per_level: 4,
    damage: (2, 5),
    damage_per_level: 1,
    armour: 0,
    range: Fx::ratio(11, 10),
    attack_ticks: 18,
    step: Fx::ratio(21, 100),
    experience: 2,
};

const WARDEN: Measures = Measures {
    name: "warden",
    life: 420,
    life_per_level: 70,
    damage: (14, 22),
    damage_per_level: 3,
    armour: 12,
    range: Fx::int(2),
    attack_ticks: 26,
    step: Fx::ratio(15, 100),
    experience: 200,
};
