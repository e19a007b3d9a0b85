//! Parts of a state that differ are replaced by those of another world, exactly; and bytes that are
//! no such parts change nothing.

use std::collections::BTreeSet;

use lockstone_sim::world::{StateBit, StatePart};
use lockstone_sim::{CellId, Checksum, Simulation, Tick, Turn, codec, tamper};
use testkit::storm::{StormWorld, Turns, Weather, table};

/// Two worlds that were one, the second of which has gone another way for some ticks.
fn parted(seed: u64) -> (Turns, StormWorld, StormWorld) {
    let weather = Weather { cells: 12, ..Weather::of(seed) };
    let (mut sound, mut turns) = (weather.world(), Turns::of(&weather));
    let mut step = |sound: &mut StormWorld, odd: Option<&mut StormWorld>| {
        let turn = turns.next(sound);
        sound.step(&turn);
        odd.into_iter().for_each(|odd| odd.step(&turn));
    };
    (0..60).for_each(|_| step(&mut sound, None));
    let mut odd = weather.world();
    let state = sound.snapshot();
    odd.restore(&state);
    let mut dice = table().dice(seed, Tick(3));
    let facts = codec::fields(odd.facts()).last().map_or(0, |last| last.bytes.end);
    for n in 0..=dice.below(3) {
        let before = odd.snapshot();
        let turned = (0..).find_map(|_| {
            let cells: Vec<_> = odd.cells().collect();
            let cell = *dice.pick(&cells).expect("some are stored");
            let entity = odd.actors(cell).iter().chain(odd.props(cell)).next().map(|entity| entity.id);
            let of = if n == 2 { StatePart::Facts } else { StatePart::Entity(cell, entity?) };
            let bytes = if n == 2 { facts } else { 40 };
            let bit = StateBit { of, byte: dice.below(bytes as u32) as usize, bit: dice.below(8) as u8 };
            tamper::with_bit_turned(&before, &bit)
        });
        odd.restore(&turned.expect("there is one"));
    }
    (0..dice.below(12)).for_each(|_| step(&mut sound, Some(&mut odd)));
    (turns, sound, odd)
}

fn differing(a: &[(CellId, Checksum)], b: &[(CellId, Checksum)]) -> Vec<CellId> {
    let only = |these: &[(CellId, Checksum)], those: &[(CellId, Checksum)]| {
        let alone = these.iter().filter(|cell| !those.contains(cell)).map(|(cell, _)| *cell);
        alone.collect::<BTreeSet<_>>()
    };
    only(a, b).union(&only(b, a)).copied().collect()
}

/// The parts in which the second world differs from the first, as they are in the first.
fn parts(sound: &mut StormWorld, odd: &mut StormWorld) -> Vec<u8> {
    let cells = differing(&sound.tree(), &odd.tree());
    let snapshot = sound.snapshot();
    let rest = sound_rest(sound) != sound_rest(odd);
    sound.encode_parts(&snapshot, &cells, rest)
}

fn sound_rest(world: &mut StormWorld) -> Checksum {
    world.rest_checksum().expect("a world has parts")
}

#[test]
fn a_world_whose_differing_parts_are_replaced_goes_on_as_the_other() {
    let mut differed = 0;
    for seed in 0..150 {
        let (mut turns, mut sound, mut odd) = parted(seed);
        differed += u32::from(sound.checksum() != odd.checksum());
        let parts = parts(&mut sound, &mut odd);
        odd.replace_parts(&parts).expect("they were just written");
        assert_eq!(odd.checksum(), sound.checksum(), "seed {seed}");
        assert_eq!(odd.encoded(), sound.encoded(), "seed {seed}");
        for _ in 0..30 {
            let turn = turns.next(&sound);
            sound.step(&turn);
            odd.step(&turn);
            assert_eq!(odd.checksum(), sound.checksum(), "seed {seed}, tick {}", sound.tick());
        }
    }
    assert!(differed > 100, "{differed} worlds differed");
}

#[test]
fn a_part_too_few_is_noticed() {
    let mut noticed = 0;
    for seed in 0..40 {
        let (_, mut sound, mut odd) = parted(seed);
        let mut cells = differing(&sound.tree(), &odd.tree());
        if cells.pop().is_none() {
            continue;
        }
        let snapshot = sound.snapshot();
        let parts = sound.encode_parts(&snapshot, &cells, true);
        let _ = odd.replace_parts(&parts);
        assert_ne!(odd.checksum(), sound.checksum(), "seed {seed}");
        noticed += 1;
    }
    assert!(noticed > 20, "{noticed}");
}

#[test]
fn bytes_that_are_no_parts_change_nothing() {
    for seed in 0..40 {
        let (_, mut sound, mut odd) = parted(seed);
        let (parts, before, mut dice) = (parts(&mut sound, &mut odd), odd.checksum(), table().dice(seed, Tick(5)));
        for _ in 0..40 {
            let mut bytes = parts.clone();
            match dice.below(3) {
                0 => bytes.truncate(dice.below(bytes.len() as u32) as usize),
                1 => bytes.push(dice.below(256) as u8),
                _ => {
                    let at = dice.below(bytes.len() as u32) as usize;
                    bytes[at] ^= 1 << dice.below(8);
                }
            }
            let state = odd.snapshot();
            match odd.replace_parts(&bytes) {
                Err(_) => assert_eq!(odd.checksum(), before, "seed {seed}"),
                // Another state that a world can have: it goes on.
                Ok(()) => odd.step(&Turn::EMPTY),
            }
            odd.restore(&state);
        }
        // Of another tick.
        sound.step(&Turn::EMPTY);
        let (cells, snapshot) = (sound.tree().into_iter().map(|(cell, _)| cell).collect::<Vec<_>>(), sound.snapshot());
        let later = sound.encode_parts(&snapshot, &cells, true);
        assert!(odd.replace_parts(&later).is_err());
        assert_eq!(odd.checksum(), before);
    }
}
