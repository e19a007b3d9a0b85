//! What is measured, by either way of keeping a world, and how long it takes.

pub mod ordinary;
pub mod ours;
pub mod play;

use std::time::{Duration, Instant};

use play::Play;

/// A way of keeping a world.
pub trait Contender {
    type Snapshot;

    fn new(play: &Play) -> Self;
    fn step(&mut self);
    fn snapshot(&mut self) -> Self::Snapshot;
    fn restore(&mut self, snapshot: &Self::Snapshot);
    fn retire(&mut self, snapshot: Self::Snapshot);
    fn checksum(&mut self) -> u64;
    fn population(&self) -> usize;
}

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
