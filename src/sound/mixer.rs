//! Plays many sounds at once, in stereo, for a device that takes sample after sample.
//!
//! It has no clock and no device. It must never be louder than a device can be, however much it
//! plays: what is too loud is bent, and not cut.

use std::f32::consts::FRAC_PI_4;

use super::Sound;

/// So many sounds are played at once. One more is not: it would not be heard.
pub const VOICES_MAX: usize = 24;

/// Plays sounds.
#[derive(Clone, Debug)]
pub struct Mixer {
    rate_hz: u32,
    voices: Vec<Voice>,
}

/// A sound that is played.
#[derive(Clone, Debug)]
struct Voice {
    sound: Sound,
    /// How loud it is to the left and to the right.
    sides: [f32; 2],
    /// Its next sample, and where it ends.
    next: usize,
    end: usize,
}

impl Mixer {
    /// One that plays nothing yet, for a device of so many frames a second.
    pub fn new(rate_hz: u32) -> Mixer {
        Mixer { rate_hz, voices: Vec::with_capacity(VOICES_MAX) }
    }

    /// Begins a sound with the next frame.
    pub fn play(&mut self, sound: Sound) {
        if self.voices.len() < VOICES_MAX {
            // As loud in the middle as to either side.
            let turn = (sound.pan.clamp(-1.0, 1.0) + 1.0) * FRAC_PI_4;
            let end = sound.samples_in_all(self.rate_hz);
            self.voices.push(Voice { sound, sides: [turn.cos(), turn.sin()], next: 0, end });
        }
    }

    /// Whether nothing is played.
    pub fn is_silent(&self) -> bool {
        self.voices.is_empty()
    }

    /// The next frame: left and right, each between -1 and 1.
    pub fn frame(&mut self) -> [f32; 2] {
        let mut sum = [0.0, 0.0];
        for voice in &mut self.voices {
            let sample = voice.sound.sample(voice.next as f32 / self.rate_hz as f32);
            sum.iter_mut().zip(voice.sides).for_each(|(sum, side)| *sum += sample * side);
            voice.next += 1;
        }
        self.voices.retain(|voice| voice.next < voice.end);
        sum.map(f32::tanh)
    }
}
