//! Recordings: what is written is read, whatever breaks off or is changed is told, and a replay finds the tick that differs.

mod tally;

use lockstone::net::Identity;
use lockstone::recording::{Build, Desync, Ending, Header, Recording, RecordingError, Writer, replay};
use lockstone::sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn};
use proptest::prelude::*;
use tally::Tally;

const SEED: u64 = 11;
const TICKS: u32 = 200;

fn header(start: Tick) -> Header {
    Header {
        game: "tally".into(),
        engine: "0".into(),
        seed: SEED,
        rules: 1,
        table: 2,
        config: 3,
        ticks_per_s: 20,
        input_delay_ticks: 3,
        checksum_interval_ticks: 10,
        player: PlayerId(0),
        name: "Ada".into(),
        room: "amber".into(),
        start,
        build: Build::default(),
    }
}

fn turn_at(tick: u32) -> Turn<Tally> {
    let input = match tick {
        0 => Some(Input::Join(PlayerId(0), "Ada".into())),
        30 => Some(Input::Join(PlayerId(1), "Bram".into())),
        150 => Some(Input::Leave(PlayerId(1))),
        _ if tick.is_multiple_of(7) => Some(Input::Command(PlayerId(0), tick * 1_000)),
        _ => None,
    };
    Turn { inputs: input.into_iter().collect() }
}

/// Records a session, closed if `end`, as a shell does: events as they come, then what tick was reached.
fn record(start: u32, end: bool) -> Vec<u8> {
    let mut sim = Tally::new(SEED);
    (0..start).for_each(|tick| sim.step(&turn_at(tick)));
    let snapshot = sim.snapshot();
    let mut writer = Writer::create(Vec::new(), &header(Tick(start)), &sim.encode(&snapshot)).unwrap();
    writer.name::<Tally>(PlayerId(0), "Ada");
    for tick in start..TICKS {
        let turn = turn_at(tick);
        sim.step(&turn);
        if !turn.inputs.is_empty() {
            writer.turn(Tick(tick), &turn).unwrap();
        }
        if sim.tick.is_multiple_of(10) {
            writer.checksum::<Tally>(sim.tick(), sim.checksum()).unwrap();
        }
        writer.reached::<Tally>(sim.tick()).unwrap();
    }
    match end {
        true => writer.end::<Tally>(Tick(TICKS), "left the session").unwrap().0,
        false => writer.output().clone(),
    }
}

fn read(bytes: &[u8]) -> Result<Recording<Tally>, RecordingError> {
    Recording::read(bytes)
}

#[test]
fn a_recording_replays_to_the_same_checksums_from_its_start() {
    for start in [0, 77] {
        let recording = read(&record(start, true)).ok().unwrap();
        assert_eq!(recording.header, header(Tick(start)));
        assert_eq!(recording.ending, Ending::Closed("left the session".into()));
        assert_eq!(recording.end(), Tick(TICKS));
        let replay = replay(recording, Tally::new(SEED)).unwrap();
        assert_eq!((replay.ticks, replay.mismatch), (TICKS - start, None));
        assert_eq!(replay.checksums, TICKS / 10 - start / 10);
    }
}

#[test]
fn a_replay_by_a_build_with_a_fault_names_the_first_tick_that_differs() {
    let recording = read(&record(0, true)).ok().unwrap();
    let mismatch = replay(recording, Tally { fault: 1, ..Tally::new(SEED) }).unwrap().mismatch.unwrap();
    assert_eq!((mismatch.tick, mismatch.agreed), (Tick(60), Some(Tick(50))));
    assert_ne!(mismatch.recorded, mismatch.played);
}

#[test]
fn a_recording_that_was_never_closed_is_good_to_the_last_flush() {
    let recording = read(&record(0, false)).ok().unwrap();
    assert_eq!(recording.ending, Ending::Open);
    assert!(recording.end() >= Tick(TICKS - lockstone::recording::FLUSH_TICKS));
    assert_eq!(replay(recording, Tally::new(SEED)).unwrap().mismatch, None);
}

#[test]
fn a_recording_cut_anywhere_is_good_before_the_cut() {
    let bytes = record(0, true);
    let (mut last, mut torn) = (Tick(0), 0);
    for len in 0..bytes.len() {
        match read(&bytes[..len]) {
            Ok(recording) => {
                torn += usize::from(matches!(recording.ending, Ending::Torn { .. }));
                assert!(recording.end() >= last, "cut at {len}");
                last = recording.end();
                assert_eq!(replay(recording, Tally::new(SEED)).unwrap().mismatch, None, "cut at {len}");
            }
            Err(RecordingError::TooShort { len: told }) => assert_eq!(told, len),
            Err(RecordingError::WrongMagic) => assert!(len < 7),
            Err(error) => panic!("cut at {len}: {error}"),
        }
    }
    assert!(torn > 0 && last >= Tick(TICKS - 2 * lockstone::recording::FLUSH_TICKS));
}

