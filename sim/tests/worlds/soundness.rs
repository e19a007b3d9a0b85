//! What must hold of every world at every tick, whatever its measures: all that is derived agrees
//! with what it is derived from.

use lockstone_sim::world::Zone;
use lockstone_sim::{Area, Body, CellId, CellRect, Fx, Input, PlayerId, Simulation, Turn, tamper};
use testkit::storm::{StormWorld, Turns, Weather, relayed, transfer};

/// Checks the cells against the grid, and the players and the checksums against the cells.
fn check_sound(world: &mut StormWorld, other: &mut StormWorld, context: &str) {
    let mut cells: Vec<CellId> = world.cells().collect();
    cells.sort();
    assert!(cells.is_sorted_by(|a, b| a < b), "{context}: a cell is stored twice");
    let mut heroes = Vec::new();
    for &cell in &cells {
        let (actors, props) = (world.actors(cell), world.props(cell));
        assert!(actors.is_sorted_by(|a, b| a.id < b.id) && props.is_sorted_by(|a, b| a.id < b.id), "{context}");
        assert!(actors.iter().all(|e| e.player.is_some() || e.body.is_actor()), "{context}: {cell}");
        assert!(props.iter().all(|e| e.player.is_none() && !e.body.is_actor()), "{context}: {cell}");
        let inside = |pos| world.grid().cell_of(pos) == cell && world.grid().clamp(pos) == pos;
        assert!(actors.iter().chain(props).all(|e| inside(e.pos)), "{context}: {cell}");
        heroes.extend(actors.iter().filter_map(|e| Some((e.player?, e.id))));
    }
    heroes.sort();
    let players: Vec<PlayerId> = world.players().collect();
    assert_eq!(players, heroes.iter().map(|&(player, _)| player).collect::<Vec<_>>(), "{context}");
    assert!(heroes.iter().all(|&(player, id)| world.hero(player).is_some_and(|hero| hero.id == id)), "{context}");
    let taken = world.snapshot();
    let bytes = world.encode(&taken);
    let read = other.decode(&bytes).expect("own bytes decode");
    assert_eq!(other.encode(&read), bytes, "{context}");
    other.restore(&read);
    assert_eq!(world.checksum(), other.checksum(), "{context}: kept up and made anew, the checksum differs");
    world.retire(taken);
    other.retire(read);
}

/// Storms over worlds of extreme measures.
fn extremes() -> Vec<Weather> {
    let usual = |seed| Weather { cells: 9, ..Weather::of(seed) };
    vec![
        Weather { cells: 1, ..usual(1) },
        Weather { cells: 1, cell_log2: 1, stride: Fx::int(2), ..usual(2) },
        Weather { stride: Fx::int(4), ..usual(3) },
        Weather { reach: Fx::MAX, ..usual(4) },
        Weather { reach: Fx::int(4), stride: Fx::int(4), light: 2, ..usual(5) },
        Weather { light: 255, cells: 24, ..usual(6) },
        Weather { reach: Fx::EPSILON, stride: Fx::EPSILON, ..usual(7) },
        Weather { cell_log2: 8, cells: 3, stride: Fx::int(256), reach: Fx::int(200), ..usual(8) },
        Weather { cell_log2: 1, stride: Fx::int(2), ..usual(9) },
    ]
}

#[test]
fn worlds_of_any_measures_stay_sound() {
    for weather in extremes().into_iter().chain((400..408).map(Weather::of)) {
        let (mut world, mut other, mut turns) = (weather.world(), weather.world(), Turns::of(&weather));
        for tick in 0..120 {
            let turn = turns.next(&world);
            world.step(&turn);
            check_sound(&mut world, &mut other, &format!("{weather:?}, tick {tick}"));
        }
    }
}

