//! What the odd peer's own program tells when it plays again: it names the line of another build's
//! rule, tells a changed state from another program, and a world of another seed. A peer that makes
//! it up changes nothing.

use lockstone::check::{self, Cause, Inspect, Report};
use lockstone::default_table;
use lockstone::recording::{Entry, PackedRerun, RERUN_BYTES_MAX, RERUN_TICKS_MAX, Recording, Rerun, Rerunner};
use lockstone::sim::journal::{Doer, Event, Journal, Note, Phase, Site};
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{Checksum, EntityId, Simulation, Tick, Turn, codec, tamper};
use testkit::faulty::{self, Fault, Sim};
use testkit::pasture::{self, Wrong};
use testkit::recorded::Peer;

const TICKS: u32 = 120;
const SEED: u64 = 21;
/// Between two checksums that peers compare.
const COMPARED_TICKS: u32 = 10;

fn turns() -> Vec<Turn<Sim>> {
    faulty::turns(SEED, 3, TICKS)
}

fn peer(n: u16, executable: u64) -> Peer {
    let mut peer = Peer::new(n, SEED);
    peer.header.build.executable = executable;
    peer
}

/// The healthy peers' recordings, and behind them the odd one's.
fn check(odd: Recording<Sim>) -> Report {
    check_of(odd, &turns(), &|seed| faulty::world(seed, Fault::None))
}

fn check_of<S: Inspect>(odd: Recording<S>, turns: &[Turn<S>], build: &dyn Fn(u64) -> S) -> Report {
    let healthy = |n| peer(n, 7).record(&mut build(SEED), turns, |_| None);
    check::compare(vec![healthy(0), healthy(1), odd], build).expect("they are of one session")
}

fn roots<S: Simulation>(recording: &Recording<S>) -> Vec<Checksum> {
    let root = |entry: &Entry<S>| if let Entry::Checksum(root) = entry { Some(*root) } else { None };
    recording.entries.iter().filter_map(root).collect()
}

/// What a session tells of a difference: when it is found, and when all was well before. A
/// recording has the checksum of every tick.
fn found(odd: &Recording<Sim>) -> (Tick, Tick) {
    found_of(odd, &turns(), &|seed| faulty::world(seed, Fault::None))
}

fn found_of<S: Inspect>(odd: &Recording<S>, turns: &[Turn<S>], build: &dyn Fn(u64) -> S) -> (Tick, Tick) {
    let healthy = roots(&peer(0, 7).record(&mut build(SEED), turns, |_| None));
    let start = odd.header.start;
    let unlike = |tick: &u32| roots(odd)[(tick - start.0) as usize] != healthy[*tick as usize];
    let tick = (start.0..TICKS).filter(|tick| tick.is_multiple_of(COMPARED_TICKS)).find(unlike).expect("they differ");
    (Tick(tick), Tick((tick - COMPARED_TICKS).max(start.0)))
}

/// The recording, with what came of it when it was played again in such a world.
fn played_again(odd: Recording<Sim>, build: &dyn Fn(u64) -> Sim) -> Recording<Sim> {
    let (tick, agreed) = found(&odd);
    let rerun = rerun(odd.clone(), tick, agreed, build);
    println!("a rerun of {} bytes, packed", rerun.bytes().len());
    with(odd, rerun)
}

/// What comes out when a peer plays its recording again, from where all was well to a difference.
fn rerun<S: Inspect>(recording: Recording<S>, tick: Tick, agreed: Tick, build: &dyn Fn(u64) -> S) -> PackedRerun {
    let mut rerunner = Rerunner::new(recording, tick, Some(agreed), build).expect("it is its own");
    while rerunner.advance() {}
    rerunner.pack(usize::MAX).expect("it comes so far")
}

/// As it is read from a file.
fn with<S: Simulation>(mut recording: Recording<S>, rerun: PackedRerun) -> Recording<S> {
    recording.entries.push(Entry::Rerun(rerun));
    let read = Recording::read(&recording.write()).unwrap_or_else(|error| panic!("{error}"));
    assert!(read.entries == recording.entries);
    read
}

