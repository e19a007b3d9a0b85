//! The desync checker says less rather than something wrong: what was told wrongly once, in a game
//! of sheep, wolves and shepherds. Each test is named by its symptom.

use std::cell::Cell;

use lockstone::check::chaos::{Breaker, Outcome};
use lockstone::check::{self, Cause, Checker, Finding, Report};
use lockstone::recording::{Entry, Packed, Recording, Rerunner};
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{Simulation, Table, Tick, Turn, tamper};
use testkit::pasture::{self, Being, Sim, Wrong, draw, world};
use testkit::recorded::Peer;

const SEED: u64 = 31;
const TICKS: u32 = 160;
/// When a joiner enters, and when a keyframe is recorded.
const JOINED: usize = 50;
const KEYFRAME: Tick = Tick(40);

fn turns() -> Vec<Turn<Sim>> {
    pasture::turns(SEED, TICKS)
}

fn peer(n: u16) -> Peer {
    Peer { trees: true, ..Peer::new(n, SEED) }
}

fn record(n: u16, wrong: Wrong) -> Recording<Sim> {
    peer(n).record(&mut world(SEED, wrong), &turns(), |_| None)
}

fn check(wrong: Wrong, recordings: Vec<Recording<Sim>>) -> Report {
    let (build, look) = (|seed| world(seed, wrong), |world: &Sim| draw(world, 1));
    let report = Checker::new(&build).with_presentation(&look).check(recordings).expect("they are of one session");
    println!("{report}");
    report
}

fn finding(wrong: Wrong, recordings: Vec<Recording<Sim>>) -> Finding {
    check(wrong, recordings).finding.expect("they differ")
}

/// A sound recording but for its keyframe, which is altered.
fn with_keyframe(n: u16, alter: impl FnOnce(&mut Sim) -> Packed) -> Recording<Sim> {
    let peer = Peer { keyframe_at: Some(KEYFRAME), ..peer(n) };
    let mut recording = peer.record(&mut world(SEED, Wrong::Nothing), &turns(), |_| None);
    let mut now = world(SEED, Wrong::Nothing);
    turns()[..KEYFRAME.0 as usize].iter().for_each(|turn| now.step(turn));
    let altered = alter(&mut now);
    for entry in &mut recording.entries {
        if let Entry::Keyframe(state) = entry {
            *state = altered.clone();
        }
    }
    recording
}

/// One bit of a number of somebody is turned over.
fn turn_a_bit(world: &mut Sim) {
    let mut cells: Vec<_> = world.cells().filter(|cell| !world.actors(*cell).is_empty()).collect();
    cells.sort();
    let of = StatePart::Entity(cells[0], world.actors(cells[0])[0].id);
    let bit = (0..64).map(|byte| StateBit { of, byte, bit: 1 });
    let turned = bit.filter_map(|bit| tamper::with_bit_turned(&world.snapshot(), &bit)).last().expect("a number");
    world.restore(&turned);
}

/// A sound recording but for one bit that was turned over at tick 90.
fn with_a_bit_turned(n: u16) -> Recording<Sim> {
    peer(n).record(&mut world(SEED, Wrong::Nothing), &turns(), |world| {
        if world.tick() == Tick(90) {
            turn_a_bit(world);
        }
        None
    })
}

#[test]
fn of_two_turned_bits_the_second_is_passed_over() {
    let turns = pasture::turns(SEED, 300);
    let record = |n, at: &[u32]| {
        peer(n).record(&mut world(SEED, Wrong::Nothing), &turns, |world| {
            if at.contains(&world.tick().0) {
                turn_a_bit(world);
            }
            None
        })
    };
    let found = |at| finding(Wrong::Nothing, vec![record(0, &[]), record(1, at), record(2, &[])]).verdict;
    let once = found(&[60]);
    assert_eq!((once.cause, once.others, once.blamed), (Cause::StateCorruption, vec![], vec![1]), "the control");
    let twice = found(&[60, 200]);
    let others = vec![Cause::Nondeterminism];
    assert_eq!((twice.cause, twice.others, twice.blamed), (Cause::StateCorruption, others, vec![]));
    assert!(twice.reasons.iter().any(|reason| reason.contains("that of tick 200 is not")), "{:?}", twice.reasons);
}

