//! Bundles: what is written is read, whatever breaks off, is changed or claims too much is told;
//! and what a ring writes into so many bytes fits, reads and plays again.

use lockstone::check::verify;
use lockstone::net::limits::{BUNDLE_BYTES_MAX, KEYFRAME_TICKS, PLAYERS_MAX};
use lockstone::recording::bundle::{Bundle, BundleError, MAGIC, VERSION};
use lockstone::recording::{Entry, Packed, RING_BYTES_MAX, Recording, Ring};
use lockstone::sim::{Input, PlayerId, Simulation, Tick, Turn, codec, mix64};
use testkit::mixer::Mixer;
use testkit::recorded::header;
use xxhash_rust::xxh3::xxh3_64;

const SEED: u64 = 11;

fn bundle() -> Bundle {
    let recordings = vec![vec![1, 2, 3], Vec::new(), (0..=255).collect()];
    Bundle { player: PlayerId(2), recordings, missing: vec![PlayerId(7), PlayerId(9)] }
}

/// A file with this content and the right digest.
fn sealed(content: &[u8]) -> Vec<u8> {
    [MAGIC.as_slice(), &[VERSION], &xxh3_64(content).to_le_bytes(), content].concat()
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(Bundle::read(&bundle().write()), Ok(bundle()));
    let empty = Bundle { player: PlayerId(0), recordings: Vec::new(), missing: Vec::new() };
    assert_eq!(Bundle::read(&empty.write()), Ok(empty));
    let share = lockstone::net::limits::evidence_bytes_max(PLAYERS_MAX);
    let full = Bundle { recordings: vec![vec![7; share]; PLAYERS_MAX], missing: Vec::new(), ..bundle() };
    assert!(full.write().len() <= BUNDLE_BYTES_MAX);
    assert_eq!(Bundle::read(&full.write()), Ok(full));
}

#[test]
fn whatever_breaks_off_or_goes_on_is_told() {
    let file = bundle().write();
    for len in 0..file.len() {
        let expected = if len < MAGIC.len() { BundleError::WrongMagic } else { BundleError::Damaged };
        assert_eq!(Bundle::read(&file[..len]), Err(expected), "cut at {len}");
    }
    assert_eq!(Bundle::read(&[&file[..], &[0]].concat()), Err(BundleError::Damaged));
    assert_eq!(Bundle::read(&sealed(&[&codec::compact(&bundle())[..], &[0]].concat())), Err(BundleError::Damaged));
}

#[test]
fn every_altered_byte_is_told() {
    let file = bundle().write();
    for n in 0..2_000 {
        let dice = mix64(n);
        let (at, flip) = ((dice >> 8) as usize % file.len(), (dice as u8).max(1));
        let mut altered = file.clone();
        altered[at] ^= flip;
        assert!(Bundle::read(&altered).is_err(), "case {n}: byte {at} was altered unseen");
    }
    let mut other = file;
    other[MAGIC.len()] = VERSION + 1;
    assert_eq!(Bundle::read(&other), Err(BundleError::UnsupportedVersion { version: VERSION + 1 }));
}

/// Sound digests guard against chance, not against who writes what he likes.
#[test]
fn what_claims_too_much_is_told() {
    let few = |recordings, missing| Bundle {
        recordings: vec![Vec::new(); recordings],
        missing: vec![PlayerId(1); missing],
        ..bundle()
    };
    assert!(Bundle::read(&few(PLAYERS_MAX - 1, 1).write()).is_ok());
    for (recordings, missing) in [(PLAYERS_MAX, 1), (PLAYERS_MAX + 1, 0), (0, PLAYERS_MAX + 1), (300_000, 300_000)] {
        assert_eq!(
            Bundle::read(&few(recordings, missing).write()),
            Err(BundleError::Damaged),
            "{recordings} {missing}"
        );
    }
    let long = Bundle { recordings: vec![vec![0; BUNDLE_BYTES_MAX]], ..bundle() }.write();
    assert_eq!(Bundle::read(&long), Err(BundleError::TooLong { len: long.len() }));
    // A player, then a number of recordings, or the length of the first, that nothing follows.
    for claim in [u64::MAX, 1 << 60, 1 << 32, 1 << 20] {
        for content in [codec::compact(&(PlayerId(0), claim)), codec::compact(&(PlayerId(0), 1_u8, claim))] {
            assert_eq!(Bundle::read(&sealed(&content)), Err(BundleError::Damaged), "{claim}");
        }
    }
}

