//! A hero that runs straight ahead, over border after border: its replica never stalls, and always
//! knows what is around it.

use core::time::Duration;

use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::Session;
use lockstone_sim::{CellId, Fx, Simulation, Tick};
use testkit::relay::*;
use testkit::sessions::*;
use testkit::storm;

/// 150 ms there and back, and 2 of 100 packets are lost.
const LINE: Weather = Weather {
    delay: ms(70),
    jitter: ms(10),
    loss_permille: 20,
    duplicate_permille: 0,
    reorder_permille: 0,
    line_bytes_per_s: None,
};
const BORDERS: u16 = 40;

/// How a run was.
#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Run {
    borders: u16,
    ticks: u32,
    /// The longest time between two ticks that were played.
    gap: Duration,
    /// The same when the hero stood still.
    gap_at_rest: Duration,
    /// The fewest rings of core around the hero's cell.
    rings_min: u16,
    /// Ticks with fewer rings than there must be.
    ticks_short: u32,
}

/// The rings around a cell that a replica simulates: those beyond the world's edge count as if
/// they were there.
fn rings(world: &storm::StormWorld, hero: CellId) -> u16 {
    let core = world.area().core_rect().expect("a part");
    (0..64).take_while(|rings| core.contains_rect(world.grid().block(hero, *rings))).count().saturating_sub(1) as u16
}

/// Lets a hero run from the left edge to the right. The driver stops at every tick that
/// its replica plays.
fn run(seed: u64, storm: storm::Weather) -> Run {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let enter = settings.enter_rings;
    let mut scene = Scene::new(seed, storm, settings, LINE);
    scene.enter_many(6);
    scene.run_until(secs(4));
    let tiles = storm.tiles();
    let hero = |scene: &Scene| {
        let session = &scene.seat(1).session;
        let player = session.stats().player.expect("let in");
        session.simulation().and_then(|world| Some(world.grid().cell_of(world.hero(player)?.pos)))
    };
    // To the left edge first, through a portal.
    let row = tiles as u16 / 2;
    scene.seat_mut(1).session.command((storm::PORTAL | 2, row)).expect("it plays");
    scene.run_until(secs(7));
    scene.seat_mut(1).session.command((2, row | storm::STURDY)).expect("it plays");
    // As long as the run takes: so both lose as many packets.
    let (gap_at_rest, ..) = follow(&mut scene, secs(25), enter, |_| false);
    scene.seat_mut(1).session.command((tiles as u16 - 2, row)).expect("it plays");
    let begin = hero(&scene).expect("it is there").x;
    let end = scene.driver.now() + secs(60);
    let arrived = |scene: &Scene| hero(scene).is_some_and(|cell| cell.x >= begin + BORDERS);
    let (gap, rings_min, ticks_short, ticks) = follow(&mut scene, end, enter, arrived);
    assert_eq!(scene.stats().desyncs, 0);
    let borders = hero(&scene).expect("it is there").x - begin;
    Run { borders, ticks, gap, gap_at_rest, rings_min, ticks_short }
}

/// Runs, exact all the time, until a time or until it is enough. Returns the largest gap, the
/// fewest rings, and ticks with too few of all.
fn follow(scene: &mut Scene, end: Duration, enter: u16, enough: impl Fn(&Scene) -> bool) -> (Duration, u16, u32, u32) {
    let tick = |scene: &Scene| scene.seat(1).session.stats().tick;
    let (mut gap, mut rings_min, mut short, mut ticks) = (Duration::ZERO, u16::MAX, 0, 0);
    let (mut last, mut at): (Tick, Duration) = (tick(scene), scene.driver.now());
    while scene.driver.now() < end && !enough(scene) {
        let until = scene.driver.now() + ms(1);
        scene.run_until(until);
        if tick(scene) == last {
            continue;
        }
        let now = scene.driver.now();
        gap = gap.max(now - at);
        ticks += tick(scene).since(last);
        (last, at) = (tick(scene), now);
        let session = &scene.seat(1).session;
        let player = session.stats().player.expect("let in");
        let world = session.simulation().expect("it plays");
        // What is around the hero in the relay's world counts, whether the replica
        // still sees it or not.
        let hero = world.grid().cell_of(scene.moments[&world.tick()].heroes[&player]);
        let rings =
            if world.area().core_rect().is_some_and(|core| core.contains(hero)) { rings(world, hero) } else { 0 };
        rings_min = rings_min.min(rings);
        short += u32::from(rings < enter);
    }
    (gap, rings_min, short, ticks)
}

#[test]
fn a_run_over_forty_borders_never_stalls() {
    let enter = RelaySettings::default().enter_rings;
    for (name, storm) in [
        ("8 tiles a cell, 20 tiles a second", storm::Weather { cells: 60, ..testkit::relay::STORM }),
        ("4 tiles a cell, 20 tiles a second", storm::Weather { cells: 60, cell_log2: 2, ..testkit::relay::STORM }),
    ] {
        for seed in 0..5 {
            let run = run(seed, storm);
            println!("{name}, seed {seed}: {run:?}");
            assert_eq!(run.borders, BORDERS);
            // As long as the longest at rest, and a packet of frames: what a loss costs.
            assert!(run.gap <= run.gap_at_rest.max(ms(150)) + ms(100), "{run:?}");
            assert!(run.rings_min >= enter || storm.cell_log2 < 3, "{run:?}");
        }
    }
}

/// The worst that rules allow here: more than a border every two ticks. The core may fall behind,
/// but stays exact.
#[test]
fn a_hero_faster_than_its_cells_come_is_caught_up_with() {
    let storm =
        storm::Weather { cells: 60, cell_log2: 2, stride: Fx::int(3), reach: Fx::int(4), ..testkit::relay::STORM };
    for seed in 0..3 {
        let run = run(seed, storm);
        println!("4 tiles a cell, 60 tiles a second, seed {seed}: {run:?}");
        assert_eq!(run.borders, BORDERS, "its core comes after it");
    }
}
