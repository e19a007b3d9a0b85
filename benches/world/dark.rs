//! What explored ground costs: the same heroes and monsters, with few and with many
//! dark cells stored.
//!
//! Scouts light the ground and leave before the heroes come, in as many ticks for either world. So
//! both worlds have the same lit cells, and do the same in every tick.

use std::time::Duration;

use lockstone_sim::world::Join;
use lockstone_sim::{CellId, Entity, Fx, Input, PlayerId, Simulation, Turn, World};
use testkit::contest::ours::{Field, unlit_world};
use testkit::contest::play::{Kind, Play, SPREAD};
use testkit::contest::{least_disturbed, time};

const LIGHT: u8 = 4;
/// A scout lights a square of so many cells a side.
const SIDE: u16 = 2 * LIGHT as u16 - 1;
/// Columns and rows of such squares, right of where the heroes are.
const SQUARES: (u16, u16) = (20, 21);
const CROWD_CELLS: u16 = 24;
const TILES: i32 = (CROWD_CELLS + SQUARES.0 * SIDE) as i32 * 16;
const ROUNDS: usize = 60;

pub fn print() {
    // As many objects a cell as in the first of the plays.
    let side = (TILES / SPREAD.tiles) as usize + 1;
    let tiles = side as i32 * SPREAD.tiles;
    let play = Play { name: "explored", objects: SPREAD.objects * side * side, tiles, ..SPREAD };
    let squares = usize::from(SQUARES.0 * SQUARES.1);
    let (mut few, _) = explored(&play, squares / 10);
    let (mut many, bytes) = explored(&play, squares);
    let cells = [dark_cells(&few), dark_cells(&many)];
    println!("\ndark cells stored beside the lit ones of 300 heroes and 500 monsters");
    println!("{:34} {:>12} {:>12} {:>8}", "", cells[0], cells[1], "ratio");
    for (name, keeps) in [("tick + checksum", false), ("tick + checksum + snapshot", true)] {
        let [few, many] = in_turn([&mut few, &mut many], keeps);
        let us = |d: Duration| d.as_nanos() as f64 / 1000.0;
        println!("{name:34} {:>9.1} µs {:>9.1} µs {:>7.2}x", us(few), us(many), us(many) / us(few));
    }
    assert_eq!(few.checksum() == many.checksum(), cells[0] == cells[1], "only what is stored differs");
    let entities = many.cells().map(|cell| many.actors(cell).len() + many.props(cell).len()).sum::<usize>();
    let held = size_of::<Entity<Kind>>() * entities / many.cells().count();
    match bytes {
        Some(bytes) => println!("{:34} {:>9} B, {held} B of them entities", "a dark cell", bytes / cells[1]),
        None => println!("{:34} only entities are known: {held} B", "a dark cell"),
    }
}

/// The world after so many squares were explored, and the heroes have lit their own cells; and the
/// memory that the exploring took.
fn explored(play: &Play, squares: usize) -> (World<Field>, Option<usize>) {
    let mut world = unlit_world(play, LIGHT);
    let resident = resident_bytes();
    let places = (0..SQUARES.0 * SQUARES.1).map(|n| {
        let along = |n: u16| n * SIDE + SIDE / 2;
        CellId::new(CROWD_CELLS + along(n / SQUARES.1), along(n % SQUARES.1))
    });
    let places: Vec<CellId> = places.collect();
    for (n, places) in places.chunks(play.heroes).enumerate() {
        let first = n * play.heroes;
        let scouts = (0..).map(PlayerId).zip(places).take(squares.saturating_sub(first));
        let middle = |cell| world.grid().corner(cell) + world.grid().corner(CellId::new(1, 1)) / Fx::int(2);
        let join = |(player, &cell)| Input::Join(player, Join { at: middle(cell), hero: () });
        let (inputs, players): (Vec<_>, Vec<_>) = scouts.map(|scout| (join(scout), scout.0)).unzip();
        world.step(&Turn { inputs });
        (0..LIGHT).for_each(|_| world.step(&Turn::EMPTY));
        world.step(&Turn { inputs: players.into_iter().map(Input::Leave).collect() });
    }
    (0..LIGHT).for_each(|_| world.step(&Turn::EMPTY));
    let bytes = resident_bytes().zip(resident).map(|(after, before)| after.saturating_sub(before));
    let players = (0..play.heroes as u16).map(PlayerId);
    let inputs = players.map(|player| Input::Join(player, world.admit(player, ()))).collect();
    world.step(&Turn { inputs });
    (0..40).for_each(|_| world.step(&Turn::EMPTY));
    (world, bytes)
}

/// The typical times of a tick of each, measured in turn.
fn in_turn<const N: usize>(mut worlds: [&mut World<Field>; N], keeps: bool) -> [Duration; N] {
    let mut samples = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (world, samples) in worlds.iter_mut().zip(&mut samples) {
            let mut last = keeps.then(|| world.snapshot());
            for _ in 0..5 {
                samples.push(time(|| {
                    world.step(&Turn::EMPTY);
                    std::hint::black_box(world.checksum());
                    if let Some(old) = last.take() {
                        last = Some(world.snapshot());
                        world.retire(old);
                    }
                }));
            }
        }
    }
    samples.map(least_disturbed)
}

fn dark_cells(world: &World<Field>) -> usize {
    world.cells().count() - world.lit_cells().count()
}

/// The memory that this process has in use, where the system tells.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? * 1024)
}
