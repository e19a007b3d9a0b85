//! The desync checker: what was planted is named, and nothing else is.

use lockstone::check::{Cause, Checker, Report};
use lockstone::recording::Recording;
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{Input, PlayerId, Simulation, Tick, Turn, mix64, tamper};
use testkit::recorded::Peer;
use testkit::storm::{SMALL, StormWorld as Sim, Weather};

const SEED: u64 = 11;

fn world(seed: u64) -> Sim {
    Weather { seed, ..SMALL }.world()
}

fn turns(ticks: u32) -> Vec<Turn<Sim>> {
    let world = world(SEED);
    (0..ticks)
        .map(|tick| {
            let player = PlayerId((tick % 4) as u16);
            let input = match tick {
                0..4 => Input::Join(player, world.admit(player, ())),
                _ if tick % 5 == 0 => Input::Command(player, SMALL.place(mix64(tick.into()))),
                _ => return Turn::EMPTY,
            };
            Turn { inputs: vec![input] }
        })
        .collect()
}

fn check(recordings: Vec<Recording<Sim>>) -> Report {
    Checker::new(&world).check(recordings).expect("they are of one session")
}

#[test]
fn a_turned_bit_is_named() {
    let turns = turns(400);
    let mut peers: Vec<_> = (0..4).map(|n| Peer::new(n, SEED)).collect();
    peers[2].trees = true;
    let record = |n: usize, bit: Option<u32>| {
        peers[n].record(&mut world(SEED), &turns, |world| {
            if bit == Some(world.tick().0) {
                let cell = world.cells().find(|cell| !world.actors(*cell).is_empty()).expect("heroes are there");
                let bit = StateBit { of: StatePart::Entity(cell, world.actors(cell)[0].id), byte: 30, bit: 3 };
                let turned = tamper::with_bit_turned(&world.snapshot(), &bit).expect("it is a number");
                world.restore(&turned);
            }
            None
        })
    };
    let all: Vec<_> = (0..4).map(|n| record(n, (n == 2).then_some(137))).collect();
    let report = check(all);
    println!("{report}");
    let finding = report.finding.expect("a difference was planted");
    assert_eq!((finding.tick, finding.agreed), (Tick(137), Some(Tick(136))));
    assert_eq!((finding.verdict.cause, finding.odd), (Cause::StateCorruption, vec![2]));
    let location = finding.location.expect("the bit was named");
    assert_eq!(location.spots.len(), 1);
    assert_eq!(location.spots[0].fields.len(), 1);
}

/// Each peer of a rollback session works out by itself where players enter: one whose world is
/// another has other turns too.
#[test]
fn of_two_with_unlike_turns_only_the_one_whose_world_does_not_follow_is_blamed() {
    let turns = turns(60);
    let healthy = Peer::new(0, SEED).record(&mut world(SEED), &turns, |_| None);
    let odd = Peer::new(1, SEED).record(&mut world(SEED + 1), &turns, |world| {
        let elsewhere = || Input::Join(PlayerId(0), world.admit(PlayerId(3), ()));
        (world.tick() == Tick(0)).then(|| Turn { inputs: vec![elsewhere()] })
    });
    for (recordings, blamed) in [(vec![healthy.clone(), odd.clone()], 1), (vec![odd, healthy], 0)] {
        let finding = check(recordings).finding.expect("they differ");
        assert_eq!((finding.odd, finding.verdict.blamed), (vec![blamed], vec![blamed]));
    }
}
