//! Cause by game by peers by what was recorded: each case is planted by a seeded draw, and the
//! checker has to name it. A verdict may say less; it must never be wrong, and never blame a peer
//! that is sound.
//!
//! ```text
//! case n ─► game, plant, peers, recordings or bundle or parts, rerun, interval, process
//!             └─► recordings ─► the checker ─► right, one of, unknown, wrong; tick, place, line
//! ```
//!
//! A sample is tried. The table of `docs/desync.md` is what this prints:
//!
//! ```text
//! CASES=2000 cargo test --release -p lockstone --test matrix -- --nocapture
//! ```
//!
//! `CASE=n` repeats one, and prints its report.

mod case;
mod games;
mod judge;
mod relay;

#[path = "../../examples/foreign.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod foreign;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use case::{Case, Plant};
use games::{Flock, Game, Meadow, Wilds};
use judge::{Outcome, Table};
use testkit::seeds;

/// Where a child process leaves the odd recording of a case.
const CHILD_FILE: &str = "MATRIX_FILE";
const CHILD_CASE: &str = "MATRIX_CASE";

fn try_case(n: u64) -> (Plant, &'static str, Outcome) {
    fn of<G: Game>(n: u64) -> (Plant, &'static str, Outcome) {
        let case = Case::<G>::draw(n);
        (case.plant, G::NAME, case.judged())
    }
    match n % 6 {
        0 | 1 => of::<Wilds>(n),
        2 | 3 => of::<Meadow>(n),
        4 => of::<Flock>(n),
        _ => {
            let (plant, outcome) = relay::judged(n);
            (plant, relay::NAME, outcome)
        }
    }
}

#[test]
fn what_was_planted_is_named_or_less_is_said() {
    let one = seeds::number("CASE");
    let cases = one.map_or(0..seeds::number("CASES").unwrap_or(200), |n| n..n + 1);
    let (next, end, table) = (AtomicU64::new(cases.start), cases.end, Mutex::new(Table::default()));
    let work = || {
        while let Some(n) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < end) {
            let (plant, game, outcome) = try_case(n);
            if one.is_some() || outcome.is_told() {
                println!("case {n}, {plant:?} in {game}: {outcome}");
            }
            table.lock().expect("nobody panics with it").add(plant, &outcome);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let table = table.into_inner().expect("nobody panics with it");
    println!("{table}");
    table.hold();
}

/// What a process of its own does for a case: it records what the odd peer plays.
#[test]
fn a_child_records_what_the_odd_peer_plays() {
    let Some(n) = seeds::number(CHILD_CASE) else { return };
    let file = PathBuf::from(std::env::var_os(CHILD_FILE).expect("it is told where"));
    let bytes = match n % 6 {
        0 | 1 => Case::<Wilds>::draw(n).odd().write(),
        2 | 3 => Case::<Meadow>::draw(n).odd().write(),
        _ => Case::<Flock>::draw(n).odd().write(),
    };
    std::fs::write(file, bytes).expect("the target directory can be written");
}
