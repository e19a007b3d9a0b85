//! The fleet finds what is planted, and nothing else: each of its rules has a fault here that
//! breaks it, put between a production session and its driver, or into the rules of the game.

mod bent;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use bent::{Bend, Bent};
use lockstone::game::{Bot, Game};
use lockstone::scene::{Pointer, Scene};
use lockstone::sim::{PlayerId, Simulation, Table, Vec2};
use lockstone::soak::{self, Fault, Kind, Outcome, Range, Rule, Schedule, SeatId, Step, Trace};
use testkit::faulty::{self, Faulty, Newcomer, Order, Plant, Sim};

/// The seat on which something is wrong.
const ODD: SeatId = 1;

/// A player who was never there, with a right clock.
fn entry(seat: SeatId) -> Fault {
    Fault::Enter { seat, clock_ms: 0, gains_ppm: 0, back: None }
}

/// Three peers in calm, and one more that enters later.
fn calm(kind: Kind) -> Schedule {
    let mut steps: Vec<_> = (0..3).map(|seat| Step { at_ms: 0, fault: entry(seat) }).collect();
    if kind == Kind::Party {
        steps.push(Step { at_ms: 12_000, fault: entry(3) });
    }
    let range = Range { ms: 20_000, faults: BTreeSet::new(), ..Range::default() };
    Schedule { steps, ..soak::draw(kind, 5, &range) }
}

fn play(schedule: &Schedule, bend: Option<Bend>) -> Trace {
    play_on(schedule, bend, &[ODD])
}

/// With something wrong on each of these seats.
fn play_on(schedule: &Schedule, bend: Option<Bend>, odd: &[SeatId]) -> Trace {
    let bent = |seat| bend.filter(|_| odd.contains(&seat));
    let trace = match schedule.kind {
        Kind::Rollback => soak::play_rollback::<Faulty, _>(schedule, |seat, it| Bent::new(it, bent(seat))),
        _ => soak::play_party::<Faulty, _>(schedule, |seat, it| Bent::new(it, bent(seat))),
    };
    trace.expect("the game can")
}

fn run(schedule: &Schedule, bend: Option<Bend>) -> Outcome {
    soak::run(schedule, &|schedule| Ok(play(schedule, bend))).expect("the game can")
}

/// The planted fault breaks this rule; without it nothing is broken.
fn breaks(bend: Bend, rule: Rule, kinds: &[Kind]) {
    for kind in kinds {
        let schedule = calm(*kind);
        assert_eq!(run(&schedule, None).breaches, [], "{kind:?} without a fault");
        let found = run(&schedule, Some(bend)).breaches;
        assert!(found.iter().any(|breach| breach.rule == rule), "{bend:?} in {kind:?}: {found:?}");
    }
}

const BOTH: [Kind; 2] = [Kind::Party, Kind::Rollback];

#[test]
fn a_command_that_is_played_twice_is_found() {
    breaks(Bend::Twice, Rule::Commands, &BOTH);
}

#[test]
fn a_command_that_is_lost_is_found() {
    breaks(Bend::Swallows, Rule::Commands, &BOTH);
}

#[test]
fn two_histories_are_found() {
    breaks(Bend::ForgetsTurn, Rule::OneHistory, &BOTH);
}

/// One peer may lose its last moments. What most have played is never lost.
#[test]
fn turns_that_most_have_played_and_then_discard_are_found() {
    let schedule = Schedule { steps: calm(Kind::Party).steps.into_iter().take(3).collect(), ..calm(Kind::Party) };
    let found = |odd: &'static [SeatId]| {
        let player = move |schedule: &Schedule| Ok(play_on(schedule, Some(Bend::Discards), odd));
        soak::run(&schedule, &player).expect("the game can").breaches
    };
    assert_eq!(found(&[1]), []);
    let breaches = found(&[1, 2]);
    assert!(breaches.iter().any(|breach| breach.rule == Rule::OneHistory), "{breaches:?}");
}

#[test]
fn a_world_that_differs_at_one_tick_is_found() {
    breaks(Bend::LiesOnce, Rule::Checksums, &BOTH);
}

#[test]
fn a_peer_that_stands_still_is_found() {
    breaks(Bend::Stalls, Rule::Progress, &[Kind::Party]);
}

#[test]
fn a_hero_that_is_lost_is_found() {
    breaks(Bend::Deserts, Rule::Hero, &BOTH);
}

#[test]
fn a_run_that_does_not_repeat_is_found() {
    breaks(Bend::Whimsical, Rule::Trace, &BOTH);
}

#[test]
fn a_panic_is_found() {
    breaks(Bend::Panics, Rule::Panic, &BOTH);
}

/// A game whose beasts keep a count that no snapshot holds: whoever enters later lacks it.
struct Forgetful;

impl Game for Forgetful {
    type Sim = Sim;
    const HEROES: &'static [&'static str] = Faulty::HEROES;
    const NAME: &'static str = "forgetful";

    fn rules_digest() -> u64 {
        2
    }

    fn build(seed: u64, table: Table) -> Sim {
        faulty::world_of(seed, table, Plant::new(faulty::Fault::Unsaved))
    }

    fn hero(class: &str, name: &str) -> Option<Newcomer> {
        Faulty::hero(class, name)
    }

    fn bot(player: PlayerId) -> impl Bot<Sim> {
        Faulty::bot(player)
    }

    fn click(sim: &Sim, player: PlayerId, at: Vec2, pointer: Pointer) -> Option<Order> {
        Faulty::click(sim, player, at, pointer)
    }

    fn typed(sim: &Sim, player: PlayerId, text: &str) -> Result<<Sim as Simulation>::Command, String> {
        Faulty::typed(sim, player, text)
    }

    fn scene(sim: &Sim, player: PlayerId) -> Scene {
        Faulty::scene(sim, player)
    }
}