fn other_rules() -> Recording<Sim> {
    peer(2, 8).record(&mut faulty::world(SEED, Fault::Rule), &turns(), |_| None)
}

/// Several bits are turned over, so that no suspicion that can be played finds them.
fn scribbled() -> Recording<Sim> {
    with_bits_turned(8, &[0, 3, 4])
}

fn with_bits_turned(executable: u64, bits: &[u8]) -> Recording<Sim> {
    let mut dice = default_table().dice(SEED, Tick(0));
    peer(2, executable).record(&mut faulty::world(SEED, Fault::None), &turns(), |world| {
        if world.tick() == Tick(63) {
            let mut cells: Vec<_> = world.cells().filter(|cell| world.actors(*cell).len() > 3).collect();
            cells.sort();
            let cell = *dice.pick(&cells).expect("somebody is there");
            let of = StatePart::Entity(cell, world.actors(cell)[2].id);
            let fields = codec::fields(&world.actors(cell)[2]);
            let mood = fields.iter().find(|field| field.path.ends_with("mood")).expect("it is a beast").bytes.start;
            for &bit in bits {
                let turned =
                    tamper::with_bit_turned(&world.snapshot(), &StateBit { of, byte: mood, bit }).expect("a number");
                world.restore(&turned);
            }
        }
        None
    })
}

/// The line of the rule that only the other build has.
fn line_of_the_rule() -> u32 {
    let source = include_str!("../../testkit/src/faulty/fault.rs");
    1 + source.lines().position(|line| line.contains("Fault::Rule if")).expect("it is there") as u32
}

#[test]
fn the_line_of_another_builds_rule_is_named() {
    let plain = check(other_rules()).finding.expect("they differ");
    assert!(plain.bad_writes.is_empty() && plain.verdict.cause == Cause::Build);
    let report = check(played_again(other_rules(), &|seed| faulty::world(seed, Fault::Rule)));
    println!("{report}");
    let finding = report.finding.as_ref().expect("they differ");
    assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::Build, &vec![2]));
    let write = finding.bad_writes.first().expect("its program tells");
    assert_eq!((write.tick.next(), write.phase, write.is_draw), (finding.tick, Phase::Think, true));
    let site = write.there.as_ref().expect("a draw has a place");
    assert_eq!((site.file.as_ref(), site.line), ("testkit/src/faulty/fault.rs", line_of_the_rule()));
    assert!(report.to_string().contains(&format!("at {site}")));
    assert!(check::page(&report).contains(&site.to_string()));
    let one = check::verify(played_again(other_rules(), &|seed| faulty::world(seed, Fault::Rule)), &|seed| {
        faulty::world(seed, Fault::None)
    });
    let one = one.expect("it is of this game").finding.expect("it differs");
    assert_eq!(one.bad_writes, finding.bad_writes, "one recording is enough");
}

fn meadow(seed: u64) -> pasture::Sim {
    pasture::world(seed, Wrong::Nothing)
}

fn meadow_of_another_build(seed: u64) -> pasture::Sim {
    pasture::world(seed, Wrong::Process { drawn: 5, one_in: 400 })
}

#[test]
fn the_line_of_another_builds_rule_is_named_in_another_game() {
    let (sound, other) = (meadow, meadow_of_another_build);
    let turns = pasture::turns(SEED, TICKS);
    let odd = peer(2, 8).record(&mut other(SEED), &turns, |_| None);
    let plain = check_of(odd.clone(), &turns, &sound).finding.expect("they differ");
    assert!(plain.bad_writes.is_empty() && plain.verdict.blamed.is_empty());
    let rerun = rerun(odd.clone(), Tick(COMPARED_TICKS), Tick(0), &other);
    let report = check_of(with(odd, rerun), &turns, &sound);
    let finding = report.finding.as_ref().expect("they differ");
    assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::Build, &vec![2]), "{report}");
    let source = include_str!("../../testkit/src/pasture.rs");
    let line = 1 + source.lines().position(|line| line.contains("Wrong::Process { drawn, one_in } if")).unwrap();
    let site = finding.bad_writes.first().and_then(|write| write.there.as_ref()).expect("a draw has a place");
    assert_eq!((site.file.as_ref(), site.line), ("testkit/src/pasture.rs", line as u32));
}

