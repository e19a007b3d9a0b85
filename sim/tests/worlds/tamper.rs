//! The desync checker's questions to a world: which bit was turned over, and does the order of
//! the cells matter.

use lockstone_sim::world::{StateBit, StatePart};
use lockstone_sim::{Checksum, Simulation, codec, tamper};
use testkit::storm::{StormWorld, Turns, Weather, table};

fn played(seed: u64, ticks: usize) -> (Turns, StormWorld) {
    let weather = Weather::of(seed);
    let (mut world, mut turns) = (weather.world(), Turns::of(&weather));
    for _ in 0..ticks {
        let turn = turns.next(&world);
        world.step(&turn);
    }
    (turns, world)
}

/// Every part of the state, with how many bytes its encoding has.
fn parts(world: &StormWorld) -> Vec<(StatePart, usize)> {
    let len = |fields: Vec<codec::Field>| fields.last().map_or(0, |last| last.bytes.end);
    let mut parts = vec![(StatePart::Facts, len(codec::fields(world.facts())))];
    for cell in world.cells() {
        parts.push((StatePart::Light(cell), 1));
        let entities = world.actors(cell).iter().chain(world.props(cell));
        parts.extend(entities.map(|e| (StatePart::Entity(cell, e.id), len(codec::fields(e)))));
    }
    parts
}

#[test]
fn a_bit_that_was_turned_over_is_named_from_the_root_alone() {
    for seed in 0..200 {
        let (_, mut world) = played(seed, 40);
        let (all, mut dice) = (parts(&world), table().dice(seed, lockstone_sim::Tick(7)));
        let before = world.snapshot();
        let (bit, turned) = loop {
            let &(of, bytes) = dice.pick(&all).expect("there are parts");
            let bit = StateBit { of, byte: dice.below(bytes as u32) as usize, bit: dice.below(8) as u8 };
            if let Some(turned) = tamper::with_bit_turned(&before, &bit) {
                break (bit, turned);
            }
        };
        world.restore(&turned);
        let root = world.checksum();
        world.restore(&before);
        assert_eq!(tamper::find_bit(&mut world, root, None), Some(bit), "seed {seed}");
        if let Some(cell) = bit.of.cell() {
            assert_eq!(tamper::find_bit(&mut world, root, Some(&[cell])), Some(bit), "seed {seed}");
        }
        assert_eq!(tamper::find_bit(&mut world, Checksum(root.0 ^ 1), None), None, "no single bit leads to any root");
    }
}

#[test]
fn the_order_in_which_cells_are_stored_makes_no_difference() {
    for seed in 0..40 {
        let (mut turns, mut world) = played(seed, 30);
        let mut other = Weather::of(seed).world();
        other.restore(&world.snapshot());
        for tick in 0..60 {
            tamper::reorder_cells(&mut other, seed ^ tick);
            assert_eq!(world.checksum(), other.checksum(), "seed {seed}, tick {tick}");
            let turn = turns.next(&world);
            world.step(&turn);
            other.step(&turn);
        }
        assert_eq!(world.checksum(), other.checksum(), "seed {seed}");
    }
}