#[test]
fn a_part_stays_sound_once_its_halo_is_given_and_through_restores() {
    for weather in extremes().into_iter().chain((420..428).map(Weather::of)) {
        let (mut whole, mut part, mut other) = (weather.world(), weather.world(), weather.world());
        let last = weather.cells - 1;
        let core = CellRect { low: CellId::new(last / 3, last / 3), high: CellId::new(last / 3 * 2, last / 3 * 2) };
        let area = Area::around(whole.grid(), core);
        tamper::set_area(&mut part, area);
        let mut turns = Turns::of(&weather);
        for tick in 0..120 {
            let turn = turns.next(&whole);
            let before = part.snapshot();
            for attempt in 0..2 {
                // Ahead into a future that never was, and back.
                (0..3 * attempt).for_each(|_| part.step(&Turn::EMPTY));
                part.restore(&before);
            }
            part.step(&relayed(&turn, &whole, &area));
            whole.step(&turn);
            let entered = turn.inputs.iter().filter_map(transfer).map(|(_, to)| whole.grid().cell_of(to));
            let given = area.halo().chain(entered.filter(|&cell| area.zone(cell) == Zone::Core));
            // In any order.
            let mut given: Vec<CellId> = given.collect();
            testkit::storm::table().dice(weather.seed, part.tick()).shuffle(&mut given);
            given.iter().for_each(|&cell| tamper::put(&mut part, cell, whole.cell_state(cell).as_ref()));
            let context = format!("{weather:?}, tick {tick}");
            for cell in core.iter() {
                assert_eq!(part.cell_checksum(cell), whole.cell_checksum(cell), "{context}: {cell}");
            }
            check_sound(&mut part, &mut other, &context);
        }
    }
}

#[test]
fn histories_that_lit_other_cells_do_not_mix() {
    for seed in 440..446 {
        let weather = Weather::of(seed);
        let (mut world, mut other) = (weather.world(), weather.world());
        // Two histories of one world, whose heroes enter from other ends, so that cells are stored
        // in other orders.
        let join = |world: &StormWorld, n: u16| Input::Join(PlayerId(n), world.admit(PlayerId(n), ()));
        let start = world.snapshot();
        let mut branches: Vec<_> = (0..3)
            .map(|n| {
                world.restore(&start);
                let inputs = (0..4).map(|k| join(&world, n * 5 + k)).collect();
                world.step(&Turn { inputs });
                (0..20 + n * 7).for_each(|_| world.step(&Turn::EMPTY));
                let checksum = world.checksum();
                (world.snapshot(), checksum)
            })
            .collect();
        for round in 0..30 {
            let n = round % 3;
            world.restore(&branches[n].0);
            assert_eq!(world.checksum(), branches[n].1, "seed {seed}, round {round}");
            world.step(&Turn::EMPTY);
            check_sound(&mut world, &mut other, &format!("seed {seed}, round {round}"));
            // One that is given back although its cells live on in the world, in a copy and
            // in its successor.
            let (next, copy) = (world.snapshot(), branches[n].0.clone());
            let checksum = world.checksum();
            world.retire(std::mem::replace(&mut branches[n], (next, checksum)).0);
            world.step(&Turn::EMPTY);
            world.retire(copy);
        }
    }
}

#[test]
fn a_snapshot_brings_its_area_along() {
    let weather = Weather::of(460);
    let (mut whole, mut part, mut turns) = (weather.world(), weather.world(), Turns::of(&weather));
    for _ in 0..40 {
        let turn = turns.next(&whole);
        whole.step(&turn);
    }
    let of_whole = whole.snapshot();
    let core = CellRect { low: CellId::new(9, 9), high: CellId::new(10, 9) };
    let area = Area::around(whole.grid(), core);
    tamper::set_area(&mut part, area);
    part.restore(&of_whole);
    assert_eq!(*part.area(), Area::Whole);
    assert_eq!(part.checksum(), whole.checksum());
    tamper::set_area(&mut part, area);
    assert!(part.cells().all(|cell| area.zone(cell) != Zone::Outside));
    assert!(part.players().all(|player| part.hero(player).is_some()));
    // What is outside, or in no world at all, cannot be put into it either.
    let state = whole.cells().next().and_then(|cell| whole.cell_state(cell));
    let before = part.checksum();
    tamper::put(&mut part, CellId::new(23, 23), state.as_ref());
    tamper::put(&mut part, CellId::new(24, 3), state.as_ref());
    tamper::put(&mut part, CellId::new(24, 3), None);
    assert_eq!(part.checksum(), before);
    // And what the area has is exact.
    whole.step(&Turn::EMPTY);
    part.step(&Turn::EMPTY);
    for cell in area.core() {
        assert_eq!(part.cell_checksum(cell), whole.cell_checksum(cell), "{cell}");
    }
}
