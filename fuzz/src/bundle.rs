//! Bundles: whatever a player sends in, it is read or refused, and the desync checker bears every
//! recording in it. As bytes hardly ever have a bundle's digest, they are tried once as they are
//! and once as recordings in a bundle whose digest is right, where each may be frames whose checks
//! are put right too.

use lockstone::check::{self, Checker};
use lockstone::recording::{Bundle, Recording};
use lockstone_sim::{Checksum, PlayerId, Simulation};

use testkit::storm::StormWorld;
use crate::{recording, slices};

/// Recordings may tell of months, and of any distance between them.
const TICKS_MAX: u32 = 48;
/// More would take too long to check.
const RECORDINGS_MAX: usize = 4;

/// Reads any bundle.
pub fn check(bytes: &[u8]) -> bool {
    let as_it_is = Bundle::read(bytes).is_ok_and(|bundle| explain(&bundle));
    explain(&bundle(bytes)) || as_it_is
}

/// Returns whether anything could be checked.
fn explain(bundle: &Bundle) -> bool {
    assert_eq!(Bundle::read(&bundle.write()).as_ref(), Ok(bundle));
    let read = |bytes: &Vec<u8>| {
        Recording::<StormWorld>::read(bytes).or_else(|_| Recording::read(&recording::sealed(bytes))).ok()
    };
    let recordings: Vec<_> = bundle.recordings.iter().take(RECORDINGS_MAX).filter_map(read).collect();
    let start = recordings.iter().map(|recording| recording.header.start).min();
    let end = recordings.iter().map(Recording::end).max();
    if !start.zip(end).is_some_and(|(start, end)| end.0 - start.0 <= TICKS_MAX) {
        return false;
    }
    let build = |_| recording::weather().world();
    let look = |world: &StormWorld| _ = world.tick();
    let Ok(report) = Checker::new(&build).with_presentation(&look).check(recordings) else { return false };
    assert!(!report.to_string().is_empty() && check::page(&report).starts_with("<!DOCTYPE html>"));
    true
}

/// A bundle of these recordings.
fn bundle(bytes: &[u8]) -> Bundle {
    let recordings = slices::all(bytes).take(RECORDINGS_MAX).map(<[u8]>::to_vec).collect();
    Bundle { player: PlayerId(0), recordings, missing: vec![PlayerId(9)] }
}

/// A bundle of two peers that tell the same, and what becomes one of two that do not:
/// whole, and payloads.
pub fn seeds() -> Vec<Vec<u8>> {
    let record = |odd| recording::record(4, |tick, Checksum(sum)| Checksum(sum ^ u64::from(odd && tick.0 > 5)));
    let [file, odd] = [false, true].map(|odd| record(odd).expect("memory takes everything"));
    let recordings = vec![file.clone(), file.clone()];
    let equal = Bundle { player: PlayerId(0), recordings, missing: Vec::new() }.write();
    let payloads = [&file, &odd].map(|file| recording::unsealed(file));
    vec![equal, slices::join([&file[..], &odd[..]]), slices::join(payloads.iter().map(Vec::as_slice))]
}
