//! The desync checker's verdicts: the cause that was planted is named, and no healthy
//! peer is ever blamed.
//!
//! A sample of cases is tried.
//! `CASES=100 cargo test --release -p lockstone --test checker verdict::`
//! tries a hundred of each cause.

use std::cell::Cell;

use lockstone::check::{Cause, Checker, Report, View, part};
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::{Entry, Recording};
use lockstone::sim::{Dice, Fx, Input, PlayerId, Simulation, Table, Tick, Turn, Vec2};
use testkit::faulty::{self, Fault, Faulty, Order, Plant, Sim};
use testkit::recorded::Peer;
use testkit::seeds;
use testkit::tampered::scribble;

const PEERS: usize = 4;
const TICKS: u32 = 200;
/// Of a hundred cases so many may be told as unknown, or as something else; a healthy peer must not
/// be blamed in any.
const WRONG_PERCENT: usize = 1;

fn cases() -> u64 {
    seeds::number("CASES").unwrap_or(5)
}

/// One planted difference.
struct Case {
    seed: u64,
    dice: Dice<'static>,
    turns: Vec<Turn<Sim>>,
    odd: usize,
    peers: Vec<Peer>,
    /// What the game itself is like, for all peers and for the checker.
    fault: Fault,
}

impl Case {
    fn new(n: u64, fault: Fault) -> Case {
        let seed = 1000 + n;
        let mut dice = default_table().dice(seed, Tick(0));
        let turns = faulty::turns(seed, 3, TICKS);
        let odd = dice.below(PEERS as u32) as usize;
        let peers = (0..PEERS as u16).map(|n| Peer::new(n, seed)).collect();
        Case { seed, dice, turns, odd, peers, fault }
    }

    /// A tick by which the world is awake, and after which there is something left to play.
    fn tick(&mut self) -> Tick {
        Tick(50 + self.dice.below(TICKS - 100))
    }

    fn world(&self) -> Sim {
        faulty::world(self.seed, self.fault)
    }

    /// The healthy peers' recordings, and in its place the odd one's.
    fn recordings(&self, odd: Recording<Sim>) -> Vec<Recording<Sim>> {
        let mut odd = Some(odd);
        let each = self.peers.iter().enumerate().map(|(n, peer)| match n == self.odd {
            true => odd.take().expect("there is one odd peer"),
            false => peer.record(&mut self.world(), &self.turns, |_| None),
        });
        each.collect()
    }

    fn check(&self, recordings: Vec<Recording<Sim>>) -> Report {
        let (build, look) = (|_| self.world(), |world: &Sim| drop(Faulty::scene(world, PlayerId(0))));
        Checker::new(&build).with_presentation(&look).check(recordings).expect("they are of one session")
    }

    fn odd(&self) -> &Peer {
        &self.peers[self.odd]
    }
}

/// Plants so many cases and counts the verdicts.
fn each(cause: Cause, fault: Fault, plant: impl Fn(&mut Case) -> Recording<Sim>) {
    let (mut wrong, mut healed) = (Vec::new(), 0);
    for n in 0..cases() {
        let mut case = Case::new(n, fault);
        let odd = plant(&mut case);
        let recordings = case.recordings(odd);
        let report = case.check(recordings.clone());
        let Some(finding) = &report.finding else {
            assert!(recorded_alike(&recordings), "case {n}: nothing was found\n{report}");
            // What was turned over was written anew by the very step before anyone read it, or
            // nobody ever read it.
            healed += 1;
            continue;
        };
        assert!(
            finding.verdict.blamed.iter().all(|&peer| peer == case.odd),
            "case {n} blames a healthy peer\n{report}"
        );
        if finding.verdict.cause != cause {
            wrong.push(format!("case {n}:\n{report}"));
        }
    }
    assert!(healed * 2 <= cases(), "{healed} of {} were not found", cases());
    let allowed = cases() as usize * WRONG_PERCENT / 100;
    assert!(wrong.len() <= allowed, "{} of {} wrong\n{}", wrong.len(), cases(), wrong.join("\n"));
}

/// Whether no recorded checksum differs from another's.
fn recorded_alike(recordings: &[Recording<Sim>]) -> bool {
    let checksums = |recording: &Recording<Sim>| {
        let entries = recording.entries.iter().filter(|entry| matches!(entry, Entry::Checksum(_)));
        entries.cloned().collect::<Vec<_>>()
    };
    let longest = recordings.iter().map(checksums).max_by_key(Vec::len).unwrap_or_default();
    recordings.iter().all(|recording| {
        let own = checksums(recording);
        longest.starts_with(&own) || longest.ends_with(&own)
    })
}

