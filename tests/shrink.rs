//! Long recordings that fail become small ones that fail in the same way.
//!
//! ```text
//! # A quarter of an hour of play, with times:
//! TICKS=18000 cargo test --release -p lockstone --test shrink -- \
//!     --include-ignored --nocapture --test-threads 1
//! ```

use std::cell::Cell;
use std::time::Instant;

use lockstone::check::chaos::Breaker;
use lockstone::check::shrink::{PLAYS, Symptom};
use lockstone::check::{Cause, CheckError, Checker, Inspect, Shrunk, shrink, verify};
use lockstone::default_table;
use lockstone::recording::Recording;
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{Input, PlayerId, Simulation, Tick, Turn, mix64, tamper};
use testkit::faulty::{self, FROM, Fault, Plant, draw, world, world_of};
use testkit::mixer::Mixer;
use testkit::recorded::Peer;
use testkit::seeds;

const SEED: u64 = 21;
const PLAYERS: u16 = 4;
const TICKS_MAX: u32 = 50;
const INPUTS_MAX: u64 = 10;

/// Few, in debug.
fn ticks() -> u32 {
    seeds::number("TICKS").map_or(250, |ticks| ticks as u32)
}

fn recorded(build: &dyn Fn(u64) -> faulty::Sim) -> Recording<faulty::Sim> {
    let turns = faulty::turns(SEED, PLAYERS, ticks());
    Peer::new(0, SEED).record(&mut build(SEED), &turns, |_| None)
}

/// It is small, was written and read, and fails as the long one did.
fn is_small<S: Inspect>(name: &str, shrunk: &Shrunk<S>, started: Instant) -> Recording<S> {
    let Shrunk { symptom, before, after, tried, failed, recording } = shrunk;
    let seconds = started.elapsed().as_secs_f64();
    println!("{name}: {before} became {after}, {tried} tried, {failed} of {PLAYS}, {seconds:.1} s: {symptom}");
    assert!(after.ticks <= TICKS_MAX && after.inputs <= INPUTS_MAX, "{name}: {after}");
    let again = Recording::read(&recording.write()).expect("it was just written");
    assert_eq!(again.end().since(again.header.start), after.ticks);
    again
}

/// What is found first, or what one breaker finds. Returns which it was. The fault acts all the
/// time, or rarely: once, half-way.
fn shrinks(fault: Fault, named: Option<Breaker>, rarely: bool) -> Breaker {
    let half = ticks() / 2 + 200;
    let acts = if rarely { Tick(half)..Tick(half + 30) } else { FROM..Tick(ticks()) };
    let build = |seed| world_of(seed, default_table(), Plant::during(acts.clone(), fault));
    let checker = Checker::new(&build).with_presentation(&draw);
    let recording = recorded(&build);
    let started = Instant::now();
    let shrunk = checker.shrink(recording, named, &mut |_| {}).expect("it is a recording").expect("it fails");
    let small = is_small(fault.name(), &shrunk, started);
    let Symptom::Breaker { breaker } = shrunk.symptom else { panic!("{fault:?}: {}", shrunk.symptom) };
    let again = checker.shrink(small, Some(breaker), &mut |_| {}).expect("it is a recording");
    assert!(again.is_some_and(|again| again.symptom == shrunk.symptom), "{fault:?}: it still fails");
    breaker
}

#[test]
fn what_a_breaker_finds_becomes_small() {
    let faults = [
        (Fault::CellOrder, Breaker::CellOrder),
        (Fault::Thread, Breaker::Threads),
        (Fault::Hidden, Breaker::Restore),
        (Fault::Unsaved, Breaker::Serialise),
        (Fault::Scene, Breaker::Presentation),
    ];
    faults.into_iter().for_each(|(fault, breaker)| assert_eq!(shrinks(fault, None, false), breaker, "{fault:?}"));
}