fn mixer(seed: u64) -> Mixer {
    Mixer::new(seed, 8)
}

/// Four players play for so long, and a ring is told as a session tells it.
fn ring(ticks: u32) -> Ring {
    let mut world = mixer(SEED);
    let packed = |world: &mut Mixer| Packed::of(&world.encoded());
    let mut ring = Ring::bounded(header("mixer", SEED), packed(&mut world), RING_BYTES_MAX);
    for _ in 0..ticks {
        let tick = world.tick();
        if tick > Tick(0) && tick.0.is_multiple_of(KEYFRAME_TICKS) {
            ring.keyframe(tick, packed(&mut world));
        }
        ring.checksum(tick, world.checksum());
        ring.tree(tick, &world.tree());
        let player = PlayerId((tick.0 % 4) as u16);
        let inputs = match tick.0 {
            0..4 => vec![Input::Join(player, world.admit(player, (7, 9)))],
            _ if tick.0.is_multiple_of(5) => vec![Input::Command(player, mix64(tick.0.into()))],
            _ => Vec::new(),
        };
        let turn = Turn { inputs };
        if !turn.inputs.is_empty() {
            ring.turn(tick, &turn);
        }
        world.step(&turn);
        ring.reached(world.tick());
    }
    ring
}

#[test]
fn what_a_ring_writes_within_a_bound_fits_and_plays_again() {
    let end = 2 * KEYFRAME_TICKS - 1;
    let ring = ring(end);
    assert_eq!(ring.write_within(1 << 20), Some(ring.write()), "all of it is far below 1 MiB");
    let (mut before, mut starts, mut trees) = (usize::MAX, Vec::new(), Vec::new());
    for bytes_max in (0..10).map(|n| 1_000_000 >> n) {
        let Some(bytes) = ring.write_within(bytes_max) else {
            before = 0;
            continue;
        };
        println!("{bytes_max}: {}", bytes.len());
        assert!(bytes.len() <= bytes_max && bytes.len() <= before, "{} in {bytes_max}", bytes.len());
        before = bytes.len();
        let recording = Recording::<Mixer>::read(&bytes).unwrap_or_else(|error| panic!("{bytes_max}: {error}"));
        assert_eq!(recording.end(), Tick(end), "the newest is never left out");
        let is = |is: fn(&Entry<Mixer>) -> bool| recording.entries.iter().filter(|entry| is(entry)).count();
        trees.push(is(|entry| matches!(entry, Entry::Tree(_))));
        assert_eq!(is(|entry| matches!(entry, Entry::Checksum(_))), end.abs_diff(recording.header.start.0) as usize);
        starts.push(recording.header.start);
        let report = verify(recording, &mixer).expect("it is of this game");
        assert!(report.is_in_step(), "{bytes_max}: {report}");
        assert_eq!((report.start, report.end), (*starts.last().expect("pushed"), Tick(end)));
    }
    assert_eq!(before, 0, "nothing fits into the least");
    assert!(starts.is_sorted() && starts.contains(&Tick(0)) && starts.contains(&Tick(KEYFRAME_TICKS)), "{starts:?}");
    assert!(trees.is_sorted_by(|more, fewer| more >= fewer) && trees[0] > 200, "{trees:?}");
    assert_eq!(ring.write_within(0), None);
}
