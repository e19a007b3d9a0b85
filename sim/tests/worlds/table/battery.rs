//! A battery of statistical tests for draws that are addressed by (stream, tick, n).
//!
//! What matters is not one long sequence but the neighbourhood: entities of one cell, this tick and
//! the next, the first draw and the second. So every test looks at points that lie side by side,
//! and compares each point with its neighbours in every direction.
//!
//! Each result is brought to standard deviations from what a perfect source gives. A normal
//! variable goes beyond [`LIMIT`] once in 26 million times, a chi-square of 255 degrees of
//! freedom (skewed) and the worst of 32 bits about once in a million. A run makes 912 such tests,
//! so about one seed in a thousand would fail by chance; and since addresses and seeds are fixed,
//! it never comes and goes.

/// A source of draws: (stream, tick, n) gives 32 bits.
pub type Source<'a> = &'a dyn Fn(u64, u32, u32) -> u32;

/// An address, or the way from one to a neighbour.
type Address = (u64, u32, u32);

const LIMIT: f64 = 5.5;

/// Neighbours within a stream (the serial tests), between streams, between ticks, and diagonally:
/// shifted sequences overlap there.
const NEIGHBOURS: [(&str, Address); 13] = [
    ("the next draw", (0, 0, 1)),
    ("the draw after the next", (0, 0, 2)),
    ("the next stream", (1, 0, 0)),
    ("the stream after the next", (2, 0, 0)),
    ("the stream with the next upper half", (1 << 32, 0, 0)),
    ("the next tick", (0, 1, 0)),
    ("the tick after the next", (0, 2, 0)),
    ("the next stream's previous draw", (1, 0, u32::MAX)),
    ("the next stream's next draw", (1, 0, 1)),
    ("the next tick's previous draw", (0, 1, u32::MAX)),
    ("the next tick's next draw", (0, 1, 1)),
    ("the next stream's previous tick", (1, u32::MAX, 0)),
    ("the next stream's next tick", (1, 1, 0)),
];

/// Shapes of 65,536 addresses: how many streams, ticks and draws.
const SHAPES: [(u64, u32, u32); 4] = [(64, 32, 32), (1 << 16, 1, 1), (1, 1 << 16, 1), (1, 1, 1 << 16)];

/// Where the shapes begin: small numbers, a cell's, an entity's.
const ORIGINS: [Address; 4] =
    [(0, 0, 0), (1000, 7, 3), (5 << 32 | 9, 12_000, 0), (0x9a3c_51f2_e07b_4d68, u32::MAX >> 1, 1)];

/// What of the battery the source fails; empty for a sound one.
pub fn failures(draw: Source) -> Vec<String> {
    let mut failed = Vec::new();
    for origin in ORIGINS {
        for shape in SHAPES {
            let mut check = |test: String, z: f64| {
                if z.abs() > LIMIT {
                    failed.push(format!("{test}, {shape:?} addresses from {origin:?}: {z:.1} deviations"));
                }
            };
            let here = points(draw, origin, shape);
            for byte in 0..4 {
                check(format!("chi-square of byte {byte}"), bin_z(here.iter().map(|x| x >> (8 * byte) & 0xff)));
            }
            check("equal draws".into(), equal_draws_z(&here));
            for (name, (stream, tick, n)) in NEIGHBOURS {
                let beside = (origin.0.wrapping_add(stream), origin.1.wrapping_add(tick), origin.2.wrapping_add(n));
                let there = points(draw, beside, shape);
                let pairs = || here.iter().zip(&there);
                check(format!("correlation with {name}"), correlation_z(&here, &there));
                check(format!("upper bits beside {name}"), bin_z(pairs().map(|(a, b)| a >> 28 << 4 | b >> 28)));
                check(format!("lower bits beside {name}"), bin_z(pairs().map(|(a, b)| (a & 15) << 4 | b & 15)));
                check(format!("bits flipped to {name}"), flip_z(pairs().map(|(a, b)| a ^ b)));
            }
        }
    }
    failed
}

fn points(draw: Source, (stream, tick, n): Address, (streams, ticks, draws): Address) -> Vec<u32> {
    let mut points = Vec::with_capacity(1 << 16);
    for s in 0..streams {
        for t in 0..ticks {
            points.extend((0..draws).map(|d| draw(stream.wrapping_add(s), tick.wrapping_add(t), n.wrapping_add(d))));
        }
    }
    points
}

/// How far the counts are from their expected shares, by chi-square, in standard deviations.
pub fn chi_square_z(counts: &[u32], shares: &[f64]) -> f64 {
    let total: u32 = counts.iter().sum();
    let whole: f64 = shares.iter().sum();
    let chi_square: f64 = counts
        .iter()
        .zip(shares)
        .map(|(&count, share)| {
            let expected = f64::from(total) * share / whole;
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    let freedom = (counts.len() - 1) as f64;
    (chi_square - freedom) / (2.0 * freedom).sqrt()
}

/// Chi-square of values below 256.
fn bin_z(values: impl Iterator<Item = u32>) -> f64 {
    let mut counts = [0; 256];
    values.for_each(|value| counts[value as usize] += 1);
    chi_square_z(&counts, &[1.0; 256])
}

/// Pearson's correlation, which for n independent pairs has a deviation of 1 / sqrt(n).
fn correlation_z(a: &[u32], b: &[u32]) -> f64 {
    // Even draws have this mean and variance, which need not be estimated.
    let (mean, variance) = (2f64.powi(31), 2f64.powi(64) / 12.0);
    let sum: f64 = a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - mean) * (f64::from(b) - mean)).sum();
    sum / variance / (a.len() as f64).sqrt()
}

/// The bit of 32 that flips least evenly.
fn flip_z(flips: impl Iterator<Item = u32>) -> f64 {
    let (mut counts, mut total) = ([0u32; 32], 0u32);
    for flip in flips {
        total += 1;
        counts.iter_mut().enumerate().for_each(|(bit, count)| *count += flip >> bit & 1);
    }
    let z = |count: u32| (f64::from(count) * 2.0 - f64::from(total)) / f64::from(total).sqrt();
    counts.into_iter().map(z).fold(0.0, |worst: f64, z| if z.abs() > worst.abs() { z } else { worst })
}

/// Equal pairs among the draws: half a pair is expected among 65,536, and more than 8
/// come once in 10^9.
fn equal_draws_z(draws: &[u32]) -> f64 {
    let mut sorted = draws.to_vec();
    sorted.sort();
    let pairs = sorted.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if pairs > 8 { pairs as f64 } else { 0.0 }
}
