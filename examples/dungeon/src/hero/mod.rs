//! A player's hero: what it is, what it obeys, what reaches it. What it does is in `act.rs`.

#![deny(clippy::float_arithmetic)]

mod act;
mod class;
mod kept;
mod news;
mod skill;

pub use act::{HOME, think};
pub use class::{Class, Measures};
pub use kept::{Flaw, Kept};
pub use news::{Event, NEWS, News};

use lockstone::sim::path::Tile;
use lockstone::sim::{Cause, EntityId, Fx, Tick, Vec2};
use serde::{Deserialize, Serialize};

use crate::body::Effect;
use crate::command::{Aim, Command, Name, Newcomer};
use crate::loot::{AffixKind, Gear, Rarity, Slot, Ware};
use crate::map::Spot;
use crate::monsters::Race;
use crate::walk::Route;

/// The highest level.
pub const LEVEL_MAX: u8 = 30;
/// How much gold a hero can carry.
pub const GOLD_MAX: u32 = 1_000_000;
/// How many potions a hero can carry.
pub const POTIONS_MAX: u8 = 6;
/// How many pieces the bag holds.
pub const BAG: usize = 4;
/// How long a slain hero lies before it returns.
pub const FALLEN_TICKS: u32 = 100;
/// How long a hero waits for a player who is away: half an hour.
pub const AWAY_TICKS: u32 = 36_000;

/// A player's hero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hero {
    /// What it is.
    pub class: Class,
    /// What it is called.
    pub name: Name,
    /// Whether a person plays it, and no bot. Bots go by that, and nothing else does.
    pub person: bool,
    /// From 1.
    pub level: u8,
    /// Towards the next level.
    pub experience: u32,
    /// What is left of its life.
    pub life: i32,
    /// Since when it lies slain.
    pub fallen: Option<Tick>,
    /// What it was told last.
    pub order: Order,
    /// Gold pieces.
    pub gold: u32,
    /// Potions.
    pub potions: u8,
    /// What it wears, by [`Slot`].
    pub worn: [Option<Gear>; Slot::ALL.len()],
    /// What else it carries.
    pub bag: [Option<Gear>; BAG],
    /// How long until it can strike again.
    pub rest_ticks: u8,
    /// How long until it can use its skill again.
    pub skill_rest_ticks: u16,
    /// The last few things that happened, the newest last.
    pub news: [Option<News>; NEWS],
    route: Route,
    /// How long until it claims again: a claim takes two ticks, and there must be room
    /// for what it brings.
    claim_rest_ticks: u8,
    /// The aim of a skill that was just commanded.
    cast: Option<Aim>,
    /// Whether it was just told to buy a potion.
    buying: bool,
    /// The place in the bag of what it was just told to drop.
    dropping: Option<u8>,
    /// What is to be told as soon as it thinks.
    greeting: Option<Event>,
}

/// What a hero does until it is told something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Stands, and strikes at what comes near.
    Stand,
    /// Walks to a tile.
    Walk(Spot),
    /// Fights a monster, then the next one near.
    Fight(EntityId),
    /// Goes to loot or a chest, which was seen at that place.
    Take(EntityId, Option<Spot>),
    /// Sleeps while its player is away: it does nothing, and nothing hurts it.
    Rest,
}

/// A hero's numbers, what it wears included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The most life.
    pub life: i32,
    /// The least and the most damage of one blow.
    pub damage: (i32, i32),
    /// Keeps off damage.
    pub armour: i32,
    /// How long from blow to blow.
    pub attack_ticks: u8,
    /// How far it walks in a tick, in tiles.
    pub step: Fx,
    /// Life from each blow that meets.
    pub leech: i32,
}

