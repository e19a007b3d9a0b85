//! The speaker of this machine, by `cpal`.
//!
//! The device asks for samples in a thread of its own, which is the loop. Who plays must never wait
//! for it, nor it for who plays: sounds go through a channel.

use std::sync::mpsc::{Sender, channel};

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{FromSample, I24, SampleFormat, SizedSample, Stream};

use super::{Mixer, Sound};

/// Why nothing can be heard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpeakerError {
    /// The machine has no device to play on.
    #[error("this machine has no device for sound")]
    None,
    /// The device cannot be used.
    #[error("the device for sound cannot be used: {0}")]
    Unusable(String),
}

/// Plays sounds until it is dropped.
pub struct Speaker {
    sounds: Sender<Sound>,
    _stream: Stream,
}

impl Speaker {
    /// Opens the device that the system plays on.
    ///
    /// # Errors
    /// [`SpeakerError`] if there is none, or if it cannot be used.
    pub fn open() -> Result<Speaker, SpeakerError> {
        // What it lacks, the system's library would write over a terminal's picture.
        #[cfg(target_os = "linux")]
        drop(alsa::Output::local_error_handler());
        let unusable = |error: cpal::Error| SpeakerError::Unusable(error.to_string());
        let device = cpal::default_host().default_output_device().ok_or(SpeakerError::None)?;
        let config = device.default_output_config().map_err(unusable)?;
        let open = match config.sample_format() {
            SampleFormat::I8 => stream::<i8>,
            SampleFormat::I16 => stream::<i16>,
            SampleFormat::I24 => stream::<I24>,
            SampleFormat::I32 => stream::<i32>,
            SampleFormat::U8 => stream::<u8>,
            SampleFormat::U16 => stream::<u16>,
            SampleFormat::F32 => stream::<f32>,
            SampleFormat::F64 => stream::<f64>,
            other => return Err(SpeakerError::Unusable(format!("it takes {other} alone"))),
        };
        let (sounds, stream) = open(&device, config.config()).map_err(unusable)?;
        stream.play().map_err(unusable)?;
        Ok(Speaker { sounds, _stream: stream })
    }

    /// Plays sounds, from now on. If the device is gone, nothing is heard.
    pub fn play(&self, sounds: &[Sound]) {
        for sound in sounds {
            let _ = self.sounds.send(*sound);
        }
    }
}

fn stream<T: SizedSample + FromSample<f32>>(
    device: &cpal::Device,
    config: cpal::StreamConfig,
) -> Result<(Sender<Sound>, Stream), cpal::Error> {
    let (sounds, heard) = channel();
    let (mut mixer, channels) = (Mixer::new(config.sample_rate), usize::from(config.channels));
    let fill = move |samples: &mut [T], _: &cpal::OutputCallbackInfo| {
        heard.try_iter().for_each(|sound| mixer.play(sound));
        for frame in samples.chunks_mut(channels) {
            let [left, right] = mixer.frame();
            let mut sides = if channels == 1 { [(left + right) / 2.0, 0.0] } else { [left, right] }.into_iter();
            // Speakers behind and below are silent.
            frame.iter_mut().for_each(|sample| *sample = T::from_sample(sides.next().unwrap_or(0.0)));
        }
    };
    let failed = |error| tracing::warn!("the device for sound: {error}");
    Ok((sounds, device.build_output_stream(config, fill, failed, None)?))
}
