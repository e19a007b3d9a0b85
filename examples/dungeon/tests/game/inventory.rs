//! What a player is shown of the own hero: what it carries, when a key asks for it; danger, and how
//! it ended.

#![allow(clippy::disallowed_types, reason = "a view is told parts of a tick")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dungeon::hero::{Event, News};
use dungeon::loot::{Affix, AffixKind, Gear, Rarity, Slot};
use dungeon::monsters::{Monster, Race};
use dungeon::{Body, Command, DungeonGame};
use lockstone::game::Game;
use lockstone::net::{Party, PartyConfig};
use lockstone::shell::{Display, Labels, Memory, Next, Options, Recorder, Screen, Shell, SoloLink};
use lockstone::sim::{PlayerId, Tick};
use lockstone::view::smooth::Smooth;
use lockstone::view::{Action, Status, View};
use testkit::delve::{Play, Stage, table};

const ME: PlayerId = PlayerId(0);

fn weapon(base: u8) -> Option<Gear> {
    Some(Gear { slot: Slot::Weapon, rarity: Rarity::Common, base, affixes: [None; 3] })
}

/// A warrior that wears a weapon and carries a better one and a charm.
fn equipped() -> Play {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |hero| {
        hero.worn[0] = weapon(2);
        let vigour = Some(Affix { kind: AffixKind::Vigour, value: 7 });
        let charm = Gear { slot: Slot::Charm, rarity: Rarity::Magic, base: 3, affixes: [vigour, None, None] };
        hero.bag = [weapon(5), Some(charm), None, None];
    });
    stage.set(&mut play);
    play
}

#[test]
fn each_piece_is_told_with_what_it_does() {
    let play = equipped();
    let list = DungeonGame::inventory(&play.world, ME).expect("a hero").join("\n");
    for line in [
        "weapon: plain weapon +2 (2 more damage a blow)",
        "armour: none",
        "bag 1: plain weapon +5; worn: damage 14-20, now 11-17",
        "bag 2: magic charm +3, +7 life; worn: life 143, now 130",
        "bag 3: empty",
        "3 potions, each for 72 life",
    ] {
        assert!(list.contains(line), "{line:?} is not in:\n{list}");
    }
    assert_eq!(DungeonGame::typed(&play.world, ME, "1"), Ok(Command::Wear(0)));
    assert_eq!(DungeonGame::inventory(&play.world, PlayerId(9)), None);
}

#[test]
fn a_piece_is_dragged_from_the_bag_to_where_it_is_worn_and_back() {
    let mut play = equipped();
    let drag = |play: &Play, from: &str, to: Option<&str>| {
        let list = DungeonGame::inventory(&play.world, ME).expect("a hero");
        let line = |what: &str| list.iter().find(|line| line.starts_with(what)).expect("it is listed").as_str();
        DungeonGame::drag(&play.world, ME, line(from), to.map(line))
    };
    let take_off = |place| Command::TakeOff(Slot::Weapon, place);
    for (from, to, command) in [
        ("bag 2:", Some("charm:"), Some(Command::Wear(1))),
        ("bag 1:", None, Some(Command::Drop(0))),
        ("weapon:", Some("bag 3:"), Some(take_off(2))),
        // They change places, if both are worn there.
        ("weapon:", Some("bag 1:"), Some(Command::Wear(0))),
        ("weapon:", Some("bag 2:"), None),
        // By way of the first free place.
        ("weapon:", None, Some(take_off(2))),
        ("armour:", Some("bag 3:"), None),
        ("bag 3:", Some("weapon:"), None),
        ("bag 3:", None, None),
        ("3 potions", Some("bag 3:"), None),
    ] {
        assert_eq!(drag(&play, from, to), command, "{from:?} onto {to:?}");
    }
    let worn = |play: &Play| (play.hero(0).worn[0], play.hero(0).bag[2]);
    play.command(0, take_off(1));
    play.command(0, take_off(200));
    assert_eq!(worn(&play), (weapon(2), None), "there is no room");
    play.command(0, take_off(2));
    assert_eq!(worn(&play), (None, weapon(2)));
    play.command(0, drag(&play, "bag 3:", Some("weapon:")).expect("it is worn again"));
    assert_eq!(worn(&play), (weapon(2), None));
}