#[test]
fn a_changed_state_is_told_from_another_program() {
    let plain = check(scribbled()).finding.expect("they differ").verdict;
    assert!(plain.others.contains(&Cause::StateCorruption) && plain.blamed.is_empty(), "by the headers alone");
    let report = check(played_again(scribbled(), &|seed| faulty::world(seed, Fault::None)));
    let finding = report.finding.as_ref().expect("they differ");
    assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::StateCorruption, &vec![2]), "{report}");
    assert!(finding.bad_writes.is_empty(), "no step did it: {report}");
}

#[test]
fn what_its_own_program_comes_to_again_is_told_as_a_turned_bit() {
    let (odd, sound) = (with_bits_turned(7, &[3]), |seed| faulty::world(seed, Fault::None));
    let plain = check(odd.clone()).finding.expect("they differ").verdict;
    assert_eq!((plain.cause, plain.blamed), (Cause::StateCorruption, vec![2]), "the control");
    let (tick, agreed) = found(&odd);
    let mut again = rerun(odd.clone(), tick, agreed, &sound).unpack().expect("it was just packed");
    let since = again.since.0 as usize;
    again.roots = roots(&odd)[since..since + again.roots.len()].to_vec();
    let report = check(with(odd, again.pack(usize::MAX).expect("it fits")));
    let verdict = &report.finding.as_ref().expect("they differ").verdict;
    assert_eq!((verdict.cause, verdict.blamed.len()), (Cause::Nondeterminism, 0), "{report}");
}

#[test]
fn what_the_same_program_does_again_and_only_there_is_nobodys_fault() {
    let odd = || peer(2, 7).record(&mut faulty::world(SEED, Fault::Rule), &turns(), |_| None);
    let plain = check(odd()).finding.expect("they differ").verdict;
    assert_eq!((plain.cause, plain.blamed.len()), (Cause::Unknown, 0), "by the headers alone nobody can tell");
    let report = check(played_again(odd(), &|seed| faulty::world(seed, Fault::Rule)));
    let finding = report.finding.as_ref().expect("they differ");
    assert_eq!((finding.verdict.cause, finding.verdict.blamed.len()), (Cause::Nondeterminism, 0), "{report}");
    assert!(!finding.bad_writes.is_empty(), "{report}");
}

#[test]
fn a_world_of_another_seed_than_its_header_says_is_told_as_start_data() {
    let mut founder = faulty::world(SEED, Fault::None);
    turns()[..50].iter().for_each(|turn| founder.step(turn));
    let bytes = founder.encoded();
    let mut joiner = faulty::world(!SEED, Fault::None);
    let snapshot = joiner.decode(&bytes).expect("its own bytes");
    joiner.restore(&snapshot);
    let odd = peer(2, 7).record(&mut joiner, &turns(), |_| None);
    let report = check(played_again(odd, &|seed| faulty::world(!seed, Fault::None)));
    let finding = report.finding.as_ref().expect("they differ");
    assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::StartData, &vec![2]), "{report}");
}

