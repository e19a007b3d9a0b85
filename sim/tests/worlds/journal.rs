//! A noted step is the same step, its notes are true, and two journals tell which draw, thought or
//! effect parts them.

use std::collections::{BTreeMap, BTreeSet};

use super::gambler::{Act, Gambler, line_of};
use lockstone_sim::journal::{Divergence, Doer, Event, Journal, Note, Phase, Roll, Site};
use lockstone_sim::world::{Thinking, Thoughts};
use lockstone_sim::{Dice, Simulation, Tick, Turn, codec};
use testkit::storm::{Storm, StormWorld, Turns, Weather, table};

/// Steps a storm, each tick noted, and hands out every journal.
fn noted(weather: &Weather, ticks: u32, mut each: impl FnMut(&mut StormWorld, &Turn<StormWorld>, &Journal)) {
    let (mut world, mut turns) = (weather.world(), Turns::of(weather).with_absences());
    let mut journal = Journal::default();
    for _ in 0..ticks {
        let turn = turns.next(&world);
        world.step_noted(&turn, &mut journal);
        each(&mut world, &turn, &journal);
    }
}

#[test]
fn a_noted_step_is_the_same_step() {
    for seed in 200..206 {
        let weather = Weather::of(seed);
        let mut plain = weather.world();
        noted(&weather, 200, |world, turn, journal| {
            assert_eq!(journal.tick, plain.tick());
            plain.step(turn);
            assert_eq!(world.checksum(), plain.checksum(), "seed {seed}, {:?}", world.tick());
            assert_eq!(world.requests(), plain.requests(), "seed {seed}, {:?}", world.tick());
        });
        assert_eq!(plain.tick(), Tick(200));
    }
}

#[test]
fn every_draw_has_the_value_of_its_place_in_the_table() {
    let mut phases = BTreeSet::new();
    for seed in 210..214 {
        noted(&Weather::of(seed), 150, |_, _, journal| {
            for note in &journal.notes {
                let Event::Draws { stream, tick, n, value, .. } = note.event else { continue };
                assert_eq!(value, table().draw(stream, tick, n), "seed {seed}: {note}");
                assert!(tick == journal.tick || matches!(note.doer, Doer::Cell(_)) && tick == Tick(0), "{note}");
                phases.insert(note.phase);
            }
        });
    }
    assert_eq!(Vec::from_iter(phases), [Phase::Think, Phase::Effects, Phase::Turn, Phase::Light]);
}

#[test]
fn every_kind_of_event_is_noted_in_its_phase() {
    let mut seen = BTreeSet::new();
    for seed in 214..217 {
        noted(&Weather::of(seed), 150, |_, _, journal| {
            assert!(journal.notes.is_sorted_by_key(|note| note.phase));
            seen.extend(journal.notes.iter().map(|note| (note.phase, kind(&note.event))));
        });
    }
    use Phase::*;
    let thoughts = ["Affects", "Becomes", "Draws", "Receives", "Requests", "Spawns", "Thinks", "Vanishes", "Walks"];
    let effects = ["Applies", "Becomes", "Draws", "Vanishes"];
    let turn = ["Announced", "Arrives", "Draws", "Enters", "Generates", "Leaves"];
    let kinds = [(Think, &thoughts[..]), (Effects, &effects), (Moves, &["Arrives", "Leaves"]), (Turn, &turn)];
    let kinds = kinds.into_iter().chain([(Light, &["Draws", "Generates", "Lights"][..])]);
    let expected: BTreeSet<_> = kinds.flat_map(|(phase, kinds)| kinds.iter().map(move |&kind| (phase, kind))).collect();
    let seen: BTreeSet<_> = seen.iter().map(|(phase, kind)| (*phase, &kind[..])).collect();
    assert_eq!(seen, expected);
}

fn kind(event: &Event) -> String {
    format!("{event:?}").split(' ').next().unwrap_or_default().to_string()
}

#[test]
fn what_is_decided_names_its_line_and_what_is_applied_the_line_that_sent_it() {
    noted(&Weather::of(218), 150, |_, _, journal| {
        let all: BTreeSet<String> = journal.notes.iter().map(Note::to_string).collect();
        let here = |site: &Site| site.file.ends_with("testkit/src/storm.rs") && site.line > 0 && site.column > 0;
        for note in &journal.notes {
            let by_the_game =
                matches!(kind(&note.event).as_str(), "Affects" | "Applies" | "Draws" | "Requests" | "Spawns" | "Walks");
            assert!(note.site.as_ref().map_or(!by_the_game, here), "{note}");
            if let (Doer::Effect { target, source, n }, Event::Applies { effect, .. }) = (note.doer, &note.event) {
                let event = Event::Affects { target, n, effect: effect.clone() };
                let sent = Note { phase: Phase::Think, doer: Doer::Entity(source), event, site: note.site.clone() };
                assert!(all.contains(&sent.to_string()), "{note}");
            }
        }
    });
}

