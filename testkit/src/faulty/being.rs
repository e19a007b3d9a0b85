//! Who lives there, and what is known of each.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockstone::sim::{Angle, Body, Dice, EntityId, PlayerId, Tick, Vec2};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Newcomer, Order};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Being {
    Hero(Hero),
    Beast(Beast),
    Stone(Stone),
    Shrine(Shrine),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hero {
    pub player: PlayerId,
    pub name: String,
    pub strength: u8,
    pub life: i16,
    pub order: Order,
    pub purse: Purse,
    pub fallen: Option<Tick>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Beast {
    pub kind: Kind,
    pub heading: Angle,
    pub mood: i32,
    pub hunger: u16,
    pub life: u8,
    pub fear: u8,
    pub lair: Vec2,
    pub prey: Option<EntityId>,
    pub glances: Glances,
    /// Forgotten by the author of [`Fault::Unsaved`](super::Fault::Unsaved); without that
    /// fault of no effect.
    #[serde(skip)]
    pub unsaved: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    Wolf,
    Boar,
    Stag,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stone {
    pub size: u8,
    pub veins: [u8; 3],
    pub owner: Option<PlayerId>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shrine {
    pub charge: u32,
    pub keeper: Option<PlayerId>,
}

impl Body for Being {
    fn is_actor(&self) -> bool {
        matches!(self, Being::Hero(_) | Being::Beast(_))
    }
}

impl Hero {
    pub fn new(player: PlayerId, hero: &Newcomer, life: i16) -> Hero {
        let (name, strength) = (hero.name.clone(), hero.strength);
        Hero { player, name, strength, life, order: Order::Rest, purse: Purse::default(), fallen: None }
    }
}

impl Beast {
    pub fn new(lair: Vec2, dice: &mut Dice) -> Beast {
        let kinds = [Kind::Wolf, Kind::Boar, Kind::Stag];
        Beast {
            kind: *dice.pick(&kinds).expect("there are some"),
            heading: dice.angle(),
            mood: dice.range(-20..=20),
            hunger: dice.below(300) as u16,
            life: 10 + dice.below(30) as u8,
            fear: 0,
            lair,
            prey: None,
            glances: Glances::default(),
            unsaved: 0,
        }
    }
}

impl Kind {
    pub fn hunts(self) -> bool {
        self != Kind::Stag
    }
}

impl Stone {
    pub fn new(dice: &mut Dice) -> Stone {
        let mut vein = || dice.below(10) as u8;
        let veins = [vein(), vein(), vein()];
        Stone { size: 3 + dice.below(8) as u8, veins, owner: None }
    }
}

/// A number that is copied with its owner, as it should be, until somebody shares it: then
/// all copies are one.
#[derive(Clone, Default)]
pub struct Purse {
    own: u32,
    shared: Option<Arc<AtomicU32>>,
}

impl Purse {
    pub fn get(&self) -> u32 {
        self.shared.as_ref().map_or(self.own, |shared| shared.load(Ordering::Relaxed))
    }

    pub fn add(&mut self, count: u32) {
        match &self.shared {
            Some(shared) => drop(shared.fetch_add(count, Ordering::Relaxed)),
            None => self.own += count,
        }
    }

    pub fn share(&mut self) {
        self.shared.get_or_insert_with(|| Arc::new(AtomicU32::new(self.own)));
    }
}

/// A number that can be changed by whoever only looks. Nobody does so without
/// [`Fault::Scene`](super::Fault::Scene).
#[derive(Default)]
pub struct Glances(AtomicU32);

impl Glances {
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clone for Glances {
    fn clone(&self) -> Self {
        Glances(AtomicU32::new(self.get()))
    }
}

impl fmt::Debug for Purse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Debug for Glances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for Purse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Purse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Purse { own: u32::deserialize(deserializer)?, shared: None })
    }
}

impl Serialize for Glances {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Glances {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Glances(AtomicU32::new(u32::deserialize(deserializer)?)))
    }
}
