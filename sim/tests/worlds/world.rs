//! What a world promises, one promise a test, with rules made for the purpose.

use std::sync::Arc;

use lockstone_sim::grid::GridError;
use lockstone_sim::world::{Given, Request};
use lockstone_sim::{
    Area, Body, Cause, CellId, CellRect, Dice, Entity, EntityId, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId,
    Rules, Simulation, Table, Turn, Vec2, World,
};
use serde::{Deserialize, Serialize};

/// A puppet does what its last order says, once a tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Puppet {
    order: Order,
    asleep: bool,
    /// What it has been through.
    log: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Order {
    #[default]
    Rest,
    Walk(Vec2),
    Spawn(Vec2),
    Count,
    Wake,
    Tag(u32),
    Announce(u32),
    Travel(Vec2),
    Vanish,
    Draw,
}

impl Body for Puppet {
    fn is_actor(&self) -> bool {
        !self.asleep
    }
}

struct Stage;

impl Rules for Stage {
    type Body = Puppet;
    type Effect = Order;
    type Command = Order;
    type Hero = Vec2;
    type Facts = Vec<u32>;
    type Fact = u32;
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Puppet)>) {
        // Only the diagonal is inhabited: a sleeper in the middle of the cell, and one that does
        // not belong here.
        if cell.x == cell.y {
            let middle = Vec2::new(Fx::int(i32::from(cell.x) * 8 + 4), Fx::int(i32::from(cell.y) * 8 + 4));
            content.push((middle, Puppet { asleep: true, log: vec![dice.next_u32()], ..Puppet::default() }));
            content.push((Vec2::ZERO - middle, Puppet::default()));
        }
    }

    fn entrance(&self, _player: PlayerId, hero: &Vec2, _facts: &Vec<u32>) -> Vec2 {
        *hero
    }

    fn enter(&self, _player: PlayerId, _hero: &Vec2, _dice: &mut Dice) -> Puppet {
        Puppet::default()
    }

    fn command(&self, hero: &mut Puppet, command: &Order) {
        hero.order = command.clone();
    }

    fn leave(&self, hero: &Puppet, stays: &mut Vec<Puppet>) {
        stays.extend(hero.log.iter().map(|entry| Puppet { asleep: true, log: vec![*entry], ..Puppet::default() }));
    }

    fn think(&self, me: &mut Puppet, mind: &mut Mind<'_, Self>) {
        match std::mem::take(&mut me.order) {
            Order::Rest => {}
            Order::Walk(to) => mind.walk(to),
            Order::Spawn(at) => drop(mind.spawn(at, Puppet { log: vec![7], ..Puppet::default() })),
            Order::Count => me.log.push((mind.actors(Fx::MAX).count() * 100 + mind.props(Fx::MAX).count()) as u32),
            Order::Wake => mind.props(Fx::MAX).for_each(|seen| mind.affect(seen, Order::Wake)),
            Order::Tag(tag) => {
                let others: Vec<_> = mind.actors(Fx::MAX).collect();
                others.into_iter().for_each(|seen| mind.affect(seen, Order::Tag(tag)));
            }
            Order::Announce(fact) => mind.announce(fact),
            Order::Travel(to) => mind.transfer(to),
            Order::Vanish => mind.vanish(),
            Order::Draw => me.log.push(mind.dice().next_u32()),
        }
    }

    fn apply(&self, target: &mut Puppet, effect: &Order, _cause: &mut Cause) -> Fate {
        match effect {
            Order::Wake => target.asleep = false,
            Order::Tag(tag) => target.log.push(*tag),
            _ => {}
        }
        Fate::Stay
    }

    fn announce(&self, facts: &mut Vec<u32>, fact: &u32) {
        facts.push(*fact);
    }
}

const CONFIG: GridConfig = GridConfig {
    width_cells: 16,
    height_cells: 16,
    cell_log2: 3,
    reach: Fx::int(5),
    stride: Fx::ratio(1, 2),
    light: 3,
};

fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::int(x), Fx::int(y))
}

