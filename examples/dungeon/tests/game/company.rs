//! Bots beside a person: they stay, let them go first, and leave them what lies there.

use dungeon::hero::{Hero, Order};
use dungeon::loot::{Gear, Loot, Rarity, Slot, Ware};
use dungeon::map::tile_of;
use dungeon::monsters::{Monster, Mood, Race};
use dungeon::{Body, Command, DungeonBot};
use lockstone::sim::{EntityId, Fx, PlayerId, Tick, Vec2};
use testkit::delve::{Play, Stage};

const BOT: PlayerId = PlayerId(1);

/// Player 0's warrior in the middle, and a bot's ranger so far to the east, with what else there
/// is.
fn beside(person: bool, east: i32, more: impl FnOnce(&mut Stage)) -> Play {
    beside_one(|hero| hero.person = person, east, more)
}

fn beside_one(other: impl FnOnce(&mut Hero), east: i32, more: impl FnOnce(&mut Stage)) -> Play {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, other);
    stage.hero(BOT.0, "ranger", east, 0, |_| {});
    more(&mut stage);
    stage.set(&mut play);
    play.bots = vec![DungeonBot::new(BOT)];
    play
}

fn apart(play: &Play) -> Fx {
    play.entity(0).pos.distance(play.entity(1).pos)
}

/// A ring worth having, so far from the middle.
fn charm(stage: &mut Stage, east: i32, south: i32) -> EntityId {
    let gear = Gear { slot: Slot::Charm, rarity: Rarity::Common, base: 4, affixes: [None; 3] };
    stage.put(east, south, Loot::body(Ware::Gear(gear)))
}

#[test]
fn a_bot_comes_along_and_does_not_run_ahead() {
    for (person, stays) in [(true, true), (false, false)] {
        let mut play = beside(person, 6, |_| {});
        (0..200).for_each(|_| play.tick());
        assert_eq!(apart(&play) < Fx::int(5), stays, "a person: {person}, {}", apart(&play));
    }
    let mut play = beside(true, 2, |_| {});
    let goal = tile_of(play.entity(0).pos - Vec2::new(Fx::int(6), Fx::ZERO));
    play.command(0, Command::walk(goal));
    (0..100).for_each(|_| play.tick());
    assert_eq!(tile_of(play.entity(0).pos), goal);
    assert!(apart(&play) < Fx::int(5), "{}", apart(&play));
    assert_eq!(play.hero(1).order, Order::Stand, "it waits there");
}

#[test]
fn a_bot_fights_what_its_person_fights_and_not_before() {
    let sleeper = |person, attacked| {
        let mut id = None;
        let mut play = beside(person, 2, |stage| {
            id = Some(stage.put(6, 4, Body::Monster(Monster::new(Race::Sleeper, 1))));
        });
        let id = id.expect("it was put");
        if attacked {
            play.command(0, Command::Attack(id));
        }
        (0..30).for_each(|_| play.tick());
        play.hero(1).order == Order::Fight(id)
    };
    assert!(!sleeper(true, false) && sleeper(true, true) && sleeper(false, false));
}

#[test]
fn a_bot_helps_whom_something_hunts_once_it_matters() {
    let helps = |life_percent: i32| {
        let mut id = None;
        let hurt = |hero: &mut Hero| (hero.person, hero.life) = (true, hero.life * life_percent / 100);
        let mut play = beside_one(hurt, 3, |stage| {
            let prey = EntityId::hero(PlayerId(0), Tick(0));
            let mood = Mood::Hunt { prey, place: tile_of(stage.at(0, 0)).into() };
            id = Some(stage.put(
                -6,
                0,
                Body::Monster(Monster { mood, rest_ticks: 200, ..Monster::new(Race::Archer, 1) }),
            ));
        });
        (0..9).for_each(|_| play.tick());
        play.hero(1).order == Order::Fight(id.expect("it was put"))
    };
    assert!(helps(40) && !helps(100));
}

#[test]
fn a_bot_leaves_a_person_what_lies_beside_them() {
    for (person, taken) in [(true, false), (false, true)] {
        let mut id = None;
        let mut play = beside(person, 3, |stage| id = Some(charm(stage, 4, 2)));
        (0..100).for_each(|_| play.tick());
        let is_there = play.find(id.expect("it was put")).is_some();
        assert_eq!(!is_there, taken, "a person: {person}");
    }
}
