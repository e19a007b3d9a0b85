//! Ten minutes of four heroes: how large the recording is, and that it plays again to
//! the same checksums.
#![allow(clippy::disallowed_types, reason = "the replay is timed, and nothing of that enters the world")]

use std::time::{Duration, Instant};

use dungeon::DungeonGame;
use lockstone::game::{Bot, Game};
use lockstone::net::limits::KEYFRAME_TICKS;
use lockstone::recording::{Header, Packed, RING_BYTES_MAX, Recording, Replay, Ring, Writer, replay};
use lockstone::sim::{Input, PlayerId, Simulation, Tick, Turn};
use testkit::recorded;

const TICKS: u32 = 20 * 600;
const PLAYERS: u16 = 4;
const SEED: u64 = 3;
/// What the file may take.
const BYTES_MAX: usize = 512 * 1_024;

type Sim = <DungeonGame as Game>::Sim;

fn header() -> Header {
    Header {
        identity: DungeonGame::identity(&lockstone::default_table()),
        name: "Bot-1".into(),
        room: "test".into(),
        ..recorded::header(DungeonGame::NAME, SEED)
    }
}

/// What is recorded beside the turns.
#[derive(Clone, Copy, Default)]
struct Parts {
    checksums: bool,
    keyframes: bool,
    trees: bool,
}

/// A session that bots played.
struct Played {
    file: Vec<u8>,
    commands: usize,
    /// The most that a ring held beside.
    ring_bytes: usize,
    /// The time that a ring took for everything, keyframes apart.
    ring_time: Duration,
    /// The longest time to make a keyframe of a snapshot.
    keyframe_time: Duration,
}

/// Bots play, and it is recorded as in a session.
fn record(parts: Parts) -> Played {
    let mut sim = DungeonGame::build(SEED, lockstone::default_table());
    let start = sim.snapshot();
    let start = Packed::of(&sim.encode(&start));
    let mut writer = Writer::begin(Vec::new(), &header(), &start).unwrap();
    let mut ring = Ring::new(header(), start);
    let (mut ring_bytes, mut ring_time, mut keyframe_time) = (0, Duration::ZERO, Duration::ZERO);
    let mut bots: Vec<_> = (0..PLAYERS).map(|n| (PlayerId(n), DungeonGame::bot(PlayerId(n)))).collect();
    let (mut inputs, mut commands) = (Vec::new(), 0);
    for (player, class) in bots.iter().map(|(player, _)| *player).zip(DungeonGame::HEROES.iter().cycle()) {
        inputs.push(Input::Join(player, sim.admit(player, DungeonGame::hero(class, "Bot").unwrap())));
    }
    for tick in (0..TICKS).map(Tick) {
        let turn = Turn { inputs: std::mem::take(&mut inputs) };
        sim.step(&turn);
        if !turn.inputs.is_empty() {
            writer.turn::<Sim>(tick, &turn).unwrap();
            ring.turn(tick, &turn);
        }
        if sim.tick().0.is_multiple_of(KEYFRAME_TICKS) {
            let snapshot = sim.snapshot();
            let started = Instant::now();
            let packed = Packed::of(&sim.encode(&snapshot));
            keyframe_time = keyframe_time.max(started.elapsed());
            if parts.keyframes {
                writer.keyframe(sim.tick(), &packed).unwrap();
            }
            ring.keyframe(sim.tick(), packed);
        }
        if parts.checksums {
            writer.checksum(sim.tick(), sim.checksum()).unwrap();
        }
        let started = Instant::now();
        let tree = sim.tree();
        ring.checksum(sim.tick(), sim.checksum());
        ring.tree(sim.tick(), &tree);
        ring_time += started.elapsed();
        if parts.trees {
            writer.tree(sim.tick(), &tree).unwrap();
        }
        ring_bytes = ring_bytes.max(ring.bytes());
        writer.reached(sim.tick()).unwrap();
        inputs.extend(sim.requests().iter().cloned().map(Input::Request));
        for (player, bot) in &mut bots {
            if let Some(command) = bot.decide(&sim, *player) {
                commands += 1;
                inputs.push(Input::Command(*player, command));
            }
        }
    }
    let file = writer.end(Tick(TICKS), "left the session").unwrap().0;
    let recent = Recording::<Sim>::read(&ring.write()).ok().unwrap();
    assert_eq!((recent.header.start, recent.end()), (Tick(TICKS - KEYFRAME_TICKS), Tick(TICKS)));
    assert_eq!(played(recent).mismatch, None, "what is in memory plays again too");
    Played { file, commands, ring_bytes, ring_time, keyframe_time }
}

fn played(recording: Recording<Sim>) -> Replay {
    replay(recording, DungeonGame::build(SEED, lockstone::default_table())).unwrap()
}

#[test]
fn ten_minutes_of_four_heroes_are_small_and_replay_fast() {
    let all = Parts { checksums: true, keyframes: true, trees: true };
    let steps = [Parts::default(), Parts { trees: false, keyframes: false, ..all }, Parts { trees: false, ..all }, all];
    let [turns, checksums, keyframes, trees] = steps.map(record);
    let commands = turns.commands;
    assert!(commands > 500, "the bots gave {commands} commands, which shows nothing");
    let recording = Recording::<Sim>::read(&keyframes.file).ok().unwrap();
    let started = Instant::now();
    let replay = played(recording);
    let times = f64::from(TICKS) / 20.0 / started.elapsed().as_secs_f64();
    let [a, b, c, d] = [&turns, &checksums, &keyframes, &trees].map(|played| played.file.len());
    println!("{c} bytes, {commands} commands, {times:.0} x real time");
    println!("turns {a}, checksums {}, keyframes {}; trees on top {}", b - a, c - b, d - c);
    println!("in memory at most {} bytes; a tick takes {:?}", trees.ring_bytes, trees.ring_time / TICKS);
    println!("a keyframe takes {:?} at most", trees.keyframe_time);
    assert_eq!((replay.ticks, replay.checksums, replay.mismatch), (TICKS, TICKS, None));
    assert!(c < BYTES_MAX, "{c} bytes");
    assert!(trees.ring_bytes < RING_BYTES_MAX / 4, "{} bytes in memory", trees.ring_bytes);
    let with_trees = Recording::<Sim>::read(&trees.file).ok().unwrap();
    let again = Recording::<Sim>::read(&with_trees.write()).ok().unwrap();
    assert!(again.entries == with_trees.entries, "what was read is written as it was");
}
