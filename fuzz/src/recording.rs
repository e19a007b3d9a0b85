//! Recordings: whatever a file says, it is read or refused, and what was read can be played. As
//! bytes hardly ever have the checks of a recording's frames, they are tried once as they are and
//! once as payloads of frames whose checks are right.

use lockstone::recording::format::{Header, MAGIC, VERSION};
use lockstone::recording::{Entry, Packed, Playback, Recording, Tree, Writer};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};
use miniz_oxide::deflate::compress_to_vec_zlib;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::slices;
use testkit::recorded::header;
use testkit::storm::{StormWorld, Turns, Weather};

/// A recording may tell of a month without turns.
const TICKS_MAX: usize = 24;

/// Reads any file.
pub fn check(bytes: &[u8]) -> bool {
    let read = play(bytes);
    play(&sealed(bytes)) || read
}

/// Returns whether the file was read and its snapshot is a world.
fn play(file: &[u8]) -> bool {
    let header = Header::peek(file);
    let Ok(recording) = Recording::<StormWorld>::read(file) else { return false };
    assert_eq!(header.as_ref(), Ok(&recording.header));
    assert!(recording.end() >= recording.header.start);
    look(&recording);
    let Ok(mut playback) = Playback::new(recording, weather().world()) else { return false };
    for _ in 0..TICKS_MAX {
        if !playback.step() {
            break;
        }
    }
    true
}

/// What was read can be asked for, and is written as it was read. Keyframes and trees
/// may hold anything.
fn look(recording: &Recording<StormWorld>) {
    let mut tree = Tree::default();
    for (n, entry) in recording.entries.iter().enumerate() {
        match entry {
            Entry::Tree(change) => tree.apply(change),
            // A file may hold many that are large once they are unpacked.
            Entry::Keyframe(snapshot) if n < TICKS_MAX => drop(snapshot.unpack()),
            Entry::Rerun(rerun) if n < TICKS_MAX => drop(rerun.unpack()),
            _ => {}
        }
    }
    let Ok(again) = Recording::<StormWorld>::read(&recording.write()) else {
        panic!("what was written cannot be read")
    };
    assert_eq!((&again.header, &again.snapshot), (&recording.header, &recording.snapshot));
    assert!(again.entries == recording.entries);
}

/// A recording of these payloads: header, snapshot, then events and keyframes. The snapshot is
/// compressed here.
pub(crate) fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut file = [&MAGIC[..], &[VERSION]].concat();
    for (n, payload) in (0_u64..).zip(slices::all(bytes)) {
        let payload = if n == 1 { compress_to_vec_zlib(payload, 0) } else { payload.to_vec() };
        let length = (payload.len() as u32).to_le_bytes();
        file.extend(length);
        file.extend(guard(n, &length));
        file.extend(guard(n, &payload));
        file.extend(payload);
    }
    file
}

/// The payloads of a recording, as [`sealed`] takes them.
pub(crate) fn unsealed(file: &[u8]) -> Vec<u8> {
    let (mut rest, mut payloads) = (&file[MAGIC.len() + 1..], Vec::new());
    while let Some((head, behind)) = rest.split_first_chunk::<12>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let (payload, behind) = behind.split_at(length as usize);
        payloads.push(payload.to_vec());
        rest = behind;
    }
    payloads[1] = miniz_oxide::inflate::decompress_to_vec_zlib(&payloads[1]).expect("it was compressed");
    slices::join(payloads.iter().map(Vec::as_slice))
}

fn guard(number: u64, bytes: &[u8]) -> [u8; 4] {
    (xxh3_64_with_seed(bytes, number) as u32).to_le_bytes()
}

pub(crate) fn weather() -> Weather {
    Weather::of(302)
}

/// A short recording: whole, and its payloads.
pub fn seeds() -> Vec<Vec<u8>> {
    let file = record(12, |_, checksum| checksum).expect("memory takes everything");
    let payloads = unsealed(&file);
    vec![payloads, file]
}

/// So many ticks, whose checksums `tell` may alter.
pub(crate) fn record(ticks: usize, tell: impl Fn(Tick, Checksum) -> Checksum) -> std::io::Result<Vec<u8>> {
    let (mut world, mut source) = (weather().world(), Turns::of(&weather()));
    (0..3).for_each(|_| world.step(&source.next(&world)));
    let snapshot = world.snapshot();
    let mut writer = Writer::create(Vec::new(), &Header { start: world.tick(), ..header("storm", 302) }, &world.encode(&snapshot))?;
    writer.name(PlayerId(0), "Ada");
    for n in 0..ticks {
        writer.checksum(world.tick(), tell(world.tick(), world.checksum()))?;
        writer.tree(world.tick(), &world.tree())?;
        if n == ticks / 2 {
            let snapshot = world.snapshot();
            writer.keyframe(world.tick(), &Packed::of(&world.encode(&snapshot)))?;
        }
        let turn = source.next(&world);
        writer.turn(world.tick(), &turn)?;
        world.step(&turn);
    }
    writer.checksum(world.tick().plus(5), Checksum(1))?;
    Ok(writer.end(world.tick().plus(9), "the session is over")?.0)
}
