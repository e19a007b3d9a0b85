//! Whole games: they are played through, equal to the bit however they are run.

use dungeon::hero::{Event, FALLEN_TICKS, Order};
use dungeon::map::center_of;
use dungeon::monsters::{Monster, Race};
use dungeon::{Body, Command, Dungeon, DungeonGame};
use lockstone::check;
use lockstone::game::{Game, Layout, Spread, Wide};
use lockstone::sim::world::Request;
use lockstone::sim::{Area, CellId, Extent, Fx, Grid, Input, PlayerId, Simulation, Turn, World, tamper};
use testkit::delve::{Play, Stage, table};

/// Ten minutes.
const GAME_TICKS: u32 = 12_000;

#[test]
fn bots_play_ten_minutes() {
    for (seed, heroes) in [(1, 2), (2, 4), (3, 2), (1, 4)] {
        let mut play = Play::bots(seed, heroes);
        let mut fights = vec![(Order::Stand, 0); heroes.into()];
        for _ in 0..GAME_TICKS {
            play.tick();
            no_fight_is_endless(&play, &mut fights, seed);
            if play.world.tick().0.is_multiple_of(10) {
                stands_in_the_open(&play, seed);
            }
        }
        for n in 0..heroes {
            let hero = play.hero(n);
            assert!(hero.level >= 4, "seed {seed}: hero {n} reached level {}", hero.level);
            assert!(hero.gold > 0 && hero.worn.iter().any(Option::is_some), "seed {seed}: hero {n} found nothing");
        }
        assert!(play.world.facts().slain() > 0, "seed {seed}: no brood-mother was slain");
        let a_second = play.commands as u32 * 20 / GAME_TICKS / u32::from(heroes);
        assert!(a_second <= 1, "seed {seed}: {a_second} commands a second");
    }
}

/// A hero at a corner once saw its foe and shot into the wall between them for ever.
fn no_fight_is_endless(play: &Play, fights: &mut [(Order, u32)], seed: u64) {
    for (n, fight) in fights.iter_mut().enumerate() {
        let order = play.hero(n as u16).order;
        let same = matches!(order, Order::Fight(_)) && order == fight.0;
        *fight = (order, if same { fight.1 + 1 } else { 0 });
        assert!(fight.1 < 2_400, "seed {seed}: hero {n} has fought {order:?} for two minutes");
    }
}

fn stands_in_the_open(play: &Play, seed: u64) {
    let map = play.world.rules().map();
    for entity in play.everything() {
        assert!(map.is_open(entity.pos), "seed {seed}, {}: {:?} stands in a wall", play.world.tick(), entity);
    }
}

#[test]
fn the_slain_return_at_the_entrance_for_a_price() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |hero| {
        hero.life = 1;
        hero.gold = 100;
        hero.potions = 0;
    });
    for n in 0..4 {
        stage.put(4, n, Body::Monster(Monster::new(Race::Hunter, 1)));
    }
    stage.set(&mut play);
    let entrance = center_of(play.world.rules().map().entrance(PlayerId(0)));
    let mut waited = 0;
    while play.hero(0).is_alive() {
        play.step(Vec::new());
        waited += 1;
        assert!(waited < 200, "four hunters slay a hero with one life left");
    }
    let fell = play.entity(0).pos;
    play.step(Vec::new());
    assert_eq!(play.hero(0).gold, 90, "a tenth of the gold lies where it fell");
    (0..FALLEN_TICKS - 5).for_each(|_| play.step(Vec::new()));
    assert_eq!(play.entity(0).pos, fell, "it lies there");
    let asked = (0..20).any(|_| {
        play.step(Vec::new());
        play.world.requests().iter().any(|request| matches!(request, Request::Transfer { .. }))
    });
    assert!(asked, "it asks to be moved by a turn");
    (0..20).for_each(|_| play.step(Vec::new()));
    let hero = play.hero(0);
    assert!(play.entity(0).pos.within(entrance, Fx::int(4)));
    assert_eq!((hero.is_alive(), hero.life), (true, hero.stats().life));
    assert!(hero.news.iter().flatten().any(|news| news.event == Event::Returned));
}

#[test]
fn nothing_happens_to_a_hero_whose_player_is_away() {
    let (mut play, mut stage) = Stage::new();
    stage.hero(0, "warrior", 0, 0, |hero| hero.life = 1);
    for n in 0..4 {
        stage.put(4, n, Body::Monster(Monster::new(Race::Hunter, 1)));
    }
    stage.set(&mut play);
    play.step(vec![Input::Away(PlayerId(0))]);
    let (before, at) = (play.hero(0).clone(), play.entity(0).pos);
    (0..200).for_each(|_| play.step(Vec::new()));
    assert!(play.hero(0).is_away());
    assert_eq!((play.hero(0).life, play.entity(0).pos), (before.life, at));
    play.step(vec![Input::Back(PlayerId(0))]);
    let waited = (0..200).take_while(|_| {
        play.step(Vec::new());
        play.hero(0).is_alive()
    });
    assert!(waited.count() < 200, "once the player is back, it is prey again");
}

#[test]
fn gold_buys_potions_at_the_entrance_only() {
    let mut play = Play::empty(1);
    play.join(0, "mage");
    let entrance = play.entity(0).pos;
    let rich = |play: &mut Play, stage: Stage, at_home: bool| {
        stage.set(play);
        let before = (play.hero(0).gold, play.hero(0).potions);
        (0..3).for_each(|_| play.command(0, Command::Buy));
        let price = play.hero(0).potion_price();
        let bought = if at_home { 2 } else { 0 };
        assert_eq!((play.hero(0).gold, play.hero(0).potions), (before.0 - bought * price, before.1 + bought as u8));
    };
    let (mut far, mut stage) = Stage::new();
    stage.hero(0, "mage", 0, 0, |hero| hero.gold = 80);
    rich(&mut far, stage, false);
    let mut stage = Stage::around(entrance);
    stage.hero(0, "mage", 0, 0, |hero| hero.gold = 80);
    rich(&mut play, stage, true);
}

