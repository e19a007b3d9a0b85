//! Timbres, each a function of how often it has swung. It must never remember anything.

use std::f32::consts::TAU;

use lockstone_sim::mix64;

/// How a tone sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wave {
    /// Round, as a flute.
    Sine,
    /// A little sharper.
    Triangle,
    /// A hiss, or with a low pitch a rumble: it holds what is lower than its pitch.
    Noise,
}

impl Wave {
    /// Between -1 and 1, after so many swings. Noise is another for each `seed`.
    pub(super) fn at(self, turns: f32, seed: u32) -> f32 {
        let (whole, part) = (turns.floor(), turns - turns.floor());
        match self {
            Wave::Sine => (TAU * part).sin(),
            Wave::Triangle => 1.0 - 4.0 * (part + 0.25 - (part + 0.25).floor() - 0.5).abs(),
            Wave::Noise => {
                // Two steps a swing, and no edge between them.
                let step = 2 * whole as u64 + u64::from(part >= 0.5);
                let (here, next) = (random(step, seed), random(step + 1, seed));
                let along = 2.0 * part % 1.0;
                here + (next - here) * along * along * (3.0 - 2.0 * along)
            }
        }
    }
}

/// Between -1 and 1.
fn random(step: u64, seed: u32) -> f32 {
    let bits = mix64(step << 8 ^ u64::from(seed)) >> 40;
    bits as f32 / (1 << 23) as f32 - 1.0
}
