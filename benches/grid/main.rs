//! Who sees whom, kept up to date: the grid that interest is built on, beside an R-tree
//! and a sparse grid.
//!
//! `cargo bench -p lockstone --bench grid` prints what a tick costs each, and the
//! ratio, from one run.
//!
//! Compared is the same job: all movers move, each watches the 7 x 7 cells around its own, and
//! every watcher is told exactly what came into its cells and what left them. At the end, all must
//! agree on who sees whom. The peers only find what is in a rectangle, so with them it is done as
//! one does it with such an index: move, ask for each watcher's cells, and compare with the last
//! answer. What the index costs alone is told too: "move" without any watcher, "ask" without
//! comparing. Where the movers go to is worked out before the clock starts.
//!
//! At a walk one mover in 31 crosses a border in a tick. With a thing a cell that is 0.9 events
//! a mover; with ten a cell, where every mover sees 490 others, 8.4: there the events
//! themselves are what costs.

mod crowd;
mod ours;
mod peers;

use std::hint::black_box;
use std::time::{Duration, Instant};

use crowd::{Contender, Crowd, Scene};
use lockstone_sim::{Fx, Grid, GridConfig, Presence, Vec2, mix64};

const SCENES: [Scene; 3] = [
    Scene {
        name: "hotspot, 10 things a cell",
        things: 10_800,
        movers: 300,
        cells: 32,
        rounds: 2_000,
        peer_rounds: 100,
    },
    Scene { name: "1 thing a cell", things: 100_000, movers: 100_000, cells: 316, rounds: 200, peer_rounds: 2 },
    Scene { name: "10 things a cell", things: 100_000, movers: 100_000, cells: 100, rounds: 40, peer_rounds: 1 },
];

fn main() {
    for scene in &SCENES {
        compare(scene);
    }
    for rings in [1, 3] {
        deliveries(rings);
    }
}

/// The typical times of one contender: the least disturbed tenth of its samples.
struct Cost {
    moves: Duration,
    asks: Duration,
    tick: Duration,
    /// Of each watcher, how many it sees, and the sum of their numbers, after as many ticks
    /// as the peers do.
    seen: Vec<u64>,
}

fn compare(scene: &Scene) {
    let Scene { name, things, movers, .. } = scene;
    println!("\n{things} things, {movers} of them move and watch 7 x 7 cells of 10 m; {name}");
    println!("{:34} {:>12} {:>12} {:>14} {:>8} {:>8}", "", "Lockstone", "rstar", "flat_spatial", "ratio", "ratio");
    let (ours, events) = measure::<ours::Ours>(scene, scene.rounds);
    let (rstar, _) = measure::<peers::Rstar>(scene, scene.peer_rounds);
    let (flat, _) = measure::<peers::FlatSpatial>(scene, scene.peer_rounds);
    assert!(ours.seen == rstar.seen && ours.seen == flat.seen, "they disagree on who sees whom");
    let row = |name: &str, of: fn(&Cost) -> Duration| {
        let us = |cost: &Cost| of(cost).as_secs_f64() * 1e6;
        let (ours, rstar, flat) = (us(&ours), us(&rstar), us(&flat));
        let (by_rstar, by_flat) = (rstar / ours, flat / ours);
        println!("{name:34} {ours:>9.1} µs {rstar:>9.1} µs {flat:>11.1} µs {by_rstar:>7.1}x {by_flat:>7.1}x");
    };
    row("move", |cost| cost.moves);
    row("ask for 7 x 7 cells, each mover", |cost| cost.asks);
    row("tick, enter and leave events told", |cost| cost.tick);
    let tick_ns = ours.tick.as_secs_f64() * 1e9;
    println!("{:34} {:>9.1} ns a mover, {events} events a tick", "the same", tick_ns / f64::from(*movers));
}

/// What each part costs, and how many events a tick has.
fn measure<C: Contender>(scene: &Scene, rounds: usize) -> (Cost, usize) {
    let mut crowd = Crowd::new(scene);
    let mut index = C::new(&crowd);
    let moves = typical(rounds, || {
        crowd.step();
        time(|| index.move_all(&crowd))
    });
    let asks = typical(rounds.div_ceil(10), || time(|| assert_ne!(black_box(index.ask_all(&crowd)), 0)));
    // From here on all start from the same places, whatever the number of rounds was.
    let (mut crowd, mut events) = (Crowd::new(scene), 0);
    let mut index = C::new(&crowd);
    let (mut sees, mut seen) = (vec![0; crowd.movers], Vec::new());
    index.watch_all(&crowd, &mut |watcher, thing, entered| see(&mut sees[watcher as usize], thing, entered));
    let mut ticks = Vec::new();
    for round in 0..rounds {
        crowd.step();
        ticks.push(time(|| {
            index.tick(&crowd, &mut |watcher, thing, entered| {
                see(&mut sees[watcher as usize], thing, entered);
                events += 1;
            });
        }));
        if round == scene.peer_rounds - 1 {
            seen.clone_from(&sees);
        }
    }
    (Cost { moves, asks, tick: least_disturbed(ticks), seen }, events / rounds)
}

/// Takes an event in: what a watcher does with it at least.
fn see(sees: &mut u64, thing: u32, entered: bool) {
    let one = 1 << 40 | u64::from(thing);
    *sees = if entered { sees.wrapping_add(one) } else { sees.wrapping_sub(one) };
}

/// The 100,000-player arithmetic: 100 x 100 km, cells of 100 m, one update each.
fn deliveries(rings: u16) {
    const PLAYERS: u32 = 100_000;
    let config = GridConfig { width_cells: 1_000, height_cells: 1_000, ..GridConfig::default() };
    let grid = Grid::new(config).expect("it can be");
    let mut presence = Presence::new(&grid);
    let tiles = 1_000 * grid.cell_tiles();
    let along = |seed: u32| Fx::int((mix64(seed.into()) % tiles as u64) as i32);
    for player in 0..PLAYERS {
        let at = Vec2::new(along(2 * player), along(2 * player + 1));
        presence.insert(player, at);
        presence.watch(player, grid.block(grid.cell_of(at), rings));
    }
    presence.events().for_each(drop);
    let told =
        |player| presence.watchers(presence.cell(player).expect("it is in")).filter(move |&other| other != player);
    let delivered: usize = (0..PLAYERS).map(|player| told(player).count()).sum();
    let broadcast = u64::from(PLAYERS) * u64::from(PLAYERS);
    let side = 2 * rings + 1;
    println!(
        "\n{PLAYERS} players on 100 x 100 km, an update each, told to those who watch its cell of 100 m ({side} x {side})"
    );
    let fewer = broadcast as f64 / delivered as f64;
    println!("{delivered} deliveries, {broadcast} by broadcasting: {fewer:.0} times fewer");
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn typical(rounds: usize, mut sample: impl FnMut() -> Duration) -> Duration {
    least_disturbed((0..rounds).map(|_| sample()).collect())
}

/// The time that only a tenth of the samples stay below.
fn least_disturbed(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 10]
}
