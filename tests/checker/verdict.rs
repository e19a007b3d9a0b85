//! The desync checker's verdicts: the cause that was planted is named, and no healthy
//! peer is ever blamed.
//!
//! A sample of cases is tried.
//! `CASES=100 cargo test --release -p lockstone --test checker verdict::`
//! tries a hundred of each cause.

use std::cell::Cell;

use lockstone::check::{Cause, Checker, Report, View, part};
use lockstone::default_table;
use lockstone::game::Game as _;
use lockstone::recording::{Entry, Recording};
use lockstone::sim::{Dice, Fx, Input, PlayerId, Rules, Simulation, Table, Tick, Turn, Vec2, World};
use testkit::faulty::{self, Fault, Faulty, Plant};
use testkit::pasture::{self, Wrong};
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

/// A game into which something is planted.
pub trait Game {
    type Rules: Rules;
    type Fault: Copy + 'static;
    const HEROES: u16;
    const SOUND: Self::Fault;
    /// What another build, or another platform, plays.
    const OTHER: Self::Fault;
    const UNSAVED: &'static [Self::Fault];
    const SCENE: Self::Fault;
    const CLOCK: Self::Fault;
    const REACH: Self::Fault;

    fn world(seed: u64, table: Table, fault: Self::Fault) -> World<Self::Rules>;
    fn turns(seed: u64) -> Vec<Turn<World<Self::Rules>>>;
    fn walk(to: Vec2) -> <Self::Rules as Rules>::Command;
    fn look(world: &World<Self::Rules>);
}

pub struct Wilds;

impl Game for Wilds {
    type Rules = faulty::Wilds;
    type Fault = Fault;
    const HEROES: u16 = 3;
    const SOUND: Fault = Fault::None;
    const OTHER: Fault = Fault::Usize;
    const UNSAVED: &'static [Fault] = &[Fault::Hidden, Fault::Unsaved];
    const SCENE: Fault = Fault::Scene;
    const CLOCK: Fault = Fault::Clock;
    const REACH: Fault = Fault::Reach;

    fn world(seed: u64, table: Table, fault: Fault) -> faulty::Sim {
        faulty::world_of(seed, table, Plant::new(fault))
    }

    fn turns(seed: u64) -> Vec<Turn<faulty::Sim>> {
        faulty::turns(seed, Self::HEROES, TICKS)
    }

    fn walk(to: Vec2) -> faulty::Order {
        faulty::Order::Walk(to)
    }

    fn look(world: &faulty::Sim) {
        drop(Faulty::scene(world, PlayerId(0)));
    }
}

pub struct Meadow;

impl Game for Meadow {
    type Rules = pasture::Pasture;
    type Fault = Wrong;
    const HEROES: u16 = 2;
    const SOUND: Wrong = Wrong::Nothing;
    const OTHER: Wrong = Wrong::Process { drawn: 5, one_in: 40 };
    const UNSAVED: &'static [Wrong] = &[Wrong::Unsaved];
    const SCENE: Wrong = Wrong::Scene;
    const CLOCK: Wrong = Wrong::Clock;
    const REACH: Wrong = Wrong::Reach;

    fn world(seed: u64, table: Table, wrong: Wrong) -> pasture::Sim {
        pasture::world_of(seed, table, wrong)
    }

    fn turns(seed: u64) -> Vec<Turn<pasture::Sim>> {
        pasture::turns(seed, TICKS)
    }

    fn walk(to: Vec2) -> pasture::Order {
        pasture::Order::Walk(to)
    }

    fn look(world: &pasture::Sim) {
        pasture::draw(world, 1);
    }
}

pub type Sim<G> = World<<G as Game>::Rules>;

/// One planted difference.
pub struct Case<G: Game> {
    pub seed: u64,
    pub dice: Dice<'static>,
    pub turns: Vec<Turn<Sim<G>>>,
    pub odd: usize,
    pub peers: Vec<Peer>,
    /// What the game itself is like, for all peers and for the checker.
    pub fault: G::Fault,
}

impl<G: Game> Case<G> {
    pub fn new(n: u64, fault: G::Fault) -> Case<G> {
        let seed = 1000 + n;
        let mut dice = default_table().dice(seed, Tick(0));
        let turns = G::turns(seed);
        let odd = dice.below(PEERS as u32) as usize;
        let peers = (0..PEERS as u16).map(|n| Peer::new(n, seed)).collect();
        Case { seed, dice, turns, odd, peers, fault }
    }

    /// A tick by which the world is awake, and after which there is something left to play.
    pub fn tick(&mut self) -> Tick {
        Tick(50 + self.dice.below(TICKS - 100))
    }

    pub fn world(&self) -> Sim<G> {
        self.world_of(self.seed, self.fault)
    }

    pub fn world_of(&self, seed: u64, fault: G::Fault) -> Sim<G> {
        G::world(seed, default_table(), fault)
    }

