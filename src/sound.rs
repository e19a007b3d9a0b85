//! What a player hears, before it is played: the one source of every speaker.
//!
//! ```text
//! Game::ear ─► Sound ─► Mixer ─► speaker of this machine
//!                └────► samples ─► Web Audio of a page
//! ```
//!
//! Nothing is read from files: a sound is made of tones, and each sample of it is computed from the
//! time alone. So the same sound has the same samples, on any device. What it stands for only the
//! game knows. Nothing that is computed here may find its way back into the world.

mod mixer;
#[cfg(all(feature = "sound", not(target_arch = "wasm32")))]
mod speaker;
mod wave;

pub use mixer::{Mixer, VOICES_MAX};
#[cfg(all(feature = "sound", not(target_arch = "wasm32")))]
pub use speaker::{Speaker, SpeakerError};
pub use wave::Wave;

use crate::scene::Place;

/// At this distance, in tiles, a sound is half as loud as beside the listener.
const HALF_TILES: f32 = 5.0;
/// At this distance to one side, in tiles, a sound comes from there alone, as far as any does.
const SIDE_TILES: f32 = 10.0;
/// What comes from one side is heard a little on the other, as with two ears.
const PAN_MAX: f32 = 0.8;

/// Something that is heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sound {
    /// What it is made of.
    pub tones: &'static [Tone],
    /// How much higher it is than its tones say: 1 as they say, 2 an octave higher.
    pub pitch: f32,
    /// How loud it is, 0 to 1.
    pub gain: f32,
    /// Where it comes from: -1 left, 0 the middle, 1 right.
    pub pan: f32,
}

/// A part of a sound: it swells, fades, and may slide from one pitch to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tone {
    /// Its timbre.
    pub wave: Wave,
    /// The pitch at its beginning and at its end, in Hz.
    pub hz: (f32, f32),
    /// How long after the sound's beginning it begins, in seconds.
    pub begin_s: f32,
    /// How long it takes, in seconds.
    pub length_s: f32,
    /// How long of that it swells, in seconds. It fades for the rest.
    pub attack_s: f32,
    /// How loud it is at most, 0 to 1.
    pub gain: f32,
}

impl Tone {
    /// A tone at the beginning of a sound that swells within 4 ms, too fast to be heard and slow
    /// enough to make no click.
    pub const fn new(wave: Wave, hz: (f32, f32), length_s: f32, gain: f32) -> Tone {
        Tone { wave, hz, begin_s: 0.0, length_s, attack_s: 0.004, gain }
    }

    /// The same, so many seconds later.
    pub const fn after(self, begin_s: f32) -> Tone {
        Tone { begin_s, ..self }
    }

    /// The same, swelling for so many seconds.
    pub const fn swelling(self, attack_s: f32) -> Tone {
        Tone { attack_s, ..self }
    }

    /// When it is over, in seconds after the sound's beginning.
    const fn end_s(&self) -> f32 {
        self.begin_s + self.length_s
    }
}

impl Sound {
    /// A sound beside the listener, as its tones say.
    pub const fn new(tones: &'static [Tone]) -> Sound {
        Sound { tones, pitch: 1.0, gain: 1.0, pan: 0.0 }
    }

    /// The same from a place, in tiles from the listener: farther away it is not as loud.
    pub fn at(self, (x, y): Place) -> Sound {
        let far = x.hypot(y) / HALF_TILES;
        Sound { gain: self.gain / (1.0 + far * far), pan: (x / SIDE_TILES).clamp(-PAN_MAX, PAN_MAX), ..self }
    }

    /// The same, so much higher.
    pub fn pitched(self, pitch: f32) -> Sound {
        Sound { pitch, ..self }
    }

    /// How long it takes, in seconds.
    pub fn length_s(&self) -> f32 {
        self.tones.iter().map(Tone::end_s).fold(0.0, f32::max)
    }

    /// How many samples that is.
    fn samples_in_all(&self, rate_hz: u32) -> usize {
        (self.length_s() * rate_hz as f32).ceil() as usize
    }

    /// The sample at a time in seconds after its beginning, wherever it comes from.
    fn sample(&self, time_s: f32) -> f32 {
        let all = (0..).zip(self.tones).map(|(n, tone)| {
            let (since, rest) = (time_s - tone.begin_s, tone.end_s() - time_s);
            if since <= 0.0 || rest <= 0.0 {
                return 0.0;
            }
            let swell = (since / tone.attack_s).min(1.0);
            let fade = (rest / (tone.length_s - tone.attack_s)).min(1.0);
            let (from, to) = (tone.hz.0 * self.pitch, tone.hz.1 * self.pitch);
            let turns = since * (from + (to - from) * since / (2.0 * tone.length_s));
            // What fades evenly to the eye does not to the ear.
            tone.wave.at(turns, n) * swell * fade * fade * tone.gain
        });
        self.gain * all.sum::<f32>()
    }

    /// All of its samples, so many a second, wherever it comes from: for who mixes them by itself.
    pub fn samples(&self, rate_hz: u32) -> Vec<f32> {
        (0..self.samples_in_all(rate_hz)).map(|n| self.sample(n as f32 / rate_hz as f32)).collect()
    }
}