/// What a peer may make up of what another build plays again: no packing, another tick, checksums
/// that it never had, more than there may be.
fn made_up<S: Inspect>(odd: &Recording<S>, (tick, agreed): (Tick, Tick), other: &dyn Fn(u64) -> S) -> Vec<PackedRerun> {
    let good = rerun(odd.clone(), tick, agreed, other);
    let rerun = good.unpack().expect("it was just packed");
    let pack = |rerun: Rerun| rerun.pack(usize::MAX).expect("it fits");
    let shifted = |by: u32| {
        let later = |journal: &Journal| Journal { tick: journal.tick.plus(by), ..journal.clone() };
        let journals = rerun.journals.iter().map(later).collect();
        pack(Rerun { since: rerun.since.plus(by), journals, ..rerun.clone() })
    };
    let mut contradicting = rerun.clone();
    contradicting.roots[0].0 ^= 1;
    let mut neither = rerun.clone();
    neither.roots.last_mut().unwrap().0 ^= 1;
    let long = Rerun { roots: vec![Checksum(0); RERUN_TICKS_MAX + 1], journals: Vec::new(), ..rerun.clone() };
    let unlike = Rerun { journals: rerun.journals.iter().rev().cloned().collect(), ..rerun.clone() };
    let zeros = lockstone::recording::Packed::of(&vec![0; 2 * RERUN_BYTES_MAX]);
    let far = Rerun {
        start_data: 0,
        from: Tick(u32::MAX),
        since: Tick(u32::MAX),
        roots: vec![Checksum(1); 3],
        journals: Vec::new(),
    };
    let mut all: Vec<_> = [&b""[..], b"garbage", &good.bytes()[..good.bytes().len() / 2], zeros.bytes()]
        .map(PackedRerun::of_bytes)
        .into();
    all.extend([shifted(1), shifted(60), pack(contradicting), pack(neither), pack(long), pack(unlike), pack(far)]);
    all
}

/// No made up rerun changes what is told of an odd peer.
fn changes_nothing<S: Inspect>(
    odd: Recording<S>,
    turns: &[Turn<S>],
    sound: &dyn Fn(u64) -> S,
    other: &dyn Fn(u64) -> S,
) {
    let plain = check_of(odd.clone(), turns, sound).finding.expect("they differ");
    for (n, rerun) in made_up(&odd, found_of(&odd, turns, sound), other).into_iter().enumerate() {
        let report = check_of(with(odd.clone(), rerun), turns, sound);
        let finding = report.finding.as_ref().expect("they differ");
        assert_eq!(
            (finding.verdict.cause, &finding.verdict.blamed),
            (plain.verdict.cause, &plain.verdict.blamed),
            "case {n}: {report}"
        );
        assert!(finding.bad_writes.is_empty(), "case {n}: {report}");
    }
}

#[test]
fn what_is_made_up_changes_nothing() {
    for odd in [other_rules(), scribbled()] {
        let [sound, other] = [Fault::None, Fault::Rule].map(|fault| move |seed| faulty::world(seed, fault));
        changes_nothing(odd, &turns(), &sound, &other);
    }
    let turns = pasture::turns(SEED, TICKS);
    let odd = peer(2, 8).record(&mut meadow_of_another_build(SEED), &turns, |_| None);
    changes_nothing(odd, &turns, &meadow, &meadow_of_another_build);
}

/// Nobody can shift the blame onto others, and what is told is told as text.
#[test]
fn a_liar_speaks_of_nobody_else() {
    let (tick, agreed) = found(&other_rules());
    let build = |seed| faulty::world(seed, Fault::Rule);
    let good = rerun(other_rules(), tick, agreed, &build).unpack().unwrap();
    let file = "\x1b[2J<script>alert(1)</script>\n".repeat(500);
    let note = || Note {
        phase: Phase::Think,
        doer: Doer::Entity(EntityId(1)),
        event: Event::Receives { command: file.clone() },
        site: Some(Site { file: file.clone().into(), line: u32::MAX, column: 0 }),
    };
    let lies = good.journals.iter().map(|journal| Journal { tick: journal.tick, notes: vec![note(), note()] });
    let lie = Rerun { journals: lies.collect(), ..good.clone() }.pack(usize::MAX).expect("it packs well");
    let report = check(with(other_rules(), lie));
    let finding = report.finding.as_ref().expect("they differ");
    assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::Build, &vec![2]));
    let (text, page) = (report.to_string(), check::page(&report));
    assert!(!text.contains('\x1b') && !page.contains("<script>alert"), "{text}");
    assert!(finding.bad_writes.iter().all(|write| write.text.chars().count() <= 2_000));
    // Its own healthy play, told with its odd recording: that is what it says of itself.
    let sound = peer(2, 8).record(&mut faulty::world(SEED, Fault::None), &turns(), |_| None);
    let rerun = rerun(sound, tick, agreed, &|seed| faulty::world(seed, Fault::None));
    let report = check(with(other_rules(), rerun));
    assert_eq!(report.finding.expect("they differ").verdict.blamed, [2]);
}
