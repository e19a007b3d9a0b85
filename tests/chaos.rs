//! Chaos: each fault is caught by the breaker that is there for it, and a sound game passes all.

mod faulty;
mod tally;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use faulty::{FROM, Fault, Sim, draw};
use lockstone::check::chaos::{Breaker, Chaos, ChaosReport, Difference, Outcome};
use lockstone::check::{Inspect, Thing};
use lockstone::sim::world::StatePart;
use lockstone::sim::{CellId, Input, PlayerId, Turn};
use serde_json::Value;
use tally::Tally;

const SEED: u64 = 5;
const HEROES: u16 = 4;
const TICKS: u32 = 160;

/// The breakers that play in this process.
fn in_process() -> Vec<Breaker> {
    Breaker::ALL.into_iter().filter(|breaker| !breaker.needs_program()).collect()
}

fn chaos(fault: Fault, only: &[Breaker]) -> ChaosReport {
    let build = || faulty::world(SEED, fault);
    let look = |world: &Sim| draw(world);
    Chaos::new(&build, faulty::turns(SEED, HEROES, TICKS)).with_presentation(&look).run(only)
}

/// The difference that a breaker finds in a game with a fault: in a field of a being, after the fault awoke.
fn caught(fault: Fault, breaker: Breaker) -> Difference {
    let report = chaos(fault, &[breaker]);
    println!("{report}");
    assert!(!report.passed());
    let Outcome::Differs(difference) = &report.of(breaker).expect("it played").outcome else {
        panic!("{} is not caught: {report}", fault.name())
    };
    assert!(difference.tick > FROM, "{report}");
    let fields = difference.location.spots.iter().flat_map(|spot| &spot.fields);
    assert!(fields.clone().count() > 0, "{report}");
    assert!(fields.clone().all(|field| field.path.starts_with("body.") || field.path.starts_with("pos.")), "{report}");
    (**difference).clone()
}

#[test]
fn a_sound_game_passes() {
    let report = chaos(Fault::None, &[]);
    assert!(report.passed(), "{report}");
    for breaker in in_process() {
        let outcome = &report.of(breaker).expect("it played").outcome;
        assert!(matches!(outcome, Outcome::Passed { checksums } if *checksums > TICKS), "{breaker}: {outcome:?}");
    }
}

#[test]
fn leftovers_of_thoughts_are_caught_by_the_cells_order() {
    caught(Fault::CellOrder, Breaker::CellOrder);
}

#[test]
fn reading_the_thread_is_caught_by_threads() {
    caught(Fault::Thread, Breaker::Threads);
}

#[test]
fn hidden_state_is_caught_by_restoring() {
    caught(Fault::Hidden, Breaker::Restore);
}

#[test]
fn a_field_that_is_not_serialised_is_caught_by_serialising() {
    let difference = caught(Fault::Unsaved, Breaker::Serialise);
    assert!(difference.reference_repeats);
    assert!(difference.location.spots.iter().all(|spot| spot.kind == "Beast"));
}

#[test]
fn a_memo_of_a_wrong_prediction_is_caught_by_rollback() {
    caught(Fault::Memo, Breaker::Rollback);
    // What is undone but the same the second time does not show it.
    assert!(chaos(Fault::Memo, &[Breaker::Restore]).passed());
}

#[test]
fn state_shared_with_snapshots_is_caught_by_a_stale_one() {
    let difference = caught(Fault::Alias, Breaker::StaleSnapshot);
    assert_eq!(difference.location.spots[0].fields[0].path, "body.Hero.purse");
}

#[test]
fn handles_and_heap_addresses_are_caught_by_allocation() {
    caught(Fault::Handles, Breaker::Allocation);
    caught(Fault::HeapAddress, Breaker::Allocation);
}

#[test]
fn reading_beyond_reach_is_caught_by_a_part() {
    caught(Fault::Reach, Breaker::Partial);
}

#[test]
fn a_scene_that_writes_is_caught_by_drawing() {
    let difference = caught(Fault::Scene, Breaker::Presentation);
    assert_eq!(difference.location.spots[0].fields[0].path, "body.Beast.glances");
}

#[test]
fn a_clock_is_caught_by_playing_again() {
    assert!(!caught(Fault::Clock, Breaker::Again).reference_repeats);
}