#[test]
fn a_tail_of_zeros_is_left_out() {
    let mut bytes = record(0, false);
    let end = read(&bytes).ok().unwrap().end();
    bytes.extend([0; 500]);
    let recording = read(&bytes).ok().unwrap();
    assert_eq!((recording.ending.clone(), recording.end()), (Ending::Torn { bytes: 500 }, end));
}

#[test]
fn every_changed_byte_is_told() {
    let bytes = record(0, true);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x20;
        match read(&changed) {
            Err(_) => {}
            // The last frame cannot be told from one that was written in part.
            Ok(recording) => assert!(matches!(recording.ending, Ending::Torn { .. }), "byte {at} was changed unseen"),
        }
    }
}

#[test]
fn frames_that_were_lost_doubled_or_moved_are_told() {
    let bytes = record(0, true);
    let frames = frames(&bytes);
    assert!(frames.len() > 5);
    let with = |order: &[usize]| {
        let frames = order.iter().flat_map(|n| frames[*n].iter().copied());
        read(&bytes[..8].iter().copied().chain(frames).collect::<Vec<_>>()).err()
    };
    let all: Vec<usize> = (0..frames.len()).collect();
    assert_eq!(with(&all), None);
    let without = [&all[..3], &all[4..]].concat();
    let doubled = [&all[..4], &all[3..]].concat();
    let swapped = [&all[..3], &[4, 3], &all[5..]].concat();
    for order in [without, doubled, swapped] {
        assert!(matches!(with(&order), Some(RecordingError::Damaged { frame: 3.., .. })), "{order:?}");
    }
}

/// The frames behind the preamble: length, two checks, payload.
fn frames(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut frames) = (&bytes[8..], Vec::new());
    while let Some(length) = rest.first_chunk::<4>() {
        let (frame, behind) = rest.split_at(12 + u32::from_le_bytes(*length) as usize);
        frames.push(frame);
        rest = behind;
    }
    frames
}

#[test]
fn what_differs_from_the_program_is_named() {
    let identity = Identity { rules: 1, table: 2, config: 3 };
    let header = Header::peek(&record(0, true)).unwrap();
    assert_eq!(header.check("tally", &identity), Ok(()));
    let told = |game: &str, identity: &Identity| header.check(game, identity).unwrap_err().to_string();
    assert!(told("dungeon", &identity).contains("game tally"));
    assert!(told("tally", &Identity { rules: 9, ..identity }).contains("rules 1"));
    assert!(told("tally", &Identity { table: 9, ..identity }).contains("random table 2"));
    assert!(told("tally", &Identity { config: 9, ..identity }).contains("configuration 3"));
}

#[test]
fn a_difference_is_kept_with_the_recording() {
    let desync = Desync { player: PlayerId(1), tick: Tick(10), agreed: None, ours: Checksum(1), theirs: Checksum(2) };
    let mut writer = Writer::create(Vec::new(), &header(Tick(0)), &Tally::new(SEED).encode(&Tally::new(SEED))).unwrap();
    writer.desync::<Tally>(desync).unwrap();
    let recording = read(writer.output()).ok().unwrap();
    assert!(matches!(recording.entries[..], [lockstone::recording::Entry::Desync(found)] if found == desync));
}

#[test]
fn empty_ticks_cost_next_to_nothing() {
    let mut writer = Writer::create(Vec::new(), &header(Tick(0)), &[]).unwrap();
    let before = writer.bytes();
    for tick in 0..12_000 {
        writer.reached::<Tally>(Tick(tick)).unwrap();
    }
    let spent = writer.bytes() - before;
    assert!(spent < 6_000, "ten minutes in which nothing happened took {spent} bytes");
}

proptest! {
    #[test]
    fn mutated_files_are_read_or_refused(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = record(0, true);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Ok(recording) = read(&bytes) {
            prop_assert_eq!(replay(recording, Tally::new(SEED)).map(|replay| replay.mismatch), Ok(None));
        }
    }

    #[test]
    fn sound_frames_of_any_content_are_read_or_refused(payload in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = record(0, false);
        let number = frames(&bytes).len() as u64;
        bytes.extend(lockstone::recording::format::frame(number, &payload));
        if let Ok(recording) = read(&bytes) {
            prop_assert!(recording.end() >= Tick(TICKS - 40));
        }
    }
}
