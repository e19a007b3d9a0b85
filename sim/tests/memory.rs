//! What a world holds does not grow with the time that it runs. One test, because memory is counted
//! for the whole process.

use std::collections::VecDeque;

use lockstone_sim::Simulation;
use peak_alloc::PeakAlloc;
use testkit::storm::{StormWorld, Turns, Weather};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// As many snapshots are kept as a rollback needs.
const KEPT: usize = 8;

#[test]
fn memory_does_not_grow_with_every_snapshot_given_back_and_every_restore() {
    let weather = Weather::of(302);
    let (mut world, mut source) = (weather.world(), Turns::of(&weather));
    let mut kept = VecDeque::new();
    let mut run = |world: &mut StormWorld, ticks: usize| {
        for _ in 0..ticks {
            kept.push_back(world.snapshot());
            if kept.len() > KEPT {
                kept.pop_front().into_iter().for_each(|old| world.retire(old));
            }
            world.step(&source.next(world));
        }
    };
    run(&mut world, 6_000);
    let before = ALLOCATOR.current_usage();
    run(&mut world, 6_000);
    assert!(grown(before) < 1 << 20, "6,000 ticks with snapshots added {} bytes", grown(before));

    let snapshot = world.snapshot();
    let bytes = world.encode(&snapshot);
    let mut restore = |times: usize| {
        for _ in 0..times {
            let read = world.decode(&bytes).expect("own bytes decode");
            world.restore(&read);
        }
    };
    restore(100);
    let before = ALLOCATOR.current_usage();
    restore(100);
    assert!(grown(before) < 1 << 20, "100 restores added {} bytes", grown(before));
}

fn grown(before: usize) -> usize {
    ALLOCATOR.current_usage().saturating_sub(before)
}
