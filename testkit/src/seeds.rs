//! Which seeds a test runs with, which of them failed, and what times came of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A number that who runs a test may set: `TICKS`, `CASES`.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// How many seeds are tried: as many as `SEEDS` says.
pub fn count(default: u64) -> u64 {
    number("SEEDS").unwrap_or(default)
}

/// The one seed of a test that runs with one: that in `SEED`.
pub fn one(default: u64) -> u64 {
    number("SEED").unwrap_or(default)
}

/// Runs a test with each seed, or with the one in `SEED`, or with as many as `SEEDS` says. Names
/// all that fail, and how to repeat one: `test` is what follows `cargo test`.
pub fn each<T>(test: &str, default: u64, run: impl Fn(u64) -> T) -> Vec<T> {
    let seeds = number("SEED").map_or(0..count(default), |seed| seed..seed + 1);
    let run = |seed| catch_unwind(AssertUnwindSafe(|| run(seed))).map_err(|_| seed);
    let (fine, failed): (Vec<_>, Vec<_>) = seeds.map(run).partition(Result::is_ok);
    let failed: Vec<_> = failed.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "seeds {failed:?}: SEED=n cargo test {test} repeats one");
    fine.into_iter().filter_map(Result::ok).collect()
}

/// The median of times and the greatest, and how many there are.
pub fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    format!("median {median:?}, at most {:?} ({} times)", times.last().copied().unwrap_or_default(), times.len())
}