#[test]
fn what_is_asked_for_becomes_small() {
    let faults = [
        (Fault::Memo, Breaker::Rollback),
        (Fault::Alias, Breaker::StaleSnapshot),
        (Fault::Handles, Breaker::Allocation),
        (Fault::Reach, Breaker::Partial),
    ];
    faults.into_iter().for_each(|(fault, breaker)| assert_eq!(shrinks(fault, Some(breaker), false), breaker));
}

/// Half-way through a long recording, for a second or two: all of it must be played by one breaker
/// after the other.
#[test]
#[ignore = "for release"]
fn what_shows_itself_rarely_becomes_small() {
    let faults = [Fault::CellOrder, Fault::Hidden, Fault::Memo, Fault::Scene, Fault::Reach, Fault::Unsaved];
    for fault in faults {
        shrinks(fault, None, true);
    }
}

#[test]
fn a_checksum_that_is_not_met_is_cut_out() {
    let (turns, at) = (faulty::turns(SEED, PLAYERS, ticks()), Tick(ticks() * 9 / 10));
    let build = |seed| world(seed, Fault::None);
    let recording = Peer::new(0, SEED).record(&mut build(SEED), &turns, |world| {
        if world.tick() == at {
            let hero = world.hero(PlayerId(1)).expect("it is there");
            let cell = world.grid().cell_of(hero.pos);
            let bit = StateBit { of: StatePart::Entity(cell, hero.id), byte: 9, bit: 3 };
            let turned = tamper::with_bit_turned(&world.snapshot(), &bit).expect("it is a number");
            world.restore(&turned);
        }
        None
    });
    let started = Instant::now();
    let shrunk = shrink(recording, &build).expect("it is a recording").expect("it fails");
    assert!(matches!(shrunk.symptom, Symptom::Unmet { tick, .. } if tick == at), "{}", shrunk.symptom);
    let small = is_small("a turned bit", &shrunk, started);
    assert_eq!((shrunk.after.ticks, shrunk.failed), (1, PLAYS), "it fails each time");
    let finding = verify(small, &build).expect("it is a recording").finding.expect("it still differs");
    assert_eq!((finding.tick, finding.verdict.cause), (at, Cause::StateCorruption));
}

#[test]
fn what_comes_out_in_two_ways_becomes_small() {
    assert_eq!(shrinks(Fault::Clock, None, false), Breaker::Again);
}

#[test]
fn what_comes_only_now_and_then_is_said_to_vary() {
    let (made, turns) = (Cell::new(0), faulty::turns(SEED, PLAYERS, ticks()));
    // One process in two has the fault, as far as anyone can tell.
    let build = |seed| {
        made.set(made.get() + 1);
        world(seed, if mix64(made.get()).is_multiple_of(2) { Fault::Rule } else { Fault::None })
    };
    let recording = Peer::new(0, SEED).record(&mut world(SEED, Fault::None), &turns, |_| None);
    let shrunk = shrink(recording, &build).expect("it is a recording").expect("it fails");
    assert!((1..PLAYS).contains(&shrunk.failed), "{} of {PLAYS}: {}", shrunk.failed, shrunk.symptom);
}

/// Whose coming arms the fuse, and who fires.
const ARMER: PlayerId = PlayerId(1);
const FIRER: PlayerId = PlayerId(2);
const FIRE: u64 = 1_001;

/// Four players who talk all the time; one of them comes late and arms the fuse, another fires,
/// however long after.
fn fuse_turns(ticks: u32, armed: u32, fired: u32) -> Vec<Turn<Mixer>> {
    let says = |tick: u32, player: PlayerId| match (tick, player) {
        (0, PlayerId(0 | 2 | 3)) => Some(Input::Join(player, (7, Tick(0)))),
        (tick, ARMER) if tick == armed => Some(Input::Join(player, (7, Tick(tick)))),
        (tick, FIRER) if tick == fired => Some(Input::Command(player, FIRE)),
        _ => mix64(u64::from(tick) << 8 | u64::from(player.0))
            .is_multiple_of(20)
            .then(|| Input::Command(player, u64::from(tick % 900))),
    };
    (0..ticks).map(|tick| Turn { inputs: (0..4).filter_map(|n| says(tick, PlayerId(n))).collect() }).collect()
}

