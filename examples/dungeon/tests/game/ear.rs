//! What a player hears of what happens around the own hero.

#![allow(clippy::disallowed_types, reason = "a sound's pitch and place are floats")]

use dungeon::ear::tones;
use dungeon::loot::{Gear, Loot, Rarity, Slot, Ware};
use dungeon::map::tile_of;
use dungeon::monsters::{Monster, Race};
use dungeon::{Body, Command, Dungeon, DungeonGame};
use lockstone::game::{Ear, Game};
use lockstone::sim::{PlayerId, World};
use lockstone::sound::{Sound, Tone};
use testkit::delve::{Play, Stage};

const ME: PlayerId = PlayerId(0);

/// Plays on, and hears each tick.
struct Listener<E> {
    play: Play,
    ear: E,
}

/// All that was heard.
#[derive(Default)]
struct Heard(Vec<Sound>);

impl Heard {
    fn of(&self, tones: &'static [Tone]) -> Vec<&Sound> {
        self.0.iter().filter(|sound| sound.tones == tones).collect()
    }

    fn count(&self, tones: &'static [Tone]) -> usize {
        self.of(tones).len()
    }
}

/// A listener on a stage, to whom all that stands there is known.
fn on(stage: Stage, mut play: Play) -> Listener<impl Ear<World<Dungeon>>> {
    stage.set(&mut play);
    let mut listener = Listener { play, ear: DungeonGame::ear(ME) };
    assert_eq!(listener.hear(1, |_| {}).0, [], "nothing has happened yet");
    listener
}

impl<E: Ear<World<Dungeon>>> Listener<E> {
    /// Hears so many ticks, after each of which something is looked at.
    fn hear(&mut self, ticks: u32, mut watch: impl FnMut(&Play)) -> Heard {
        let mut heard = Heard::default();
        for _ in 0..ticks {
            self.play.step(Vec::new());
            heard.0.extend(self.ear.hear(&self.play.world, ME));
            watch(&self.play);
        }
        heard
    }

    /// The same, of which the first has a command.
    fn told(&mut self, command: Command, ticks: u32, mut watch: impl FnMut(&Play)) -> Heard {
        self.play.command(0, command);
        let mut heard = Heard(self.ear.hear(&self.play.world, ME));
        watch(&self.play);
        heard.0.extend(self.hear(ticks, watch).0);
        heard
    }
}

fn sword(rarity: Rarity) -> Gear {
    Gear { slot: Slot::Weapon, rarity, base: 3, affixes: [None; 3] }
}

#[test]
fn a_blow_is_heard_once_from_where_it_meets_and_so_is_what_comes_of_it() {
    let (play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |hero| hero.experience = hero.experience_needed() - 1);
    let foe = stage.put(1, 0, Body::Monster(Monster::new(Race::Sleeper, 3)));
    let mut listener = on(stage, play);
    let life = |play: &Play| play.find(foe).and_then(|foe| foe.body.monster()).map_or(0, |foe| foe.life.max(0));
    let (mut before, mut blows) = (life(&listener.play), 0);
    let heard = listener.told(Command::Attack(foe), 400, |play| {
        blows += usize::from(life(play) < before);
        before = life(play);
    });
    assert_eq!(before, 0, "it is slain");
    assert!(blows > 2);
    assert_eq!((heard.count(tones::HIT), heard.count(tones::SLAIN), heard.count(tones::LEVEL)), (blows - 1, 1, 1));
    assert!(heard.of(tones::HIT).iter().all(|sound| sound.pan > 0.0 && sound.gain > 0.5), "from the east");
    assert_eq!(heard.of(tones::LEVEL)[0], &Sound::new(tones::LEVEL));
    assert!(heard.count(tones::HURT) > 0, "it struck back");
}