#[test]
fn a_keyframe_that_cannot_be_read_leaves_everyone_without_a_report() {
    let broken = || with_keyframe(1, |_| Packed::of(b"no state at all"));
    let report = check(Wrong::Nothing, vec![record(0, Wrong::Nothing), broken()]);
    assert!(report.is_in_step(), "{report}");
    assert!(report.peers[0].unusable.is_empty() && report.peers[1].unusable[0].tick == KEYFRAME, "{report}");
    assert!(report.to_string().contains("tick 40 does not count") && check::page(&report).contains("does not count"));

    let finding = finding(Wrong::Nothing, vec![record(0, Wrong::Nothing), broken(), with_a_bit_turned(2)]);
    assert_eq!((finding.tick, finding.verdict.cause), (Tick(90), Cause::StateCorruption));
    assert_eq!(finding.verdict.blamed, [2]);
}

#[test]
fn a_first_state_that_cannot_be_read_leaves_everyone_without_a_report() {
    let mut broken = record(1, Wrong::Nothing);
    broken.snapshot = b"no state at all".to_vec();
    let report = check(Wrong::Nothing, vec![record(0, Wrong::Nothing), broken.clone()]);
    assert!(report.is_in_step() && report.peers[1].checksums > TICKS, "{report}");
    assert_eq!(report.peers[1].unusable[0].tick, Tick(0));
    let build = |seed| world(seed, Wrong::Nothing);
    assert!(matches!(check::verify(broken, &build), Err(check::CheckError::State { .. })), "there is no other state");
}

#[test]
fn a_turned_bit_in_ones_keyframe_is_taken_as_the_beginning_of_everyones_play() {
    let forged = || {
        with_keyframe(0, |world| {
            turn_a_bit(world);
            Packed::of(&world.encoded())
        })
    };
    let report = check(Wrong::Nothing, vec![forged(), record(1, Wrong::Nothing)]);
    assert!(report.is_in_step() && report.peers[0].unusable[0].tick == KEYFRAME, "{report}");

    let with = finding(Wrong::Nothing, vec![forged(), record(1, Wrong::Nothing), with_a_bit_turned(2)]);
    let without =
        finding(Wrong::Nothing, vec![record(0, Wrong::Nothing), record(1, Wrong::Nothing), with_a_bit_turned(2)]);
    assert_eq!(with, without);
}

#[test]
fn a_forged_keyframe_with_a_forged_checksum_is_taken_as_the_beginning_of_everyones_play() {
    let mut now = world(SEED, Wrong::Nothing);
    turns()[..KEYFRAME.0 as usize].iter().for_each(|turn| now.step(turn));
    turn_a_bit(&mut now);
    let state = Packed::of(&now.encoded());
    let forged = with_keyframe(0, |_| state);
    let mut now = Some(now.checksum());
    let forged = at_keyframe(forged, |entry| match entry {
        Entry::Checksum(root) => now.take().is_some_and(|other| std::mem::replace(root, other) != other),
        _ => true,
    });
    let without = |recording| at_keyframe(recording, |entry| !matches!(entry, Entry::Checksum(_) | Entry::Tree(_)));
    let honest = [record(1, Wrong::Nothing), with_a_bit_turned(2)].map(without);
    let found = finding(Wrong::Nothing, [vec![forged], honest.into()].concat());
    assert_eq!((found.tick, found.odd), (KEYFRAME, vec![0, 2]), "the one that is in step is not odd");
}