#[test]
fn the_sums_are_those_of_the_checksum_tree() {
    let mut compared = 0;
    noted(&Weather::of(219), 120, |world, _, journal| {
        let mut noted = BTreeMap::new();
        for note in &journal.notes {
            let (Event::Becomes { sum, .. } | Event::Arrives { sum, .. }) = note.event else { continue };
            let (Doer::Entity(id) | Doer::Effect { target: id, .. }) = note.doer else { continue };
            noted.insert(id, sum);
        }
        for (id, sum) in world.cells().flat_map(|cell| world.entity_checksums(cell)) {
            assert_eq!(*noted.get(&id).unwrap_or(&sum), sum, "{id} at {:?}", journal.tick);
            compared += usize::from(noted.contains_key(&id));
        }
    });
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn the_order_of_thinking_makes_no_difference_to_what_is_told() {
    let weather = Weather::of(220);
    let mut other = weather.world();
    let mut journal = Journal::default();
    let backwards = |thinking: &Thinking<'_, Storm>| {
        let share = |n: usize| {
            let mut thoughts = Thoughts::default();
            (n..thinking.len()).step_by(2).rev().for_each(|n| thinking.think(n, &mut thoughts));
            thoughts
        };
        std::thread::scope(|scope| {
            let threads = [scope.spawn(|| share(1)), scope.spawn(|| share(0))];
            threads.map(|thread| thread.join().expect("no thought panics")).into()
        })
    };
    let mut orders = 0;
    noted(&weather, 150, |world, turn, forwards| {
        other.step_noted_with(turn, &mut journal, backwards);
        assert_eq!(forwards.first_difference(&journal), None, "tick {:?}", forwards.tick);
        orders += usize::from(*forwards != journal);
        assert_eq!(world.checksum(), other.checksum());
    });
    assert!(orders > 50, "they did think in another order: {orders}");
}

#[test]
fn a_journal_travels() {
    noted(&Weather::of(221), 60, |_, _, journal| {
        let bytes = codec::compact(journal);
        assert_eq!(codec::read::<Journal>(&bytes, bytes.len()).as_ref(), Ok(journal));
        assert_eq!(journal.to_string().lines().count(), journal.notes.len());
    });
}

/// A gambler's healthy plan of 8 to 20 draws, by consumer.
fn plan(seed: u64) -> (Vec<usize>, Dice<'static>) {
    let mut dice = table().dice(seed ^ 0x9a3b, Tick(0));
    let len = dice.range(8..=20);
    ((0..len).map(|_| dice.below(Gambler::CONSUMERS) as usize).collect(), dice)
}

fn journal_of(seed: u64, plan: &[usize]) -> Journal {
    solo(seed, plan.iter().map(|&which| Act::Draw(which)).collect())
}

fn solo(seed: u64, plan: Vec<Act>) -> Journal {
    super::gambler::solo(&table(), seed, plan)
}

fn line(note: &Note) -> u32 {
    let site = note.site.as_ref().expect("it comes from the game");
    assert!(site.file.ends_with("sim/tests/worlds/gambler.rs"), "{site}");
    site.line
}

#[test]
fn an_added_draw_and_a_dropped_one_are_told_with_both_consumers() {
    for seed in 0..100 {
        let (healthy, mut dice) = plan(seed);
        let (at, which) = (dice.below(healthy.len() as u32 + 1) as usize, dice.below(Gambler::CONSUMERS) as usize);
        let mut broken = healthy.clone();
        broken.insert(at, which);
        let parted = (0..).find(|&n| broken.get(n) != healthy.get(n)).expect("one is longer");
        let (ours, theirs) = (journal_of(seed, &broken), journal_of(seed, &healthy));

        let Some(Divergence::Added { here, there }) = ours.first_difference(&theirs) else { panic!("seed {seed}") };
        assert_eq!((line(&here), n_of(&here)), (line_of(which), parted as u32), "seed {seed}");
        assert_eq!(there.as_ref().map(line), healthy.get(parted).map(|&which| line_of(which)), "seed {seed}");

        let Some(Divergence::Dropped { here, there }) = theirs.first_difference(&ours) else { panic!("seed {seed}") };
        assert_eq!((line(&there), n_of(&there)), (line_of(which), parted as u32), "seed {seed}");
        assert_eq!(here.as_ref().map(line), healthy.get(parted).map(|&which| line_of(which)), "seed {seed}");
    }
}