/// The example, built from the sources of now: `cargo test` has done so, unless it was asked for this test alone.
fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "lockstone", "--example", "faulty"]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        // What cargo tells a test of its own package would make it build ring anew, here and then outside again.
        let own = |name: &str| name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_");
        for (name, _) in std::env::vars().filter(|(name, _)| own(name)) {
            cargo.env_remove(name);
        }
        assert!(cargo.status().expect("cargo runs this test").success());
        // This test is target/PROFILE/deps/chaos-HASH.
        let own = std::env::current_exe().expect("a test is a program");
        let profile = own.ancestors().nth(2).expect("cargo puts it there");
        profile.join("examples").join("faulty").with_extension(std::env::consts::EXE_EXTENSION)
    })
}

/// What the example's command line tells of a fault; and its exit code.
fn told(fault: Fault, only: &str) -> (Value, i32) {
    let mut command = Command::new(program());
    command.args(["check", "chaos", "--ticks", "120", "--json", "--only", only]);
    let output = command.env("FAULT", fault.name()).stdin(Stdio::null()).output().expect("it was built");
    let told = String::from_utf8(output.stdout).expect("text");
    println!("{told}{}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_str(&told).expect("JSON"), output.status.code().expect("it ended by itself"))
}

fn caught_by_command(fault: Fault, breaker: &str) {
    let (report, code) = told(fault, breaker);
    let tried = &report["tried"][0];
    assert_eq!((code, tried["breaker"].as_str(), tried["outcome"].as_str()), (1, Some(breaker), Some("differs")));
    assert!(tried["tick"].as_u64() > Some(FROM.0.into()));
    assert!(tried["location"]["spots"][0]["fields"][0]["path"].as_str().is_some_and(|path| path.starts_with("body.")));
}

#[test]
fn what_is_drawn_anew_for_each_process_is_caught_by_a_second_one() {
    caught_by_command(Fault::HashOrder, "second-process");
    caught_by_command(Fault::Address, "second-process");
}

#[test]
fn clock_environment_and_directory_are_caught_by_changing_them() {
    for fault in [Fault::Clock, Fault::Environment, Fault::Directory] {
        caught_by_command(fault, "environment");
    }
}

#[test]
fn a_sound_game_passes_in_other_processes() {
    for breaker in ["second-process", "environment"] {
        let (report, code) = told(Fault::None, breaker);
        assert_eq!((code, report["tried"][0]["outcome"].as_str()), (0, Some("passed")));
    }
}

#[test]
fn an_unknown_breaker_is_refused() {
    let mut command = Command::new(program());
    let output = command.args(["check", "chaos", "--only", "moon"]).output().expect("it was built");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("cell-order"), "{told}");
}

#[test]
fn what_is_not_there_is_skipped_and_not_passed() {
    let report = chaos(Fault::Debug, &[Breaker::DebugRelease, Breaker::Wasm]);
    assert!(report.tried.iter().all(|tried| matches!(tried.outcome, Outcome::Skipped { .. }) && !tried.passed()));
}

impl Inspect for Tally {
    fn things(&self, _: Option<CellId>) -> Vec<Thing> {
        let numbers = self.numbers.iter();
        numbers.map(|(player, number)| Thing::entity(u64::from(*player), "Number", &(player, number))).collect()
    }
}

#[test]
fn a_simulation_of_another_kind_is_broken_too() {
    let turns = || -> Vec<Turn<Tally>> {
        let input = |tick: u32| match tick {
            0 | 1 => Input::Join(PlayerId(tick as u16), "Ada".to_owned()),
            _ => Input::Command(PlayerId(0), tick),
        };
        (0..100).map(|tick| Turn { inputs: vec![input(tick)] }).collect()
    };
    let sound = Chaos::new(&|| Tally::new(3), turns()).run(&[]);
    assert!(sound.passed(), "{sound}");
    assert!(sound.of(Breaker::Restore).is_some_and(|tried| tried.passed()));
    assert!(sound.of(Breaker::CellOrder).is_some_and(|tried| !tried.passed()), "it has no cells");
    let forgetful = || Tally { forgotten: Some(1), ..Tally::new(3) };
    let report = Chaos::new(&forgetful, turns()).run(&[Breaker::Restore]);
    let Outcome::Differs(difference) = &report.tried[0].outcome else { panic!("{report}") };
    assert!(matches!(difference.location.spots[0].part, StatePart::Entity(..)), "{report}");
    assert_eq!(difference.location.spots[0].kind, "Number");
}
