//! Heroes that are kept from session to session, and those that cannot be.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dungeon::command::Newcomer;
use dungeon::hero::{Flaw, Kept, LEVEL_MAX};
use dungeon::loot::{Affix, AffixKind, Gear, Rarity, Slot};
use dungeon::{Dungeon, DungeonGame};
use lockstone::character::{Character, CharacterError};
use lockstone::game::Game;
use lockstone::net::memory::{MemoryNetwork, Weather};
use lockstone::net::{Link, Party, PartyConfig, PartySettings, Rollback, RollbackConfig, RollbackSettings, Session};
use lockstone::shell::{Display, Labels, Memory, Next, Options, Recorder, Screen, Shell, SoloLink};
use lockstone::sim::{PlayerId, Simulation, Tick, World};
use testkit::delve::{Play, table};

const ME: PlayerId = PlayerId(0);

/// A hero that a bot played for some minutes, as it is kept.
fn played() -> Character<Newcomer> {
    let mut play = Play::bots(3, 2);
    (0..6_000).for_each(|_| play.tick());
    let character = DungeonGame::keep(&play.world, ME).expect("a hero");
    let kept = character.hero.kept.expect("it is kept");
    assert!(kept.level > 2 && kept.worn.iter().flatten().count() > 0, "it shows something: {kept:?}");
    character
}

/// A new world in which a hero has just entered.
fn entered(hero: Newcomer) -> Play {
    let mut play = Play::empty(77);
    play.enter(0, hero);
    play
}

fn newcomer(kept: Kept) -> Newcomer {
    Newcomer { kept: Some(kept), ..DungeonGame::hero("warrior", "Ada").expect("a class") }
}

#[test]
fn a_kept_hero_is_in_another_session_what_it_was() {
    let character = played();
    let text = character.text::<DungeonGame>();
    let read = Character::<Newcomer>::read::<DungeonGame>(text.as_bytes()).expect("as it was written");
    assert_eq!(read, character);
    let hero = DungeonGame::hero(&read.class, "Ada").expect("a class");
    let mut play = entered(DungeonGame::bring(hero, &read.hero).expect("it was played"));
    assert_eq!(Some(Kept::of(play.hero(0))), character.hero.kept);
    assert_eq!((play.hero(0).name.text().as_str(), play.hero(0).life), ("Ada", play.hero(0).stats().life));
    play.step(Vec::new());
    let level = play.hero(0).level;
    let news = DungeonGame::scene(&play.world, ME).news;
    assert!(news.contains(&format!("Ada came with level {level}.")), "{news:?}");
    let mage = DungeonGame::hero("mage", "Ada").expect("a class");
    assert!(DungeonGame::bring(mage, &read.hero).is_err_and(|why| why == "it is a warrior"));
}

#[test]
fn whatever_is_made_in_play_can_be() {
    let rolls = (1..=18).flat_map(|level| (0..400).map(move |n| (level, n)));
    for (level, n) in rolls {
        let gear = Gear::roll(&mut table().dice(n, Tick(level.into())), level, 3);
        assert!(gear.can_be(), "{gear:?} of level {level}");
    }
    for seed in 1..3 {
        let mut play = Play::bots(seed, 4);
        for n in 0..3_000 {
            play.tick();
            if n % 100 == 0 {
                (0..4).for_each(|n| assert_eq!(Kept::of(play.hero(n)).flaw(), None, "{:?}", play.hero(n)));
            }
        }
    }
}

#[test]
fn what_cannot_be_begins_anew_on_all_peers_alike() {
    let fresh = Kept::of(entered(DungeonGame::hero("warrior", "Ada").expect("a class")).hero(0));
    let might = |value| Some(Affix { kind: AffixKind::Might, value });
    let gear = |slot, rarity, base, affixes| Some(Gear { slot, rarity, base, affixes });
    let changed = |change: &dyn Fn(&mut Kept)| {
        let mut kept = fresh;
        change(&mut kept);
        kept
    };
    let worn = |gear| changed(&|kept| kept.worn[0] = gear);
    let sound = worn(gear(Slot::Weapon, Rarity::Magic, 4, [might(10), None, None]));
    assert_eq!(sound.flaw(), None);
    let flawed = [
        (changed(&|kept| kept.level = 0), Flaw::Level(0)),
        (changed(&|kept| kept.level = LEVEL_MAX + 1), Flaw::Level(LEVEL_MAX + 1)),
        (changed(&|kept| kept.experience = 70), Flaw::Experience),
        (changed(&|kept| kept.gold = u32::MAX), Flaw::Gold),
        (changed(&|kept| kept.potions = 7), Flaw::Potions),
        (worn(gear(Slot::Armour, Rarity::Common, 4, [None; 3])), Flaw::Gear),
        (worn(gear(Slot::Weapon, Rarity::Common, 22, [None; 3])), Flaw::Gear),
        (worn(gear(Slot::Weapon, Rarity::Common, 4, [might(10), None, None])), Flaw::Gear),
        (worn(gear(Slot::Weapon, Rarity::Magic, 4, [might(200), None, None])), Flaw::Gear),
        (worn(gear(Slot::Weapon, Rarity::Rare, 4, [might(10), might(10), None])), Flaw::Gear),
        (worn(gear(Slot::Weapon, Rarity::Magic, 4, [None, might(10), None])), Flaw::Gear),
    ];
    for (kept, flaw) in flawed {
        assert_eq!(kept.flaw(), Some(flaw), "{kept:?}");
        let hero = newcomer(kept);
        assert_eq!(DungeonGame::bring(newcomer(fresh), &hero), Err(flaw.to_string()));
        let [mut here, mut there] = [(); 2].map(|()| entered(hero));
        assert_eq!(Kept::of(here.hero(0)), fresh);
        [&mut here, &mut there].into_iter().for_each(|play| play.step(Vec::new()));
        assert_eq!(here.world.checksum(), there.world.checksum());
        let told = format!("Ada begins anew, for what was brought along cannot be: {flaw}.");
        assert_eq!(DungeonGame::scene(&here.world, ME).news, [told]);
    }
}