#[test]
fn two_swapped_draws_are_told_with_both_consumers() {
    for seed in 0..100 {
        let (healthy, mut dice) = plan(seed);
        let of = healthy.len() as u32;
        let mut pair = || (dice.below(of) as usize, dice.below(of) as usize);
        let (i, j) =
            std::iter::repeat_with(&mut pair).find(|&(i, j)| i < j && healthy[i] != healthy[j]).expect("found");
        let mut broken = healthy.clone();
        broken.swap(i, j);
        let difference = journal_of(seed, &healthy).first_difference(&journal_of(seed, &broken));
        let Some(Divergence::Swapped(swap)) = difference else { panic!("seed {seed}: {difference:?}") };
        let [first, second] = [healthy[i], healthy[j]].map(line_of);
        assert_eq!(swap.here.each_ref().map(line), [first, second], "seed {seed}");
        assert_eq!(swap.there.each_ref().map(line), [second, first], "seed {seed}");
        assert_eq!([&swap.here[0], &swap.there[0]].map(n_of), [i as u32; 2], "seed {seed}");
    }
}

#[test]
fn a_draw_that_another_takes_is_told_with_both_consumers() {
    for seed in 0..100 {
        // Consumers that the healthy plan has not.
        let (healthy, mut dice) = plan(seed);
        let healthy: Vec<usize> = healthy.into_iter().map(|which| which / 2).collect();
        let others: Vec<usize> = (0..Gambler::CONSUMERS as usize).filter(|which| !healthy.contains(which)).collect();
        let at = dice.below(healthy.len() as u32) as usize;
        let mut broken = healthy.clone();
        broken[at] = *dice.pick(&others).expect("half of them");
        let (ours, theirs) = (journal_of(seed, &healthy), journal_of(seed, &broken));
        let difference = ours.first_difference(&theirs).expect("one is told");
        // Where the same consumer draws again later, the draw it lost is one dropped before an
        // added one: the position is the same.
        let [here, there] = [difference.here(), difference.there()].map(|note| note.expect("both drew"));
        assert_eq!([here, there].map(n_of), [at as u32; 2], "seed {seed}: {difference}");
        assert_eq!([here, there].map(line), [healthy[at], broken[at]].map(line_of), "seed {seed}: {difference}");
        assert!(difference.is_draw());
    }
}

fn n_of(note: &Note) -> u32 {
    note.drawn().expect("it is a draw").2
}

#[test]
fn another_seed_is_told_as_another_stream() {
    let (ours, theirs) = (journal_of(1, &[0]), journal_of(2, &[0]));
    let Some(Divergence::Changed { here, there }) = ours.first_difference(&theirs) else { panic!() };
    assert_eq!((line(&here), here.site.as_ref()), (line(&there), there.site.as_ref()));
    assert_ne!(here.drawn(), there.drawn());
}

#[test]
fn what_differs_before_the_tick_is_told_before_what_follows_from_it() {
    let weather = Weather { players: 30, ..Weather::of(5) };
    let (mut ours, mut theirs, mut turns) = (weather.world(), weather.world(), Turns::of(&weather));
    for _ in 0..40 {
        let turn = turns.next(&ours);
        ours.step(&turn);
        theirs.step(&turn);
    }
    // One hero's command is lost on the way, so it alone is different when the next tick begins.
    let player = ours.players().nth(7).expect("so many have joined");
    let command = lockstone_sim::Input::Command(player, (1, 1));
    let (mut a, mut b) = (Journal::default(), Journal::default());
    ours.step_noted(&Turn { inputs: vec![command] }, &mut a);
    theirs.step_noted(&Turn::EMPTY, &mut b);
    let hero = ours.hero(player).expect("it is there").id;
    let first = a.first_difference(&b).expect("a command is missing");
    assert_eq!((first.phase(), first.doer()), (Phase::Think, Doer::Entity(hero)), "{first}");
    assert!(matches!(&first, Divergence::Added { here: Note { event: Event::Receives { .. }, .. }, .. }), "{first}");

    ours.step_noted(&Turn::EMPTY, &mut a);
    theirs.step_noted(&Turn::EMPTY, &mut b);
    let first = a.first_difference(&b).expect("the hero goes elsewhere");
    assert!(matches!(&first, Divergence::Changed { here: Note { event: Event::Thinks { .. }, .. }, .. }), "{first}");
    assert_eq!(first.doer(), Doer::Entity(hero), "{first}");
}

