//! How long the checker takes to name one turned bit in a quarter of an hour of four peers, and to
//! explain a bundle of two minutes, whatever is wrong.
//!
//! `cargo bench -p lockstone --bench check` prints the times beside what they must stay below;
//! `CASES=1000` tries so many of each kind, and `CASES=0` the bundles alone.

use std::time::{Duration, Instant};

use lockstone::check::Checker;
use lockstone::recording::Recording;
use lockstone::sim::{Rules, Simulation, Tick, Turn, World};
use testkit::faulty::{self, Fault, world};
use testkit::flips::{LongGame, Recorded, dice, read};
use testkit::pasture::{self, Wrong};
use testkit::recorded::Peer;
use testkit::seeds;
use testkit::tampered::{entities, turn_any};

const SEED: u64 = 40;
const TICKS: u32 = 18_000;
/// Two minutes: the most that a bundle holds.
const BUNDLE_TICKS: u32 = 2_400;
const BUNDLE_BAR: Duration = Duration::from_secs(10);

fn main() {
    let cases = seeds::number("CASES").unwrap_or(20);
    if cases == 0 {
        return explain_bundles();
    }
    // Some peers have bots beside them, so that more of the world is awake.
    let game = LongGame::play(SEED, |seed| world(seed, Fault::None), faulty::turns(SEED, 8, TICKS));
    println!("\n{TICKS} ticks, 4 peers, {} entities, {cases} bits turned over of each kind\n", game.entities);
    println!("{:<34} {:>9} {:>9} {:>9} {:>14}", "", "typical", "longest", "bar", "named exactly");
    for (recorded, name, bar) in [
        (Recorded::TreesAndKeyframes, "from recorded trees and keyframes", Duration::from_secs(1)),
        (Recorded::TreesNowAndThen, "from a tree a second and keyframes", Duration::from_secs(2)),
        (Recorded::Roots, "by playing all of it again", Duration::from_secs(5)),
    ] {
        let mut times = Vec::new();
        let mut exact = 0;
        for case in 0..cases {
            let (files, flip) = game.flipped(recorded, &mut dice(case));
            let started = Instant::now();
            let build = |seed| world(seed, Fault::None);
            let report = Checker::new(&build).check(read(&files)).expect("they are of one session");
            times.push(started.elapsed());
            exact += u64::from(flip.is_named(&report));
        }
        times.sort();
        let (typical, longest) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{name:<34} {typical:>9.0?} {longest:>9.0?} {bar:>9.0?} {exact:>6} of {cases}");
    }
    explain_bundles();
}

/// All four peers' recordings, with every checksum and tree, a state at the end, and no rerun: then
/// each suspicion is played.
fn explain_bundles() {
    println!("\n{BUNDLE_TICKS} ticks, 4 peers: a bundle is explained\n");
    println!("{:<34} {:>9} {:>9}  verdict", "", "time", "bar");
    let (wilds, meadow) = (faulty::turns(SEED, 4, BUNDLE_TICKS), pasture::turns(SEED, BUNDLE_TICKS));
    let sound = |seed| world(seed, Fault::None);
    explain("a write between steps", &wilds, &sound, &sound, true);
    explain("another build's rule", &wilds, &sound, &|seed| world(seed, Fault::Rule), false);
    let of = |wrong| move |seed| pasture::world(seed, wrong);
    explain("a clock in the rules", &meadow, &of(Wrong::Clock), &of(Wrong::Clock), false);
    explain("a static counter", &meadow, &of(Wrong::Counter(3_001)), &of(Wrong::Counter(3_001)), false);
    let drawn = |drawn| of(Wrong::Process { drawn, one_in: 4_000 });
    explain("another in each process", &meadow, &drawn(2), &drawn(5), false);
}

fn explain<R: Rules>(
    name: &str,
    turns: &[Turn<World<R>>],
    build: &dyn Fn(u64) -> World<R>,
    odd: &dyn Fn(u64) -> World<R>,
    is_written_to: bool,
) {
    let peer = |n| Peer { trees: true, keyframe_at: Some(Tick(BUNDLE_TICKS - 2)), ..Peer::new(n, SEED) };
    let (at, mut dice) = (Tick(BUNDLE_TICKS - 40), dice(3));
    let write = |world: &mut World<R>| {
        // Three bits, which no single one explains.
        for _ in 0..if is_written_to && world.tick() == at { 3 } else { 0 } {
            let parts = entities(world);
            let (_, turned) = turn_any(world, &parts, &mut dice);
            world.restore(&turned);
        }
        None
    };
    let mut recordings: Vec<Recording<World<R>>> = vec![peer(0).record(&mut odd(SEED), turns, write)];
    recordings.extend((1..4).map(|n| peer(n).record(&mut build(SEED), turns, |_| None)));
    let look = |_: &World<R>| ();
    let started = Instant::now();
    let report = Checker::new(build).with_presentation(&look).check(recordings).expect("they are of one session");
    let cause = report.finding.map(|finding| finding.verdict.cause);
    println!("{name:<34} {:>9.1?} {BUNDLE_BAR:>9.0?}  {cause:?}", started.elapsed());
}
