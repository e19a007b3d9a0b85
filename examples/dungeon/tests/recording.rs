//! Ten minutes of four heroes: how large the recording is, and that it plays again to the same checksums.
#![allow(clippy::disallowed_types, reason = "the replay is timed, and nothing of that enters the world")]

use std::time::Instant;

use dungeon::DungeonGame;
use lockstone::game::{Bot, Game};
use lockstone::recording::{Build, Header, Recording, Writer, replay};
use lockstone::sim::{Input, PlayerId, Simulation, Tick, Turn};

const TICKS: u32 = 20 * 600;
const PLAYERS: u16 = 4;
const SEED: u64 = 3;
/// What the file may take.
const BYTES_MAX: usize = 256 * 1_024;

type Sim = <DungeonGame as Game>::Sim;

fn header() -> Header {
    Header {
        game: DungeonGame::NAME.into(),
        engine: env!("CARGO_PKG_VERSION").into(),
        seed: SEED,
        rules: DungeonGame::rules_digest(),
        table: lockstone::default_table().digest(),
        config: 0,
        ticks_per_s: 20,
        input_delay_ticks: 3,
        checksum_interval_ticks: 10,
        player: PlayerId(0),
        name: "Bot-1".into(),
        room: "test".into(),
        start: Tick(0),
        build: Build::default(),
    }
}

/// Bots play, and everything is recorded as in a session. Returns the file and the commands given.
fn record() -> (Vec<u8>, usize) {
    let mut sim = DungeonGame::build(SEED, lockstone::default_table());
    let snapshot = sim.snapshot();
    let mut writer = Writer::create(Vec::new(), &header(), &sim.encode(&snapshot)).unwrap();
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
        }
        if sim.tick().0.is_multiple_of(10) {
            writer.checksum::<Sim>(sim.tick(), sim.checksum()).unwrap();
        }
        writer.reached::<Sim>(sim.tick()).unwrap();
        inputs.extend(sim.requests().iter().cloned().map(Input::Request));
        for (player, bot) in &mut bots {
            if let Some(command) = bot.decide(&sim, *player) {
                commands += 1;
                inputs.push(Input::Command(*player, command));
            }
        }
    }
    (writer.end::<Sim>(Tick(TICKS), "left the session").unwrap().0, commands)
}

#[test]
fn ten_minutes_of_four_heroes_are_small_and_replay_fast() {
    let (bytes, commands) = record();
    assert!(commands > 500, "the bots gave {commands} commands, which shows nothing");
    let recording = Recording::<Sim>::read(&bytes).ok().unwrap();
    let sim = DungeonGame::build(SEED, lockstone::default_table());
    let started = Instant::now();
    let replay = replay(recording, sim).unwrap();
    let times = f64::from(TICKS) / 20.0 / started.elapsed().as_secs_f64();
    println!("{} bytes, {commands} commands, {times:.0} x real time", bytes.len());
    assert_eq!((replay.ticks, replay.checksums, replay.mismatch), (TICKS, TICKS / 10, None));
    assert!(bytes.len() < BYTES_MAX, "{} bytes", bytes.len());
}
