//! Explored ground that lies in the dark: it is passed over by a tick, and nothing is missed by
//! that.
//!
//! The plain reference keeps nothing from tick to tick: it is read from bytes each time, so all of
//! it is hashed anew.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::world::{CellState, Join, Request};
use lockstone_sim::{Area, CellId, CellRect, EntityId, Fx, Input, PlayerId, Simulation, Turn, Vec2, tamper};
use testkit::storm::{Storm, StormWorld, Turns, Weather, table};

type Cells = BTreeMap<CellId, CellState<Storm>>;

fn cells(world: &StormWorld) -> Cells {
    world.cells().map(|cell| (cell, world.cell_state(cell).expect("it is stored"))).collect()
}

fn lit(world: &StormWorld) -> BTreeSet<CellId> {
    world.cells().filter(|&cell| world.light(cell) > 0).collect()
}

/// Checks a world after a step against what it was before and against the plain reference.
fn check(world: &mut StormWorld, before: &Cells, lit_before: &BTreeSet<CellId>, plain: &mut StormWorld, context: &str) {
    let touched: BTreeSet<CellId> = world.touched().iter().copied().collect();
    assert_eq!(touched.len(), world.touched().len(), "{context}: a cell is told twice");
    for (cell, state) in cells(world) {
        assert!(before.get(&cell) == Some(&state) || touched.contains(&cell), "{context}: {cell} changed untold");
    }
    let lit_now = lit(world);
    assert_eq!(world.lit_cells().collect::<BTreeSet<_>>(), lit_now, "{context}");
    assert_eq!(world.lit_cells().count(), lit_now.len(), "{context}");
    let moved = world.transferred().iter().flatten().flat_map(|&(from, to)| [from, to]).collect::<BTreeSet<_>>();
    let is_near = |cell: &CellId| lit_before.contains(cell) || lit_now.contains(cell) || moved.contains(cell);
    assert!(touched.iter().all(is_near), "{context}: what was dark and stays so was told");
    let taken = world.snapshot();
    let read = plain.decode(&world.encode(&taken)).expect("own bytes decode");
    world.retire(taken);
    plain.restore(&read);
    assert_eq!((world.checksum(), world.tree()), (plain.checksum(), plain.tree()), "{context}");
}

/// Players come and go, so that cells are lit, go dark and are lit again.
#[test]
fn a_world_that_passes_over_the_dark_equals_one_that_is_made_anew() {
    let mut dark_ticks = 0;
    for seed in 600..616 {
        let weather = Weather { light: 2 + (seed % 3) as u8, players: 1 + (seed % 5) as u16, ..Weather::of(seed) };
        let (mut world, mut plain, mut turns) = (weather.world(), weather.world(), Turns::of(&weather));
        let mut dice = table().dice(seed, lockstone_sim::Tick(9));
        let mut earlier = world.snapshot();
        for tick in 0..200 {
            let context = format!("seed {seed}, tick {tick}");
            let mut turn = turns.next(&world);
            if dice.chance(1, 30) {
                turn.inputs.extend(world.players().map(Input::Leave));
            }
            match dice.below(20) {
                0 => earlier = world.snapshot(),
                1 => world.restore(&earlier),
                2 => tamper::reorder_cells(&mut world, seed ^ tick),
                // Nothing was hashed of what this reads.
                3 => world.restore(&plain.snapshot()),
                _ => {}
            }
            let (before, lit_before) = (cells(&world), lit(&world));
            dark_ticks += before.len() - lit_before.len();
            let now = world.snapshot();
            // Ahead, and back. The checksums that are asked for on the way change nothing.
            for _ in 0..dice.below(3) {
                world.step(&Turn::EMPTY);
                for _ in 0..dice.below(2) {
                    world.checksum();
                }
            }
            world.restore(&now);
            world.step(&turn);
            check(&mut world, &before, &lit_before, &mut plain, &context);
        }
    }
    assert!(dark_ticks > 100_000, "only {dark_ticks} dark cell-ticks");
}

