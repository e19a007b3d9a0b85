//! What a click or a typed line means.

use lockstone::scene::Pointer;
use lockstone::sim::path::Tile;
use lockstone::sim::{Entity, Fx, PlayerId, Vec2, World};

use crate::body::Body;
use crate::command::Command;
use crate::hero::Class;
use crate::loot::Ware;
use crate::map::tile_of;
use crate::measures::REACH;
use crate::rules::Dungeon;
use crate::scene::inventory::{Place, slot};

/// A click so near to something means it.
const CLICK: Fx = Fx::ratio(9, 10);

/// What it means to drag one line of the inventory onto another, or onto the world.
pub(crate) fn drag(world: &World<Dungeon>, player: PlayerId, from: &str, to: Option<&str>) -> Option<Command> {
    let hero = world.hero(player)?.body.hero()?;
    let bag = |place: u8| hero.bag.get(usize::from(place)).copied().flatten();
    match (Place::of(from)?, to.map(Place::of)) {
        (Place::Bag(place), None) => bag(place).map(|_| Command::Drop(place)),
        (Place::Bag(place), Some(Some(Place::Worn(_)))) => bag(place).map(|_| Command::Wear(place)),
        (Place::Worn(slot), Some(Some(Place::Bag(place)))) => match bag(place) {
            None => hero.worn[slot as usize].map(|_| Command::TakeOff(slot, place)),
            Some(gear) => (gear.slot == slot).then_some(Command::Wear(place)),
        },
        // By way of the bag: of what is worn nothing is laid down at once.
        (Place::Worn(slot), None) => {
            let place = hero.bag.iter().position(Option::is_none)?;
            hero.worn[slot as usize].map(|_| Command::TakeOff(slot, place as u8))
        }
        _ => None,
    }
}

/// What can be typed.
const HELP: &str = "Type where to walk (\"96 40\", or \"n 5\" for five tiles north), attack, pick, skill, drink, \
wear 1, off charm, drop 1, buy (a potion, at the entrance), stop.";

/// What is said to any other key or word.
const UNKNOWN: &str = "That is no command: /help lists them.";

/// The main button walks, attacks or takes, the other one uses the skill.
pub(crate) fn click(world: &World<Dungeon>, player: PlayerId, at: Vec2, pointer: Pointer) -> Option<Command> {
    let hero = world.hero(player)?;
    if pointer == Pointer::Secondary {
        return Some(Command::skill(at));
    }
    let clicked = nearest(world, hero.pos, at, CLICK, |body| body.is_foe())
        .or_else(|| nearest(world, hero.pos, at, CLICK, is_thing));
    Some(match clicked {
        Some(entity) if entity.body.is_foe() => Command::Attack(entity.id),
        Some(entity) => Command::PickUp(entity.id),
        None => Command::walk(tile_of(at)),
    })
}

/// A typed line.
pub(crate) fn typed(world: &World<Dungeon>, player: PlayerId, text: &str) -> Result<Command, String> {
    let hero = world.hero(player).ok_or("Your hero is not in the dungeon yet.")?;
    let text = text.trim().to_lowercase();
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let near = |wanted: fn(&Body) -> bool| nearest(world, hero.pos, hero.pos, REACH, wanted);
    match words[..] {
        ["stop" | "s!"] => Ok(Command::Stop),
        ["drink" | "q"] => Ok(Command::Drink),
        ["attack" | "a"] => near(|body| body.is_foe()).map(|foe| Command::Attack(foe.id)).ok_or_else(|| no("foe")),
        ["pick" | "take" | "p"] => near(is_thing).map(|thing| Command::PickUp(thing.id)).ok_or_else(|| no("thing")),
        ["skill" | "k"] => {
            let foe = near(|body| body.is_foe());
            let whirls = hero.body.hero().is_some_and(|hero| hero.class == Class::Warrior);
            match foe {
                Some(foe) => Ok(Command::skill(foe.pos)),
                None if whirls => Ok(Command::skill(hero.pos)),
                None => Err(no("foe")),
            }
        }
        [place @ ("1" | "2" | "3" | "4")] => bag_place(place).map(Command::Wear),
        ["wear", place] => bag_place(place).map(Command::Wear),
        ["buy" | "b"] => Ok(Command::Buy),
        ["off", what] => {
            let free = hero.body.hero().and_then(|hero| hero.bag.iter().position(Option::is_none));
            let free = free.ok_or("Your bag is full.")?;
            slot(what).map(|slot| Command::TakeOff(slot, free as u8)).ok_or_else(|| HELP.into())
        }
        ["drop", place] => bag_place(place).map(Command::Drop),
        ["help"] => Err(HELP.into()),
        [way] => walk_along(hero.pos, way, "4"),
        [a, b] => match (a.parse(), b.parse()) {
            (Ok(x), Ok(y)) => Ok(Command::walk(Tile::new(x, y))),
            _ => walk_along(hero.pos, a, b),
        },
        _ => Err(UNKNOWN.into()),
    }
}

fn no(what: &str) -> String {
    format!("There is no {what} near.")
}

fn bag_place(text: &str) -> Result<u8, String> {
    text.parse().ok().and_then(|place: u8| place.checked_sub(1)).ok_or_else(|| HELP.into())
}

fn walk_along(from: Vec2, way: &str, tiles: &str) -> Result<Command, String> {
    let (dx, dy) = match way {
        "n" | "north" => (0, -1),
        "s" | "south" => (0, 1),
        "w" | "west" => (-1, 0),
        "e" | "east" => (1, 0),
        "ne" | "northeast" => (1, -1),
        "nw" | "northwest" => (-1, -1),
        "se" | "southeast" => (1, 1),
        "sw" | "southwest" => (-1, 1),
        _ => return Err(UNKNOWN.into()),
    };
    let tiles: i32 = tiles.parse::<u8>().map_err(|_| HELP)?.into();
    let tile = tile_of(from);
    Ok(Command::walk(Tile::new(tile.x + dx * tiles, tile.y + dy * tiles)))
}

fn is_thing(body: &Body) -> bool {
    match body {
        Body::Loot(loot) => matches!(loot.ware, Ware::Gear(_) | Ware::Gold(_) | Ware::Potion),
        Body::Chest(_) => true,
        _ => false,
    }
}

/// What is wanted nearest to a place, if a hero can act on it from where it is.
pub(crate) fn nearest(
    world: &World<Dungeon>,
    hero: Vec2,
    at: Vec2,
    radius: Fx,
    wanted: fn(&Body) -> bool,
) -> Option<&Entity<Body>> {
    let around = world.entities(world.grid().cells_around(at, radius));
    let wanted =
        around.filter(|entity| entity.pos.within(at, radius) && entity.pos.within(hero, REACH) && wanted(&entity.body));
    wanted.min_by_key(|entity| (entity.pos.distance_squared(at), entity.id))
}