#[test]
fn what_is_kept_outside_of_the_snapshot_is_found() {
    let late = Schedule { ms: 60_000, ..calm(Kind::Party) };
    let late = Schedule {
        steps: late
            .steps
            .into_iter()
            .map(|step| Step { at_ms: if step.at_ms > 0 { 45_000 } else { 0 }, ..step })
            .collect(),
        ..late
    };
    assert_eq!(soak::run(&late, &soak::play::<Faulty>).expect("it can").breaches, []);
    let found = soak::run(&late, &soak::play::<Forgetful>).expect("it can").breaches;
    assert!(found.iter().any(|breach| breach.rule == Rule::Checksums), "{found:?}");
}

/// What is found in five peers all of which break a rule of the protocol, if these things happen to
/// them. Without that nothing is found.
fn found_in_all(bend: Bend, faults: &[(u32, Fault)]) -> BTreeSet<Rule> {
    // One after the other, so that seats are players.
    let steps = (0..5)
        .map(|seat| (1_000 * u32::from(seat), entry(seat)))
        .chain(faults.iter().cloned())
        .map(|(at_ms, fault)| Step { at_ms, fault });
    let schedule = Schedule { steps: steps.collect(), ..calm(Kind::Party) };
    assert_eq!(run(&schedule, None).breaches, [], "without a fault");
    let trace = play_on(&schedule, Some(bend), &[0, 1, 2, 3, 4]);
    println!("{}", soak::story(&schedule, &trace));
    soak::judge(&schedule, &trace).iter().map(|breach| breach.rule).collect()
}

/// Several are elected in one epoch.
#[test]
fn votes_that_are_no_promises_are_found() {
    let found = found_in_all(Bend::VotesForAll, &[(12_000, Fault::Kill { seat: 0, told_ms: 0 })]);
    assert!(found.contains(&Rule::Progress), "{found:?}");
}

/// Who is elected did not hear the newest turns.
#[test]
fn a_leader_that_goes_on_from_the_oldest_known_turn_is_found() {
    let deaf = (12_000, Fault::Deafen { from: 0, to: 1, ms: 3_000 });
    let found = found_in_all(Bend::HidesTurns, &[deaf, (14_500, Fault::Kill { seat: 0, told_ms: 0 })]);
    assert!(found.contains(&Rule::OneHistory), "{found:?}");
}

#[test]
fn leaders_without_a_quorum_are_found() {
    let cut = Fault::Cut { seats: [0].into(), ms: 4_000 };
    let found = found_in_all(Bend::CountsItself, &[(12_000, cut)]);
    assert!(found.contains(&Rule::OneHistory), "{found:?}");
}

/// They wait at the sequencer, and are lost with it.
#[test]
fn commands_that_are_acknowledged_before_their_turn_is_closed_are_found() {
    let kill = (12_000, Fault::Kill { seat: 0, told_ms: 0 });
    assert!(found_in_all(Bend::AcknowledgesEarly, &[kill]).contains(&Rule::Commands));
}

/// Who leads on never heard of what the world asked for last. Whether it asked for something just
/// then depends on what the bots do.
#[test]
fn requests_that_only_who_leads_keeps_are_found() {
    let kill = |n: u32| (12_000 + 170 * n, Fault::Kill { seat: 0, told_ms: 0 });
    let found = |n: u32| found_in_all(Bend::ForgetsRequests, &[kill(n)]);
    assert!((0..24).any(|n| found(n).contains(&Rule::Requests)));
}

/// Two that were cut off go on, each without the other.
#[test]
fn two_histories_under_one_branch_s_name_are_found() {
    let cut = |seats: [SeatId; 2]| (12_000, Fault::Cut { seats: seats.into(), ms: 18_000 });
    let found = found_in_all(Bend::NamesBranchesAlike, &[cut([1, 2]), cut([3, 4])]);
    assert!(found.contains(&Rule::Checksums) || found.contains(&Rule::OneHistory), "{found:?}");
}

#[test]
fn whatever_is_drawn_holds() {
    let range = Range { ms: 40_000, peers: 2..=4, ..Range::default() };
    let mut figures = soak::Figures::default();
    for seed in testkit::seeds::each("--test soak whatever", 4, |seed| seed) {
        for kind in BOTH {
            let schedule = soak::draw(kind, seed, &range);
            let outcome = soak::run(&schedule, &soak::play::<Faulty>).expect("it can");
            assert_eq!(outcome.breaches, [], "{schedule}");
            figures.add(&outcome.figures);
        }
    }
    assert!(figures.takeovers > 0 && figures.without_excuse > 10, "hardly anything went wrong: {figures:?}");
}

/// Of many steps those are left without which nothing fails.
#[test]
fn a_schedule_that_fails_is_made_small() {
    let mut schedule = Schedule { ms: 8_000, ..calm(Kind::Rollback) };
    let weather = schedule.weather;
    let gust = |n: u32| Step { at_ms: 3_000 + 200 * n, fault: Fault::Weather { weather, ms: 100 } };
    schedule.steps.extend((0..12).map(gust));
    let player = |schedule: &Schedule| Ok(play(schedule, Some(Bend::Swallows)));
    let go_on = &mut |_| ControlFlow::Continue(());
    let (small, outcome) = soak::shrink(&schedule, &player, go_on).expect("it fails");
    assert_eq!(small.steps.len(), 2, "two players, no fewer: {small}");
    assert!(outcome.breaches.iter().any(|breach| breach.rule == Rule::Commands), "{:?}", outcome.breaches);
    let sound = |schedule: &Schedule| Ok(play(schedule, None));
    assert!(soak::shrink(&schedule, &sound, go_on).is_none(), "nothing fails");
}
