//! The example with a simulation of another kind finds what it says that it finds.

#[path = "../examples/foreign.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod foreign;

use foreign::{Flock, SEED, TICKS, session, turns};
use lockstone::check::chaos::Breaker;
use lockstone::check::{self, Cause};
use lockstone::sim::world::StatePart;

#[test]
fn the_careful_flock_is_sound() {
    let build = |seed| Flock::new(seed, true);
    let [ada, bram] = session(true);
    let report = check::verify(ada.clone(), &build).unwrap();
    assert!(report.is_in_step() && report.peers[0].checksums == TICKS, "{report}");
    let report = check::compare(vec![ada.clone(), bram], &build).unwrap();
    assert!(report.is_in_step(), "{report}");
    assert!(check::shrink(ada, &build).unwrap().is_none());
    let build = || build(SEED);
    let report = check::chaos_of(&build, turns(TICKS), None, &[]);
    assert!(report.passed(), "{report}");
    let report = check::coverage_of(&build, turns(TICKS), &[]);
    assert!(report.passed(), "{report}");
}

#[test]
fn the_careless_flock_is_found_out() {
    let build = |seed| Flock::new(seed, false);
    let report = check::compare(session(false).into(), &build).unwrap();
    println!("{report}");
    let finding = report.finding.expect("the order was left to the ECS");
    assert_eq!(finding.verdict.cause, Cause::SnapshotField);
    let location = finding.location.expect("it can be had again");
    assert!(location.spots.iter().any(|spot| matches!(spot.part, StatePart::Entity(..)) && spot.kind == "Sheep"));

    let once = || build(SEED);
    let report = check::chaos_of(&once, turns(TICKS), None, &[Breaker::Restore, Breaker::Serialise]);
    assert!(!report.passed() && report.tried.iter().all(check::chaos::Tried::failed), "{report}");

    let [ada, _] = session(false);
    let small = check::shrink(ada, &build).unwrap().expect("it fails");
    assert!(small.after.ticks <= 50 && small.after.inputs <= 10, "{}", small.after);
}
