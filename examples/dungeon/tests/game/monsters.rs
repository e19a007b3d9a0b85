//! Each kind of monster does what it is named for.

use dungeon::Body;
use dungeon::command::Command;
use dungeon::map::tile_of;
use dungeon::monsters::{BROOD_MAX, Kin, Monster, Mood, Race};
use lockstone::sim::{Body as _, EntityId, Fx, Tick};
use testkit::delve::{Play, Stage};

/// A hero who stands all of it and does not strike back, being told to walk to where it stands.
const STOUT: i32 = 1_000_000;

fn monster(race: Race) -> Body {
    Body::Monster(Monster::new(race, 1))
}

fn mood(play: &Play, id: EntityId) -> Mood {
    play.find(id).and_then(|entity| entity.body.monster()).expect("it lives").mood
}

/// Runs some ticks in which player 0 stands still and strikes at nothing.
fn hold(play: &mut Play, ticks: usize) {
    let tile = tile_of(play.entity(0).pos);
    (0..ticks).for_each(|_| play.command(0, Command::walk(tile)));
}

#[test]
fn a_hunter_calls_its_pack() {
    let calls = |with_scout: bool| {
        let (mut play, mut stage) = Stage::new();
        let hero = stage.hero(0, "warrior", -7, -7, |hero| hero.life = STOUT);
        let far = stage.put(6, -4, monster(Race::Hunter));
        if with_scout {
            stage.put(-1, -5, monster(Race::Hunter));
        }
        stage.set(&mut play);
        let waits = mood(&play, far) == Mood::Idle;
        hold(&mut play, 8);
        (waits, matches!(mood(&play, far), Mood::Hunt { prey, .. } if prey == hero))
    };
    assert_eq!(calls(true), (true, true), "the scout sees the hero and calls the other");
    assert_eq!(calls(false), (true, false), "alone, the other is too far to see the hero");
}

#[test]
fn a_pack_surrounds_its_prey() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |hero| hero.life = STOUT);
    let pack: Vec<EntityId> = (-3..=3).map(|n| stage.put(6, n, monster(Race::Hunter))).collect();
    stage.set(&mut play);
    hold(&mut play, 120);
    let prey = play.entity(0).pos;
    let sides = pack.iter().map(|&id| play.find(id).expect("it lives").pos - prey);
    let mut quarters: Vec<(bool, bool)> = sides.map(|way| (way.x > Fx::ZERO, way.y > Fx::ZERO)).collect();
    quarters.sort();
    quarters.dedup();
    assert!(quarters.len() >= 3, "all came from the east, and now stand {quarters:?}");
    assert!(play.hero(0).life < STOUT, "and none bit");
}

#[test]
fn an_archer_keeps_its_distance_and_shoots() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", -2, 0, |hero| hero.life = STOUT);
    let archer = stage.put(0, 0, monster(Race::Archer));
    stage.set(&mut play);
    hold(&mut play, 60);
    let away = play.find(archer).expect("it lives").pos.distance(play.entity(0).pos);
    assert!(away > Fx::int(4), "it stands {away} tiles away");
    assert!(away < Fx::int(8), "it fled {away} tiles");
    assert!(play.hero(0).life < STOUT, "it never hit");
}

#[test]
fn a_sleeper_sleeps_until_a_hero_is_near() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", -6, 0, |hero| hero.life = STOUT);
    let sleeper = stage.put(0, 0, monster(Race::Sleeper));
    let near = stage.at(-3, 0);
    stage.set(&mut play);
    let thinks = |play: &Play| play.find(sleeper).expect("it lives").body.is_actor();
    hold(&mut play, 200);
    assert_eq!((mood(&play, sleeper), thinks(&play)), (Mood::Asleep, false), "a hero six tiles away is no matter");
    play.command(0, Command::walk(tile_of(near)));
    (0..30).for_each(|_| play.step(Vec::new()));
    hold(&mut play, 60);
    assert!(thinks(&play) && matches!(mood(&play, sleeper), Mood::Hunt { .. }));
    assert!(play.hero(0).life < STOUT, "awake, it strikes");
}

#[test]
fn a_sleeper_left_alone_falls_asleep_again() {
    let (mut play, mut stage) = Stage::new();
    // A hero who lies slain for good: light, but no prey.
    stage.hero(0, "warrior", -6, 0, |hero| hero.fallen = Some(Tick(u32::MAX)));
    let mut awake = Monster::new(Race::Sleeper, 1);
    awake.mood = Mood::Alarmed;
    let sleeper = stage.put(0, 0, Body::Monster(awake));
    stage.set(&mut play);
    (0..90).for_each(|_| play.step(Vec::new()));
    assert!(play.find(sleeper).is_some_and(|entity| entity.body.is_actor()), "still awake");
    (0..300).for_each(|_| play.step(Vec::new()));
    assert_eq!(mood(&play, sleeper), Mood::Asleep);
}

#[test]
fn a_brood_mother_spawns_up_to_a_cap() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", -5, 0, |hero| hero.life = STOUT);
    let mother = stage.put(1, 0, monster(Race::BroodMother));
    stage.set(&mut play);
    let brood = |play: &Play| {
        let hers = |monster: &Monster| monster.race == Race::Broodling && monster.kin == Kin::Mother(mother);
        play.everything().filter(|entity| entity.body.monster().is_some_and(hers)).count()
    };
    let mut most = 0;
    for _ in 0..600 {
        hold(&mut play, 1);
        most = most.max(brood(&play));
    }
    assert_eq!((most, brood(&play)), (BROOD_MAX, BROOD_MAX));
}
