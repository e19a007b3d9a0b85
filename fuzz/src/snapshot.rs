//! Serialised snapshots of a world made to find faults: what decodes is a state that two worlds
//! reach alike and leave alike.

use lockstone_sim::Simulation;

use testkit::storm::{StormWorld, Turns, Weather};
use crate::{memory, slices, turns};

const STEPS: usize = 3;
/// Two lists lie in one another, and each may reserve this much before its elements are looked at,
/// if its length could be true.
const RESERVE_BYTES: usize = 2 << 20;
/// An entity takes ten bytes at least, and some 64 in memory, in a list that doubles.
const FACTOR: usize = 64;

/// Reads any snapshot, and plays the turns that follow it.
pub fn check(bytes: &[u8]) -> bool {
    let (snapshot, rest) = slices::split(bytes);
    let mut world = weather().world();
    let read = memory::within(RESERVE_BYTES + FACTOR * snapshot.len(), || world.decode(snapshot));
    let Ok(read) = read else { return false };
    let written = world.encode(&read);
    assert!(written.len() <= snapshot.len(), "integers can be written longer than needed, never shorter");
    // The other world has been somewhere else before.
    let mut other = weather().world();
    let mut source = Turns::of(&weather());
    (0..2).for_each(|_| other.step(&source.next(&other)));
    other.restore(&other.decode(&written).expect("own bytes decode"));
    world.restore(&read);
    assert_equal(&mut world, &mut other);
    let mut given = slices::all(rest);
    for _ in 0..STEPS {
        let turn = given.next().map_or_else(|| source.next(&world), turns::read);
        world.step(&turn);
        other.step(&turn);
        assert_equal(&mut world, &mut other);
    }
    true
}

fn weather() -> Weather {
    Weather::of(302)
}

fn assert_equal(one: &mut StormWorld, other: &mut StormWorld) {
    assert_eq!(one.checksum(), other.checksum());
    let [a, b] = [one, other].map(|world| {
        let snapshot = world.snapshot();
        world.encode(&snapshot)
    });
    assert_eq!(a, b);
}

/// A storm after a few ticks and after some more, with the turns that came next.
pub fn seeds() -> Vec<Vec<u8>> {
    [1, 3, 8].map(seed_at).into()
}

fn seed_at(ticks: usize) -> Vec<u8> {
    let (mut world, mut source) = (weather().world(), Turns::of(&weather()));
    (0..ticks).for_each(|_| world.step(&source.next(&world)));
    let snapshot = world.snapshot();
    let mut slices = vec![world.encode(&snapshot)];
    for _ in 0..STEPS {
        let turn = source.next(&world);
        world.step(&turn);
        slices.push(turns::write(&turn));
    }
    slices::join(slices.iter().map(Vec::as_slice))
}
