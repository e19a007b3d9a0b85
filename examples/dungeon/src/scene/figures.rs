//! Things and beings.

use lockstone::scene::{Drawing, Figure, Ground, Life, Mark, Rgb};
use lockstone::sim::path::Tile;
use lockstone::sim::{Entity, EntityId, PlayerId, Vec2, World};

use super::{drawings, point, words};
use crate::body::Body;
use crate::hero::{Class, Hero, Order};
use crate::loot::{Rarity, Slot, Ware};
use crate::map::{center_of, tile_of};
use crate::monsters::{Monster, Mood, Race};
use crate::projectile::{Flight, Projectile};
use crate::rules::Dungeon;

/// All that is in sight, what lies on the ground first.
pub(super) fn figures(
    world: &World<Dungeon>,
    player: PlayerId,
    corner: Tile,
    ground: &Ground,
    seen: &[bool],
) -> Vec<Figure> {
    let (width, height) = (ground.width as i32, (ground.tiles.len() / ground.width) as i32);
    let in_sight = |pos: Vec2| {
        let tile = tile_of(pos);
        let (x, y) = (tile.x - corner.x, tile.y - corner.y);
        (0..width).contains(&x) && (0..height).contains(&y) && seen[(y * width + x) as usize]
    };
    let far = Tile::new(corner.x + width, corner.y + height);
    let (low, high) = (world.grid().cell_of(center_of(corner)), world.grid().cell_of(center_of(far)));
    let cells = lockstone::sim::CellRect { low, high };
    let shown = |entity: &&Entity<Body>| in_sight(entity.pos) || entity.player.is_some();
    let mut entities: Vec<_> = world.entities(cells).filter(shown).collect();
    entities.sort_by_key(|entity| (layer(&entity.body), entity.pos.y, entity.id));
    let marks = marks(world, player).into_iter().filter(|mark| in_sight(mark.0)).map(|(_, figure)| figure);
    marks.chain(entities.iter().map(|entity| figure(entity, player, &entities))).collect()
}

fn layer(body: &Body) -> u8 {
    match body {
        Body::Loot(_) | Body::Chest(_) => 0,
        Body::Monster(monster) if monster.is_slain() => 0,
        Body::Monster(_) | Body::Hero(_) => 1,
        Body::Projectile(_) => 2,
    }
}

/// The portal, the entrance, and where the hero is going.
fn marks(world: &World<Dungeon>, player: PlayerId) -> Vec<(Vec2, Figure)> {
    let map = world.rules().map();
    let open = world.facts().portal_open(map.nests().len());
    let ring = |tile: Tile, size, color, label: Option<&str>, glow| {
        let pos = center_of(tile);
        let plain = plain(pos, size, 'O', drawings::RING, color);
        (pos, Figure { label: label.map(Into::into), glow, ..plain })
    };
    let portal = if open {
        ring(map.portal(), 1.6, Rgb(120, 220, 255), Some("portal"), 5.0)
    } else {
        ring(map.portal(), 1.4, Rgb(60, 70, 90), Some("portal (closed)"), 0.0)
    };
    let mut marks = vec![ring(map.entrance(player), 1.4, Rgb(90, 110, 80), Some("trader"), 2.0), portal];
    let order = world.hero(player).and_then(|entity| entity.body.hero()).map(|hero| hero.order);
    if let Some(Order::Walk(goal)) = order {
        let pos = center_of(goal.into());
        marks.push((pos, plain(pos, 0.4, '+', drawings::RING, Rgb(200, 200, 120))));
    }
    marks
}

/// Heroes that are too far away to be among the figures.
pub(super) fn far_heroes(world: &World<Dungeon>, figures: &[Figure]) -> Vec<Mark> {
    let heroes = world.players().filter_map(|player| world.hero(player));
    let far = heroes.filter(|hero| figures.iter().all(|figure| figure.id != Some(hero.id.0)));
    let mark = |entity: &Entity<Body>| {
        let hero = entity.body.hero()?;
        Some(Mark { pos: point(entity.pos), symbol: '@', color: class_color(hero.class), label: hero.name.text() })
    };
    far.filter_map(mark).collect()
}

fn figure(entity: &Entity<Body>, player: PlayerId, others: &[&Entity<Body>]) -> Figure {
    let figure = match &entity.body {
        Body::Hero(hero) => {
            let facing = facing(entity.pos, hero, others);
            Figure { facing, ..hero_figure(entity, hero, player) }
        }
        Body::Monster(monster) => {
            let prey = others.iter().find(|other| matches!(monster.mood, Mood::Hunt { prey, .. } if prey == other.id));
            let facing = prey.map(|prey| angle(entity.pos, prey.pos));
            Figure { facing, ..monster_figure(entity.pos, monster) }
        }
        Body::Projectile(projectile) => projectile_figure(entity.pos, projectile),
        Body::Loot(loot) => ware_figure(entity.pos, &loot.ware),
        Body::Chest(_) => named("chest", plain(entity.pos, 0.8, '=', drawings::CHEST, Rgb(170, 120, 50))),
    };
    Figure { id: Some(entity.id.0), ..figure }
}

fn named(name: impl Into<String>, figure: Figure) -> Figure {
    Figure { name: Some(name.into()), ..figure }
}

