//! Monsters: what all of them share. Each race's own logic has a file of its own.

#![deny(clippy::float_arithmetic)]

mod archer;
mod brood;
mod pack;
mod race;
mod sense;
mod sleeper;
mod warden;

pub use brood::BROOD_MAX;
pub use race::{Measures, Race};

use lockstone::sim::{Cause, EntityId, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::body::{Body, Effect};
use crate::facts::Fact;
use crate::hero::after_armour;
use crate::loot::{Loot, drop_from};
use crate::map::{Map, Spot};
use crate::measures::REACH;
use crate::rules::DungeonMind;

/// A slain monster that matters to all asks for the announcement again after so long.
const ASK_AGAIN_TICKS: u8 = 200;

/// A monster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Monster {
    /// What it is.
    pub race: Race,
    /// From 1, growing with the way from the entrance.
    pub level: u8,
    /// What is left of its life.
    pub life: i32,
    /// What it is about.
    pub mood: Mood,
    /// How long until it can strike again.
    pub rest_ticks: u8,
    /// How long nothing has happened to it.
    pub calm_ticks: u8,
    /// Whom it comes from, or which nest it guards.
    pub kin: Kin,
}

/// Where a monster belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kin {
    /// Nowhere.
    None,
    /// A broodling's mother.
    Mother(EntityId),
    /// A brood-mother's nest, by its number on the map.
    Nest(u8),
    /// A horde without end: who is slain is followed by another.
    Horde,
}

/// What a monster is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mood {
    /// Lies still, and thinks nothing.
    Asleep,
    /// Waits for someone to come into sight.
    Idle,
    /// Was hurt, and looks for who did it.
    Alarmed,
    /// Hunts a hero.
    Hunt {
        /// Whom.
        prey: EntityId,
        /// Where that was seen last.
        place: Spot,
    },
    /// A slain brood-mother or warden, until everyone knows.
    Slain,
}

impl Monster {
    /// One at full life.
    pub fn new(race: Race, level: u8) -> Monster {
        let mood = if matches!(race, Race::Sleeper | Race::Warden) { Mood::Asleep } else { Mood::Idle };
        let mut monster = Monster { race, level, life: 0, mood, rest_ticks: 0, calm_ticks: 0, kin: Kin::None };
        monster.life = monster.life_max();
        monster
    }

    /// The most life it can have.
    pub fn life_max(&self) -> i32 {
        let Measures { life, life_per_level, .. } = *self.race.measures();
        life + life_per_level * (i32::from(self.level) - 1)
    }

    /// Whether it thinks.
    pub fn is_awake(&self) -> bool {
        self.mood != Mood::Asleep
    }

    /// Whether its life has run out.
    pub fn is_slain(&self) -> bool {
        self.life <= 0
    }

    /// What reaches a monster.
    pub(crate) fn apply(&mut self, effect: &Effect, _cause: &mut Cause) {
        if self.is_slain() {
            return;
        }
        match *effect {
            Effect::Hurt { by, race: None } => {
                self.life = self.life.saturating_sub(after_armour(by.into(), self.race.measures().armour));
                self.alarm();
            }
            Effect::Stir => self.alarm(),
            Effect::Call { prey, place } if self.mood == Mood::Idle => self.mood = Mood::Hunt { prey, place },
            _ => {}
        }
    }

    /// What everyone is told when it is slain.
    fn end(&self) -> Option<Fact> {
        match (self.race, self.kin) {
            (Race::BroodMother, Kin::Nest(nest)) => Some(Fact::NestSlain(nest)),
            (Race::Warden, _) => Some(Fact::WardenSlain),
            _ => None,
        }
    }

    fn alarm(&mut self) {
        self.calm_ticks = 0;
        if matches!(self.mood, Mood::Asleep | Mood::Idle) {
            self.mood = Mood::Alarmed;
        }
    }

    /// The damage of one blow.
    fn roll_damage(&self, mind: &mut DungeonMind<'_>) -> u16 {
        let Measures { damage: (least, most), damage_per_level, .. } = *self.race.measures();
        let more = damage_per_level * (i32::from(self.level) - 1);
        mind.dice().range(least + more..=most + more).clamp(1, u16::MAX.into()) as u16
    }
}

/// One tick of a monster.
pub(crate) fn think(map: &Map, me: &mut Monster, mind: &mut DungeonMind<'_>) {
    if me.is_slain() {
        return die(me, mind);
    }
    me.rest_ticks = me.rest_ticks.saturating_sub(1);
    match me.race {
        Race::Hunter => pack::think(map, me, mind),
        Race::Archer => archer::think(map, me, mind),
        Race::Sleeper => sleeper::think(map, me, mind),
        Race::BroodMother => brood::think_mother(map, me, mind),
        Race::Broodling => brood::think(map, me, mind),
        Race::Warden => warden::think(map, me, mind),
    }
}

/// Rewards the heroes around and leaves something behind.
fn die(me: &mut Monster, mind: &mut DungeonMind<'_>) {
    if me.mood == Mood::Slain {
        return lie_slain(me, mind);
    }
    let experience = me.race.measures().experience;
    let experience = experience + experience / 2 * u16::from(me.level).saturating_sub(1);
    for hero in mind.heroes(REACH) {
        mind.affect(hero, Effect::Reward { experience, race: me.race });
    }
    let (here, drops) = (mind.pos(), if me.race.is_great() { 6 } else { 1 });
    for n in 0..drops {
        if let Some(ware) = drop_from(mind.dice(), me.level.saturating_add(drops)) {
            mind.spawn(here + Vec2::new(Fx::ZERO, Fx::ratio(n.into(), 16)), Loot::body(ware));
        }
    }
    if me.kin == Kin::Horde {
        mind.spawn(here, Body::Monster(Monster { kin: Kin::Horde, ..Monster::new(me.race, me.level) }));
    }
    if me.end().is_some() {
        me.mood = Mood::Slain;
        me.calm_ticks = 0;
    } else {
        mind.vanish();
    }
}

/// Lies there until everyone knows, so that an announcement that got lost is asked for again.
fn lie_slain(me: &mut Monster, mind: &mut DungeonMind<'_>) {
    let Some(fact) = me.end().filter(|&fact| !mind.facts().holds(fact)) else { return mind.vanish() };
    if me.calm_ticks == 0 {
        mind.announce(fact);
    }
    me.calm_ticks = me.calm_ticks.saturating_add(1) % ASK_AGAIN_TICKS;
}

/// A blow at a hero.
fn bite(me: &mut Monster, mind: &mut DungeonMind<'_>, prey: lockstone::sim::Seen<'_, Body>) {
    me.rest_ticks = me.race.measures().attack_ticks;
    let by = me.roll_damage(mind);
    mind.affect(prey, Effect::Hurt { by, race: Some(me.race) });
}
