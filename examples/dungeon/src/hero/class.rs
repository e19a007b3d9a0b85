//! The three classes: their numbers, and what they strike with.

use lockstone::sim::Fx;
use serde::{Deserialize, Serialize};

/// What a hero can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Class {
    /// Strikes with a blade, and whirls.
    Warrior,
    /// Shoots arrows, and volleys of them.
    Ranger,
    /// Throws orbs of fire, and a great one.
    Mage,
}

/// A class's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    /// Its name, as it is typed.
    pub name: &'static str,
    /// Its skill's name.
    pub skill: &'static str,
    /// Life at the first level.
    pub life: i32,
    /// Life for each further level.
    pub life_per_level: i32,
    /// The least and the most damage of one blow at the first level.
    pub damage: (i32, i32),
    /// What armour it wears of itself.
    pub armour: i32,
    /// How far it strikes, in tiles.
    pub range: Fx,
    /// How long from blow to blow.
    pub attack_ticks: i32,
    /// How far it walks in a tick, in tiles.
    pub step: Fx,
    /// How long from skill to skill.
    pub skill_ticks: u16,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 3] = [Class::Warrior, Class::Ranger, Class::Mage];

    /// The class of a name, in lower case.
    pub fn named(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.measures().name == name)
    }

    /// Its numbers.
    pub const fn measures(self) -> &'static Measures {
        match self {
            Class::Warrior => &WARRIOR,
            Class::Ranger => &RANGER,
            Class::Mage => &MAGE,
        }
    }
}

const WARRIOR: Measures = Measures {
    name: "warrior",
    skill: "whirl",
    life: 130,
    life_per_level: 16,
    damage: (9, 15),
    armour: 6,
    range: Fx::ratio(3, 2),
    attack_ticks: 15,
    step: Fx::ratio(22, 100),
    skill_ticks: 120,
};

const RANGER: Measures = Measures {
    name: "ranger",
    skill: "volley",
    life: 98,
    life_per_level: 11,
    damage: (7, 12),
    armour: 3,
    range: Fx::int(8),
    attack_ticks: 15,
    step: Fx::ratio(23, 100),
    skill_ticks: 140,
};

const MAGE: Measures = Measures {
    name: "mage",
    skill: "great orb",
    life: 86,
    life_per_level: 10,
    damage: (8, 16),
    armour: 2,
    range: Fx::int(7),
    attack_ticks: 20,
    step: Fx::ratio(21, 100),
    skill_ticks: 160,
};
