//! Worlds for a crowd: laid out as asked, whole, the same for everyone.

use std::collections::BTreeSet;

use dungeon::hero::FALLEN_TICKS;
use dungeon::map::{Map, center_of, tile_of};
use dungeon::populate::{BATTLE_MONSTERS, BATTLE_OBJECTS};
use dungeon::{Body, Command, Dungeon, DungeonBot, DungeonGame};
use lockstone::game::{Layout, LayoutError, Spread, Wide};
use lockstone::sim::path::{Direction, Tile, TileGrid};
use lockstone::sim::{Area, Extent, Fx, PlayerId, Rules, Simulation, Tick, tamper};
use testkit::delve::{Play, Stage, table};

fn rules(layout: &Layout, seed: u64) -> std::sync::Arc<Dungeon> {
    DungeonGame::lay_out(layout, seed, &table()).expect("a layout that can be")
}

fn entrances(map: &Map, players: u16) -> Vec<Tile> {
    (0..players).map(|n| map.entrance(PlayerId(n))).collect()
}

/// Layouts whose last blocks, sectors and cells are whole, and ones where they are not.
fn layouts() -> impl Iterator<Item = (Layout, u64)> {
    let sides = [64, 192, 200, 256, 391, 448, 1000];
    let spreads = [Spread::Uniform, Spread::Parties, Spread::Hotspot];
    let layouts = sides.into_iter().flat_map(move |side_tiles| {
        spreads.into_iter().map(move |spread| Layout { side_tiles, players: (side_tiles / 10) as u16, spread })
    });
    layouts.flat_map(|layout| (0..4).map(move |seed| (layout, seed)))
}

#[test]
fn everything_open_can_be_reached() {
    for (layout, seed) in layouts() {
        all_can_be_reached(rules(&layout, seed).map(), &format!("{layout:?}, seed {seed}"));
    }
}

#[test]
fn so_it_can_where_two_thousand_play() {
    let layout = Layout::of(Spread::Parties, 2_000);
    assert_eq!(layout.side_tiles, 4_473);
    let rules = rules(&layout, 1);
    all_can_be_reached(rules.map(), "2,000 players");
    assert!(rules.map().tiles().open_tiles().count() > 5_000_000);
}

fn all_can_be_reached(map: &Map, which: &str) {
    let tiles = map.tiles();
    let open = tiles.open_tiles().count();
    let mut seen = TileGrid::new(tiles.width(), tiles.height());
    let mut front = vec![map.entrance(PlayerId(0))];
    let mut reached = 0;
    while let Some(tile) = front.pop() {
        if tiles.is_open(tile) && !seen.is_open(tile) {
            seen.set_open(tile, true);
            reached += 1;
            front.extend(
                [Direction::East, Direction::South, Direction::West, Direction::North].map(|way| tile.step(way)),
            );
        }
    }
    assert_eq!(reached, open, "{which}");
    let last = map.side_tiles() - 1;
    let edge = |n: i32| [Tile::new(n, 0), Tile::new(n, last), Tile::new(0, n), Tile::new(last, n)];
    assert!(!(0..=last).flat_map(edge).any(|tile| tiles.is_open(tile)), "{which}: the map is not closed");
}

#[test]
fn a_layout_and_a_seed_give_one_ground() {
    for (layout, seed) in layouts().filter(|(layout, _)| layout.side_tiles > 200) {
        let map = |seed: u64| rules(&layout, seed).map().clone();
        assert_eq!(map(seed), map(seed));
        assert_ne!(map(seed), map(seed + 1));
        assert_ne!(entrances(&map(seed), layout.players), entrances(&map(seed + 1), layout.players));
    }
}

#[test]
fn players_begin_where_the_layout_says() {
    for (layout, seed) in layouts().filter(|(layout, _)| layout.side_tiles > 200) {
        let rules = rules(&layout, seed);
        let map = rules.map();
        let newcomer = <DungeonGame as lockstone::game::Game>::hero("mage", "Ada").expect("a class of the game");
        let places: Vec<_> =
            (0..layout.players).map(|n| rules.entrance(PlayerId(n), &newcomer, &Default::default())).collect();
        assert!(places.iter().all(|&place| map.is_open(place)), "{layout:?}, seed {seed}");
        let party = usize::from(layout.spread.party());
        for together in places.chunks(party) {
            assert!(together.iter().all(|place| place.within(together[0], Fx::int(4))), "{layout:?}, seed {seed}");
        }
        // A square of the ground for each party: every quarter of it has about a quarter of them,
        // if they are not just a few.
        if places.len() < 16 * party {
            continue;
        }
        let middle = Fx::int(map.side_tiles() / 2);
        let quarter = places.iter().filter(|place| place.x < middle && place.y < middle).count();
        let share = quarter * 100 / places.len();
        assert!((10..45).contains(&share), "{layout:?}, seed {seed}: {share} % in one quarter");
    }
}

#[test]
fn a_hotspot_has_exactly_what_the_game_says() {
    let layout = Layout::of(Spread::Hotspot, 300);
    for seed in 0..3 {
        let rules = rules(&layout, seed);
        let grid = rules.grid();
        let (mut monsters, mut objects) = (0, 0);
        for cell in grid.block(grid.cell_of(Default::default()), u16::MAX).iter() {
            let mut content = Vec::new();
            rules.generate(cell, &mut table().dice(seed, Tick(0)), &mut content);
            assert!(content.iter().all(|(pos, _)| grid.cell_of(*pos) == cell && rules.map().is_open(*pos)));
            monsters += content.iter().filter(|(_, body)| body.is_foe()).count() as u32;
            objects += content.iter().filter(|(_, body)| matches!(body, Body::Loot(_) | Body::Chest(_))).count() as u32;
        }
        assert_eq!((monsters, objects), (BATTLE_MONSTERS, BATTLE_OBJECTS), "seed {seed}");
    }
}