fn is_fire(input: &Input<Mixer>) -> bool {
    *input == Input::Command(FIRER, FIRE)
}

/// It burns down if the state says that it is armed.
fn fuse(seed: u64) -> Mixer {
    Mixer::new(seed, 4).with(|state, turn| {
        let armed = state.heroes.contains_key(&ARMER);
        assert!(!armed || !turn.inputs.iter().any(is_fire), "the fuse of tick {} has burnt down", state.tick);
    })
}

/// It is armed in no snapshot, and no more once it has gone off: whoever plays the tick a second
/// time sees nothing.
fn hidden_fuse(seed: u64) -> Mixer {
    let mut armed = false;
    Mixer::new(seed, 4).with(move |state, turn| {
        armed |= turn.inputs.iter().any(|input| matches!(input, Input::Join(ARMER, _)));
        if armed && turn.inputs.iter().any(is_fire) {
            (armed, state.cells[1]) = (false, !state.cells[1]);
        }
    })
}

#[test]
fn a_panic_becomes_small() {
    let ticks = ticks().max(2_000);
    let turns = fuse_turns(ticks, 300, ticks - 200);
    // The recorder did not live to see the last tick's outcome.
    let until = (ticks - 200) as usize;
    let mut recording = Peer::new(0, SEED).record(&mut fuse(SEED), &turns[..until], |_| None);
    recording.entries.push(lockstone::recording::Entry::Turn(turns[until].clone()));
    let started = Instant::now();
    let shrunk = shrink(recording, &fuse).expect("it is a recording").expect("it fails");
    assert!(matches!(shrunk.symptom, Symptom::Panic { .. }), "{}", shrunk.symptom);
    let small = is_small("a panic", &shrunk, started);
    assert_eq!((shrunk.after.ticks, shrunk.after.inputs), (1, 1));
    assert!(shrink(small, &fuse).expect("it is a recording").is_some());
}

/// No later state will do, for what matters is in none: all between the two inputs that matter is
/// left out instead.
#[test]
fn what_no_snapshot_holds_becomes_small() {
    let ticks = ticks().max(2_000);
    let turns = fuse_turns(ticks, 300, ticks - 200);
    let recording = Peer::new(0, SEED).record(&mut hidden_fuse(SEED), &turns, |_| None);
    let started = Instant::now();
    let shrunk = shrink(recording, &hidden_fuse).expect("it is a recording").expect("it fails");
    is_small("a hidden fuse", &shrunk, started);
    assert!(shrunk.after.ticks <= 10 && shrunk.after.inputs == 2, "{}", shrunk.after);
    println!("{:?}", shrunk.recording.entries);
}

#[test]
fn what_is_sound_is_told_to_be() {
    let build = |seed| world(seed, Fault::None);
    let started = Instant::now();
    let shrunk = Checker::new(&build).with_presentation(&draw).shrink(recorded(&build), None, &mut |_| {});
    println!("sound: {:.1} s", started.elapsed().as_secs_f64());
    assert!(shrunk.expect("it is a recording").is_none());
}

/// A few bytes can claim months, which would be played again and again.
#[test]
fn what_is_too_long_is_refused() {
    let mut recording = Peer::new(0, SEED).record(&mut fuse(SEED), &[], |_| None);
    recording.entries.push(lockstone::recording::Entry::Empty(50_000_000));
    assert!(matches!(shrink(recording, &fuse), Err(CheckError::TooLong { .. })));
}

#[test]
fn what_is_no_state_is_refused() {
    let build = |seed| world(seed, Fault::None);
    let turns: Vec<Turn<faulty::Sim>> = Vec::new();
    let mut recording = Peer::new(0, SEED).record(&mut build(SEED), &turns, |_| None);
    recording.snapshot.truncate(1);
    assert!(shrink(recording, &build).is_err());
}
