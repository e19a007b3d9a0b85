//! Loot changes hands whole: never doubled, never lost.

use std::collections::BTreeMap;

use dungeon::Body;
use dungeon::command::Command;
use dungeon::loot::{Affix, AffixKind, Chest, Gear, Loot, Rarity, Slot, Ware};
use lockstone::sim::{Body as _, EntityId, Input, PlayerId, Simulation};
use testkit::delve::{Play, Stage};

fn blade(base: u8) -> Gear {
    let affix = Affix { kind: AffixKind::Might, value: 9 };
    Gear { slot: Slot::Weapon, rarity: Rarity::Rare, base, affixes: [Some(affix), None, None] }
}

/// How many pieces each of two heroes has.
fn pieces(play: &Play) -> [usize; 2] {
    [0, 1].map(|player| play.hero(player).worn.iter().chain(&play.hero(player).bag).flatten().count())
}

fn both(command: Command) -> Vec<Input<lockstone::sim::World<dungeon::Dungeon>>> {
    vec![Input::Command(PlayerId(0), command), Input::Command(PlayerId(1), command)]
}

#[test]
fn one_of_two_claims_in_a_tick_is_met() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |_| {});
    stage.hero(1, "mage", 1, 0, |_| {});
    let loot = stage.put(0, 0, Loot::body(Ware::Gear(blade(3))));
    stage.set(&mut play);
    play.step(both(Command::PickUp(loot)));
    let claimed = play.find(loot).expect("it hands itself over a tick later").body.loot().expect("loot").claimed_by;
    assert!(claimed.is_some());
    assert_eq!(pieces(&play), [0, 0]);
    play.step(Vec::new());
    assert!(play.find(loot).is_none());
    let winner = (0..2).position(|player| Some(play.entity(player).id) == claimed).expect("a hero claimed it");
    let mut expected = [0, 0];
    expected[winner] = 1;
    assert_eq!(pieces(&play), expected);
    assert_eq!(play.hero(winner as u16).worn[Slot::Weapon as usize], Some(blade(3)));
    (0..10).for_each(|_| play.step(both(Command::PickUp(loot))));
    assert_eq!(pieces(&play), expected, "and nothing comes after");
}

#[test]
fn gold_is_gathered_once() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |_| {});
    stage.hero(1, "mage", 0, 0, |_| {});
    for _ in 0..7 {
        stage.put(0, 0, Loot::body(Ware::Gold(10)));
    }
    stage.set(&mut play);
    (0..100).for_each(|_| play.step(Vec::new()));
    assert_eq!(play.hero(0).gold + play.hero(1).gold, 70);
    assert!(!play.everything().any(|entity| entity.body.loot().is_some()));
}

#[test]
fn a_claim_lapses_when_its_hero_is_gone() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |_| {});
    stage.hero(1, "warrior", 5, 0, |_| {});
    let loot = stage.put(0, 0, Loot::body(Ware::Gear(blade(3))));
    stage.set(&mut play);
    play.step(vec![Input::Command(PlayerId(0), Command::PickUp(loot)), Input::Leave(PlayerId(0))]);
    let lies = |play: &Play| play.find(loot).is_some_and(|entity| !entity.body.is_actor());
    assert!(!lies(&play), "it is claimed");
    play.step(Vec::new());
    assert!(lies(&play), "it lies there again");
    play.command(1, Command::PickUp(loot));
    (0..60).for_each(|_| play.step(Vec::new()));
    assert_eq!(play.hero(1).worn[Slot::Weapon as usize], Some(blade(3)), "for another to take");
}

#[test]
fn a_full_bag_takes_nothing() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |hero| {
        hero.worn = [Some(blade(1)); 3];
        hero.bag = [Some(blade(1)); 4];
    });
    let loot = stage.put(0, 0, Loot::body(Ware::Gear(blade(3))));
    stage.set(&mut play);
    (0..20).for_each(|_| play.command(0, Command::PickUp(loot)));
    assert!(play.find(loot).is_some_and(|entity| !entity.body.is_actor()));
    play.command(0, Command::Drop(2));
    play.command(0, Command::PickUp(loot));
    (0..5).for_each(|_| play.step(Vec::new()));
    assert!(play.find(loot).is_none());
    assert_eq!(play.hero(0).bag[2], Some(blade(3)));
    play.command(0, Command::Wear(2));
    assert_eq!(play.hero(0).worn[0], Some(blade(3)));
    assert_eq!(play.hero(0).bag[2], Some(blade(1)));
}

#[test]
fn a_chest_opens_once() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |_| {});
    stage.hero(1, "warrior", 0, 1, |_| {});
    let chest = stage.put(1, 0, Body::Chest(Chest { level: 2, opened: false }));
    stage.set(&mut play);
    play.step(both(Command::PickUp(chest)));
    play.step(both(Command::PickUp(chest)));
    assert!(play.find(chest).is_none());
    let gear = |body: &Body| body.loot().is_some_and(|loot| matches!(loot.ware, Ware::Gear(_)));
    assert_eq!(play.everything().filter(|entity| gear(&entity.body)).count(), 1);
}

/// Over whole games: what heroes have more is what vanished from the ground, less what they
/// dropped.
#[test]
fn no_piece_is_doubled_or_lost_in_play() {
    for seed in 0..3 {
        let mut play = Play::bots(seed, 4);
        let mut taken = 0;
        for _ in 0..6_000 {
            let (carried, ground) = (carried(&play), ground(&play));
            let turn = play.decide();
            let dropped = turn.iter().filter(|input| drops(&play, input)).count();
            play.step(turn);
            let left = self::ground(&play);
            let vanished = ground.keys().filter(|id| !left.contains_key(id)).count();
            let now = self::carried(&play);
            assert_eq!(now + dropped, carried + vanished, "seed {seed}, tick {}", play.world.tick());
            taken += vanished;
        }
        assert!(taken > 10, "seed {seed}: only {taken} pieces were taken");
    }
}

fn carried(play: &Play) -> usize {
    (0..4).map(|n| play.hero(n).worn.iter().chain(&play.hero(n).bag).flatten().count()).sum()
}

fn ground(play: &Play) -> BTreeMap<EntityId, Gear> {
    let gear = |body: &Body| match body.loot()?.ware {
        Ware::Gear(gear) => Some(gear),
        _ => None,
    };
    play.everything().filter_map(|entity| Some((entity.id, gear(&entity.body)?))).collect()
}

fn drops(play: &Play, input: &Input<lockstone::sim::World<dungeon::Dungeon>>) -> bool {
    match *input {
        Input::Command(PlayerId(n), Command::Drop(place)) => {
            play.hero(n).is_alive() && play.hero(n).bag[usize::from(place)].is_some()
        }
        _ => false,
    }
}