/// A recording without what is not kept of the tick of the keyframe.
fn at_keyframe(mut recording: Recording<Sim>, mut keep: impl FnMut(&mut Entry<Sim>) -> bool) -> Recording<Sim> {
    let mut tick = recording.header.start;
    recording.entries.retain_mut(|entry| {
        match entry {
            Entry::Empty(ticks) => tick = tick.plus(*ticks),
            Entry::Turn(_) => tick = tick.next(),
            _ => return tick != KEYFRAME || keep(entry),
        }
        true
    });
    recording
}

/// A bar that stands still looks as if the checker hung.
#[test]
fn whoever_watches_is_told_of_the_ticks_that_are_played_for_a_suspicion_too() {
    let told = |recordings: Vec<Recording<Sim>>| {
        let (build, told) = (|seed| world(seed, Wrong::Nothing), Cell::new(0));
        let watch = |_| told.set(told.get() + 1);
        let report = Checker::new(&build).with_progress(&watch).check(recordings).expect("they are of one session");
        (report.is_in_step(), told.get())
    };
    let once = turns().len();
    assert_eq!(told(vec![record(0, Wrong::Nothing), record(1, Wrong::Nothing)]), (true, once));
    let (is_in_step, often) = told(vec![record(0, Wrong::Nothing), with_a_bit_turned(1), record(2, Wrong::Nothing)]);
    println!("told of {often} ticks, of {once} that differ");
    assert!(!is_in_step && often > 2 * once, "{often} of {once}");
}

/// Bram is sent Ada's world, without what a sheep keeps for itself.
fn late_joiner() -> Vec<Recording<Sim>> {
    let mut ada = world(SEED, Wrong::Unsaved);
    turns()[..JOINED].iter().for_each(|turn| ada.step(turn));
    let mut bram = world(SEED, Wrong::Unsaved);
    bram.restore_from(&ada.encoded()).expect("its own bytes");
    vec![record(0, Wrong::Unsaved), peer(1).record(&mut bram, &turns(), |_| None)]
}

/// The line of the game that a report has to name.
fn line(of: &str) -> u32 {
    let source = include_str!("../../testkit/src/pasture.rs");
    1 + source.lines().position(|line| line.contains(of)).expect("it is there") as u32
}

/// Whether the first thing that happened otherwise is what that line decides, on either side.
fn names(finding: &Finding, of: &str) -> bool {
    let first = finding.bad_writes.first();
    first.is_some_and(|write| write.here.iter().chain(&write.there).any(|site| site.line == line(of)))
}

#[test]
fn a_field_that_is_not_saved_is_told_as_a_turned_bit_where_trees_were_recorded() {
    let found = finding(Wrong::Unsaved, late_joiner());
    assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::SnapshotField, 0));
    assert!(names(&found, "*heading = mind.dice().angle();"), "{found:?}");
    // Bram's own is no other than Ada's.
    let without_trees: Vec<_> = late_joiner()
        .into_iter()
        .map(|mut recording| {
            recording.entries.retain(|entry| !matches!(entry, Entry::Tree(_)));
            recording
        })
        .collect();
    assert_eq!(finding(Wrong::Unsaved, without_trees), found);
}

#[test]
fn a_clock_in_the_rules_is_told_as_a_changed_state_where_its_own_program_played_again() {
    for played_again in [false, true] {
        let mut odd = record(1, Wrong::Clock);
        if played_again {
            odd.entries.push(Entry::Rerun(rerun(&odd, Wrong::Clock)));
        }
        let found = finding(Wrong::Clock, vec![record(0, Wrong::Clock), odd]);
        assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::Nondeterminism, 0));
        let fields = found.location.iter().flat_map(|location| &location.spots).flat_map(|spot| &spot.fields);
        assert!(fields.clone().count() > 0 && fields.clone().all(|field| field.path == "body.Wolf.hunger"));
    }
}

