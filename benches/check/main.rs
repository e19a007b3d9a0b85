//! How long the checker takes to name one turned bit in a quarter of an hour of four peers.
//!
//! `cargo bench -p lockstone --bench check` prints the times beside what they must stay below;
//! `CASES=1000` tries so many of each kind.

use std::time::{Duration, Instant};

use lockstone::check::Checker;
use testkit::faulty::{Fault, world};
use testkit::flips::{LongGame, Recorded, dice, read};
use testkit::seeds;

const SEED: u64 = 40;
const TICKS: u32 = 18_000;

fn main() {
    let cases = seeds::number("CASES").unwrap_or(20);
    let game = LongGame::play(SEED, TICKS);
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
}