fn turn(inputs: impl IntoIterator<Item = Input<StormWorld>>) -> Turn<StormWorld> {
    Turn { inputs: inputs.into_iter().collect() }
}

fn at(cell: CellId) -> Vec2 {
    let along = |n: u16| Fx::int(i32::from(n) * 4 + 2);
    Vec2::new(along(cell.x), along(cell.y))
}

fn join(player: u16, cell: CellId) -> Input<StormWorld> {
    Input::Join(PlayerId(player), Join { at: at(cell), hero: () })
}

/// A world of which some ground was explored, and nobody is there any more.
fn explored(weather: &Weather) -> StormWorld {
    let mut world = weather.world();
    world.step(&turn([join(0, CellId::new(6, 6)), join(1, CellId::new(15, 12))]));
    (0..12).for_each(|_| world.step(&Turn::EMPTY));
    world.step(&turn([PlayerId(0), PlayerId(1)].map(Input::Leave)));
    (0..weather.light).for_each(|_| world.step(&Turn::EMPTY));
    assert!(world.cells().count() > 20 && world.lit_cells().count() == 0);
    world
}

/// What is carried from one dark cell into another changes both, and lights neither.
#[test]
fn a_transfer_between_dark_cells_is_told_and_hashed() {
    for seed in 640..650 {
        let weather = Weather { light: 3, ..Weather::of(seed) };
        let (mut world, mut plain) = (explored(&weather), weather.world());
        world.checksum();
        let holds = |cell: &CellId| !world.actors(*cell).is_empty();
        let Some(from) = world.cells().filter(holds).min() else { continue };
        let to = world.cells().filter(|&cell| cell != from).max().expect("more than one is stored");
        let entity: EntityId = world.actors(from)[0].id;
        let (before, lit_before) = (cells(&world), lit(&world));
        world.step(&turn([Input::Request(Request::Transfer { entity, from, to: at(to) })]));
        assert_eq!(world.touched().iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([from, to]));
        check(&mut world, &before, &lit_before, &mut plain, &format!("seed {seed}"));
        world.step(&Turn::EMPTY);
        assert!(world.touched().is_empty(), "nothing happens in the dark");
    }
}

/// A part is given dark cells, lit ones, cells that go dark and cells that were never lit,
/// and forgets them.
#[test]
fn a_part_that_is_given_dark_and_lit_cells_equals_one_that_is_made_anew() {
    for seed in 660..672 {
        let weather = Weather { light: 2 + (seed % 4) as u8, players: 3, ..Weather::of(seed) };
        let (mut whole, mut part, mut plain) = (weather.world(), weather.world(), weather.world());
        let (mut turns, mut dice) = (Turns::of(&weather), table().dice(seed, lockstone_sim::Tick(4)));
        let mut area = Area::NOTHING;
        tamper::set_area(&mut part, area);
        for tick in 0..150 {
            let turn = turns.next(&whole);
            whole.step(&turn);
            part.step(&testkit::storm::relayed(&turn, &whole, &area));
            if dice.chance(1, 8) {
                let low = CellId::new(dice.below(18) as u16, dice.below(18) as u16);
                let core = CellRect { low, high: CellId::new(low.x + 5, low.y + 5) };
                area = Area::around(whole.grid(), core);
                tamper::set_area(&mut part, area);
            }
            let known: Vec<CellId> = area.halo().chain(area.core()).collect();
            for &cell in &known {
                tamper::put(&mut part, cell, whole.cell_state(cell).as_ref());
            }
            let ours: BTreeSet<CellId> = part.lit_cells().collect();
            let theirs: BTreeSet<CellId> = known.into_iter().filter(|&cell| whole.light(cell) > 0).collect();
            assert_eq!(ours, theirs, "seed {seed}, tick {tick}");
            let taken = part.snapshot();
            let read = plain.decode(&part.encode(&taken)).expect("own bytes decode");
            plain.restore(&read);
            assert_eq!((part.checksum(), part.tree()), (plain.checksum(), plain.tree()), "seed {seed}, tick {tick}");
            if dice.chance(1, 5) {
                part.restore(&read);
            }
        }
    }
}