fn place(dice: &mut Dice<'_>) -> Vec2 {
    let mut along = || Fx::int(dice.below(80) as i32);
    Vec2::new(along(), along())
}

#[test]
fn other_input_is_told() {
    each(Cause::Input, Fault::None, |case| {
        let (at, to) = (case.tick(), place(&mut case.dice));
        case.odd().record(&mut case.world(), &case.turns, |world| {
            (world.tick() == at).then(|| {
                let mut turn = case.turns[at.0 as usize].clone();
                turn.inputs.push(Input::Command(PlayerId(1), Order::Walk(to)));
                turn
            })
        })
    });
}

#[test]
fn another_seed_is_told() {
    each(Cause::StartData, Fault::None, |case| {
        case.peers[case.odd].header.seed += 1;
        case.odd().record(&mut faulty::world(case.seed + 1, Fault::None), &case.turns, |_| None)
    });
}

#[test]
fn another_state_at_the_start_is_told() {
    // All begin in the midst of the game, one of them with a state that was damaged on its way.
    for n in 0..cases() {
        let mut case = Case::new(n, Fault::None);
        let start = case.tick().0 as usize;
        let began = || {
            let mut world = case.world();
            case.turns[..start].iter().for_each(|turn| world.step(turn));
            world
        };
        let mut dice = case.dice;
        let each = case.peers.iter().enumerate().map(|(n, peer)| {
            let mut world = began();
            if n == case.odd {
                scribble(&mut world, &mut dice, 3);
            }
            peer.record(&mut world, &case.turns, |_| None)
        });
        let report = case.check(each.collect());
        let finding = report.finding.as_ref().expect("they differ");
        assert_eq!((finding.verdict.cause, &finding.verdict.blamed), (Cause::StartData, &vec![case.odd]), "{report}");
        assert!(finding.location.as_ref().is_some_and(|location| location.spots.len() == 1), "{report}");
    }
}

#[test]
fn another_table_is_told() {
    each(Cause::Table, Fault::None, |case| {
        let table = Table::generate([case.seed as u8; 32]);
        case.peers[case.odd].header.identity.table = table.digest();
        let mut world = faulty::world_of(case.seed, table, Plant::new(Fault::None));
        case.odd().record(&mut world, &case.turns, |_| None)
    });
}

#[test]
fn another_build_is_told() {
    each(Cause::Build, Fault::None, |case| {
        case.peers[case.odd].header.build.executable ^= 1;
        case.odd().record(&mut faulty::world(case.seed, Fault::Usize), &case.turns, |_| None)
    });
}

#[test]
fn another_platform_is_told() {
    each(Cause::Platform, Fault::None, |case| {
        let build = &mut case.peers[case.odd].header.build;
        (build.arch, build.pointer_bits, build.executable) = ("wasm32".into(), 32, 0);
        case.odd().record(&mut faulty::world(case.seed, Fault::Usize), &case.turns, |_| None)
    });
}

#[test]
fn another_program_is_blamed_only_if_its_steps_are_shown_to_be_others() {
    for n in 0..cases().div_ceil(5) {
        let mut case = Case::new(n, Fault::None);
        case.peers[case.odd].header.build.executable ^= 1;
        let verdict = |case: &Case| {
            let odd = case.odd().record(&mut faulty::world(case.seed, Fault::Usize), &case.turns, |_| None);
            case.check(case.recordings(odd)).finding.expect("they differ").verdict
        };
        let by_headers = verdict(&case);
        let others = vec![Cause::StateCorruption, Cause::Nondeterminism];
        assert_eq!((by_headers.cause, by_headers.others, by_headers.blamed), (Cause::Build, others, vec![]));
        case.peers[case.odd].keyframe_at = Some(case.tick());
        let shown = verdict(&case);
        assert_eq!((shown.cause, shown.others, shown.blamed), (Cause::Build, vec![], vec![case.odd]));
    }
}

#[test]
fn a_turned_bit_is_told_as_corruption() {
    each(Cause::StateCorruption, Fault::None, |case| {
        let (at, mut dice) = (case.tick(), case.dice);
        case.odd().record(&mut case.world(), &case.turns, |world| {
            if world.tick() == at {
                scribble(world, &mut dice, 1);
            }
            None
        })
    });
}

