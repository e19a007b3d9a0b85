//! Snapshot, restore, continue: bit for bit, in memory and serialised.

use std::sync::OnceLock;

use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, Simulation, Turn};
use proptest::prelude::*;
use testkit::storm::{StormWorld, Turns, Weather, table};

/// A run with its turns and the checksum after each.
struct Run {
    weather: Weather,
    turns: Vec<Turn<StormWorld>>,
    checksums: Vec<Checksum>,
}

fn run(seed: u64, ticks: usize) -> Run {
    let weather = Weather::of(seed);
    let (mut world, mut source) = (weather.world(), Turns::of(&weather).with_absences());
    let (mut turns, mut checksums) = (Vec::new(), Vec::new());
    for _ in 0..ticks {
        let turn = source.next(&world);
        world.step(&turn);
        turns.push(turn);
        checksums.push(world.checksum());
    }
    Run { weather, turns, checksums }
}

#[test]
fn restored_at_every_tick_a_world_goes_on_the_same() {
    for seed in 200..206 {
        let run = run(seed, 160);
        let mut world = run.weather.world();
        let mut dice = table().dice(seed, lockstone_sim::Tick(1));
        let mut history = Vec::new();
        for tick in 0..run.turns.len() {
            history.push(world.snapshot());
            // Eight ticks into a future that never was, and back.
            (0..dice.below(8)).for_each(|_| world.step(&Turn::EMPTY));
            world.restore(history.last().expect("one was just taken"));
            world.step(&run.turns[tick]);
            assert_eq!(world.checksum(), run.checksums[tick], "seed {seed}, tick {tick}");
        }
        // Back to any tick, in any order, giving snapshots back on the way.
        while history.len() > 1 {
            let tick = dice.below(history.len() as u32) as usize;
            world.restore(&history[tick]);
            for (turn, checksum) in run.turns[tick..].iter().zip(&run.checksums[tick..]).take(10) {
                world.step(turn);
                assert_eq!(world.checksum(), *checksum, "seed {seed}, from tick {tick}");
            }
            let keep = history.len() / 2;
            history.drain(keep..).for_each(|snapshot| world.retire(snapshot));
        }
    }
}

#[test]
fn serialised_at_every_tick_another_world_goes_on_the_same() {
    let run = run(300, 200);
    let (mut world, mut other) = (run.weather.world(), run.weather.world());
    for (tick, turn) in run.turns.iter().enumerate() {
        let taken = world.snapshot();
        let bytes = world.encode(&taken);
        let read = other.decode(&bytes).expect("own bytes decode");
        assert_eq!(other.encode(&read), bytes, "the same bytes for the same state, tick {tick}");
        other.restore(&read);
        assert_eq!(other.checksum(), world.checksum(), "tick {tick}");
        world.step(turn);
        other.step(turn);
        assert_eq!(other.checksum(), run.checksums[tick], "tick {tick}");
    }
}

#[test]
fn the_tree_holds_every_cell_once_and_is_the_same_after_any_detour() {
    let run = run(301, 120);
    let mut world = run.weather.world();
    for (turn, checksum) in run.turns.iter().zip(&run.checksums) {
        let before = world.snapshot();
        world.step(&Turn::EMPTY);
        world.restore(&before);
        world.step(turn);
        let tree = world.tree();
        assert!(tree.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(tree.len(), world.cells().count());
        assert!(tree.iter().all(|(cell, sum)| world.cell_checksum(*cell) == Some(*sum)));
        let taken = world.snapshot();
        let mut other = run.weather.world();
        let read = other.decode(&world.encode(&taken)).expect("own bytes decode");
        other.restore(&read);
        assert_eq!(other.tree(), tree, "cells may be stored in another order");
        assert_eq!(world.checksum(), *checksum);
    }
}

#[test]
fn the_checksum_notices_what_moves_between_equal_entities() {
    // Two worlds that differ in the tick alone, and in one command alone.
    let run = run(301, 60);
    let (mut a, mut b) = (run.weather.world(), run.weather.world());
    run.turns.iter().for_each(|turn| a.step(turn));
    run.turns[..59].iter().for_each(|turn| b.step(turn));
    assert_ne!(a.checksum(), b.checksum());
    b.step(&Turn::EMPTY);
    let same_turn = run.turns[59].inputs.is_empty();
    assert_eq!(a.checksum() == b.checksum(), same_turn);
}

/// A world after some ticks, serialised.
fn sound_bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let run = run(302, 40);
        let mut world = run.weather.world();
        run.turns.iter().for_each(|turn| world.step(turn));
        let taken = world.snapshot();
        world.encode(&taken)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_snapshots_are_refused_or_read_and_never_panic(at in any::<prop::sample::Index>(), bits in 1..=255_u8, cut in any::<bool>()) {
        let mut world = Weather::of(302).world();
        let mut bytes = sound_bytes().to_vec();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= bits }
        match world.decode(&bytes) {
            Err(CodecError::Malformed(_)) => {}
            Err(other) => prop_assert!(false, "unexpected: {other}"),
            Ok(read) => {
                // A changed value that is still a world: it can be stepped.
                world.restore(&read);
                (0..3).for_each(|_| world.step(&Turn::EMPTY));
                world.checksum();
            }
        }
    }
}