/// Where a hero looks: along its way, or at what it fights or takes.
fn facing(pos: Vec2, hero: &Hero, others: &[&Entity<Body>]) -> Option<f32> {
    let of = |id: EntityId| others.iter().find(|other| other.id == id).map(|other| other.pos);
    let to = match hero.order {
        Order::Stand | Order::Rest => None,
        Order::Walk(goal) => Some(hero.next_corner().unwrap_or(center_of(goal.into()))),
        Order::Fight(foe) => of(foe),
        Order::Take(thing, _) => of(thing),
    };
    to.filter(|&to| to != pos).map(|to| angle(pos, to))
}

fn class_color(class: Class) -> Rgb {
    match class {
        Class::Warrior => Rgb(214, 90, 60),
        Class::Ranger => Rgb(90, 190, 90),
        Class::Mage => Rgb(120, 110, 230),
    }
}

fn hero_figure(entity: &Entity<Body>, hero: &Hero, player: PlayerId) -> Figure {
    let mine = entity.player == Some(player);
    let (symbol, drawing) = match hero {
        _ if !hero.is_alive() => ('%', drawings::BONES),
        _ if hero.is_away() => ('z', drawings::MOUND),
        _ => ('@', drawings::HERO),
    };
    let label = format!("{} {}{}", hero.name.text(), hero.level, if hero.is_away() { ", away" } else { "" });
    let life = Some(Life { left: hero.life, max: hero.stats().life });
    let glow = if mine { 9.0 } else { 6.0 };
    let plain = plain(entity.pos, 0.95, symbol, drawing, class_color(hero.class));
    Figure { life, label: Some(label), glow, is_hero: true, ..named(hero.name.text(), plain) }
}

fn monster_figure(pos: Vec2, monster: &Monster) -> Figure {
    let (size, symbol, drawing, color) = match monster.race {
        Race::Hunter => (0.8, 'h', drawings::BEAST, Rgb(150, 110, 80)),
        Race::Archer => (0.85, 'a', drawings::ARCHER, Rgb(210, 205, 180)),
        Race::Sleeper => (1.1, 's', drawings::BEAST, Rgb(120, 130, 140)),
        Race::BroodMother => (1.9, 'B', drawings::BROOD, Rgb(160, 60, 120)),
        Race::Warden => (2.2, 'W', drawings::BROOD, Rgb(220, 90, 40)),
        Race::Broodling => (0.5, 'b', drawings::BEAST, Rgb(190, 90, 150)),
    };
    let (symbol, drawing) = match monster.mood {
        _ if monster.is_slain() => ('%', drawings::BONES),
        Mood::Asleep => ('z', drawings::MOUND),
        _ => (symbol, drawing),
    };
    let life = Some(Life { left: monster.life.max(0), max: monster.life_max() });
    let label = monster.race.is_great().then(|| words::monster(monster));
    Figure { life, label, ..named(words::monster(monster), plain(pos, size, symbol, drawing, color)) }
}

fn projectile_figure(pos: Vec2, projectile: &Projectile) -> Figure {
    let course = f32::from(projectile.course.0) * core::f32::consts::TAU / 65_536.0;
    let figure = match (projectile.flight, projectile.race) {
        (Flight::Arrow { .. }, None) => plain(pos, 0.5, '-', drawings::BOLT, Rgb(230, 220, 150)),
        (Flight::Arrow { .. }, Some(_)) => plain(pos, 0.5, '-', drawings::BOLT, Rgb(220, 130, 110)),
        (Flight::Orb { fire }, _) => {
            let size = 0.3 + super::float(fire) / 6.0;
            Figure { glow: 2.0 + super::float(fire), ..plain(pos, size, '*', drawings::ORB, Rgb(255, 150, 60)) }
        }
    };
    Figure { facing: Some(course), ..figure }
}

fn ware_figure(pos: Vec2, ware: &Ware) -> Figure {
    match ware {
        Ware::Gold(pieces) => named(format!("{pieces} gold"), plain(pos, 0.35, '$', drawings::GEM, Rgb(235, 200, 70))),
        Ware::Potion => named("potion", plain(pos, 0.45, '!', drawings::FLASK, Rgb(220, 60, 70))),
        Ware::Gear(gear) => {
            let (symbol, drawing) = match gear.slot {
                Slot::Weapon => ('/', drawings::BLADE),
                Slot::Armour => (']', drawings::CHEST),
                Slot::Charm => ('o', drawings::GEM),
            };
            let label = (gear.rarity > Rarity::Common).then(|| words::title(gear));
            let glow = f32::from(gear.rarity as u8);
            let plain = plain(pos, 0.5, symbol, drawing, rarity_color(gear.rarity));
            Figure { label, glow, ..named(words::title(gear), plain) }
        }
    }
}

fn rarity_color(rarity: Rarity) -> Rgb {
    match rarity {
        Rarity::Common => Rgb(200, 200, 200),
        Rarity::Magic => Rgb(110, 140, 255),
        Rarity::Rare => Rgb(250, 230, 90),
        Rarity::Unique => Rgb(240, 150, 50),
    }
}

fn plain(pos: Vec2, size: f32, symbol: char, drawing: Drawing, color: Rgb) -> Figure {
    Figure { size, ..Figure::new(point(pos), symbol, drawing, color) }
}

fn angle(from: Vec2, to: Vec2) -> f32 {
    let ((x, y), (tx, ty)) = (point(from), point(to));
    (ty - y).atan2(tx - x)
}