impl Hero {
    /// A hero that enters: of the first level, unless it brings along what it was before.
    pub fn new(newcomer: &Newcomer) -> Hero {
        let mut hero = Hero {
            class: newcomer.class,
            name: newcomer.name,
            person: newcomer.person,
            level: 1,
            experience: 0,
            life: 0,
            fallen: None,
            order: Order::Stand,
            gold: 0,
            potions: 3,
            worn: [None; 3],
            bag: [None; BAG],
            rest_ticks: 0,
            skill_rest_ticks: 0,
            news: [None; NEWS],
            route: Route::default(),
            claim_rest_ticks: 0,
            cast: None,
            buying: false,
            dropping: None,
            greeting: None,
        };
        if let Some(kept) = &newcomer.kept {
            hero.become_again(kept);
        }
        hero.life = hero.stats().life;
        hero
    }

    /// Whether it lives.
    pub fn is_alive(&self) -> bool {
        self.fallen.is_none()
    }

    /// Whether it sleeps, as its player is away.
    pub fn is_away(&self) -> bool {
        self.order == Order::Rest
    }

    /// Whether monsters hunt it, and their missiles meet it.
    pub fn is_prey(&self) -> bool {
        self.is_alive() && !self.is_away()
    }

    /// Its numbers.
    pub fn stats(&self) -> Stats {
        let class = self.class.measures();
        let level = i32::from(self.level) - 1;
        let sum = |kind| self.worn_sum(kind);
        let base = |slot: Slot| self.worn[slot as usize].map_or(0, |gear| i32::from(gear.base));
        let blow = |n: i32| (n + level * 2 + base(Slot::Weapon)) * (100 + sum(AffixKind::Might)) / 100;
        Stats {
            life: class.life + level * class.life_per_level + base(Slot::Charm) * 2 + sum(AffixKind::Vigour),
            damage: (blow(class.damage.0), blow(class.damage.1)),
            armour: class.armour + level + base(Slot::Armour) + sum(AffixKind::Guard),
            attack_ticks: (class.attack_ticks * 100 / (100 + sum(AffixKind::Haste))).clamp(4, 100) as u8,
            step: self.step(),
            leech: sum(AffixKind::Leech),
        }
    }

    /// How far it walks in a tick, in tiles: the one of its [`stats`](Hero::stats) that every tick
    /// asks for.
    pub fn step(&self) -> Fx {
        let step = self.class.measures().step;
        (step + step * Fx::ratio(self.worn_sum(AffixKind::Swiftness), 100)).min(Fx::ratio(2, 5))
    }

    /// What all that it wears improves this by.
    fn worn_sum(&self, kind: AffixKind) -> i32 {
        let affixes = self.worn.iter().flatten().flat_map(|gear| gear.affixes.iter().flatten());
        affixes.filter(|affix| affix.kind == kind).map(|affix| i32::from(affix.value)).sum()
    }

    /// How much experience the next level takes.
    pub fn experience_needed(&self) -> u32 {
        experience_needed(self.level)
    }

    /// Where its way turns next.
    pub fn next_corner(&self) -> Option<Vec2> {
        self.route.next_corner()
    }

    /// For how long it might not look for a way, one tick before.
    pub(crate) fn search_rest_before(&self) -> u8 {
        self.route.rest_before()
    }

    /// How much life a potion gives back.
    pub fn potion_gives(&self) -> i32 {
        20 + self.stats().life * 2 / 5
    }

    /// What a potion costs, in gold.
    pub fn potion_price(&self) -> u32 {
        25 + 5 * u32::from(self.level)
    }

    /// Whether there is room for a ware.
    pub fn has_room_for(&self, ware: &Ware) -> bool {
        match ware {
            Ware::Gold(_) => true,
            Ware::Potion => self.potions < POTIONS_MAX,
            Ware::Gear(gear) => self.worn[gear.slot as usize].is_none() || self.bag.contains(&None),
        }
    }

