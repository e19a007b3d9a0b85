//! Nobody is blamed for what another may have done: who gave a state or told a turn, or another
//! peer that differs too. Each test is named by what was seen before.

use lockstone::check::{self, Cause, Checker, Finding};
use lockstone::default_table;
use lockstone::net::wire::SessionKind;
use lockstone::recording::Recording;
use lockstone::sim::{Input, PlayerId, Simulation, Tick};
use testkit::pasture::{self, Wrong};
use testkit::recorded::Peer;
use testkit::tampered::scribble;

use super::verdict::{Case, Game, Meadow, Sim, Wilds, over_both_games, place};

const CASES: u64 = 4;
/// When a peer joins that is not there from the start.
const JOINED: Tick = Tick(60);

over_both_games! {
    a_joiner_is_blamed_for_a_bit_that_was_turned_in_the_state_it_was_given,
    a_joiner_is_blamed_for_a_bit_that_was_turned_in_the_world_of_who_let_it_in,
    of_several_odd_peers_all_are_blamed_for_what_was_found_of_one,
    two_that_come_to_the_same_by_themselves_are_blamed,
    who_was_told_another_turn_is_blamed,
    who_was_told_another_seed_is_blamed,
    a_turn_that_explains_only_the_first_checksums_is_told_as_proven,
}

fn found<G: Game>(case: &Case<G>, recordings: Vec<Recording<Sim<G>>>) -> Option<Finding> {
    let build = |seed| G::world(seed, default_table(), case.fault);
    let report = Checker::new(&build).with_presentation(&G::look).check(recordings).expect("they are of one session");
    println!("{report}");
    let verdict = report.finding.as_ref().map(|finding| &finding.verdict);
    if verdict.is_some_and(|verdict| verdict.cause == Cause::StateCorruption && verdict.blamed.is_empty()) {
        assert!(check::page(&report).contains("nobody can tell"), "it does not lie in the game");
    }
    report.finding
}

fn says(finding: &Finding, what: &str) -> bool {
    finding.verdict.reasons.iter().any(|reason| reason.contains(what))
}

/// What a peer records in whose world a number is altered at some ticks, by so many bits.
fn altered<G: Game>(case: &Case<G>, n: usize, world: &mut Sim<G>, at: &[Tick]) -> Recording<Sim<G>> {
    let mut dice = case.dice;
    case.peers[n].record(world, &case.turns, |world| {
        if at.contains(&world.tick()) {
            scribble(world, &mut dice, 1);
        }
        None
    })
}

/// The world as a joiner reads it: of a world in which a bit is turned over at a tick, or in none.
fn given<G: Game>(case: &Case<G>, turned_at: Option<Tick>) -> Sim<G> {
    let (mut founder, mut dice) = (case.world(), case.dice);
    for turn in &case.turns[..JOINED.0 as usize] {
        if turned_at == Some(founder.tick()) {
            scribble(&mut founder, &mut dice, 1);
        }
        founder.step(turn);
    }
    let mut joiner = case.world();
    joiner.restore_from(&founder.encoded()).expect("its own bytes");
    joiner
}

fn a_joiner_is_blamed_for_a_bit_that_was_turned_in_the_state_it_was_given<G: Game>() {
    let mut blamed = 0;
    for n in 0..CASES {
        let case = Case::<G>::new(n, G::SOUND);
        let mut world = given(&case, None);
        let mut dice = case.dice;
        scribble(&mut world, &mut dice, 1);
        let odd = case.odd().record(&mut world, &case.turns, |_| None);
        let finding = found(&case, case.recordings(odd)).expect("it begins in another state");
        assert_eq!((finding.verdict.cause, &finding.odd), (Cause::StateCorruption, &vec![case.odd]), "case {n}");
        assert!(finding.verdict.blamed.is_empty() && says(&finding, "whoever let it in"), "case {n}");

        // The control: what goes wrong behind a good beginning is its own.
        let later = altered(&case, case.odd, &mut given(&case, None), &[JOINED.plus(20)]);
        let later = found(&case, case.recordings(later)).map(|finding| finding.verdict.blamed);
        assert!(later.as_ref().is_none_or(|blamed| blamed.is_empty() || *blamed == [case.odd]), "case {n}");
        blamed += u64::from(later == Some(vec![case.odd]));
    }
    assert!(blamed > 0);
}

fn a_joiner_is_blamed_for_a_bit_that_was_turned_in_the_world_of_who_let_it_in<G: Game>() {
    let turned = Tick(JOINED.0 - 3);
    for n in 0..CASES {
        let mut case = Case::<G>::new(n, G::SOUND);
        // The joiner's recording stands before, or behind, that of who let it in.
        case.odd = [0, 3][n as usize % 2];
        let joiner = case.odd().record(&mut given(&case, Some(turned)), &case.turns, |_| None);
        let mut recordings = case.recordings(joiner);
        recordings[1] = altered(&case, 1, &mut case.world(), &[turned]);
        let Some(finding) = found(&case, recordings) else { continue };
        assert!(!finding.verdict.blamed.contains(&case.odd), "case {n}");
        if finding.odd.len() == 2 {
            assert_eq!((finding.tick, &finding.verdict.blamed), (turned, &vec![1]), "case {n}");
            assert!(says(&finding, "not examined, though what they have differs too"), "case {n}");
        }
    }
}

