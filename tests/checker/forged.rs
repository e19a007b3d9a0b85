//! A state that was made to have the checksum of another: a sum of 64 bits keeps nobody from it.
//! Eight animals of a cell are altered so that the sum of their hashes stays what it was.

use std::collections::HashMap;

use lockstone::check::{Cause, Checker, Inspect, Report};
use lockstone::recording::{Entry, Packed, Recording};
use lockstone::sim::world::StatePart;
use lockstone::sim::{Simulation, Tick};
use testkit::pasture::{self, Being, Sim, Wrong, world};
use testkit::recorded::Peer;
use xxhash_rust::xxh3::xxh3_64;

const SEED: u64 = 31;
const TICKS: u32 = 400;
/// The numbers that are tried, all larger than any of the game: of eight lists of so many hashes
/// about one sum is zero.
const NUMBERS: std::ops::Range<u32> = 1 << 20..(1 << 20) + (1 << 16);
/// How many are altered.
const ALTERED: usize = 8;

/// An animal of the cell: what it is encoded as, and where in that a number stands that may be any.
struct Animal {
    part: StatePart,
    bytes: Vec<u8>,
    number_at: usize,
}

impl Animal {
    /// It with another number.
    fn with(&self, number: u32) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[self.number_at..self.number_at + 4].copy_from_slice(&number.to_le_bytes());
        bytes
    }

    /// For some numbers: what it adds to the sum, beside what it adds now.
    fn changes(&self) -> Vec<(u64, Vec<u32>)> {
        let now = xxh3_64(&self.bytes);
        NUMBERS.map(|number| (xxh3_64(&self.with(number)).wrapping_sub(now), vec![number])).collect()
    }
}

/// The eight of the first cell that has so many.
fn animals(world: &mut Sim) -> Option<Vec<Animal>> {
    let crowded = world.cells().find(|&cell| world.actors(cell).len() >= ALTERED)?;
    let ids: Vec<_> = world.actors(crowded).iter().map(|animal| (animal.id, animal.body.clone())).collect();
    let animal = |(id, body)| {
        let part = StatePart::Entity(crowded, id);
        let bytes = world.part(part).expect("a world tells");
        let number = match body {
            Being::Sheep { wool, .. } => wool,
            Being::Wolf { hunger, .. } => hunger.cast_unsigned(),
            Being::Shepherd { .. } => return None,
        };
        let number_at = bytes.windows(4).rposition(|four| four == number.to_le_bytes())?;
        Some(Animal { part, bytes, number_at })
    };
    let animals: Vec<_> = ids.into_iter().filter_map(animal).take(ALTERED).collect();
    (animals.len() == ALTERED).then_some(animals)
}

/// Pairs of two lists whose sums have so many more low bits that are zero (Wagner, "A Generalized
/// Birthday Problem", 2002).
fn merged(left: &[(u64, Vec<u32>)], right: &[(u64, Vec<u32>)], zero_bits: u32) -> Vec<(u64, Vec<u32>)> {
    let mask = u64::MAX >> (64 - zero_bits);
    let mut by_low: HashMap<u64, Vec<usize>> = HashMap::new();
    right.iter().enumerate().for_each(|(n, (sum, _))| by_low.entry(sum & mask).or_default().push(n));
    let pairs = left.iter().flat_map(|(sum, numbers)| {
        let fit = by_low.get(&(sum.wrapping_neg() & mask)).into_iter().flatten();
        fit.map(move |&n| (sum.wrapping_add(right[n].0), [&numbers[..], &right[n].1].concat()))
    });
    pairs.collect()
}

/// Another state with the checksum of this one.
fn forged(world: &mut Sim, animals: &[Animal]) -> Option<Sim> {
    let mut lists: Vec<_> = animals.iter().map(Animal::changes).collect();
    for zero_bits in [16, 32, 64] {
        lists = lists.chunks(2).map(|two| merged(&two[0], &two[1], zero_bits)).collect();
    }
    let (_, numbers) = lists[0].first()?;
    let mut other = pasture::world(SEED, Wrong::Nothing);
    other.restore(&world.snapshot());
    for (animal, &number) in animals.iter().zip(numbers) {
        let altered = other.with_part(animal.part, &animal.with(number)).expect("any number will do");
        other.restore(&altered);
    }
    Some(other)
}

/// When a cell is crowded, and another state of the checksum that the world has then.
fn state() -> (Tick, Sim) {
    let mut world = world(SEED, Wrong::Nothing);
    for turn in &pasture::turns(SEED, TICKS / 2) {
        world.step(turn);
        let other = animals(&mut world).and_then(|animals| forged(&mut world, &animals));
        if let Some(mut other) = other {
            assert_eq!((other.checksum(), other.tree()), (world.checksum(), world.tree()));
            assert!(other.encoded() != world.encoded(), "it is another");
            return (world.tick(), other);
        }
    }
    panic!("no cell was ever crowded");
}

/// A recording with its state at a tick. From there on it plays from another, if one is given.
fn record(n: u16, at: Tick, other: Option<&mut Sim>) -> Recording<Sim> {
    let peer = Peer { keyframe_at: Some(at), trees: true, ..Peer::new(n, SEED) };
    let mut other = other.map(|other| other.snapshot());
    peer.record(&mut world(SEED, Wrong::Nothing), &pasture::turns(SEED, TICKS), |world| {
        if world.tick() == at
            && let Some(other) = other.take()
        {
            world.restore(&other);
        }
        None
    })
}

fn check(recordings: Vec<Recording<Sim>>) -> Report {
    let build = |seed| world(seed, Wrong::Nothing);
    let report = Checker::new(&build).check(recordings).expect("they are of one session");
    println!("{report}");
    report
}

#[test]
fn a_forged_keyframe_with_an_equal_root_lets_the_guilty_go() {
    let (tick, mut other) = state();
    for guilty in [0, 1, 2] {
        let recordings = (0..3).map(|n| record(n, tick, (n == guilty).then_some(&mut other)));
        let finding = check(recordings.collect()).finding.expect("they differ");
        assert_eq!(finding.odd, [usize::from(guilty)]);
        assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::StateCorruption, &finding.odd));
        assert!(finding.verdict.reasons.iter().any(|reason| reason.contains("made to have it")));
    }
    // Of two, one is as good as the other, but for the turns since the start.
    for guilty in [0, 1] {
        let recordings = (0..2).map(|n| record(n, tick, (n == guilty).then_some(&mut other)));
        let finding = check(recordings.collect()).finding.expect("they differ");
        assert_eq!(finding.verdict.blamed, [usize::from(guilty)]);
    }
}

#[test]
fn a_joiner_that_was_sent_a_forged_state_is_not_blamed() {
    let (tick, mut other) = state();
    let joiner = Peer { trees: true, ..Peer::new(2, SEED) }.record(&mut other, &pasture::turns(SEED, TICKS), |_| None);
    let finding = check(vec![record(0, tick, None), record(1, tick, None), joiner]).finding.expect("they differ");
    assert_eq!((finding.odd, finding.verdict.blamed), (vec![2], vec![]));
    assert_eq!(finding.verdict.cause, Cause::StateCorruption);
}

#[test]
fn a_forged_keyframe_beside_honest_checksums_costs_nobody_anything() {
    let (tick, mut other) = state();
    let mut forger = record(0, tick, None);
    let altered = Packed::of(&other.encoded());
    for entry in &mut forger.entries {
        if let Entry::Keyframe(state) = entry {
            *state = altered.clone();
        }
    }
    assert!(check(vec![forger, record(1, tick, None)]).is_in_step());
}