#[test]
fn a_drop_is_heard_once_and_what_lies_there_already_is_not() {
    let (play, mut stage) = Stage::new();
    let carried = [Some(sword(Rarity::Common)), Some(sword(Rarity::Unique)), None, None];
    stage.hero(0, "warrior", 0, 0, |hero| (hero.bag, hero.worn[0]) = (carried, Some(sword(Rarity::Common))));
    stage.put(3, 0, Loot::body(Ware::Gear(sword(Rarity::Common))));
    // Farther away than is heard: it comes nearer as the hero walks there.
    stage.put(13, 0, Loot::body(Ware::Potion));
    stage.put(15, 0, Loot::body(Ware::Gold(5)));
    let to = tile_of(stage.at(5, 0));
    let mut listener = on(stage, play);
    let walked = listener.told(Command::walk(to), 40, |_| {});
    assert_eq!((walked.count(tones::DROP), walked.count(tones::TREASURE)), (0, 0));
    let dropped = listener.told(Command::Drop(0), 20, |_| {});
    assert_eq!((dropped.count(tones::DROP), dropped.count(tones::TREASURE)), (1, 0));
    let rare = listener.told(Command::Drop(1), 20, |_| {});
    assert_eq!((rare.count(tones::DROP), rare.count(tones::TREASURE)), (0, 1));
}

#[test]
fn steps_are_heard_while_the_hero_walks() {
    let (play, mut stage) = Stage::new();
    stage.hero(0, "ranger", -6, 0, |_| {});
    let to = tile_of(stage.at(6, 0));
    let mut listener = on(stage, play);
    assert_eq!(listener.hear(20, |_| {}).0, [], "it stands");
    let heard = listener.told(Command::walk(to), 100, |_| {});
    // Twelve tiles, of 1.3 each.
    assert_eq!(heard.count(tones::STEP), 9);
    assert_eq!(heard.0.len(), 9, "{:?}", heard.0);
    assert_eq!(listener.hear(20, |_| {}).0, [], "it stands again");
}

#[test]
fn what_a_hero_takes_and_drinks_is_heard_by_its_player_alone() {
    let (play, mut stage) = Stage::new();
    stage.hero(0, "mage", 0, 0, |hero| hero.life = 20);
    stage.hero(1, "mage", 4, 0, |hero| hero.life = 20);
    stage.put(0, 1, Loot::body(Ware::Gold(30)));
    let mut listener = on(stage, play);
    let heard = listener.hear(20, |_| {});
    assert_eq!((heard.count(tones::COIN), heard.0.len()), (1, 1), "{:?}", heard.0);
    let heard = listener.told(Command::Drink, 5, |_| {});
    assert_eq!((heard.count(tones::DRINK), heard.0.len()), (1, 1), "{:?}", heard.0);
    listener.play.command(1, Command::Drink);
    assert_eq!(listener.hear(5, |_| {}).0, []);
}

#[test]
fn shots_skills_and_a_fall_are_heard() {
    let (play, mut stage) = Stage::new();
    stage.hero(0, "ranger", 0, 0, |hero| hero.life = 1);
    stage.hero(1, "warrior", -4, 0, |_| {});
    stage.put(6, 0, Body::Monster(Monster::new(Race::Archer, 1)));
    let mut listener = on(stage, play);
    listener.play.command(1, Command::skill(listener.play.entity(0).pos));
    let heard = listener.hear(200, |_| {});
    assert_eq!((heard.count(tones::WHIRL), heard.count(tones::FELL)), (1, 1), "{:?}", heard.0);
    assert!(heard.count(tones::SHOT) > 1);
    assert!(heard.of(tones::WHIRL)[0].pan < 0.0, "from the west");
}

#[test]
fn a_game_of_bots_sounds_now_and_then_and_of_each_kind_once_a_tick_at_most() {
    let (mut play, mut ear) = (Play::bots(3, 2), DungeonGame::ear(ME));
    let (mut heard, mut most) = (Heard::default(), 0);
    for _ in 0..3_000 {
        play.tick();
        let sounds = ear.hear(&play.world, ME);
        for (n, sound) in sounds.iter().enumerate() {
            assert!(sounds[..n].iter().all(|other| other.tones != sound.tones), "{sounds:?}");
            assert!(sound.gain > 0.1 && sound.gain <= 1.0 && sound.pan.abs() <= 1.0, "{sound:?}");
        }
        most = most.max(sounds.len());
        heard.0.extend(sounds);
    }
    let kinds = [tones::STEP, tones::HIT, tones::SLAIN, tones::HURT, tones::DROP, tones::COIN, tones::LEVEL];
    let counts = kinds.map(|tones| heard.count(tones));
    println!("{counts:?} of {} in 150 s, {most} at once at most", heard.0.len());
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert!(heard.0.len() < 1_500 && most <= 8);
}