#[test]
fn a_hotspot_is_one_lit_region() {
    let mut play = Play::crowd(&Layout::of(Spread::Hotspot, 300), 2);
    (0..4).for_each(|_| play.tick());
    let world = &play.world;
    let lit: BTreeSet<_> = world.lit_cells().collect();
    let mut front: Vec<_> = lit.first().copied().into_iter().collect();
    let mut region = BTreeSet::new();
    while let Some(cell) = front.pop() {
        if lit.contains(&cell) && region.insert(cell) {
            front.extend(world.grid().block(cell, 1).iter());
        }
    }
    assert_eq!(region, lit);
    assert!(lit.len() > 1_000, "only {} of 1,024 cells", lit.len());
}

#[test]
fn what_cannot_be_is_refused() {
    let side = |side_tiles: u32, spread: Spread| {
        let layout = Layout { side_tiles, players: 3, spread };
        DungeonGame::lay_out(&layout, 1, &table()).err()
    };
    assert!(matches!(side(0, Spread::Uniform), Some(LayoutError::Side { .. })));
    assert!(matches!(side(6_145, Spread::Parties), Some(LayoutError::Side { most: 6_144, .. })));
    assert!(matches!(side(1_025, Spread::Hotspot), Some(LayoutError::Side { most: 1_024, .. })));
}

/// A hero alone in a wide world.
fn alone(player: u16, change: impl FnOnce(&mut dungeon::hero::Hero)) -> Play {
    let mut play = Play::crowd(&Layout { side_tiles: 600, players: 0, spread: Spread::Parties }, 3);
    let middle = center_of(play.world.rules().map().entrance(PlayerId(0)));
    let mut stage = Stage::around(middle);
    stage.hero(player, "ranger", 0, 0, change);
    stage.set(&mut play);
    play
}

#[test]
fn a_hero_walks_across_blocks() {
    let mut play = alone(0, |_| {});
    let map = play.world.rules().map().clone();
    let (last, columns) = (map.rooms().len() - 1, 25);
    for corner in [0, columns - 1, last, last + 1 - columns] {
        let goal = map.rooms()[corner].center;
        let walked = (0..12_000).find(|n| {
            // As a bot does: where it gives up, it is told again.
            let told = n % 40 == 0 && play.hero(0).order == dungeon::hero::Order::Stand;
            if told {
                play.command(0, Command::walk(goal))
            } else {
                play.step(Vec::new())
            }
            tile_of(play.entity(0).pos) == goal
        });
        assert!(walked.is_some(), "it stands at {} on the way to {goal}", play.entity(0).pos);
    }
}

#[test]
fn the_slain_return_where_their_party_enters() {
    let layout = Layout { side_tiles: 600, players: 16, spread: Spread::Parties };
    for player in [1, 6, 15] {
        let mut play = Play::crowd(&layout, 3);
        let map = play.world.rules().map();
        let (home, far) = (map.entrance(PlayerId(player)), map.entrance(PlayerId((player + 8) % 16)));
        assert_ne!(home, far);
        let mut stage = Stage::around(center_of(far));
        stage.hero(player, "mage", 0, 0, |hero| hero.fallen = Some(Tick(0)));
        stage.set(&mut play);
        (0..FALLEN_TICKS + 20).for_each(|_| play.step(Vec::new()));
        assert!(play.hero(player).is_alive());
        assert!(play.entity(player).pos.within(center_of(home), Fx::ONE));
    }
}

#[test]
fn bots_play_in_every_part_of_the_world() {
    let layout = Layout::of(Spread::Parties, 24);
    let mut play = Play::crowd(&layout, 5);
    let mut part = DungeonGame::world(&rules(&layout, 5), 5, &table());
    let mut bots: Vec<_> = (0..24).map(|n| DungeonBot::new(PlayerId(n))).collect();
    let (mut whole, mut same) = (0, 0);
    for n in 0..1_200 {
        let watched = n / 50 % 24;
        if n % 50 == 0 {
            part.restore(&play.world.snapshot());
            let grid = *play.world.grid();
            let core = grid.block(grid.cell_of(play.entity(watched).pos), 3);
            tamper::set_area(&mut part, Area::of(&grid, Extent { core, halo: core }));
        }
        let inputs = play.decide();
        for (n, bot) in bots.iter_mut().enumerate() {
            let command = bot.command(&part, PlayerId(n as u16));
            whole += usize::from(command.is_some());
            let alike = |input: &lockstone::sim::Input<_>| matches!(input, lockstone::sim::Input::Command(player, other) if player.0 == n as u16 && Some(other) == command.as_ref());
            same += usize::from(inputs.iter().any(alike));
        }
        let turn = play.turn(inputs);
        part.step(&turn);
    }
    assert!(whole > 100 && same > 0, "{same} of {whole} commands");
}

#[test]
fn bots_stay_about_their_party() {
    let layout = Layout::of(Spread::Parties, 40);
    let mut play = Play::crowd(&layout, 6);
    (0..3_000).for_each(|_| play.tick());
    let map = play.world.rules().map();
    let levels: u32 = (0..40).map(|n| u32::from(play.hero(n).level)).sum();
    assert!(levels >= 80, "they fight: {levels} levels");
    for n in 0..40 {
        let home = center_of(map.entrance(PlayerId(n)));
        assert!(play.entity(n).pos.within(home, Fx::int(320)), "hero {n} is at {}", play.entity(n).pos);
    }
}