/// Presses a key before some pictures, and keeps what stands in each.
struct Presses {
    keys: Vec<Option<&'static str>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl View for Presses {
    fn show(&mut self, scenes: &Smooth, _: f32, _: &Status, _: f32) {
        let notes = scenes.newest().map_or(String::new(), |scene| scene.notes.join("\n"));
        self.seen.lock().expect("nobody panics").push(notes);
    }

    fn actions(&mut self) -> Vec<Action> {
        let key = if self.keys.is_empty() { None } else { self.keys.remove(0) };
        key.map(|key| Action::Type(key.to_owned())).into_iter().collect()
    }

    fn line(&self) -> Option<&str> {
        None
    }
}

#[test]
fn a_key_opens_the_list_and_closes_it() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut keys = vec![None; 120];
    (keys[40], keys[80]) = (Some("i"), Some("inventory"));
    let screen = Screen::View(Box::new(Presses { keys, seen: Arc::clone(&seen) }));
    let (config, identity) = (PartyConfig::default(), DungeonGame::identity(&table()));
    let labels = Labels { game: "dungeon", terms: config.terms(identity), name: "Ada".into(), room: String::new() };
    let hero = DungeonGame::hero("mage", "Ada").expect("a class");
    let party = Party::new(config, identity, "Ada", hero, |seed| DungeonGame::build(seed, table())).expect("a name");
    let recorder = Recorder::new(labels.clone(), Memory::default(), None).expect("nothing is recorded");
    let options = Options { until: Some(Tick(80)), ..Options::default() };
    let display = Display::new(screen, &labels, None);
    let mut shell = Shell::<DungeonGame, _, _>::new(party, SoloLink::default(), recorder, display, options);
    let mut now = Duration::ZERO;
    while let Next::At(at) = shell.step(now) {
        now = at;
    }
    let seen = seen.lock().expect("nobody panics");
    let lists: Vec<bool> = seen.iter().map(|notes| notes.contains("bag 4: empty")).collect();
    let changes = lists.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(!lists[40] && lists[50] && !lists[lists.len() - 1] && changes == 2, "{lists:?}");
}

#[test]
fn danger_and_an_end_are_told_with_what_to_do() {
    let notes = |play: &Play| DungeonGame::scene(&play.world, ME).notes.join("\n");
    let hurt = |potions: u8| {
        let (mut play, mut stage) = Stage::new();
        stage.hero(0, "mage", 0, 0, |hero| (hero.life, hero.potions) = (20, potions));
        stage.set(&mut play);
        notes(&play)
    };
    assert!(hurt(1).starts_with("LOW LIFE: Q drinks a potion."));
    assert!(hurt(0).starts_with("LOW LIFE and no potion: walk away"));
    assert!(!notes(&equipped()).contains("LOW LIFE"));
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "mage", 0, 0, |hero| hero.life = 1);
    stage.put(1, 0, Body::Monster(Monster::new(Race::Hunter, 1)));
    stage.set(&mut play);
    (0..40).find(|_| {
        play.step(Vec::new());
        !play.hero(0).is_alive()
    });
    let told = notes(&play);
    assert!(told.starts_with("SLAIN. You rise at the entrance in 5 s"), "{told}");
    assert!(told.contains("A hunter slew you. Hunters come in packs"), "{told}");
    assert!(told.contains("You had 3 potions left: Q drinks one"), "{told}");
    // It rises, and is told a while longer, but not for ever.
    (0..200).for_each(|_| play.step(Vec::new()));
    assert!(play.hero(0).is_alive() && notes(&play).starts_with("A hunter slew you."));
    let fell = |news: &Option<News>| news.is_some_and(|news| matches!(news.event, Event::Fell(_)));
    assert!(play.hero(0).news.iter().any(fell));
    (0..700).for_each(|_| play.step(Vec::new()));
    assert!(!notes(&play).contains("slew you"));
}
