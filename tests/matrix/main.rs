//! Cause by game by peers by what was recorded: each case is planted by a seeded draw, and the
//! checker has to name it. A verdict may say less; it must never be wrong, and never blame a peer
//! that is sound.
//!
//! ```text
//! case n ─► game, plant, peers, recordings or bundle or parts, rerun, interval, processes
//!             └─► recordings ─► the checker ─► right, one of, unknown, wrong; tick, place, line
//! ```
//!
//! A sample is tried, and before a release more:
//!
//! ```text
//! CASES=2000 cargo test --release -p lockstone --test matrix -- --nocapture
//! ```
//!
//! A part of what odd peers record is played, and a part of the cases is checked, by processes of
//! their own. `CASE=n` repeats one, and prints its report. Where `OTHER_BUILD` names this test's
//! program of the same sources and another profile, it plays what the odd peer records in half of
//! the cases, and checks some.
//! The table of `docs/desync.md` is what this prints:
//!
//! ```text
//! cargo test --release -p lockstone --test matrix --no-run    # prints the program's path
//! OTHER_BUILD=PATH CASES=600 cargo test -p lockstone --test matrix -- --nocapture
//! ```

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
use std::{env, fs, thread};

use case::{Case, Plant};
use games::{Flock, Game, Meadow, Wilds};
use judge::{Outcome, Table};
use lockstone::sim::codec;
use testkit::seeds;

/// Where a child process finds what it is given, and leaves what it makes of it.
const CHILD_FILE: &str = "MATRIX_FILE";
const CHILD_CASE: &str = "MATRIX_CASE";
/// The program of another build.
const OTHER_BUILD: &str = "OTHER_BUILD";

/// What can be done with a case.
struct Kind {
    judge: fn(u64) -> (Plant, &'static str, Outcome),
    /// In a process of its own: checks what it is given.
    answer: fn(u64, &[u8]) -> Outcome,
    /// In a process of its own: plays what the odd peer records, for a file.
    record: Option<fn(u64) -> Vec<u8>>,
}

impl Kind {
    fn of(n: u64) -> Kind {
        match n % 6 {
            0 | 1 => Kind::of_game::<Wilds>(),
            2 | 3 => Kind::of_game::<Meadow>(),
            4 => Kind::of_game::<Flock>(),
            _ => Kind { judge: relay::judged, answer: |_, question| relay::answer(question), record: None },
        }
    }

    fn of_game<G: Game>() -> Kind {
        Kind {
            judge: |n| Case::<G>::draw(n).judged(),
            answer: |n, question| Case::<G>::draw(n).answer(question),
            record: Some(|n| Case::<G>::draw(n).odd().write()),
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
            let (plant, game, outcome) = (Kind::of(n).judge)(n);
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

/// What a process of its own, or of another build, does for a case: it records what the odd peer
/// plays.
#[test]
fn a_child_records_what_the_odd_peer_plays() {
    as_a_child(|n, kind, _| kind.record.expect("the case is of a game whose peers play alone")(n));
}

/// And it checks what others have played: with the same rules, and nothing that is planted beside.
#[test]
fn a_child_checks_what_it_is_given() {
    as_a_child(|n, kind, question| codec::compact(&(kind.answer)(n, question)));
}

/// Makes another file of one, if this is a child process.
fn as_a_child(make: impl FnOnce(u64, Kind, &[u8]) -> Vec<u8>) {
    let Some(n) = seeds::number(CHILD_CASE) else { return };
    let file = PathBuf::from(env::var_os(CHILD_FILE).expect("it is told where"));
    let made = make(n, Kind::of(n), &fs::read(&file).expect("its parent wrote it"));
    fs::write(file, made).expect("the target directory can be written");
}