    /// Takes a command. What makes no sense is passed over; the dead obey nothing.
    pub(crate) fn obey(&mut self, command: &Command) {
        if !self.is_alive() {
            return;
        }
        match *command {
            Command::Stop => self.order = Order::Stand,
            Command::Walk { x, y } => self.order = Order::Walk(Tile::new(x.into(), y.into()).into()),
            Command::Attack(foe) => self.order = Order::Fight(foe),
            Command::PickUp(loot) => self.order = Order::Take(loot, None),
            Command::Skill(aim) => self.cast = Some(aim),
            Command::Drink => self.drink(),
            Command::Wear(place) => self.wear(place),
            Command::Drop(place) => self.dropping = Some(place),
            Command::Buy => self.buying = true,
            Command::TakeOff(slot, place) => self.take_off(slot, place),
        }
    }

    fn drink(&mut self) {
        let most = self.stats().life;
        if self.potions > 0 && self.life < most {
            self.potions -= 1;
            self.life = self.life.saturating_add(self.potion_gives()).min(most);
        }
    }

    fn wear(&mut self, place: u8) {
        if let Some(piece) = self.bag.get_mut(usize::from(place))
            && let Some(gear) = *piece
        {
            *piece = self.worn[gear.slot as usize].replace(gear);
            self.life = self.life.min(self.stats().life);
        }
    }

    fn take_off(&mut self, slot: Slot, place: u8) {
        if let Some(free @ None) = self.bag.get_mut(usize::from(place)) {
            *free = self.worn[slot as usize].take();
            self.life = self.life.min(self.stats().life);
        }
    }

    /// What reaches a hero.
    pub(crate) fn apply(&mut self, effect: &Effect, cause: &mut Cause) {
        match *effect {
            Effect::Hurt { by, race: Some(race) } => self.suffer(by.into(), race, cause.tick),
            Effect::Give(ware) => self.take(ware, cause.tick),
            Effect::Reward { experience, race } => self.learn(experience.into(), race, cause.tick),
            _ => {}
        }
    }

    fn suffer(&mut self, by: i32, race: Race, tick: Tick) {
        if !self.is_prey() {
            return;
        }
        self.life = self.life.saturating_sub(after_armour(by, self.stats().armour));
        if self.life <= 0 {
            self.life = 0;
            self.fallen = Some(tick);
            self.order = Order::Stand;
            self.remember(tick, Event::Fell(race));
        }
    }

    fn take(&mut self, ware: Ware, tick: Tick) {
        match ware {
            Ware::Gold(pieces) => self.earn(pieces.into()),
            Ware::Potion => self.potions = (self.potions + 1).min(POTIONS_MAX),
            Ware::Gear(gear) => {
                let worn = &mut self.worn[gear.slot as usize];
                let free = if worn.is_none() { Some(worn) } else { self.bag.iter_mut().find(|piece| piece.is_none()) };
                if let Some(free) = free {
                    *free = Some(gear);
                }
                if gear.rarity >= Rarity::Rare {
                    self.remember(tick, Event::Found(gear));
                }
            }
        }
    }

    fn earn(&mut self, gold: u32) {
        self.gold = self.gold.saturating_add(gold).min(GOLD_MAX);
    }

    fn learn(&mut self, experience: u32, race: Race, tick: Tick) {
        if race.is_great() {
            self.remember(tick, Event::Slew(race));
        }
        self.experience = self.experience.saturating_add(experience);
        while self.level < LEVEL_MAX && self.experience >= self.experience_needed() {
            self.experience -= self.experience_needed();
            self.level += 1;
            if self.is_alive() {
                self.life = self.stats().life;
            }
            self.remember(tick, Event::Level(self.level));
        }
    }

    fn remember(&mut self, tick: Tick, event: Event) {
        self.news.rotate_left(1);
        self.news[NEWS - 1] = Some(News { tick, event });
    }
}

/// How much experience leads from a level to the next.
fn experience_needed(level: u8) -> u32 {
    let level = u32::from(level);
    40 + 30 * level * level
}

/// What armour lets through of a blow: at least 1.
pub fn after_armour(by: i32, armour: i32) -> i32 {
    (by - by * armour / (armour + 40)).max(1)
}
