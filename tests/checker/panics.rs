//! A suspicion whose play panics in the game's rules, or in what shows the world, leaves nobody
//! without a report: it is told, and the others are asked.

use std::cell::Cell;

use lockstone::check::{self, Cause, Checker, Finding, Report};
use lockstone::recording::Recording;
use lockstone::sim::{PlayerId, Simulation, Tick};
use testkit::faulty::{self, Fault};
use testkit::recorded::Peer;
use testkit::relayed::{Relayed, Withheld, build, without_commands};
use testkit::tampered::scribble;

use super::parts::small;
use super::verdict::{Case, Game, Meadow, Sim, Wilds, over_both_games};

over_both_games! {
    a_picture_that_panics_leaves_everyone_without_a_report,
    a_world_of_another_seed_that_panics_leaves_everyone_without_a_report,
}

fn found<S: check::Inspect>(checker: &Checker<'_, S>, recordings: Vec<Recording<S>>) -> Finding {
    let report = checker.check(recordings).expect("they are of one session");
    println!("{report}");
    report.finding.expect("they differ")
}

fn says(finding: &Finding, what: &str) -> bool {
    let panicked = "could not be asked: the game panicked at ";
    finding.verdict.reasons.iter().any(|reason| reason.contains(what) && reason.contains(panicked))
}

fn a_picture_that_panics_leaves_everyone_without_a_report<G: Game>() {
    let case = Case::<G>::new(1, G::SOUND);
    let mut dice = case.dice;
    let odd = case.odd().record(&mut case.world(), &case.turns, |world| {
        if world.tick() == Tick(80) {
            scribble(world, &mut dice, 1);
        }
        None
    });
    let (recordings, build) = (case.recordings(odd), |_| case.world());
    let sound = found(&Checker::new(&build).with_presentation(&|_| ()), recordings.clone());
    assert_eq!((sound.verdict.cause, sound.verdict.blamed), (Cause::StateCorruption, vec![case.odd]), "the control");
    let look = |_: &Sim<G>| panic!("no font");
    let found = found(&Checker::new(&build).with_presentation(&look), recordings);
    assert_eq!((found.tick, found.odd.clone()), (sound.tick, vec![case.odd]));
    assert_eq!(found.verdict.cause, Cause::StateCorruption);
    assert!(found.verdict.blamed.is_empty(), "it may be the picture, which nobody could ask");
    assert!(says(&found, "whether drawing may change the world"), "{:?}", found.verdict.reasons);
    assert!(found.verdict.reasons.iter().any(|reason| reason.ends_with(": no font")));
}

fn a_world_of_another_seed_that_panics_leaves_everyone_without_a_report<G: Game>() {
    let case = Case::<G>::new(1, G::SOUND);
    let odd = case.odd().record(&mut case.world_of(case.seed, G::OTHER), &case.turns, |_| None);
    let build = |seed| {
        assert_eq!(seed, case.seed, "no such world");
        case.world()
    };
    let finding = found(&Checker::new(&build), case.recordings(odd));
    assert_eq!((finding.verdict.cause, finding.verdict.blamed.len()), (Cause::Unknown, 0));
    assert!(says(&finding, "whether its world is of another seed"), "{:?}", finding.verdict.reasons);
}

/// Of all the worlds that the checker makes, one panics when it is played.
#[test]
fn one_world_that_panics_leaves_everyone_without_a_report() {
    let (seed, ticks) = (5, 120);
    let turns = faulty::turns(seed, 3, ticks);
    let record = |n, fault| Peer::new(n, seed).record(&mut faulty::world(seed, fault), &turns, |_| None);
    let recordings = || vec![record(0, Fault::None), record(1, Fault::Rule), record(2, Fault::None)];
    let made = Cell::new(0);
    let check = |panics: Option<u32>| -> Report {
        made.set(0);
        let build = |seed| {
            made.set(made.get() + 1);
            faulty::world(seed, if panics == Some(made.get()) { Fault::Panic } else { Fault::None })
        };
        Checker::new(&build).with_presentation(&|_| ()).check(recordings()).expect("they are of one session")
    };
    assert_eq!(check(None).finding.expect("they differ").verdict.cause, Cause::Unknown);
    let worlds = made.get();
    let (mut without, mut asked) = (0, 0);
    for n in (1..=worlds).step_by(2) {
        let report = check(Some(n));
        let Some(finding) = report.finding else {
            // All was played in that one.
            assert!(report.panic.is_some(), "world {n} of {worlds}");
            without += 1;
            continue;
        };
        assert!(finding.verdict.blamed.is_empty(), "world {n} of {worlds}");
        asked += u32::from(says(&finding, "whether"));
    }
    println!("of {worlds} worlds {asked} are of a suspicion");
    assert!(without <= 1 && asked >= 3, "{without}, {asked}");
}

#[test]
fn a_part_that_cannot_be_played_again_leaves_everyone_without_a_report() {
    let dropped = Withheld::default();
    let mut session = Relayed::new(small());
    session.meddle(without_commands(PlayerId(1), Tick(160), dropped));
    session.enter(3);
    session.play(300, 60);
    let recordings = session.recordings();
    let made = Cell::new(0);
    let check = |panics: u32| {
        made.set(0);
        let build = |seed| {
            made.set(made.get() + 1);
            assert!(made.get() != panics, "no such world");
            build(seed)
        };
        found(&Checker::new(&build).with_presentation(&|_| ()), recordings.clone())
    };
    let sound = check(0);
    assert_eq!(sound.verdict.cause, Cause::Input, "the control");
    let finding = check(made.get());
    assert!(says(&finding, "what led to it"), "{:?}", finding.verdict.reasons);
    assert_eq!((finding.verdict.cause, finding.tick, finding.location), (Cause::Unknown, sound.tick, sound.location));
}