#[test]
fn a_bit_that_is_turned_between_checksum_and_step_is_told_as_corruption() {
    each(Cause::StateCorruption, Fault::None, |case| {
        case.peers[case.odd].trees = true;
        let (at, mut dice) = (case.tick(), case.dice);
        case.odd().record_late(&mut case.world(), &case.turns, |world| {
            if world.tick() == at {
                scribble(world, &mut dice, 1);
            }
        })
    });
}

#[test]
fn a_write_between_steps_is_told_as_corruption() {
    each(Cause::StateCorruption, Fault::None, |case| {
        let (at, mut dice) = (case.tick(), case.dice);
        // As a session does when it finds the difference: soon, but not at once.
        case.peers[case.odd].keyframe_at = Some(at.plus(12));
        case.odd().record(&mut case.world(), &case.turns, |world| {
            if world.tick() == at {
                scribble(world, &mut dice, 6);
            }
            None
        })
    });
}

#[test]
fn a_write_of_a_peer_that_was_stopped_soon_after_is_told_as_corruption() {
    // As in a session: the odd peer records its state when the difference is found, and
    // no tick after it.
    each(Cause::StateCorruption, Fault::None, |case| {
        let (at, mut dice) = (case.tick(), case.dice);
        case.peers[case.odd].keyframe_at = Some(at.plus(12));
        let turns = &case.turns[..at.0 as usize + 12];
        case.odd().record(&mut case.world(), turns, |world| {
            if world.tick() == at {
                scribble(world, &mut dice, 6);
            }
            None
        })
    });
}

#[test]
fn a_field_that_no_snapshot_holds_is_told() {
    for fault in [Fault::Hidden, Fault::Unsaved] {
        each(Cause::SnapshotField, fault, |case| {
            let joined = case.tick().0 as usize;
            let mut founder = case.world();
            case.turns[..joined].iter().for_each(|turn| founder.step(turn));
            let bytes = founder.encoded();
            let mut joiner = case.world();
            let read = joiner.decode(&bytes).expect("its own bytes");
            joiner.restore(&read);
            case.odd().record(&mut joiner, &case.turns, |_| None)
        });
    }
}

#[test]
fn what_shows_the_world_and_changes_it_is_told() {
    each(Cause::Presentation, Fault::Scene, |case| {
        // A view draws when the step is done, and its checksum taken.
        case.odd().record_late(&mut case.world(), &case.turns, |world| drop(Faulty::scene(world, PlayerId(0))))
    });
}

#[test]
fn a_step_that_reads_the_clock_is_told() {
    each(Cause::Nondeterminism, Fault::Clock, |case| case.odd().record(&mut case.world(), &case.turns, |_| None));
}

/// Plays each case in the surroundings of a hero, beside the whole.
fn each_part(fault: Fault, halo_rings_less: u16, judge: impl Fn(u64, Option<Cause>)) {
    for n in 0..cases() {
        let mut case = Case::new(n, fault);
        let view = View { halo_rings_less, ..View::of(PlayerId(case.dice.below(3) as u16)) };
        let finding = part(&|| case.world(), &case.turns, view);
        judge(n, finding.map(|finding| finding.verdict.cause));
    }
}

#[test]
fn a_part_that_has_its_halo_is_exact() {
    each_part(Fault::None, 0, |n, cause| assert_eq!(cause, None, "case {n}"));
}

#[test]
fn a_halo_that_is_missing_is_told() {
    let missed = Cell::new(0);
    each_part(Fault::None, 2, |n, cause| match cause {
        // Nobody came near the edge: nothing was missed.
        None => missed.set(missed.get() + 1),
        Some(cause) => assert_eq!(cause, Cause::HaloMissing, "case {n}"),
    });
    assert!(missed.get() * 2 <= cases(), "{} of {} were not found", missed.get(), cases());
}

#[test]
fn what_reaches_too_far_is_told() {
    let missed = Cell::new(0);
    each_part(Fault::Reach, 0, |n, cause| match cause {
        None => missed.set(missed.get() + 1),
        Some(cause) => assert_eq!(cause, Cause::ReachExceeded, "case {n}"),
    });
    assert!(missed.get() * 2 <= cases(), "{} of {} were not found", missed.get(), cases());
}

#[test]
fn peers_in_step_are_told_so() {
    for n in 0..cases() {
        let case = Case::new(n, Fault::None);
        let odd = case.odd().record(&mut case.world(), &case.turns, |_| None);
        let report = case.check(case.recordings(odd));
        assert!(report.is_in_step(), "{report}");
        assert!(report.peers.iter().all(|peer| peer.checksums == TICKS + 1), "{report}");
    }
}