fn world() -> World<Stage> {
    World::new(Arc::new(Stage), Grid::new(CONFIG).expect("the measures are sound"), Table::generate([1; 32]), 5)
}

/// A world with heroes at these places, lit around them.
fn with_heroes(places: &[Vec2]) -> World<Stage> {
    let mut world = world();
    let join = |(n, at): (usize, &Vec2)| Input::Join(PlayerId(n as u16), world.admit(PlayerId(n as u16), *at));
    let inputs = places.iter().enumerate().map(join).collect();
    world.step(&Turn { inputs });
    (0..4).for_each(|_| world.step(&Turn::EMPTY));
    world
}

fn order(world: &mut World<Stage>, player: u16, order: Order) {
    world.step(&Turn { inputs: vec![Input::Command(PlayerId(player), order)] });
}

fn hero(world: &World<Stage>, player: u16) -> &Entity<Puppet> {
    world.hero(PlayerId(player)).expect("the hero is there")
}

fn population(world: &World<Stage>) -> usize {
    world.cells().map(|cell| world.actors(cell).len() + world.props(cell).len()).sum()
}

#[test]
fn nothing_moves_farther_than_the_stride() {
    let mut world = with_heroes(&[at(20, 60)]);
    for goal in [at(120, 60), at(20, 60), at(21, 120), Vec2::new(Fx::MAX, Fx::MIN)] {
        let before = hero(&world, 0).pos;
        order(&mut world, 0, Order::Walk(goal));
        let after = hero(&world, 0).pos;
        assert!(after != before && after.within(before, CONFIG.stride), "from {before} to {after}");
    }
}

#[test]
fn nothing_is_seen_or_spawned_beyond_reach() {
    let mut world = with_heroes(&[at(20, 60), at(25, 60), at(26, 60)]);
    order(&mut world, 0, Order::Count);
    assert_eq!(hero(&world, 0).body.log, [100], "one hero at 5, the other at 6 tiles");
    let before = population(&world);
    order(&mut world, 0, Order::Spawn(at(26, 60)));
    assert_eq!(population(&world), before, "6 tiles away");
    order(&mut world, 0, Order::Spawn(at(20, 65)));
    assert_eq!(population(&world), before + 1, "5 tiles away");
}

#[test]
fn torchlight_spreads_a_cell_a_tick_and_fades_when_the_hero_is_gone() {
    let mut world = world();
    let cell = |n: u16| CellId::new(n, 7);
    let join = Input::Join(PlayerId(0), world.admit(PlayerId(0), at(60, 60)));
    let lights = |world: &World<Stage>| [7, 8, 9, 10].map(|n| world.light(cell(n)));
    world.step(&Turn { inputs: vec![join] });
    assert_eq!(lights(&world), [3, 0, 0, 0]);
    world.step(&Turn::EMPTY);
    assert_eq!(lights(&world), [3, 2, 0, 0]);
    world.step(&Turn::EMPTY);
    assert_eq!(lights(&world), [3, 2, 1, 0]);
    (0..5).for_each(|_| world.step(&Turn::EMPTY));
    assert_eq!(lights(&world), [3, 2, 1, 0]);
    world.step(&Turn { inputs: vec![Input::Leave(PlayerId(0))] });
    assert_eq!(lights(&world), [2, 2, 1, 0]);
    (0..2).for_each(|_| world.step(&Turn::EMPTY));
    assert_eq!(lights(&world), [0, 0, 0, 0]);
    assert_eq!(population(&world), 5, "the sleepers of the cells that were lit, and no hero");
}

