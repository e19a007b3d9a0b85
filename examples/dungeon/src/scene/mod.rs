//! What a player sees around their hero. Read-only, and the only place with floats.

#![allow(clippy::disallowed_types, reason = "a picture's positions are floats; nothing comes back from here")]

mod advice;
mod drawings;
mod figures;
mod ground;
pub(crate) mod inventory;
mod stones;
mod words;

use lockstone::scene::{Gauge, Rgb, Scene, Skill};
use lockstone::sim::path::Tile;
use lockstone::sim::{Fx, PlayerId, Vec2, World};

use crate::hero::Hero;
use crate::map::{center_of, tile_of};
use crate::rules::Dungeon;

pub use words::title;

/// How many columns and rows are seen to each side of the hero.
const COLUMNS: i32 = 24;
const ROWS: i32 = 15;

/// The picture for a player; from the entrance as long as they have no hero.
pub(crate) fn scene(world: &World<Dungeon>, player: PlayerId) -> Scene {
    let map = world.rules().map();
    let entity = world.hero(player);
    let eye = entity.map_or(center_of(map.entrance(player)), |entity| entity.pos);
    let tile = tile_of(eye);
    let corner = Tile::new(tile.x - COLUMNS, tile.y - ROWS);
    let hero = entity.and_then(|entity| entity.body.hero());
    let (ground, seen) = ground::ground(world, eye, corner, (2 * COLUMNS + 1, 2 * ROWS + 1));
    let figures = figures::figures(world, player, corner, &ground, &seen);
    Scene {
        center: point(eye),
        marks: figures::far_heroes(world, &figures),
        figures,
        ground,
        gauges: hero.map_or_else(Vec::new, gauges),
        notes: words::notes(world, hero),
        news: words::news(world),
        skills: hero.map_or_else(Vec::new, skills),
        ..Scene::default()
    }
}

fn skills(hero: &Hero) -> Vec<Skill> {
    let class = hero.class.measures();
    let rested = 1.0 - f32::from(hero.skill_rest_ticks) / f32::from(class.skill_ticks.max(1));
    let potions = Some(hero.potions.into());
    let alive = if hero.is_alive() { 1.0 } else { 0.0 };
    vec![
        Skill { key: 'K', name: class.skill, ready: rested * alive, count: None },
        Skill { key: 'Q', name: "drink", ready: if hero.potions > 0 { alive } else { 0.0 }, count: potions },
    ]
}

/// What a player's hero wears and carries, after what is urgent.
pub(crate) fn inventory(world: &World<Dungeon>, player: PlayerId) -> Option<Vec<String>> {
    let hero = world.hero(player)?.body.hero()?;
    let mut lines = advice::advice(world, hero);
    lines.extend(inventory::inventory(hero));
    Some(lines)
}

fn gauges(hero: &Hero) -> Vec<Gauge> {
    let class = hero.class.measures();
    let ready = i32::from(class.skill_ticks) - i32::from(hero.skill_rest_ticks);
    let gauge = |name, value, max, color| Gauge { name, value, max, color };
    vec![
        gauge("life", hero.life, hero.stats().life, Rgb(200, 50, 50)),
        gauge(class.skill, ready, class.skill_ticks.into(), Rgb(70, 110, 220)),
        gauge("experience", hero.experience as i32, hero.experience_needed() as i32, Rgb(200, 170, 60)),
    ]
}

pub(crate) fn point(pos: Vec2) -> (f32, f32) {
    (float(pos.x), float(pos.y))
}

fn float(n: Fx) -> f32 {
    n.to_bits() as f32 / (1 << Fx::FRACTION_BITS) as f32
}