#[test]
fn order_of_cells_and_of_runs_does_not_matter() {
    let checksums = |reversed: bool| {
        let mut play = Play::bots(3, 4);
        play.reversed = reversed;
        let tick = |_| {
            play.tick();
            play.world.checksum()
        };
        (0..1_500).map(tick).collect::<Vec<_>>()
    };
    let first = checksums(false);
    assert_eq!(first, checksums(false), "the same game twice");
    assert_eq!(first, checksums(true), "its cells in reverse");
}

#[test]
fn a_tick_played_again_is_the_same() {
    for seed in [1, 7] {
        assert_eq!(check::sync_test_of_bots::<DungeonGame>(seed, 3, 600), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_snapshot_continues_to_the_bit() {
    let mut play = Play::bots(4, 3);
    (0..900).for_each(|_| play.tick());
    let snapshot = play.world.snapshot();
    let bytes = play.world.encode(&snapshot);
    let turns: Vec<Turn<World<Dungeon>>> = (0..200)
        .map(|_| {
            let inputs = play.decide();
            play.turn(inputs)
        })
        .collect();
    let mut other = DungeonGame::build(4, table());
    let read = other.decode(&bytes).expect("its own bytes");
    other.restore(&read);
    turns.iter().for_each(|turn| other.step(turn));
    assert_eq!(other.checksum(), play.world.checksum());
}

/// Four bots in the ordinary dungeon, and another world of the same.
fn party(seed: u64) -> (Play, World<Dungeon>) {
    (Play::bots(seed, 4), DungeonGame::build(seed, table()))
}

/// Two parties of bots where the dungeon is three blocks wide, and another world of the same.
fn parties(seed: u64) -> (Play, World<Dungeon>) {
    let layout = Layout { side_tiles: 536, players: 8, spread: Spread::Parties };
    let rules = DungeonGame::lay_out(&layout, seed, &table()).expect("a layout that can be");
    (Play::crowd(&layout, seed), DungeonGame::world(&rules, seed, &table()))
}

/// A replica's core, moving with a hero, beside the whole world. Gives how many core cells
/// differed at some tick.
fn differing_cells((mut play, mut part): (Play, World<Dungeon>), halo_rings: impl Fn(&Grid) -> u16) -> (usize, usize) {
    let (mut compared, mut differing) = (0, 0);
    // The tick and the facts come with a snapshot.
    part.restore(&play.world.snapshot());
    for n in 0..1_600 {
        let mut sync = false;
        if n % 40 == 0 {
            let grid = *play.world.grid();
            let core = grid.block(grid.cell_of(play.entity(n / 40 % 4).pos), 1);
            let halo = core.grown(&grid, halo_rings(&grid));
            tamper::set_area(&mut part, Area::of(&grid, Extent { core, halo }));
            sync = true;
        }
        put(&play.world, &mut part, sync);
        assert_eq!(part.tick(), play.world.tick());
        let inputs = play.decide();
        let turn = play.turn(inputs);
        part.step(&turn);
        let transfer = turn.inputs.iter().any(|input| matches!(input, Input::Request(Request::Transfer { .. })));
        let core: Vec<CellId> = part.area().core().collect();
        if !transfer {
            compared += core.len();
            differing += core.iter().filter(|&&cell| part.cell_state(cell) != play.world.cell_state(cell)).count();
        }
        if transfer || differing > 0 {
            put(&play.world, &mut part, true);
        }
    }
    (compared, differing)
}

/// Gives the part the exact state of its halo, and of its core too if it is new.
fn put(whole: &World<Dungeon>, part: &mut World<Dungeon>, core_too: bool) {
    let halo: Vec<CellId> = part.area().halo().collect();
    let core: Vec<CellId> = if core_too { part.area().core().collect() } else { Vec::new() };
    halo.into_iter().chain(core).for_each(|cell| tamper::put(part, cell, whole.cell_state(cell).as_ref()));
}

#[test]
fn core_and_halo_equal_the_whole_world() {
    for seed in 5..9 {
        let (compared, differing) = differing_cells(party(seed), Grid::halo_rings);
        assert!(compared > 10_000);
        assert_eq!(differing, 0, "seed {seed}: of {compared} core cells");
    }
}

#[test]
fn so_they_do_in_a_wide_one() {
    for seed in 5..7 {
        let (compared, differing) = differing_cells(parties(seed), Grid::halo_rings);
        assert!(compared > 10_000);
        assert_eq!(differing, 0, "seed {seed}: of {compared} core cells");
    }
    let (_, differing) = differing_cells(parties(5), |_| 0);
    assert!(differing > 0, "without halo something must go wrong, or the test sees nothing");
}

#[test]
fn a_core_without_halo_is_found_out() {
    let (_, differing) = differing_cells(party(5), |_| 0);
    assert!(differing > 0, "without halo something must go wrong, or the test sees nothing");
}

#[test]
fn nobody_knows_player_nine() {
    let mut play = Play::bots(1, 1);
    let before = play.world.checksum();
    let mut other = Play::bots(1, 1);
    play.step(Vec::new());
    other.step(vec![Input::Command(PlayerId(9), Command::Stop), Input::Leave(PlayerId(9))]);
    assert_eq!(play.world.checksum(), other.world.checksum());
    assert_ne!(play.world.checksum(), before);
}
