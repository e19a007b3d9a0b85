//! Recordings: what is written is read, whatever breaks off or is changed is told, and a replay
//! finds the tick that differs.

use std::collections::BTreeMap;

use lockstone::net::Identity;
use lockstone::net::limits::{KEYFRAME_TICKS, SNAPSHOT_BYTES_MAX, TICKS_PER_S_MAX};
use lockstone::recording::format::EMPTY_TICKS_MAX;
use lockstone::recording::{
    Desync, Ending, Entry, Film, Header, Packed, RING_BYTES_MAX, Recording, RecordingError, Ring, Tree, Writer, replay,
};
use lockstone::sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};
use proptest::prelude::*;
use testkit::mixer::Mixer;
use testkit::recorded;

const SEED: u64 = 11;
const TICKS: u32 = 200;

fn header(start: Tick) -> Header {
    Header { room: "amber".into(), start, ..recorded::header("mixer", SEED) }
}

fn mixer() -> Mixer {
    Mixer::new(SEED, 8)
}

fn turn_at(tick: u32) -> Turn<Mixer> {
    let input = match tick {
        0 => Some(Input::Join(PlayerId(0), (3, Tick(0)))),
        30 => Some(Input::Join(PlayerId(1), (4, Tick(30)))),
        150 => Some(Input::Leave(PlayerId(1))),
        _ if tick.is_multiple_of(7) => Some(Input::Command(PlayerId(0), u64::from(tick) * 1_000)),
        _ => None,
    };
    Turn { inputs: input.into_iter().collect() }
}

/// Records a session, closed if `end`, as a shell does: events as they come, then what
/// tick was reached.
fn record(start: u32, end: bool) -> Vec<u8> {
    let mut sim = mixer();
    (0..start).for_each(|tick| sim.step(&turn_at(tick)));
    let mut writer = Writer::create(Vec::new(), &header(Tick(start)), &sim.encoded()).unwrap();
    writer.name(PlayerId(0), "Ada");
    for tick in start..TICKS {
        let turn = turn_at(tick);
        sim.step(&turn);
        if !turn.inputs.is_empty() {
            writer.turn(Tick(tick), &turn).unwrap();
        }
        if sim.tick().0.is_multiple_of(10) {
            writer.checksum(sim.tick(), sim.checksum()).unwrap();
        }
        writer.reached(sim.tick()).unwrap();
    }
    match end {
        true => writer.end(Tick(TICKS), "left the session").unwrap().0,
        false => writer.output().clone(),
    }
}

fn read(bytes: &[u8]) -> Result<Recording<Mixer>, RecordingError> {
    Recording::read(bytes)
}

#[test]
fn a_recording_replays_to_the_same_checksums_from_its_start() {
    for start in [0, 77] {
        let recording = read(&record(start, true)).ok().unwrap();
        assert_eq!(recording.header, header(Tick(start)));
        assert_eq!(recording.ending, Ending::Closed("left the session".into()));
        assert_eq!(recording.end(), Tick(TICKS));
        let replay = replay(recording, mixer()).unwrap();
        assert_eq!((replay.ticks, replay.mismatch), (TICKS - start, None));
        assert_eq!(replay.checksums, TICKS / 10 - start / 10);
    }
}

#[test]
fn a_film_shows_any_tick_in_any_order() {
    let mut played = mixer();
    let state = |tick| {
        let state = played.state.clone();
        played.step(&turn_at(tick));
        state
    };
    let states: Vec<_> = (0..=TICKS).map(state).collect();
    for start in [0, 77] {
        let mut film = Film::new(read(&record(start, true)).ok().unwrap(), mixer()).unwrap();
        for wanted in [150, 149, TICKS, 3, 120, 99, 100, 101, 0, TICKS + 9] {
            film.seek(Tick(wanted));
            let shown = wanted.clamp(start, TICKS);
            assert_eq!(film.simulation().state, states[shown as usize], "tick {shown} from {start}");
        }
        assert_eq!(film.differs(), None);
    }
}

#[test]
fn a_film_says_where_a_checksum_is_not_met() {
    let mut recording = read(&record(0, true)).ok().unwrap();
    let wrong = recording.entries.iter_mut().filter_map(|entry| match entry {
        Entry::Checksum(sum) => Some(sum),
        _ => None,
    });
    // One every ten ticks, the first after ten.
    wrong.skip(11).step_by(3).for_each(|sum| sum.0 ^= 1);
    let mut film = Film::new(recording, mixer()).unwrap();
    film.seek(Tick(110));
    assert_eq!(film.differs(), None);
    film.seek(Tick(TICKS));
    assert_eq!(film.differs(), Some(Tick(120)));
}

