//! What a player hears around their hero. It compares two looks at the world: whose life is less
//! than before, what lies there that did not, how far the own hero has walked.
//!
//! It only reads the world, and remembers what was around the hero at its last look. What comes
//! into hearing, or is there from the first look on, makes no sound: nothing has happened to it.

#![allow(clippy::disallowed_types, reason = "a sound's pitch and place are floats; nothing comes back from here")]

pub mod tones;

use std::collections::BTreeMap;

use lockstone::game::Ear;
use lockstone::sim::{Entity, EntityId, Fx, PlayerId, Simulation, Tick, Vec2, World, mix64};
use lockstone::sound::{Sound, Tone};

use crate::body::Body;
use crate::hero::{Class, Hero};
use crate::loot::{Rarity, Ware};
use crate::projectile::Flight;
use crate::rules::Dungeon;
use crate::scene::point;

/// What is farther away is not heard, in tiles.
const HEARS: Fx = Fx::int(12);
/// What is so near is remembered, in tiles: more than is heard, so that nothing is new that only
/// came nearer. Torchlight goes farther.
const KNOWS: Fx = Fx::int(14);
/// From one foot to the other, in tiles.
const STEP_TILES: f32 = 1.3;
/// Farther than this, in tiles, no hero walks between two looks: it was carried.
const JUMP_TILES: f32 = 2.0;
/// Two of a kind differ by so much in pitch.
const VARIES: f32 = 0.12;

/// Hears for one player.
#[derive(Default)]
pub struct DungeonEar {
    before: Option<Look>,
    /// What the hero has walked since the last step was heard, in tiles.
    walked: f32,
    steps: u32,
}

/// What there was around the hero.
struct Look {
    at: Vec2,
    hero: Hero,
    /// All that was near, with how it was.
    near: BTreeMap<EntityId, State>,
}

/// What can be heard to change.
#[derive(Clone, Copy, Default)]
struct State {
    life: i32,
    skill_rest_ticks: u16,
}

/// What is heard at one look: of each kind the loudest.
struct Heard {
    at: Vec2,
    tick: Tick,
    sounds: Vec<Sound>,
}

impl Ear<World<Dungeon>> for DungeonEar {
    fn hear(&mut self, world: &World<Dungeon>, player: PlayerId) -> Vec<Sound> {
        let look = world.hero(player).and_then(|me| Look::of(world, me));
        let Some((now, before)) = look.as_ref().zip(self.before.as_ref()) else {
            self.before = look;
            return Vec::new();
        };
        let mut heard = Heard { at: now.at, tick: world.tick(), sounds: Vec::new() };
        heard.own(&before.hero, &now.hero);
        for entity in around(world, now.at, HEARS) {
            match before.near.get(&entity.id) {
                Some(was) => heard.change(*was, entity, player),
                None if entity.pos.within(before.at, HEARS) => heard.beginning(entity),
                None => {}
            }
        }
        self.walk(before.at, now.at, &mut heard);
        self.before = look;
        heard.sounds
    }
}

impl DungeonEar {
    fn walk(&mut self, from: Vec2, to: Vec2, heard: &mut Heard) {
        let ((x, y), (tx, ty)) = (point(from), point(to));
        let walked = (tx - x).hypot(ty - y);
        self.walked += if walked < JUMP_TILES { walked } else { 0.0 };
        if self.walked >= STEP_TILES {
            self.walked %= STEP_TILES;
            self.steps = self.steps.wrapping_add(1);
            // One foot, then the other.
            let pitch = if self.steps.is_multiple_of(2) { 0.94 } else { 1.06 };
            heard.sounds.push(Sound::new(tones::STEP).pitched(pitch));
        }
    }
}

impl Look {
    fn of(world: &World<Dungeon>, me: &Entity<Body>) -> Option<Look> {
        let near = around(world, me.pos, KNOWS).map(|entity| (entity.id, State::of(&entity.body)));
        Some(Look { at: me.pos, hero: me.body.hero()?.clone(), near: near.collect() })
    }
}

impl State {
    fn of(body: &Body) -> State {
        match body {
            Body::Hero(hero) => State { life: hero.life, skill_rest_ticks: hero.skill_rest_ticks },
            Body::Monster(monster) => State { life: monster.life, ..State::default() },
            Body::Projectile(_) | Body::Loot(_) | Body::Chest(_) => State::default(),
        }
    }
}

impl Heard {
    /// What the player's own hero did, or what became of it.
    fn own(&mut self, before: &Hero, now: &Hero) {
        let pieces = |hero: &Hero| hero.worn.iter().chain(&hero.bag).flatten().count();
        let sounds = [
            (now.level > before.level, tones::LEVEL),
            (!now.is_alive() && before.is_alive(), tones::FELL),
            (now.is_alive() && now.life < before.life, tones::HURT),
            (now.potions < before.potions, tones::DRINK),
            (now.potions > before.potions || pieces(now) > pieces(before), tones::TAKE),
            (now.gold > before.gold, tones::COIN),
        ];
        let sounds = sounds.into_iter().filter(|(is_heard, _)| *is_heard);
        self.sounds.extend(sounds.map(|(_, tones)| Sound::new(tones)));
    }

    /// Something that was there is not as it was.
    fn change(&mut self, was: State, entity: &Entity<Body>, player: PlayerId) {
        let is_hurt = State::of(&entity.body).life < was.life;
        match &entity.body {
            Body::Monster(monster) if is_hurt => {
                self.hear(entity, if monster.is_slain() { tones::SLAIN } else { tones::HIT });
            }
            Body::Hero(hero) => {
                if is_hurt && entity.player != Some(player) {
                    self.hear(entity, if hero.is_alive() { tones::HURT } else { tones::FELL });
                }
                if hero.class == Class::Warrior && hero.skill_rest_ticks > was.skill_rest_ticks {
                    self.hear(entity, tones::WHIRL);
                }
            }
            _ => {}
        }
    }

    /// Something is there that was not.
    fn beginning(&mut self, entity: &Entity<Body>) {
        match &entity.body {
            Body::Loot(loot) => {
                let is_rare = matches!(loot.ware, Ware::Gear(gear) if gear.rarity >= Rarity::Rare);
                self.hear(entity, if is_rare { tones::TREASURE } else { tones::DROP });
            }
            Body::Projectile(projectile) => match projectile.flight {
                Flight::Arrow { .. } => self.hear(entity, tones::SHOT),
                Flight::Orb { .. } => self.hear(entity, tones::FIRE),
            },
            Body::Hero(_) | Body::Monster(_) | Body::Chest(_) => {}
        }
    }

    /// Hears something from a place, unless a louder one of its kind is heard already.
    fn hear(&mut self, from: &Entity<Body>, tones: &'static [Tone]) {
        let random = mix64(from.id.0 ^ u64::from(self.tick.0)) >> 40;
        let pitch = 1.0 + VARIES * (random as f32 / (1 << 24) as f32 - 0.5);
        let sound = Sound::new(tones).at(point(from.pos - self.at)).pitched(pitch);
        match self.sounds.iter_mut().find(|other| other.tones == tones) {
            Some(other) if other.gain >= sound.gain => {}
            Some(other) => *other = sound,
            None => self.sounds.push(sound),
        }
    }
}

fn around(world: &World<Dungeon>, at: Vec2, radius: Fx) -> impl Iterator<Item = &Entity<Body>> {
    world.entities(world.grid().cells_around(at, radius)).filter(move |entity| entity.pos.within(at, radius))
}