/// What comes out when a peer plays again; a difference is found at tick 60.
fn rerun(recording: &Recording<Sim>, wrong: Wrong) -> lockstone::recording::PackedRerun {
    let build = |seed| world(seed, wrong);
    let mut rerunner = Rerunner::new(recording.clone(), Tick(60), None, &build).expect("it is its own");
    while rerunner.advance() {}
    rerunner.pack(usize::MAX).expect("it comes so far")
}

/// Each is caught where it varies, and the line is that of the draw that depends on it.
#[test]
fn of_a_static_counter_the_line_of_some_other_draw_is_named() {
    for one_in in [37, 1_009, 3_001] {
        let wrong = Wrong::Counter(one_in);
        let found = finding(wrong, vec![record(0, wrong), record(1, wrong)]);
        assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::Nondeterminism, 0));
        assert!(found.varies && names(&found, "// the counter's draw"), "{found:?}");
    }
}

/// How many wolves howl in each tick.
fn howls() -> u64 {
    let mut now = world(SEED, Wrong::Nothing);
    turns().iter().for_each(|turn| now.step(turn));
    let lit = now.cells().filter(|cell| now.light(*cell) > 0);
    lit.flat_map(|cell| now.actors(cell)).filter(|being| matches!(being.body, Being::Wolf { .. })).count() as u64
}

/// It varies once in some 450 ticks of three plays, and those around the difference are 200.
#[test]
fn a_draw_that_depends_on_a_counter_is_not_found_where_it_seldom_does() {
    let (ticks, wrong) = (1_000, Wrong::Counter(1_700 * howls()));
    let turns = pasture::turns(SEED, ticks);
    let record = |n| Peer::new(n, SEED).record(&mut world(SEED, wrong), &turns, |_| None);
    let found = finding(wrong, vec![record(0), record(1)]);
    assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::Nondeterminism, 0));
    assert!(found.varies && names(&found, "// the counter's draw"), "{found:?}");
}

#[test]
fn of_a_hash_maps_order_some_other_thought_is_named() {
    let found = finding(Wrong::HashOrder, vec![record(0, Wrong::HashOrder), record(1, Wrong::HashOrder)]);
    assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::Nondeterminism, 0));
    let write = found.bad_writes.first().expect("a thought varies");
    // It draws nothing: the last line of the same thought that was played alike.
    let thought = line("*hunger = (*hunger + 1 + bold)")..line("fn apply");
    assert!(write.last_alike.as_ref().is_some_and(|site| thought.contains(&site.line)), "{write:?}");
}

#[test]
fn each_breaker_claims_a_cause_of_its_own_after_the_same_turns_came_out_otherwise() {
    for wrong in [Wrong::Counter(37), Wrong::HashOrder, Wrong::Clock] {
        let build = || world(SEED, wrong);
        let look = |world: &Sim| draw(world, 1);
        let report = check::chaos_of(&build, turns(), Some(&look), &[]);
        println!("{report}");
        let failed: Vec<_> = report.tried.iter().filter(|tried| tried.failed()).map(|tried| tried.breaker).collect();
        assert_eq!(failed, [Breaker::Again]);
        assert!(report.tried[1..].iter().all(|tried| matches!(tried.outcome, Outcome::Skipped { .. })));
        let Outcome::Differs(difference) = &report.tried[0].outcome else { panic!("{report}") };
        assert!(!difference.location.spots.is_empty() && !difference.bad_writes.is_empty(), "{report}");
        assert!(!report.to_string().contains("in 0 cells"));
    }
}

#[test]
fn what_is_another_in_each_process_is_told_as_a_changed_state() {
    for one_in in [1, 40, 4_000] {
        let of = |drawn| Wrong::Process { drawn, one_in };
        let odd = Peer { keyframe_at: Some(Tick(100)), ..peer(1) };
        let odd = odd.record(&mut world(SEED, of(5)), &turns(), |_| None);
        let found = finding(of(2), vec![record(0, of(2)), odd, record(2, of(2))]);
        assert!(found.verdict.blamed.is_empty());
        let told = [&[found.verdict.cause][..], &found.verdict.others].concat();
        assert!(told.contains(&Cause::Unknown) || told.contains(&Cause::Nondeterminism), "{told:?}");
    }
}

