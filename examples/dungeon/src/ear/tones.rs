//! What each thing that happens sounds like. Nothing else is to be decided here.

use lockstone::sound::Wave::{Noise, Sine, Triangle};
use lockstone::sound::{Tone, Wave};

/// A step of the own hero: quiet, for it is heard again and again.
pub const STEP: &[Tone] = &[slide(Noise, 900.0, 250.0, 0.07, 0.11), slide(Sine, 95.0, 60.0, 0.06, 0.1)];

/// A monster is hit.
pub const HIT: &[Tone] = &[slide(Noise, 3_500.0, 700.0, 0.08, 0.22), slide(Triangle, 260.0, 120.0, 0.11, 0.28)];

/// A monster is slain.
pub const SLAIN: &[Tone] = &[slide(Noise, 900.0, 120.0, 0.3, 0.26), slide(Triangle, 200.0, 45.0, 0.34, 0.32)];

/// A hero is hit.
pub const HURT: &[Tone] = &[slide(Triangle, 170.0, 75.0, 0.24, 0.42), slide(Noise, 1_200.0, 250.0, 0.13, 0.22)];

/// A hero is slain: a chord that sinks.
pub const FELL: &[Tone] = &[
    slide(Triangle, 330.0, 311.0, 0.5, 0.2),
    slide(Triangle, 262.0, 247.0, 0.55, 0.2).after(0.16),
    slide(Triangle, 208.0, 155.0, 1.0, 0.24).after(0.34),
    slide(Noise, 240.0, 60.0, 1.1, 0.22).after(0.2),
];

/// Something falls to the ground.
pub const DROP: &[Tone] = &[note(Sine, 1_319.0, 0.14, 0.13), note(Sine, 1_976.0, 0.2, 0.09).after(0.06)];

/// Something rare does.
pub const TREASURE: &[Tone] = &[
    note(Sine, 1_047.0, 0.3, 0.13),
    note(Sine, 1_319.0, 0.3, 0.13).after(0.07),
    note(Sine, 1_568.0, 0.3, 0.13).after(0.14),
    note(Sine, 2_093.0, 0.6, 0.13).after(0.21),
];

/// The own hero takes gold.
pub const COIN: &[Tone] = &[note(Triangle, 1_976.0, 0.07, 0.1), note(Triangle, 2_637.0, 0.22, 0.1).after(0.05)];

/// It takes something else.
pub const TAKE: &[Tone] = &[slide(Sine, 420.0, 700.0, 0.11, 0.2)];

/// It drinks: three gulps.
pub const DRINK: &[Tone] = &[
    slide(Sine, 280.0, 480.0, 0.11, 0.2),
    slide(Sine, 310.0, 540.0, 0.11, 0.2).after(0.14),
    slide(Sine, 340.0, 620.0, 0.13, 0.2).after(0.28),
];

/// An arrow is shot.
pub const SHOT: &[Tone] =
    &[slide(Triangle, 520.0, 230.0, 0.07, 0.14), slide(Noise, 2_600.0, 5_200.0, 0.13, 0.12).swelling(0.03)];

/// Fire is thrown.
pub const FIRE: &[Tone] =
    &[slide(Noise, 500.0, 1_500.0, 0.36, 0.26).swelling(0.06), slide(Sine, 140.0, 75.0, 0.3, 0.2)];

/// A warrior whirls.
pub const WHIRL: &[Tone] = &[
    slide(Noise, 600.0, 2_400.0, 0.3, 0.26).swelling(0.12),
    slide(Noise, 2_000.0, 500.0, 0.25, 0.2).after(0.14).swelling(0.06),
];

/// The own hero reaches a level: a chord from below.
pub const LEVEL: &[Tone] = &[
    note(Triangle, 523.0, 0.3, 0.17),
    note(Triangle, 659.0, 0.3, 0.17).after(0.09),
    note(Triangle, 784.0, 0.35, 0.17).after(0.18),
    note(Triangle, 1_047.0, 0.9, 0.18).after(0.27),
    note(Sine, 2_093.0, 0.7, 0.06).after(0.27),
];

const fn slide(wave: Wave, from_hz: f32, to_hz: f32, length_s: f32, gain: f32) -> Tone {
    Tone::new(wave, (from_hz, to_hz), length_s, gain)
}

const fn note(wave: Wave, hz: f32, length_s: f32, gain: f32) -> Tone {
    slide(wave, hz, hz, length_s, gain)
}