    /// The healthy peers' recordings, and in its place the odd one's.
    pub fn recordings(&self, odd: Recording<Sim<G>>) -> Vec<Recording<Sim<G>>> {
        let mut odd = Some(odd);
        let each = self.peers.iter().enumerate().map(|(n, peer)| match n == self.odd {
            true => odd.take().expect("there is one odd peer"),
            false => peer.record(&mut self.world(), &self.turns, |_| None),
        });
        each.collect()
    }

    pub fn check(&self, recordings: Vec<Recording<Sim<G>>>) -> Report {
        let (build, look) = (|_| self.world(), |world: &Sim<G>| G::look(world));
        Checker::new(&build).with_presentation(&look).check(recordings).expect("they are of one session")
    }

    pub fn odd(&self) -> &Peer {
        &self.peers[self.odd]
    }
}

/// Plants so many cases and counts the verdicts.
fn each<G: Game>(cause: Cause, fault: G::Fault, plant: impl Fn(&mut Case<G>) -> Recording<Sim<G>>) {
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
fn recorded_alike<S: Simulation>(recordings: &[Recording<S>]) -> bool {
    let checksums = |recording: &Recording<S>| {
        let entries = recording.entries.iter().filter(|entry| matches!(entry, Entry::Checksum(_)));
        entries.cloned().collect::<Vec<_>>()
    };
    let longest = recordings.iter().map(checksums).max_by_key(Vec::len).unwrap_or_default();
    recordings.iter().all(|recording| {
        let own = checksums(recording);
        longest.starts_with(&own) || longest.ends_with(&own)
    })
}

pub fn place(dice: &mut Dice<'_>) -> Vec2 {
    let mut along = || Fx::int(4 + dice.below(40) as i32);
    Vec2::new(along(), along())
}

/// A table of tests, each over both games.
macro_rules! over_both_games {
    ($($test:ident,)*) => {
        mod wilds {
            $(#[test] fn $test() { super::$test::<super::Wilds>(); })*
        }

        mod meadow {
            $(#[test] fn $test() { super::$test::<super::Meadow>(); })*
        }
    };
}

pub(crate) use over_both_games;

over_both_games! {
    other_input_is_told,
    another_seed_is_told,
    another_state_at_the_start_is_told,
    another_table_is_told,
    another_build_is_told,
    a_platform_is_named_without_proof,
    another_program_is_blamed_only_if_its_steps_are_shown_to_be_others,
    a_turned_bit_is_told_as_corruption,
    a_bit_that_is_turned_between_checksum_and_step_is_told_as_corruption,
    a_write_between_steps_is_told_as_corruption,
    a_write_of_a_peer_that_was_stopped_soon_after_is_told_as_corruption,
    a_field_that_no_snapshot_holds_is_told,
    what_shows_the_world_and_changes_it_is_told,
    a_step_that_reads_the_clock_is_told,
    a_part_that_has_its_halo_is_exact,
    a_halo_that_is_missing_is_told,
    what_reaches_too_far_is_told,
    peers_in_step_are_told_so,
}

fn other_input_is_told<G: Game>() {
    each(Cause::Input, G::SOUND, |case: &mut Case<G>| {
        let (at, to) = (case.tick(), place(&mut case.dice));
        case.odd().record(&mut case.world(), &case.turns, |world| {
            (world.tick() == at).then(|| {
                let mut turn = case.turns[at.0 as usize].clone();
                turn.inputs.push(Input::Command(PlayerId(1), G::walk(to)));
                turn
            })
        })
    });
}

fn another_seed_is_told<G: Game>() {
    each(Cause::StartData, G::SOUND, |case: &mut Case<G>| {
        case.peers[case.odd].header.seed += 1;
        case.odd().record(&mut case.world_of(case.seed + 1, G::SOUND), &case.turns, |_| None)
    });
}

fn another_state_at_the_start_is_told<G: Game>() {
    // All begin in the midst of the game, one of them with a state that was damaged on its way.
    for n in 0..cases() {
        let mut case = Case::<G>::new(n, G::SOUND);
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
        // Who gave it that state nobody knows.
        assert_eq!((finding.verdict.cause, &finding.odd), (Cause::StartData, &vec![case.odd]), "{report}");
        assert!(finding.verdict.blamed.is_empty(), "{report}");
        assert!(finding.location.as_ref().is_some_and(|location| location.spots.len() == 1), "{report}");
    }
}

fn another_table_is_told<G: Game>() {
    each(Cause::Table, G::SOUND, |case: &mut Case<G>| {
        let table = Table::generate([case.seed as u8; 32]);
        case.peers[case.odd].header.identity.table = table.digest();
        let mut world = G::world(case.seed, table, G::SOUND);
        case.odd().record(&mut world, &case.turns, |_| None)
    });
}

fn another_build_is_told<G: Game>() {
    each(Cause::Build, G::SOUND, |case: &mut Case<G>| {
        case.peers[case.odd].header.build.executable ^= 1;
        case.odd().record(&mut case.world_of(case.seed, G::OTHER), &case.turns, |_| None)
    });
}

fn a_platform_is_named_without_proof<G: Game>() {
    for shows_its_steps in [false, true] {
        let cause = if shows_its_steps { Cause::Platform } else { Cause::Build };
        each(cause, G::SOUND, |case: &mut Case<G>| {
            let at = case.tick();
            let peer = &mut case.peers[case.odd];
            let build = &mut peer.header.build;
            (build.arch, build.pointer_bits, build.executable) = ("wasm32".into(), 32, 0);
            peer.keyframe_at = shows_its_steps.then_some(at);
            case.odd().record(&mut case.world_of(case.seed, G::OTHER), &case.turns, |_| None)
        });
    }
}

fn another_program_is_blamed_only_if_its_steps_are_shown_to_be_others<G: Game>() {
    for n in 0..cases().div_ceil(5) {
        let mut case = Case::<G>::new(n, G::SOUND);
        case.peers[case.odd].header.build.executable ^= 1;
        let verdict = |case: &Case<G>| {
            let odd = case.odd().record(&mut case.world_of(case.seed, G::OTHER), &case.turns, |_| None);
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

fn a_turned_bit_is_told_as_corruption<G: Game>() {
    each(Cause::StateCorruption, G::SOUND, |case: &mut Case<G>| {
        let (at, mut dice) = (case.tick(), case.dice);
        case.odd().record(&mut case.world(), &case.turns, |world| {
            if world.tick() == at {
                scribble(world, &mut dice, 1);
            }
            None
        })
    });
}

fn a_bit_that_is_turned_between_checksum_and_step_is_told_as_corruption<G: Game>() {
    each(Cause::StateCorruption, G::SOUND, |case: &mut Case<G>| {
        case.peers[case.odd].trees = true;
        let (at, mut dice) = (case.tick(), case.dice);
        case.odd().record_late(&mut case.world(), &case.turns, |world| {
            if world.tick() == at {
                scribble(world, &mut dice, 1);
            }
        })
    });
}

fn a_write_between_steps_is_told_as_corruption<G: Game>() {
    each(Cause::StateCorruption, G::SOUND, |case: &mut Case<G>| {
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

fn a_write_of_a_peer_that_was_stopped_soon_after_is_told_as_corruption<G: Game>() {
    // As in a session: the odd peer records its state when the difference is found, and
    // no tick after it.
    each(Cause::StateCorruption, G::SOUND, |case: &mut Case<G>| {
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

fn a_field_that_no_snapshot_holds_is_told<G: Game>() {
    for fault in G::UNSAVED {
        each(Cause::SnapshotField, *fault, |case: &mut Case<G>| {
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

fn what_shows_the_world_and_changes_it_is_told<G: Game>() {
    each(Cause::Presentation, G::SCENE, |case: &mut Case<G>| {
        // A view draws when the step is done, and its checksum taken.
        case.odd().record_late(&mut case.world(), &case.turns, |world| G::look(world))
    });
}

fn a_step_that_reads_the_clock_is_told<G: Game>() {
    each(Cause::Nondeterminism, G::CLOCK, |case: &mut Case<G>| {
        case.odd().record(&mut case.world(), &case.turns, |_| None)
    });
}

/// Plays each case in the surroundings of a hero, beside the whole.
fn each_part<G: Game>(fault: G::Fault, halo_rings_less: u16, judge: impl Fn(u64, Option<Cause>)) {
    for n in 0..cases() {
        let mut case = Case::<G>::new(n, fault);
        let view = View { halo_rings_less, ..View::of(PlayerId(case.dice.below(G::HEROES.into()) as u16)) };
        let finding = part(&|| case.world(), &case.turns, view);
        judge(n, finding.map(|finding| finding.verdict.cause));
    }
}

fn a_part_that_has_its_halo_is_exact<G: Game>() {
    each_part::<G>(G::SOUND, 0, |n, cause| assert_eq!(cause, None, "case {n}"));
}

fn a_halo_that_is_missing_is_told<G: Game>() {
    let missed = Cell::new(0);
    each_part::<G>(G::SOUND, 2, |n, cause| match cause {
        // Nobody came near the edge: nothing was missed.
        None => missed.set(missed.get() + 1),
        Some(cause) => assert_eq!(cause, Cause::HaloMissing, "case {n}"),
    });
    assert!(missed.get() * 2 <= cases(), "{} of {} were not found", missed.get(), cases());
}

fn what_reaches_too_far_is_told<G: Game>() {
    let missed = Cell::new(0);
    each_part::<G>(G::REACH, 0, |n, cause| match cause {
        None => missed.set(missed.get() + 1),
        Some(cause) => assert_eq!(cause, Cause::ReachExceeded, "case {n}"),
    });
    assert!(missed.get() * 2 <= cases(), "{} of {} were not found", missed.get(), cases());
}

fn peers_in_step_are_told_so<G: Game>() {
    for n in 0..cases() {
        let case = Case::<G>::new(n, G::SOUND);
        let odd = case.odd().record(&mut case.world(), &case.turns, |_| None);
        let report = case.check(case.recordings(odd));
        assert!(report.is_in_step(), "{report}");
        assert!(report.peers.iter().all(|peer| peer.checksums == TICKS + 1), "{report}");
    }
}