#[test]
fn a_picture_that_writes_is_told_as_a_changed_state() {
    for pictures in [1, 3] {
        let odd = Peer { keyframe_at: Some(Tick(150)), ..peer(1) };
        let odd = odd.record_late(&mut world(SEED, Wrong::Scene), &turns(), |world| draw(world, pictures));
        let found = finding(Wrong::Scene, vec![record(0, Wrong::Scene), odd]);
        assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::Presentation, 0), "{pictures}");
    }
}

/// Nobody asked what shows the world: then it may be that as well.
#[test]
fn a_picture_that_nobody_asked_is_no_suspicion() {
    let odd = record_of_scene();
    let build = |seed| world(seed, Wrong::Scene);
    let report = check::compare(vec![record(0, Wrong::Scene), odd], &build).expect("they are of one session");
    let Finding { verdict, .. } = report.finding.expect("they differ");
    assert!(verdict.cause != Cause::StateCorruption || verdict.others.contains(&Cause::Presentation), "{verdict:?}");
}

fn record_of_scene() -> Recording<Sim> {
    peer(1).record_late(&mut world(SEED, Wrong::Scene), &turns(), |world| draw(world, 1))
}

#[test]
fn another_seed_than_its_header_says_is_told_as_a_changed_state() {
    for trees in [true, false] {
        let odd = Peer { trees, ..peer(1) }.record(&mut world(SEED + 1, Wrong::Nothing), &turns(), |_| None);
        let found = finding(Wrong::Nothing, vec![record(0, Wrong::Nothing), odd]);
        assert_eq!((found.verdict.cause, found.verdict.blamed), (Cause::StartData, vec![1]));
        let odd = Peer { trees, ..peer(1) }.record(&mut world(!7, Wrong::Nothing), &turns(), |_| None);
        let found = finding(Wrong::Nothing, vec![record(0, Wrong::Nothing), odd]);
        assert_eq!((found.verdict.cause, found.verdict.blamed.len()), (Cause::StartData, 0), "which one nobody knows");
    }
}

#[test]
fn another_table_than_its_header_says_is_told_as_a_changed_state() {
    let mut other = pasture::world_of(SEED, Table::generate([7; 32]), Wrong::Nothing);
    let odd = peer(1).record(&mut other, &turns(), |_| None);
    let found = finding(Wrong::Nothing, vec![record(0, Wrong::Nothing), odd]);
    assert_eq!(found.verdict.cause, Cause::StartData);
    assert!(
        found.verdict.reasons.iter().any(|reason| reason.contains("its start is not the one that its header tells"))
    );
}

/// A page has no digest of its own, and records few checksums.
#[test]
fn a_wrong_seed_beside_a_page_is_told_as_another_platform() {
    for page_is_odd in [true, false] {
        let recorded = |n, seed, is_page| {
            let mut peer = Peer::new(n, SEED);
            let build = &mut peer.header.build;
            if is_page {
                (build.arch, build.pointer_bits, build.executable) = ("wasm32".into(), 32, 0);
            }
            let mut recording = peer.record(&mut world(seed, Wrong::Nothing), &turns(), |_| None);
            let mut nth = 0;
            recording.entries.retain(|entry| {
                nth += u32::from(matches!(entry, Entry::Checksum(_)));
                !is_page || !matches!(entry, Entry::Checksum(_)) || nth % 20 == 1
            });
            recording
        };
        let odd = recorded(1, 900, page_is_odd);
        let found = finding(Wrong::Nothing, vec![recorded(0, SEED, !page_is_odd), odd]);
        assert_eq!(found.verdict.cause, Cause::StartData);
        assert!(!found.verdict.others.contains(&Cause::Platform));
    }
}