#[test]
fn light_that_has_come_to_rest_goes_on_when_the_core_grows_or_a_cell_is_lost() {
    let mut part = world();
    let core = |width: u16| CellRect { low: CellId::new(0, 0), high: CellId::new(width - 1, 15) };
    let given = |width| Given::Area(Area::around(part.grid(), core(width)).extent().expect("a part"));
    let [narrow, wide] = [8, 11].map(|width| Turn { inputs: vec![Input::Given(given(width))] });
    let lights = |part: &World<Stage>| [7, 8, 9, 10].map(|n| part.light(CellId::new(n, 7)));
    part.restore(&part.outline());
    part.step(&narrow);
    let hero = Input::Join(PlayerId(0), part.admit(PlayerId(0), at(60, 60)));
    part.step(&Turn { inputs: vec![hero] });
    (0..5).for_each(|_| part.step(&Turn::EMPTY));
    assert_eq!(lights(&part), [3, 0, 0, 0]);
    part.step(&wide);
    (0..5).for_each(|_| part.step(&Turn::EMPTY));
    assert_eq!(lights(&part), [3, 2, 1, 0]);
    part.step(&Turn { inputs: vec![Input::Given(Given::Pristine(CellId::new(8, 7)))] });
    assert_eq!(lights(&part), [3, 0, 1, 0]);
    part.step(&Turn::EMPTY);
    assert_eq!(lights(&part), [3, 2, 1, 0]);
}

#[test]
fn a_cell_holds_the_same_whenever_it_is_first_lit() {
    let content = |world: &World<Stage>| world.props(CellId::new(7, 7)).to_vec();
    let early = with_heroes(&[at(60, 60)]);
    let mut late = world();
    (0..50).for_each(|_| late.step(&Turn::EMPTY));
    let join = Input::Join(PlayerId(3), late.admit(PlayerId(3), at(50, 66)));
    late.step(&Turn { inputs: vec![join] });
    (0..4).for_each(|_| late.step(&Turn::EMPTY));
    assert_eq!(content(&early), content(&late));
    assert_eq!(content(&early).len(), 1, "what does not belong into the cell is left out");
}

#[test]
fn into_the_dark_nobody_moves_and_nothing_is_spawned() {
    // In the tick after a join only the hero's own cell is lit yet.
    let border = Vec2::new(Fx::int(64) - Fx::ratio(1, 8), Fx::int(60));
    for (what, moved, spawned) in [(Order::Walk(at(66, 60)), true, 0), (Order::Spawn(at(66, 60)), false, 1)] {
        let mut world = world();
        let join = Input::Join(PlayerId(0), world.admit(PlayerId(0), border));
        world.step(&Turn { inputs: vec![join] });
        let before = population(&world);
        order(&mut world, 0, what.clone());
        assert_eq!(hero(&world, 0).pos, border, "{what:?} in the dark");
        let around = [at(66, 60)].map(|pos| world.actors(world.grid().cell_of(pos)).len());
        assert_eq!(around, [0], "{what:?} in the dark");
        let grown = population(&world) - before;
        order(&mut world, 0, what.clone());
        assert_eq!(hero(&world, 0).pos != border, moved, "{what:?} in the light");
        assert!(population(&world) >= before + grown + spawned, "{what:?} in the light");
    }
}

#[test]
fn the_dark_is_frozen() {
    let mut world = with_heroes(&[at(60, 60)]);
    order(&mut world, 0, Order::Spawn(at(64, 60)));
    world.step(&Turn { inputs: vec![Input::Leave(PlayerId(0))] });
    (0..3).for_each(|_| world.step(&Turn::EMPTY));
    assert!(world.cells().all(|cell| world.light(cell) == 0));
    let cells: Vec<CellId> = world.cells().collect();
    let before: Vec<_> = cells.iter().map(|&cell| world.cell_checksum(cell)).collect();
    (0..5).for_each(|_| world.step(&Turn::EMPTY));
    assert_eq!(cells.iter().map(|&cell| world.cell_checksum(cell)).collect::<Vec<_>>(), before);
}

#[test]
fn props_cost_no_thought_until_an_effect_wakes_them() {
    let mut world = with_heroes(&[at(58, 60)]);
    let sleepers = |world: &World<Stage>| world.props(CellId::new(7, 7)).len();
    assert_eq!(sleepers(&world), 1);
    order(&mut world, 0, Order::Wake);
    assert_eq!(sleepers(&world), 0);
    order(&mut world, 0, Order::Count);
    assert_eq!(hero(&world, 0).body.log, [100], "it is an actor now");
}