#[test]
fn a_film_passes_over_a_recorded_state_that_is_not_what_it_is_said_to_be() {
    let at = |tick: u32| {
        let mut sim = mixer();
        (0..tick).for_each(|tick| sim.step(&turn_at(tick)));
        sim
    };
    let mut other = at(150);
    other.state.cells[1] ^= 1;
    for wrong in [other.encoded(), at(120).encoded(), at(190).encoded(), b"no state at all".to_vec()] {
        let mut sim = at(0);
        let mut writer = Writer::create(Vec::new(), &header(Tick(0)), &sim.encoded()).unwrap();
        for tick in 0..TICKS {
            sim.step(&turn_at(tick));
            if !turn_at(tick).inputs.is_empty() {
                writer.turn(Tick(tick), &turn_at(tick)).unwrap();
            }
            if sim.tick().0.is_multiple_of(50) {
                writer.checksum(sim.tick(), sim.checksum()).unwrap();
            }
            if sim.tick() == Tick(150) {
                writer.keyframe(Tick(150), &Packed::of(&wrong)).unwrap();
            }
        }
        let (bytes, _) = writer.end(Tick(TICKS), "the end").unwrap();
        let mut film = Film::new(read(&bytes).ok().unwrap(), mixer()).unwrap();
        film.seek(Tick(160));
        assert_eq!(film.simulation().state, at(160).state);
    }
}

#[test]
fn a_replay_by_a_build_with_a_fault_names_the_first_tick_that_differs() {
    let recording = read(&record(0, true)).ok().unwrap();
    let mismatch = replay(recording, mixer().with_fault(Some(Tick(50)))).unwrap().mismatch.unwrap();
    assert_eq!((mismatch.tick, mismatch.agreed), (Tick(60), Some(Tick(50))));
    assert_ne!(mismatch.recorded, mismatch.played);
}