#[test]
fn no_damage_to_what_is_kept_goes_unseen() {
    let text = played().text::<DungeonGame>();
    let read = |bytes: &[u8]| Character::<Newcomer>::read::<DungeonGame>(bytes);
    for n in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[n] ^= 1;
        assert!(read(&bytes).is_err(), "byte {n}");
        assert!(read(&text.as_bytes()[..n.min(text.len() - 2)]).is_err(), "{n} bytes");
    }
    assert_eq!(read(b"# notes").err(), Some(CharacterError::Other));
    assert_eq!(read(&[0xff; 9]).err(), Some(CharacterError::Other));
    // What another version of the game wrote has other fields, though it is whole.
    let newer = Character { hero: (1_u8, 2_u8, 3_u8), class: "mage".into(), title: String::new(), progress: 0 };
    let newer = newer.text::<DungeonGame>();
    assert_eq!(read(newer.as_bytes()).err(), Some(CharacterError::Version));
}

type Shelf = Arc<Mutex<Vec<String>>>;

/// A shell in which a bot plays, and which keeps its hero on a shelf.
fn shell<L: Link, T: Session<Sim = World<Dungeon>>>(
    session: T,
    terms: lockstone::net::wire::Terms,
    link: L,
    (brought, shelf): ((&str, u64), &Shelf),
) -> Shell<DungeonGame, L, T> {
    let labels = Labels { game: "dungeon", terms, name: "Ada".into(), room: "hall".into() };
    let recorder = Recorder::new(labels.clone(), Memory::default(), None).expect("nothing is recorded");
    let display = Display::new(Screen::None { lines: false }, &labels, None);
    let options = Options { bot: true, time: Some(Duration::from_secs(90)), ..Options::default() };
    let shelf = Arc::clone(shelf);
    Shell::new(session, link, recorder, display, options).with_character(brought, move |text| {
        shelf.lock().expect("nobody panics").push(text.to_owned());
        Ok(())
    })
}

fn build(seed: u64) -> World<Dungeon> {
    DungeonGame::build(seed, table())
}

/// Plays a game alone. Returns all that was kept of it, in order.
fn alone(hero: Newcomer, (class, progress): (&str, u64)) -> Vec<Character<Newcomer>> {
    let (identity, shelf) = (DungeonGame::identity(&table()), Shelf::default());
    let config = PartyConfig::new(PartySettings { seed: 3, ..PartySettings::default() }).expect("in range");
    let terms = config.terms(identity);
    let party = Party::new(config, identity, "Ada", hero, build).expect("a name");
    let mut shell = shell(party, terms, SoloLink::default(), ((class, progress), &shelf));
    let mut now = Duration::ZERO;
    while let Next::At(at) = shell.step(now) {
        now = at;
    }
    read_all(&shelf)
}

fn read_all(shelf: &Shelf) -> Vec<Character<Newcomer>> {
    let texts = std::mem::take(&mut *shelf.lock().expect("nobody panics"));
    texts.iter().map(|text| Character::read::<DungeonGame>(text.as_bytes()).expect("it was written")).collect()
}

#[test]
fn a_shell_keeps_its_hero_and_never_less_than_before() {
    let hero = DungeonGame::hero("warrior", "Ada").expect("a class");
    let first = alone(hero, ("warrior", 0));
    assert!((2..=19).contains(&first.len()) && first.is_sorted_by_key(|one| one.progress), "{first:?}");
    let last = first.last().expect("some");
    assert!(last.progress > 0, "a bot learns something in a minute and a half");
    let second = alone(DungeonGame::bring(hero, &last.hero).expect("it was played"), ("warrior", last.progress));
    assert_eq!(second[0].progress, last.progress);
    assert!(second.last().is_some_and(|one| one.progress > last.progress));
    // An older self, or one that began anew, takes nobody's place.
    assert_eq!(alone(hero, ("warrior", last.progress)), []);
    // Nor does a hero of another class.
    assert_eq!(alone(hero, ("mage", 0)), []);
}

#[test]
fn of_a_rollback_session_only_what_is_final_is_kept() {
    let (identity, shelves) = (DungeonGame::identity(&table()), [Shelf::default(), Shelf::default()]);
    let network = MemoryNetwork::new(4, Weather::clear(Duration::from_millis(40)));
    let mut shells: Vec<_> = shelves
        .iter()
        .map(|shelf| {
            let settings = RollbackSettings { seed: 3, ..RollbackSettings::default() };
            let config = RollbackConfig::new(settings).expect("in range");
            let (terms, hero) = (config.terms(identity), DungeonGame::hero("ranger", "Ada").expect("a class"));
            let session = Rollback::new(config, identity, "Ada", hero, build).expect("a name");
            shell(session, terms, network.enter(), (("ranger", 0), shelf))
        })
        .collect();
    let (mut now, mut over) = (Duration::ZERO, [false; 2]);
    while over != [true; 2] {
        network.advance(now);
        let mut next = now + Duration::from_millis(50);
        for (shell, over) in shells.iter_mut().zip(&mut over).filter(|(_, over)| !**over) {
            match shell.step(now) {
                Next::At(at) => next = next.min(at),
                Next::Over => *over = true,
            }
        }
        now = next.max(now + Duration::from_millis(1));
    }
    for shelf in &shelves {
        let kept = read_all(shelf);
        assert!(kept.len() > 2 && kept.is_sorted_by_key(|one| one.progress), "{kept:?}");
    }
}
