//! `replay --gif` and `--webp`: recorded play as moving pictures, by the eyes of whoever recorded
//! it.
//!
//! Every second tick is a picture: the loop is in [`write`]. It must never write over a file that
//! is there.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use gif::{Frame as Picture, Repeat};
use lockstone_sim::Tick;
use webp_animation::{EncoderOptions, EncodingConfig, EncodingType, LossyEncodingConfig};

use super::failure::Failure;
use super::{files, progress};
use crate::game::Game;
use crate::recording::{Film, Recording};
use crate::view::Status;
use crate::view::frame::Frame;

/// Pixels each way.
const SIZE: (u16, u16) = (480, 320);
/// From one picture to the next.
const STEP_TICKS: u32 = 2;
/// Ticks at most: two minutes at 20 a second.
const TICKS_MAX: u32 = 2_400;
/// These bits of a colour are kept: what differs by less is seen as the same, and packed as that.
const COLOR_BITS: u8 = 0xf8;
/// How carefully colours are chosen, 1 to 30: of fewer pixels the higher it is.
const SPEED: i32 = 10;
/// How much of a picture is kept in a WebP file, of 100.
const QUALITY: f32 = 70.0;

/// What moving pictures are written as.
#[derive(Clone, Copy)]
pub(super) enum Format {
    /// Understood everywhere; 256 colours a picture.
    Gif,
    /// All colours, in a tenth of the bytes.
    Webp,
}

/// Which ticks of a recording are drawn.
pub(super) struct Span {
    pub from: Option<u32>,
    pub to: Option<u32>,
}

/// Draws a part of a recording into a file.
pub(super) fn write<G: Game>(
    recording: Recording<G::Sim>,
    simulation: G::Sim,
    span: &Span,
    (file, format): (&Path, Format),
) -> Result<String, Failure> {
    let (player, ticks_per_s) = (recording.header.player, recording.header.ticks_per_s);
    let (start, end) = (recording.header.start, recording.end());
    let (from, to) = (span.from.map_or(start, Tick), span.to.map_or(end, Tick));
    if from >= to {
        let told = format!("no tick is between {from} and {to}");
        return Err(Failure::new(format!("{told}: name one with --from and a later one with --to")));
    }
    if from < start || to > end {
        let told = format!("ticks {from} to {to} are not in the recording, which has {start} to {end}");
        return Err(Failure::new(format!("{told}: choose others with --from and --to")));
    }
    if to.since(from) > TICKS_MAX {
        let told = format!("{} ticks are more than {TICKS_MAX}", to.since(from));
        return Err(Failure::new(format!("{told}, which is all that is drawn: choose fewer with --from and --to")));
    }
    let mut film = Film::new(recording, simulation).map_err(|error| Failure::file("draw", file, error))?;
    let out = BufWriter::new(File::create_new(file).map_err(|error| files::cannot_write(file, &error))?);
    let mut encoder = match format {
        Format::Gif => Encoder::gif(out),
        Format::Webp => Encoder::webp(out),
    }
    .map_err(|error| Failure::file("write", file, error))?;
    let mut frame = Frame::of_world(SIZE.0.into(), SIZE.1.into());
    let status = Status::default();
    let bar = progress::bar_of_recording(to.since(from));
    for n in (0..to.since(from)).step_by(STEP_TICKS as usize) {
        film.seek(from.plus(n));
        // Torches do not flicker: what stands still is packed as nothing.
        frame.draw(Some(&G::scene(film.simulation(), player)), &status, 0.0);
        let added = encoder.add(frame.rgba(), Duration::from_secs((n + STEP_TICKS).into()) / ticks_per_s);
        added.map_err(|error| Failure::file("write", file, error))?;
        progress::advance(&bar, n);
    }
    bar.finish_and_clear();
    encoder.end().map_err(|error| Failure::file("write", file, error))?;
    Ok(format!("ticks {from} to {to} are drawn in {}", file.display()))
}