#[test]
fn an_effect_more_and_a_changed_one_are_told() {
    let healthy = vec![Act::Draw(1), Act::Hit(3), Act::Hit(4)];
    let ours = solo(1, healthy.clone());
    let more = solo(1, vec![Act::Draw(1), Act::Hit(3), Act::Hit(4), Act::Hit(9)]);
    let told = ours.first_difference(&more).expect("one effect more").to_string();
    assert!(
        told.starts_with("thinking: only there e:") && told.contains("sends effect 2") && told.contains(": 9, at "),
        "{told}"
    );
    let changed = solo(1, vec![Act::Draw(1), Act::Hit(3), Act::Hit(5)]);
    let told = ours.differences(&changed);
    let phases: Vec<Phase> = told.iter().map(Divergence::phase).collect();
    assert!(matches!(told[0], Divergence::Changed { .. }), "{}", told[0]);
    assert_eq!(phases, [Phase::Think, Phase::Effects], "the cause, then what came of it");
    assert_eq!(ours.first_difference(&solo(1, healthy)), None);
}

#[test]
fn notes_are_made_to_be_read() {
    let journal = solo(3, vec![Act::Draw(0), Act::Hit(7)]);
    let drawn = journal.notes.iter().find(|note| note.drawn().is_some()).expect("one draw");
    let Event::Draws { stream, value, roll, .. } = drawn.event else { unreachable!() };
    assert_eq!(roll, Roll::Below(6));
    let Doer::Entity(hero) = drawn.doer else { panic!("{drawn}") };
    let site = format!("sim/tests/worlds/gambler.rs:{}:19", line_of(0));
    let result = (u64::from(value) * 6) >> 32;
    let expected = format!("e:{hero} draws {result} below 6, n 0 of stream {stream:016x} at tick 2, at {site}");
    assert_eq!(drawn.to_string(), expected);
}

/// The journal as a build has it in whose source a few lines were added before a line, in all
/// files.
fn moved(journal: &Journal, before: u32, by: u32) -> Journal {
    let mut journal = journal.clone();
    let sites = journal.notes.iter_mut().filter_map(|note| note.site.as_mut());
    sites.filter(|site| site.line >= before).for_each(|site| site.line += by);
    journal
}

#[test]
fn lines_that_moved_from_build_to_build_are_no_difference() {
    noted(&Weather::of(230), 60, |_, _, journal| {
        let mut lines: Vec<_> = journal.notes.iter().filter_map(|note| Some(note.site.as_ref()?.line)).collect();
        lines.sort();
        for at in [0, lines.len() / 2] {
            let Some(&line) = lines.get(at) else { continue };
            let there = moved(journal, line, 3);
            assert!(!journal.differences(&there).is_empty());
            assert_eq!(journal.differences_of_builds(&there), []);
        }
    });
}

#[test]
fn what_another_build_does_otherwise_is_told_with_its_own_lines() {
    let mut told = 0;
    noted(&Weather::of(231), 60, |_, _, journal| {
        let draws = journal.notes.iter().enumerate().filter(|(_, note)| note.drawn().is_some() && note.site.is_some());
        for (n, note) in draws.step_by(7).take(3) {
            // The other build draws something else in this place, at a line that only it has, and
            // all that follows has moved.
            let mut there = moved(journal, 0, 5);
            let Event::Draws { roll, value, .. } = &mut there.notes[n].event else { unreachable!("it is a draw") };
            *roll = if *roll == Roll::Bits { Roll::Unit } else { Roll::Bits };
            *value ^= 1;
            let site = there.notes[n].site.as_mut().expect("it has one");
            site.column += 1_000;
            let differences = journal.differences_of_builds(&there);
            let [difference] = &differences[..] else { panic!("{differences:?}") };
            assert_eq!((difference.here(), difference.there()), (Some(note), Some(&there.notes[n])));
            told += 1;
        }
    });
    assert!(told > 20, "{told}");
}
