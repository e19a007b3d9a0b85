//! `replay --gif`: recorded play as moving pictures, by the eyes of whoever recorded it.
//!
//! Every second tick is a picture. It must never write over a file that is there.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use gif::{Encoder, Frame as Picture, Repeat};
use lockstone_sim::Tick;

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
    file: &Path,
) -> Result<String, Failure> {
    let (player, ticks_per_s) = (recording.header.player, recording.header.ticks_per_s.max(1));
    let (start, end) = (recording.header.start, recording.end());
    let (from, to) = (span.from.map_or(start, Tick), span.to.map_or(end, Tick));
    if from < start || to > end || from >= to {
        let told = format!("ticks {from} to {to} are not in the recording, which has {start} to {end}");
        return Err(Failure::new(format!("{told}: choose others with --from and --to")));
    }
    if to.since(from) > TICKS_MAX {
        let told = format!("{} ticks are more than {TICKS_MAX}", to.since(from));
        return Err(Failure::new(format!("{told}, which is all that is drawn: choose fewer with --from and --to")));
    }
    let mut film = Film::new(recording, simulation).map_err(|error| Failure::file("draw", file, error))?;
    let failed = |error: gif::EncodingError| Failure::file("write", file, error);
    let out = BufWriter::new(File::create_new(file).map_err(|error| files::cannot_write(file, &error))?);
    let mut encoder = Encoder::new(out, SIZE.0, SIZE.1, &[]).map_err(failed)?;
    encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
    let mut frame = Frame::of_world(SIZE.0.into(), SIZE.1.into());
    let (status, mut shown) = (Status::default(), Vec::new());
    let bar = progress::bar_of_recording(to.since(from));
    for n in (0..to.since(from)).step_by(STEP_TICKS as usize) {
        film.seek(from.plus(n));
        // Torches do not flicker: what stands still is packed as nothing.
        frame.draw(Some(&G::scene(film.simulation(), player)), &status, 0.0);
        let mut pixels = changed(&mut shown, frame.rgba());
        let mut picture = Picture::from_rgba_speed(SIZE.0, SIZE.1, &mut pixels, SPEED);
        // In hundredths of a second.
        picture.delay = (100 * STEP_TICKS / ticks_per_s).try_into().unwrap_or(u16::MAX);
        encoder.write_frame(&picture).map_err(failed)?;
        progress::advance(&bar, n);
    }
    bar.finish_and_clear();
    let mut out = encoder.into_inner().map_err(failed)?;
    out.flush().map_err(|error| files::cannot_write(file, &error))?;
    Ok(format!("ticks {from} to {to} are drawn in {}", file.display()))
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