#[test]
fn a_recording_that_was_never_closed_is_good_to_the_last_flush() {
    let recording = read(&record(0, false)).ok().unwrap();
    assert_eq!(recording.ending, Ending::Open);
    assert!(recording.end() >= Tick(TICKS - lockstone::recording::FLUSH_TICKS));
    assert_eq!(replay(recording, mixer()).unwrap().mismatch, None);
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
                assert_eq!(replay(recording, mixer()).unwrap().mismatch, None, "cut at {len}");
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

/// A tree of one part for each player, as a simulation of its own may tell it.
fn parts(sim: &Mixer) -> Vec<(CellId, Checksum)> {
    let part =
        |(player, n): (&PlayerId, &u64)| (CellId::new(player.0, 0), Checksum(mix64(n ^ u64::from(sim.tick().0))));
    sim.state.heroes.iter().map(part).collect()
}

/// What the tree is at each tick, as read.
fn trees(recording: &Recording<Mixer>) -> BTreeMap<Tick, Tree> {
    let (mut tick, mut tree, mut trees) = (recording.header.start, Tree::default(), BTreeMap::new());
    for entry in &recording.entries {
        tick = tick.plus(entry.ticks());
        if let Entry::Tree(change) = entry {
            tree.apply(change);
            trees.insert(tick, tree.clone());
        }
    }
    trees
}

/// Two records of one session with everything in them: a file's, and a ring of so many
/// bytes. Ends at `end`.
fn record_all(end: u32, ring_bytes: usize) -> (Vec<u8>, Ring, BTreeMap<Tick, Tree>) {
    let (mut sim, mut trees) = (mixer(), BTreeMap::new());
    let start = Packed::of(&sim.encoded());
    let mut writer = Writer::begin(Vec::new(), &header(Tick(0)), &start).unwrap();
    let mut ring = Ring::bounded(header(Tick(0)), start, ring_bytes);
    writer.name(PlayerId(0), "Ada");
    ring.name(PlayerId(0), "Ada");
    for _ in 0..end {
        let tick = sim.tick();
        if tick.0.is_multiple_of(KEYFRAME_TICKS) || tick == Tick(KEYFRAME_TICKS + 77) {
            writer.keyframe(tick, &Packed::of(&sim.encoded())).unwrap();
            ring.keyframe(tick, Packed::of(&sim.encoded()));
        }
        writer.checksum(tick, sim.checksum()).unwrap();
        writer.tree(tick, &parts(&sim)).unwrap();
        ring.checksum(tick, sim.checksum());
        ring.tree(tick, &parts(&sim));
        trees.insert(tick, Tree::of(&parts(&sim)));
        let turn = turn_at(tick.0);
        if !turn.inputs.is_empty() {
            writer.turn(tick, &turn).unwrap();
            ring.turn(tick, &turn);
        }
        sim.step(&turn);
        writer.reached(sim.tick()).unwrap();
        ring.reached(sim.tick());
    }
    (writer.into_output().unwrap(), ring, trees)
}

#[test]
fn keyframes_and_trees_are_read_as_they_were_told() {
    let (bytes, _, told) = record_all(TICKS, RING_BYTES_MAX);
    let recording = read(&bytes).ok().unwrap();
    assert_eq!(trees(&recording), told);
    let at = |tick: u32| told[&Tick(tick)].parts().len();
    assert_eq!((at(0), at(1), at(31), at(151)), (0, 1, 2, 1), "players come and go");
    let replay = replay(recording, mixer()).unwrap();
    assert_eq!((replay.ticks, replay.checksums, replay.mismatch), (TICKS, TICKS, None));
}

#[test]
fn what_was_read_is_written_again() {
    for bytes in [record(0, true), record(77, false), record_all(3 * KEYFRAME_TICKS, RING_BYTES_MAX).0] {
        let recording = read(&bytes).ok().unwrap();
        let again = read(&recording.write()).ok().unwrap();
        assert_eq!((again.header, again.snapshot), (recording.header.clone(), recording.snapshot.clone()));
        assert_eq!((again.entries, again.ending), (recording.entries, recording.ending));
    }
}

#[test]
fn every_keyframe_is_a_state_to_go_on_from() {
    let (bytes, ..) = record_all(2 * KEYFRAME_TICKS + 1, RING_BYTES_MAX);
    let recording = read(&bytes).ok().unwrap();
    let (mut tick, mut found) = (Tick(0), Vec::new());
    for (n, entry) in recording.entries.iter().enumerate() {
        tick = tick.plus(entry.ticks());
        let Entry::Keyframe(snapshot) = entry else { continue };
        found.push(tick);
        let mut rest = recording.clone();
        (rest.header.start, rest.snapshot) = (tick, snapshot.unpack().unwrap());
        rest.entries.drain(..n);
        assert_eq!(replay(rest, mixer()).unwrap().mismatch, None, "from tick {tick}");
    }
    assert_eq!(found, [0, KEYFRAME_TICKS, KEYFRAME_TICKS + 77, 2 * KEYFRAME_TICKS].map(Tick));
}

#[test]
fn a_ring_begins_at_the_keyframe_before_the_last() {
    let last = KEYFRAME_TICKS - 1;
    for (end, start) in [(last, 0), (2 * KEYFRAME_TICKS, 0), (3 * KEYFRAME_TICKS - 1, 1), (4 * KEYFRAME_TICKS + 50, 3)]
    {
        let (bytes, ring, told) = record_all(end, RING_BYTES_MAX);
        let (start, whole) = (Tick(start * KEYFRAME_TICKS), read(&bytes).ok().unwrap());
        let recent = read(&ring.write()).ok().unwrap();
        assert_eq!((recent.header.start, recent.end()), (start, Tick(end)));
        let mut expected = told;
        expected.retain(|tick, _| *tick >= start);
        assert_eq!(trees(&recent), expected, "at {end}");
        assert_eq!(recent.header.seed, whole.header.seed);
        assert!(recent.entries.contains(&Entry::Name(PlayerId(0), "Ada".into())), "who is who is still known");
        assert_eq!(replay(recent, mixer()).unwrap().mismatch, None);
    }
}

#[test]
fn a_ring_without_room_loses_its_oldest_trees_first_then_its_older_half() {
    let end = 2 * KEYFRAME_TICKS - 1;
    let (_, roomy, told) = record_all(end, RING_BYTES_MAX);
    let (_, tight, _) = record_all(end, roomy.bytes() * 3 / 4);
    assert!(tight.bytes() <= roomy.bytes() * 3 / 4 && tight.start() == Some(Tick(0)));
    let recent = read(&tight.write()).ok().unwrap();
    let left = trees(&recent);
    let oldest = *left.first_key_value().unwrap().0;
    assert!(oldest > Tick(50) && oldest < Tick(end - 50), "from {oldest} on");
    assert!(told.range(oldest..).eq(&left), "those that are left are whole");
    let checksums = recent.entries.iter().filter(|entry| matches!(entry, Entry::Checksum(_))).count();
    assert_eq!(checksums, end as usize, "nothing else is lost");
    let (_, tighter, _) = record_all(end, roomy.bytes() / 3);
    assert_eq!(tighter.start(), Some(Tick(KEYFRAME_TICKS)));
    let (_, tightest, _) = record_all(end, 1_000);
    assert_eq!((tightest.start(), tightest.write()), (None, Vec::new()));
    assert!(tightest.bytes() <= 1_000);
}

#[test]
fn what_a_ring_saved_goes_on_where_it_stopped() {
    let (_, ring, mut told) = record_all(TICKS, RING_BYTES_MAX);
    let mut writer = ring.save(Vec::new()).unwrap();
    let mut sim = mixer();
    (0..TICKS).for_each(|tick| sim.step(&turn_at(tick)));
    for _ in 0..50 {
        writer.checksum(sim.tick(), sim.checksum()).unwrap();
        writer.tree(sim.tick(), &parts(&sim)).unwrap();
        told.insert(sim.tick(), Tree::of(&parts(&sim)));
        writer.turn(sim.tick(), &turn_at(sim.tick().0)).unwrap();
        sim.step(&turn_at(sim.tick().0));
    }
    let recording = read(&writer.end(sim.tick(), "over").unwrap().0).ok().unwrap();
    assert_eq!((recording.end(), trees(&recording)), (Tick(TICKS + 50), told));
    assert_eq!(replay(recording, mixer()).unwrap().mismatch, None);
}

#[test]
fn a_keyframe_that_claims_too_much_costs_nothing_before_it_is_unpacked() {
    let bomb = Packed::of(&vec![0; SNAPSHOT_BYTES_MAX + 1]);
    let mut writer = Writer::create(Vec::new(), &header(Tick(0)), &[]).unwrap();
    writer.keyframe(Tick(0), &bomb).unwrap();
    let recording = read(writer.output()).ok().unwrap();
    let [Entry::Keyframe(keyframe)] = &recording.entries[..] else { panic!("{:?}", recording.entries) };
    assert!(keyframe.unpack().is_err());
    // The state at the start is unpacked at once.
    let recording = Writer::begin(Vec::new(), &header(Tick(0)), &bomb).unwrap().into_output().unwrap();
    assert!(matches!(read(&recording), Err(RecordingError::Unreadable { frame: 1, .. })));
}

#[test]
fn a_frame_of_no_known_kind_and_cells_out_of_order_are_told() {
    let refused = |payload: &[u8]| {
        let mut bytes = Writer::create(Vec::new(), &header(Tick(0)), &[]).unwrap().into_output().unwrap();
        bytes.extend(lockstone::recording::format::frame(2, payload));
        read(&bytes).err()
    };
    assert_eq!(refused(&[0, 0, 7]), None);
    for payload in [&[][..], &[4, 0, 7], &[0, 3, 2, 0, 1, 9, 9, 9, 9, 0, 0, 8, 8, 8, 8, 0], &[0, 3, 0, 2, 0, 1, 0, 1]] {
        assert!(matches!(refused(payload), Some(RecordingError::Unreadable { frame: 2, .. })), "{payload:?}");
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
fn a_tick_rate_that_no_session_has_is_refused() {
    let with = |ticks_per_s: u32| {
        let header = Header { ticks_per_s, ..header(Tick(0)) };
        Writer::create(Vec::new(), &header, &[]).unwrap().into_output().unwrap()
    };
    for rate in [0, TICKS_PER_S_MAX + 1, u32::MAX] {
        assert!(matches!(read(&with(rate)), Err(RecordingError::Unreadable { frame: 0, .. })), "{rate}");
        assert!(Header::peek(&with(rate)).unwrap_err().to_string().contains("tick rate"), "{rate}");
    }
    for rate in [1, 20, TICKS_PER_S_MAX] {
        assert_eq!(read(&with(rate)).ok().map(|recording| recording.header.ticks_per_s), Some(rate));
    }
}

#[test]
fn what_differs_from_the_program_is_named() {
    let identity = Identity { rules: 1, table: 2, config: 3 };
    let header = Header::peek(&record(0, true)).unwrap();
    assert_eq!(header.check("mixer", &identity), Ok(()));
    let told = |game: &str, identity: &Identity| header.check(game, identity).unwrap_err().to_string();
    assert!(told("dungeon", &identity).contains("game mixer"));
    assert!(told("mixer", &Identity { rules: 9, ..identity }).contains("rules 1"));
    assert!(told("mixer", &Identity { table: 9, ..identity }).contains("random table 2"));
    assert!(told("mixer", &Identity { config: 9, ..identity }).contains("configuration 3"));
}

#[test]
fn a_difference_is_kept_with_the_recording() {
    let desync = Desync { player: PlayerId(1), tick: Tick(10), agreed: None, ours: Checksum(1), theirs: Checksum(2) };
    let mut writer = Writer::create(Vec::new(), &header(Tick(0)), &mixer().encoded()).unwrap();
    writer.desync(desync).unwrap();
    let recording = read(writer.output()).ok().unwrap();
    assert!(matches!(recording.entries[..], [lockstone::recording::Entry::Desync(found)] if found == desync));
}

#[test]
fn empty_ticks_cost_next_to_nothing() {
    let mut writer = Writer::create(Vec::new(), &header(Tick(0)), &[]).unwrap();
    let before = writer.bytes();
    for tick in 0..12_000 {
        writer.reached(Tick(tick)).unwrap();
    }
    let spent = writer.bytes() - before;
    assert!(spent < 6_000, "ten minutes in which nothing happened took {spent} bytes");
}

fn tree_of_parts() -> impl Strategy<Value = Tree> {
    let parts = prop::collection::btree_map((0..4_u16, 0..4_u16), 0..3_u64, 0..12);
    parts.prop_map(|parts| {
        Tree::of(&parts.iter().map(|((y, x), n)| (CellId::new(*x, *y), Checksum(*n))).collect::<Vec<_>>())
    })
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
            prop_assert_eq!(replay(recording, mixer()).map(|replay| replay.mismatch), Ok(None));
        }
    }

    #[test]
    fn a_tree_becomes_any_other(before in tree_of_parts(), after in tree_of_parts()) {
        let mut tree = before.clone();
        let change = before.change_to(&after);
        tree.apply(&change);
        prop_assert_eq!(&tree, &after);
        prop_assert_eq!(before.differences(&after).len(), change.changed.len() + change.gone.len());
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

/// A reader plays what a file asks for, so the file has to carry something for it.
#[test]
fn a_few_bytes_ask_for_no_hours_of_play() {
    let file = |entries: &[Entry<Mixer>]| {
        let (header, entries) = (header(Tick(0)), entries.to_vec());
        Recording { header, snapshot: Vec::new(), entries, ending: Ending::Open }.write()
    };
    let root = || Entry::Checksum(Checksum(7));
    let long = Entry::Empty(EMPTY_TICKS_MAX);
    let carried: Vec<_> = (0..1_000).flat_map(|_| [root(), long.clone()]).collect();
    assert_eq!(read(&file(&carried)).expect("it is carried").end(), Tick(1_000 * EMPTY_TICKS_MAX));
    for claim in [
        &[Entry::Empty(50_000_000), root()][..],
        &[Entry::Empty(u32::MAX), Entry::Empty(u32::MAX)],
        &[root(), long.clone(), Entry::Empty(1)],
        &[root(), long, Entry::Name(PlayerId(0), "Ann".into()), Entry::Turn(Turn::EMPTY), Entry::Empty(1)],
    ] {
        let error = read(&file(claim)).map(|recording| recording.end()).expect_err("it claims too much");
        assert!(error.to_string().contains("more empty ticks without a checksum"), "{error}");
    }
}

#[test]
fn two_recordings_tell_the_tick_at_which_they_part() {
    let recording = |from: u32, other_from: u32| {
        let root = |tick: u32| Entry::Checksum(Checksum(u64::from(tick) + u64::from(tick >= other_from)));
        let entries = (from..20).flat_map(|tick| [root(tick), Entry::Empty(1)]).collect();
        Recording::<Mixer> { header: header(Tick(from)), snapshot: Vec::new(), entries, ending: Ending::Open }
    };
    // The other has recorded less, and from some tick on something else.
    let (ours, theirs) = (recording(0, u32::MAX), recording(5, 13));
    assert_eq!(ours.parts_from(&theirs), Some(Tick(13)));
    assert_eq!(theirs.parts_from(&theirs), None, "from itself it does not part");
    assert!(read(&[7; 100]).is_err(), "garbage tells nothing");
}