fn of_several_odd_peers_all_are_blamed_for_what_was_found_of_one<G: Game>() {
    let mut examined = 0;
    for n in 0..CASES {
        let case = Case::<G>::new(n, G::SOUND);
        for (first, second) in [(1, 3), (3, 1)] {
            let at = Tick(80);
            let record = |n, at| altered(&case, n, &mut case.world(), &[at]);
            let mut recordings: Vec<_> = (0..4).map(|n| record(n, Tick(u32::MAX))).collect();
            (recordings[first], recordings[second]) = (record(first, at), record(second, at.plus(10)));
            let Some(finding) = found(&case, recordings).filter(|finding| finding.odd == [1, 3]) else { continue };
            assert!(!finding.verdict.blamed.contains(&second), "case {n}");
            assert!(says(&finding, "not examined, though what they have differs too"), "case {n}");
            examined += u64::from(finding.verdict.blamed == [first]);
        }
    }
    assert!(examined > 0, "who is examined is blamed");
}

fn two_that_come_to_the_same_by_themselves_are_blamed<G: Game>() {
    for of_two in [false, true] {
        let mut case = Case::<G>::new(1, G::SOUND);
        for n in [1, 3] {
            case.peers[n].keyframe_at = Some(Tick(120));
            case.peers[n].header.build.executable ^= 1;
        }
        let world = |n: usize| if n == 3 || n == 1 && of_two { G::OTHER } else { G::SOUND };
        let record = |n: usize| case.peers[n].record(&mut case.world_of(case.seed, world(n)), &case.turns, |_| None);
        let finding = found(&case, (0..4).map(record).collect()).expect("they differ");
        let (odd, blamed) = if of_two { (vec![1, 3], vec![]) } else { (vec![3], vec![3]) };
        assert_eq!((finding.verdict.cause, &finding.odd), (Cause::Build, &odd));
        assert_eq!(finding.verdict.blamed, blamed, "of two alike nobody knows which is right");
        assert_eq!(says(&finding, "came to the same checksum"), of_two);
    }
}

/// One peer gives another command at tick 60. In the world of the one that does so a bit is turned
/// over later, if asked.
fn with_another_command<G: Game>(case: &Case<G>, turned_at: Option<Tick>) -> Vec<Recording<Sim<G>>> {
    let mut dice = case.dice;
    let to = place(&mut dice);
    let odd = case.odd().record(&mut case.world(), &case.turns, |world| {
        if turned_at == Some(world.tick()) {
            scribble(world, &mut dice, 1);
        }
        (world.tick() == Tick(60)).then(|| {
            let mut turn = case.turns[60].clone();
            turn.inputs.push(Input::Command(PlayerId(1), G::walk(to)));
            turn
        })
    });
    case.recordings(odd)
}

fn who_was_told_another_turn_is_blamed<G: Game>() {
    let rollback = SessionKind::Rollback { max_prediction_ticks: 8 };
    for n in 0..CASES {
        let mut case = Case::<G>::new(n, G::SOUND);
        case.odd = 1;
        let finding = found(&case, with_another_command(&case, None)).expect("they differ");
        assert_eq!((finding.verdict.cause, finding.odd), (Cause::Input, vec![1]), "case {n}");
        assert!(finding.verdict.blamed.is_empty(), "case {n}: whoever orders the turns may have told it so");
        // The control: nobody else can have told it what it gave itself.
        case.peers.iter_mut().for_each(|peer| peer.header.kind = rollback);
        let finding = found(&case, with_another_command(&case, None)).expect("they differ");
        assert_eq!((finding.verdict.cause, finding.verdict.blamed), (Cause::Input, vec![1]), "case {n}");
    }
}

fn a_turn_that_explains_only_the_first_checksums_is_told_as_proven<G: Game>() {
    let mut told = 0;
    for n in 0..CASES {
        let mut case = Case::<G>::new(n, G::SOUND);
        case.odd = 1;
        case.peers.iter_mut().for_each(|peer| peer.header.kind = SessionKind::Rollback { max_prediction_ticks: 8 });
        let finding = found(&case, with_another_command(&case, Some(Tick(150)))).expect("they differ");
        if says(&finding, "is not, so something else happened to it as well") {
            assert_eq!((finding.verdict.cause, &finding.verdict.others), (Cause::Input, &vec![Cause::Unknown]));
            assert!(finding.verdict.blamed.is_empty(), "case {n}");
            told += 1;
        }
    }
    assert!(told > 0);
}

fn who_was_told_another_seed_is_blamed<G: Game>() {
    let mut case = Case::<G>::new(3, G::SOUND);
    case.peers[case.odd].header.seed += 1;
    let odd = case.odd().record(&mut case.world_of(case.seed + 1, G::SOUND), &case.turns, |_| None);
    let finding = found(&case, case.recordings(odd)).expect("they differ");
    assert_eq!((finding.verdict.cause, finding.odd), (Cause::StartData, vec![case.odd]));
    assert!(finding.verdict.blamed.is_empty(), "whoever let it in told it the seed");
}

/// A minute and more behind the first.
#[test]
fn of_two_turned_bits_the_second_is_passed_over_if_it_comes_late() {
    let (seed, turns) = (31, pasture::turns(31, 1_500));
    let record = |n, at: &[u32]| {
        let mut dice = testkit::flips::dice(2);
        Peer::new(n, seed).record(&mut pasture::world(seed, Wrong::Nothing), &turns, |world| {
            if at.contains(&world.tick().0) {
                scribble(world, &mut dice, 1);
            }
            None
        })
    };
    let blamed = |at| {
        let build = |seed| pasture::world(seed, Wrong::Nothing);
        let checker = Checker::new(&build).with_presentation(&|_| ());
        let report = checker.check(vec![record(0, &[]), record(1, at), record(2, &[])]).expect("of one session");
        println!("{report}");
        report.finding.expect("they differ").verdict.blamed
    };
    assert_eq!(blamed(&[60]), [1], "the control");
    assert!(blamed(&[60, 1_450]).is_empty());
}