#[test]
fn effects_are_applied_by_target_source_and_sequence() {
    let mut world = with_heroes(&[at(60, 60), at(61, 60), at(62, 60)]);
    let tag = |player: u16| Input::Command(PlayerId(player), Order::Tag(u32::from(player)));
    let mut shuffled = with_heroes(&[at(60, 60), at(61, 60), at(62, 60)]);
    world.step(&Turn { inputs: vec![tag(0), tag(1), tag(2)] });
    shuffled.step(&Turn { inputs: vec![tag(2), tag(0), tag(1)] });
    assert_eq!(world.checksum(), shuffled.checksum());
    let mut sources: Vec<(EntityId, u32)> = (1..3).map(|n| (hero(&world, n).id, u32::from(n))).collect();
    sources.sort_by_key(|(id, _)| *id);
    assert_eq!(hero(&world, 0).body.log, sources.iter().map(|(_, tag)| *tag).collect::<Vec<_>>());
}

#[test]
fn commands_are_held_by_the_hero_and_others_see_them_a_tick_later() {
    let mut world = with_heroes(&[at(60, 60)]);
    let inputs = vec![
        Input::Command(PlayerId(0), Order::Announce(1)),
        Input::Command(PlayerId(0), Order::Count),
        Input::Command(PlayerId(9), Order::Vanish),
    ];
    world.step(&Turn { inputs });
    assert_eq!(hero(&world, 0).body.log, [1], "the last command of a tick holds: the sleeper is counted");
    assert!(world.requests().is_empty());
}

#[test]
fn announcements_and_transfers_enter_by_a_turn() {
    let mut world = with_heroes(&[at(60, 60), at(4, 100)]);
    order(&mut world, 0, Order::Announce(42));
    assert_eq!(world.requests(), [Request::Announce(42)]);
    assert!(world.facts().is_empty(), "asked for, not yet made");
    order(&mut world, 0, Order::Travel(at(100, 4)));
    let request = world.requests()[0].clone();
    (0..3).for_each(|_| world.step(&Turn::EMPTY));
    world.step(&Turn { inputs: vec![Input::Request(Request::Announce(42)), Input::Request(request.clone())] });
    assert_eq!(world.facts(), &[42]);
    assert_eq!(hero(&world, 0).pos, at(100, 4));
    assert_eq!(world.light(CellId::new(12, 0)), 3, "where a hero enters there is light");
    let before = world.snapshot();
    world.step(&Turn {
        inputs: vec![Input::Request(Request::Transfer { entity: EntityId(99), from: CellId::new(1, 1), to: at(1, 1) })],
    });
    let with_void = world.checksum();
    world.restore(&before);
    world.step(&Turn::EMPTY);
    assert_eq!(world.checksum(), with_void, "a transfer of nobody is void");
}

#[test]
fn a_player_has_one_hero_and_leaves_with_it() {
    let mut world = with_heroes(&[at(60, 60)]);
    let again = Input::Join(PlayerId(0), world.admit(PlayerId(0), at(10, 10)));
    world.step(&Turn { inputs: vec![again] });
    assert_eq!(hero(&world, 0).pos, at(60, 60));
    world.step(&Turn { inputs: vec![Input::Leave(PlayerId(0)), Input::Leave(PlayerId(5))] });
    assert!(world.hero(PlayerId(0)).is_none());
    assert_eq!(world.players().count(), 0);
}

#[test]
fn a_player_takes_the_hero_along_but_for_what_the_rules_leave_behind() {
    let mut world = with_heroes(&[at(61, 60), at(62, 60)]);
    order(&mut world, 1, Order::Tag(3));
    order(&mut world, 1, Order::Tag(4));
    let (cell, before) = (CellId::new(7, 7), population(&world));
    world.step(&Turn { inputs: vec![Input::Leave(PlayerId(0))] });
    assert_eq!(population(&world), before + 1, "a hero went, and two things stay");
    let left: Vec<_> = world.props(cell).iter().filter(|prop| prop.pos == at(61, 60)).collect();
    let mut logs: Vec<_> = left.iter().map(|prop| prop.body.log[0]).collect();
    logs.sort();
    assert_eq!(logs, [3, 4]);
    assert!(left.iter().all(|prop| prop.player.is_none() && !prop.id.is_hero()));
    world.step(&Turn { inputs: vec![Input::Leave(PlayerId(1))] });
    assert_eq!(population(&world), before, "the other was through nothing");
}

