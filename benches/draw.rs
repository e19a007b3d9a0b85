//! Random draws: the table's, addressed by stream, tick and number, beside a ChaCha8 generator that
//! only knows the next one.
//!
//! `cargo bench -p lockstone --bench draw` prints nanoseconds a draw, and the ratio, from one run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use lockstone_sim::{Table, Tick};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const DRAWS: u32 = 10_000_000;

fn main() {
    let table = Table::generate([9; 32]);
    let mut chacha = ChaCha8Rng::from_seed([9; 32]);
    let base = typical(|| (0..DRAWS).fold(0, |sum: u32, _| sum.wrapping_add(chacha.next_u32())));
    println!("{:52} {:>8} {:>10}", "", "ns", "of ChaCha8");
    row("ChaCha8, the next draw of one sequence", base, base);
    let addressed = |n: u32| table.draw(u64::from(n), Tick(5), 0);
    row("table, another stream for every draw", typical(|| (0..DRAWS).fold(0, |sum, n| addressed(n) ^ sum)), base);
    let next = typical(|| {
        let mut dice = table.dice(1, Tick(5));
        (0..DRAWS).fold(0, |sum: u32, _| sum.wrapping_add(dice.next_u32()))
    });
    row("table, the next draw of one stream", next, base);
    let reseeded = typical(|| {
        (0..DRAWS / 10).fold(0, |sum: u32, n| {
            let mut stream = ChaCha8Rng::seed_from_u64(u64::from(n));
            sum.wrapping_add(stream.next_u32())
        })
    });
    row("ChaCha8, another stream for every draw", reseeded * 10, base);
}

fn row(name: &str, time: Duration, base: Duration) {
    let ns = time.as_secs_f64() * 1e9 / f64::from(DRAWS);
    println!("{name:52} {ns:>8.2} {:>9.2}x", time.as_secs_f64() / base.as_secs_f64());
}

/// The least disturbed of several runs.
fn typical(mut run: impl FnMut() -> u32) -> Duration {
    let sample = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    (0..9).map(sample).min().expect("there are samples")
}
