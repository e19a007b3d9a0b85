//! Who lives there, and what is known of each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lockstone::sim::{Angle, Body, Dice, EntityId, PlayerId, Tick, Vec2};
use serde::{Deserialize, Serialize};

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
    pub purse: Count,
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
    pub glances: Count,
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

    fn debugged(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
}

impl Hero {
    pub fn new(player: PlayerId, hero: &Newcomer, life: i16) -> Hero {
        let (name, strength) = (hero.name.clone(), hero.strength);
        Hero { player, name, strength, life, order: Order::Rest, purse: Count::default(), fallen: None }
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
            glances: Count::default(),
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

/// A number that is copied with its owner, as it should be, until somebody
/// [shares](Count::share) it: then all copies are one. Whoever only looks can add to it. Nobody
/// does either without [`Fault::Alias`](super::Fault::Alias) or
/// [`Fault::Scene`](super::Fault::Scene).
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub struct Count {
    own: AtomicU32,
    shared: Option<Arc<AtomicU32>>,
}

impl Count {
    fn number(&self) -> &AtomicU32 {
        self.shared.as_deref().unwrap_or(&self.own)
    }

    pub fn get(&self) -> u32 {
        self.number().load(Ordering::Relaxed)
    }

    pub fn add(&self, count: u32) {
        self.number().fetch_add(count, Ordering::Relaxed);
    }

    pub fn share(&mut self) {
        self.shared.get_or_insert_with(|| Arc::new(AtomicU32::new(self.own.load(Ordering::Relaxed))));
    }
}

impl Clone for Count {
    fn clone(&self) -> Count {
        Count { shared: self.shared.clone(), ..Count::from(self.get()) }
    }
}

impl From<u32> for Count {
    fn from(own: u32) -> Count {
        Count { own: AtomicU32::new(own), shared: None }
    }
}

impl From<Count> for u32 {
    fn from(count: Count) -> u32 {
        count.get()
    }
}