#[test]
fn a_hero_that_vanishes_is_gone() {
    let mut world = with_heroes(&[at(60, 60)]);
    order(&mut world, 0, Order::Vanish);
    assert!(world.hero(PlayerId(0)).is_none());
}

#[test]
fn draws_differ_between_seeds_entities_and_ticks_and_nothing_else() {
    let draws = |seed: u64| {
        let grid = Grid::new(CONFIG).expect("the measures are sound");
        let mut world = World::new(Arc::new(Stage), grid, Table::generate([1; 32]), seed);
        let joins = (0..2).map(|n| Input::Join(PlayerId(n), world.admit(PlayerId(n), at(60, 60)))).collect();
        world.step(&Turn { inputs: joins });
        for _ in 0..2 {
            let draw = |n| Input::Command(PlayerId(n), Order::Draw);
            world.step(&Turn { inputs: vec![draw(0), draw(1)] });
        }
        [hero(&world, 0).body.log.clone(), hero(&world, 1).body.log.clone()].concat()
    };
    let (one, two) = (draws(1), draws(2));
    assert_eq!(one, draws(1));
    let mut all = [one, two].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 8);
}

#[test]
fn measures_that_cannot_be_are_refused_by_name() {
    let size = GridConfig { width_cells: 0, ..CONFIG };
    let wide = GridConfig { width_cells: u16::MAX, cell_log2: 8, ..CONFIG };
    let still = GridConfig { stride: Fx::ZERO, ..CONFIG };
    let far = GridConfig { stride: Fx::int(9), ..CONFIG };
    let blind = GridConfig { reach: Fx::ZERO - Fx::ONE, ..CONFIG };
    let dark = GridConfig { light: 1, ..CONFIG };
    for config in [size, wide] {
        assert!(matches!(Grid::new(config), Err(GridError::Size { .. })));
    }
    for config in [still, far, blind] {
        assert!(matches!(Grid::new(config), Err(GridError::Reach { .. })));
    }
    assert_eq!(Grid::new(dark), Err(GridError::Light(1)));
}

#[test]
fn a_world_as_wide_as_positions_go_ends_before_they_do() {
    let config = GridConfig { width_cells: 32_768, height_cells: 1, cell_log2: 4, ..CONFIG };
    let grid = Grid::new(config).expect("the measures are sound");
    let mut world = World::new(Arc::new(Stage), grid, Table::generate([1; 32]), 5);
    let join = Input::Join(PlayerId(0), world.admit(PlayerId(0), Vec2::new(Fx::MAX, Fx::MAX)));
    world.step(&Turn { inputs: vec![join] });
    let corner = hero(&world, 0).pos;
    assert_eq!((world.light(CellId::new(32_767, 0)), world.grid().clamp(corner)), (3, corner));
    order(&mut world, 0, Order::Walk(Vec2::new(Fx::MAX, Fx::MAX)));
    assert_eq!(hero(&world, 0).pos, corner);
    order(&mut world, 0, Order::Count);
    order(&mut world, 0, Order::Walk(Vec2::new(Fx::MIN, Fx::MAX)));
    assert!(hero(&world, 0).pos.x < corner.x);
}

#[test]
fn a_reach_wider_than_the_world_makes_all_of_it_halo() {
    for (cell_log2, reach) in [(1, Fx::MAX), (1, Fx::int(65_536)), (3, Fx::MAX), (8, Fx::MAX)] {
        let grid = Grid::new(GridConfig { cell_log2, reach, ..CONFIG }).expect("the measures are sound");
        let area = Area::around(&grid, CellRect::of(CellId::new(3, 4)));
        assert_eq!(area.halo().count(), 16 * 16 - 1, "cells of 2^{cell_log2}, reach {reach}");
    }
}
