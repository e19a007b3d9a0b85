//! One bit that is turned over is located, wherever it is and whenever it is turned over. Each test
//! is named by what was seen before.

use lockstone::check::{Cause, Checker, Inspect, Report};
use lockstone::recording::Recording;
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{Dice, Rules, Simulation, Tick, Turn, World, codec, tamper};
use testkit::faulty::{self, Fault};
use testkit::flips::dice;
use testkit::pasture::{self, Wrong};
use testkit::recorded::Peer;
use testkit::seeds;
use testkit::tampered::{entities, turn_any};

const TICKS: u32 = 160;

fn cases() -> u64 {
    seeds::number("CASES").unwrap_or(2)
}

/// A game, and what is played of it.
struct Game<R: Rules> {
    seed: u64,
    build: fn(u64) -> World<R>,
    turns: Vec<Turn<World<R>>>,
    trees: bool,
}

fn wilds(seed: u64, trees: bool) -> Game<faulty::Wilds> {
    Game { seed, build: |seed| faulty::world(seed, Fault::None), turns: faulty::turns(seed, 3, TICKS), trees }
}

fn meadow(seed: u64, trees: bool) -> Game<pasture::Pasture> {
    Game { seed, build: |seed| pasture::world(seed, Wrong::Nothing), turns: pasture::turns(seed, TICKS), trees }
}

impl<R: Rules> Game<R> {
    fn peer(&self, n: u16) -> Peer {
        Peer { trees: self.trees, ..Peer::new(n, self.seed) }
    }

    /// One bit of those parts of Bram's world is turned over at a tick: before its checksum is
    /// taken, or between it and the step.
    fn turned(
        &self,
        dice: &mut Dice<'_>,
        late: bool,
        parts: fn(&World<R>) -> Vec<(StatePart, usize)>,
    ) -> (Recording<World<R>>, StatePart) {
        let (at, mut of) = (Tick(50 + dice.below(TICKS - 80)), None);
        let mut turn = |world: &mut World<R>| {
            if world.tick() == at {
                let parts = parts(world);
                let (bit, turned) = turn_any(world, &parts, dice);
                world.restore(&turned);
                of = Some(bit.of);
            }
        };
        let (peer, mut world) = (self.peer(1), (self.build)(self.seed));
        let recording = match late {
            true => peer.record_late(&mut world, &self.turns, turn),
            false => peer.record(&mut world, &self.turns, |world| {
                turn(world);
                None
            }),
        };
        (recording, of.expect("the tick is played"))
    }

    fn check(&self, odd: Recording<World<R>>) -> Report {
        let sound = |n| self.peer(n).record(&mut (self.build)(self.seed), &self.turns, |_| None);
        let look = |_: &World<R>| ();
        let checker = Checker::new(&self.build).with_presentation(&look);
        checker.check(vec![sound(0), odd, sound(2)]).expect("they are of one session")
    }

    /// Whether it is located; `None` if nothing ever came of it.
    fn is_located(&self, case: u64, late: bool, parts: fn(&World<R>) -> Vec<(StatePart, usize)>) -> Option<bool> {
        let (odd, of) = self.turned(&mut dice(case), late, parts);
        let report = self.check(odd);
        let finding = report.finding.as_ref()?;
        assert!(finding.verdict.blamed.iter().all(|n| *n == 1), "case {case} blames a healthy peer\n{report}");
        let is_it = |part: &StatePart| match (part, &of) {
            (StatePart::Entity(_, a), StatePart::Entity(_, b)) => a == b,
            _ => *part == of,
        };
        let mut spots = finding.location.iter().flat_map(|location| &location.spots);
        let located = finding.verdict.cause == Cause::StateCorruption && spots.any(|spot| is_it(&spot.part));
        if !located {
            println!("case {case}, {of:?}:\n{report}");
        }
        Some(located)
    }
}

fn facts<R: Rules>(world: &World<R>) -> Vec<(StatePart, usize)> {
    let fields = codec::fields(world.facts());
    vec![(StatePart::Facts, fields.last().map_or(0, |last| last.bytes.end))]
}

#[test]
fn one_bit_of_the_facts_is_never_located_where_trees_were_recorded() {
    for (trees, late) in [(true, false), (true, true), (false, false), (false, true)] {
        for case in 0..cases() {
            let located = wilds(case, trees).is_located(case, late, facts);
            assert_eq!(located, Some(true), "case {case}, trees {trees}, late {late}");
            let located = meadow(case, trees).is_located(case, late, facts);
            assert_eq!(located, Some(true), "another game, case {case}, trees {trees}, late {late}");
        }
    }
}

#[test]
fn a_bit_between_checksum_and_step_is_seldom_located_without_trees() {
    let each = |case: u64| {
        [wilds(case, false).is_located(case, true, entities), meadow(case, false).is_located(case, true, entities)]
    };
    let found: Vec<bool> = (0..cases()).flat_map(each).flatten().collect();
    let located = found.iter().filter(|located| **located).count();
    println!("{located} of {} located", found.len());
    assert!(located * 10 >= found.len() * 9 && found.len() as u64 >= cases(), "{located} of {}", found.len());
}

/// What reads a part again to turn a bit of it must not explain the rest.
#[test]
fn a_bit_that_was_not_turned_is_not_found() {
    let game = meadow(5, false);
    let mut world = (game.build)(game.seed);
    game.turns[..60].iter().for_each(|turn| world.step(turn));
    let (before, turn) = (world.snapshot(), &game.turns[60..61]);
    world.step(&turn[0]);
    let root = world.checksum();
    world.restore(&before);
    assert_eq!(world.find_bit_before(turn, root, None, usize::MAX), None);
    let of =
        entities(&world).into_iter().find(|(of, _)| matches!(of, StatePart::Entity(cell, _) if world.light(*cell) > 0));
    let bit = StateBit { of: of.expect("somebody is awake").0, byte: 9, bit: 0 };
    let turned = tamper::with_bit_turned(&before, &bit).expect("a position");
    world.restore(&turned);
    world.step(&turn[0]);
    let root = world.checksum();
    world.restore(&before);
    assert_eq!(world.find_bit_before(turn, root, None, usize::MAX), Some((Tick(60), bit)));
}
