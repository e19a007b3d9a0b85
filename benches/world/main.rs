//! A world of heroes, monsters and objects, beside the ordinary way of doing the same.
//!
//! `cargo bench -p lockstone --bench world` prints what each costs, and the ratio, from one run.

mod dark;

use std::time::Duration;

use lockstone_sim::{Simulation, Turn};
use testkit::contest::ordinary::Ordinary;
use testkit::contest::ours;
use testkit::contest::play::{CROWDED, Play, SPREAD};
use testkit::contest::{time, typical};

/// The time of one tick in three measures, and of a rollback: each the least disturbed
/// tenth of its samples.
struct Cost {
    tick: Duration,
    checksum: Duration,
    snapshot: Duration,
    rollback: Duration,
}

fn main() {
    let plays = [
        SPREAD,
        CROWDED,
        Play { name: "100,000 objects", heroes: 2_800, monsters: 500, objects: 100_000, tiles: 768, crowd: 768 },
    ];
    for play in plays {
        let heading =
            format!("{}: {} heroes, {} monsters, {} objects", play.name, play.heroes, play.monsters, play.objects);
        println!("\n{heading}\n{:34} {:>12} {:>12} {:>8}", "", "Lockstone", "ordinary", "ratio");
        let ours = measure(&play, ours::world(&play, 0), ours::population);
        let theirs = measure(&play, Ordinary::new(&play), Ordinary::population);
        let row = |name: &str, ours: Duration, theirs: Duration| {
            let us = |d: Duration| d.as_nanos() as f64 / 1000.0;
            println!("{name:34} {:>9.1} µs {:>9.1} µs {:>7.1}x", us(ours), us(theirs), us(theirs) / us(ours));
        };
        row("tick", ours.tick, theirs.tick);
        row("tick + checksum", ours.checksum, theirs.checksum);
        row("tick + checksum + snapshot", ours.snapshot, theirs.snapshot);
        row("restore + 8 x all three", ours.rollback, theirs.rollback);
        let added = ours.snapshot.saturating_sub(ours.tick).as_nanos() as f64 / ours.tick.as_nanos() as f64;
        println!("{:34} {:>8.2} of a tick", "checksum + snapshot add", added);
    }
    dark::print();
}

fn measure<S: Simulation>(play: &Play, mut world: S, population: fn(&S) -> usize) -> Cost {
    assert_eq!(population(&world), play.heroes + play.monsters + play.objects, "nobody is missing");
    let rounds = if play.objects > 50_000 { 60 } else { 300 };
    (0..40).for_each(|_| world.step(&Turn::EMPTY));
    let tick = typical(rounds, || time(|| world.step(&Turn::EMPTY)));
    let checksum = typical(rounds, || {
        time(|| {
            world.step(&Turn::EMPTY);
            // What nobody asks for need not be computed.
            std::hint::black_box(world.checksum());
        })
    });
    let mut history = std::collections::VecDeque::new();
    let snapshot = typical(rounds, || time(|| tick_with_history(&mut world, &mut history)));
    let rollback = typical(rounds / 6, || {
        time(|| {
            history.drain(2..).for_each(|snapshot| world.retire(snapshot));
            world.restore(&history[1]);
            (0..8).for_each(|_| tick_with_history(&mut world, &mut history));
        })
    });
    assert_eq!(population(&world), play.heroes + play.monsters + play.objects, "nobody is lost");
    Cost { tick, checksum, snapshot, rollback }
}

fn tick_with_history<S: Simulation>(world: &mut S, history: &mut std::collections::VecDeque<S::Snapshot>) {
    world.step(&Turn::EMPTY);
    std::hint::black_box(world.checksum());
    let snapshot = world.snapshot();
    history.push_back(snapshot);
    if history.len() > 10 {
        let old = history.pop_front().expect("it is not empty");
        world.retire(old);
    }
}
