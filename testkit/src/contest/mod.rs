//! What is measured, by either way of keeping a world, and how long it takes.
//!
//! Both ways are a [`Simulation`](lockstone_sim::Simulation): [`ours`] and the [`ordinary`] one.

pub mod ordinary;
pub mod ours;
pub mod play;

use std::time::{Duration, Instant};

pub fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The typical time of some work: the least disturbed tenth of some samples.
pub fn typical(rounds: usize, mut sample: impl FnMut() -> Duration) -> Duration {
    least_disturbed((0..rounds).map(|_| sample()).collect())
}

/// The time that only a tenth of the samples stay below.
pub fn least_disturbed(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 10]
}