enum Encoder {
    Gif {
        encoder: gif::Encoder<BufWriter<File>>,
        /// What is shown by now.
        shown: Vec<u8>,
        /// When it gives way to the next.
        end: Duration,
    },
    /// It is written at the end.
    Webp { encoder: Box<webp_animation::Encoder>, end_ms: i32, out: BufWriter<File> },
}

impl Encoder {
    fn gif(out: BufWriter<File>) -> Result<Encoder, String> {
        let mut encoder = gif::Encoder::new(out, SIZE.0, SIZE.1, &[]).map_err(told)?;
        encoder.set_repeat(Repeat::Infinite).map_err(told)?;
        Ok(Encoder::Gif { encoder, shown: Vec::new(), end: Duration::ZERO })
    }

    fn webp(out: BufWriter<File>) -> Result<Encoder, String> {
        let encoding_type = EncodingType::Lossy(LossyEncodingConfig::default());
        let encoding_config = Some(EncodingConfig { encoding_type, quality: QUALITY, ..EncodingConfig::default() });
        let options = EncoderOptions { encoding_config, ..EncoderOptions::default() };
        let encoder = webp_animation::Encoder::new_with_options((SIZE.0.into(), SIZE.1.into()), options);
        Ok(Encoder::Webp { encoder: Box::new(encoder.map_err(told)?), end_ms: 0, out })
    }

    /// A picture that is shown until then, counted from the start.
    fn add(&mut self, rgba: &[u8], until: Duration) -> Result<(), String> {
        match self {
            Encoder::Gif { encoder, shown, end } => {
                let mut pixels = changed(shown, rgba);
                let mut picture = Picture::from_rgba_speed(SIZE.0, SIZE.1, &mut pixels, SPEED);
                picture.delay = hundredths(*end, until);
                *end = until;
                encoder.write_frame(&picture).map_err(told)
            }
            Encoder::Webp { encoder, end_ms, .. } => {
                encoder.add_frame(rgba, *end_ms).map_err(told)?;
                *end_ms = until.as_millis().try_into().unwrap_or(i32::MAX);
                Ok(())
            }
        }
    }

    fn end(self) -> Result<(), String> {
        match self {
            Encoder::Gif { encoder, .. } => encoder.into_inner().map_err(told)?.flush().map_err(told),
            Encoder::Webp { encoder, end_ms, mut out } => {
                let bytes = encoder.finalize(end_ms).map_err(told)?;
                out.write_all(&bytes).and_then(|()| out.flush()).map_err(told)
            }
        }
    }
}

/// How long a picture is shown, in hundredths of a second: what is cut off from one is given to the
/// next, so that all of them together take their time.
fn hundredths(from: Duration, until: Duration) -> u16 {
    let at = |moment: Duration| moment.as_millis() / 10;
    (at(until) - at(from)).try_into().unwrap_or(u16::MAX)
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The pixels of a picture, of which those are transparent that are shown already.
fn changed(shown: &mut Vec<u8>, picture: &[u8]) -> Vec<u8> {
    let plain: Vec<u8> = picture.iter().map(|value| value & COLOR_BITS).collect();
    shown.resize(plain.len(), 0);
    let (now, before) = (plain.as_chunks::<4>().0, shown.as_chunks::<4>().0);
    let pixel = |(&[r, g, b, a], before): (&[u8; 4], &[u8; 4])| {
        if [r, g, b, a] == *before { [0; 4] } else { [r, g, b, u8::MAX] }
    };
    let pixels = now.iter().zip(before).flat_map(pixel).collect();
    *shown = plain;
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_any_tick_rate_take_as_long_as_the_play_did() {
        for ticks_per_s in [1, 7, 20, 30, 60, 64, 100] {
            let at = |ticks: u32| Duration::from_secs(ticks.into()) / ticks_per_s;
            let shown = (0..10 * ticks_per_s).map(|tick| u32::from(hundredths(at(tick), at(tick + 1))));
            assert_eq!(shown.sum::<u32>(), 1_000, "at {ticks_per_s} ticks a second");
        }
    }
}
