//! `shrink` and `check chaos --play` as people meet them: what fails becomes small, and what they
//! say about it shows it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, str};

use dungeon::DungeonGame;
use lockstone::default_table;
use lockstone::game::{Bot, Game};
use lockstone::recording::{Header, Recording, Writer};
use lockstone::sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn};
use testkit::recorded::header;

type Sim = <DungeonGame as Game>::Sim;

const SEED: u64 = 3;
const TICKS: u32 = 120;
/// What is wrong is wrong here.
const WRONG: Tick = Tick(90);

fn run(args: &[&str]) -> (Output, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dungeon"));
    let output = command.args(args).env_remove("LOCKSTONE_LOG").output().unwrap();
    let told = format!("{}{}", str::from_utf8(&output.stdout).unwrap(), str::from_utf8(&output.stderr).unwrap());
    (output, told)
}

/// Two bots' game as a file; a checksum in it may be wrong.
fn recorded(folder: &Path, name: &str, wrong: bool) -> PathBuf {
    let header = Header {
        identity: DungeonGame::identity(&default_table()),
        name: "Bot-1".into(),
        room: String::new(),
        ..header(DungeonGame::NAME, SEED)
    };
    let mut world = DungeonGame::build(SEED, default_table());
    let hero = |n: u16| DungeonGame::hero(DungeonGame::HEROES[usize::from(n)], "Bot").unwrap();
    let mut next: Vec<_> = (0..2).map(|n| Input::Join(PlayerId(n), world.admit(PlayerId(n), hero(n)))).collect();
    let mut bots: Vec<_> = (0..2).map(|n| DungeonGame::bot(PlayerId(n))).collect();
    let snapshot = world.snapshot();
    let mut writer = Writer::create(Vec::new(), &header, &world.encode(&snapshot)).unwrap();
    while world.tick() < Tick(TICKS) {
        let (tick, turn) = (world.tick(), Turn { inputs: std::mem::take(&mut next) });
        let Checksum(root) = world.checksum();
        writer.checksum(tick, Checksum(root ^ u64::from(wrong && tick >= WRONG))).unwrap();
        writer.turn(tick, &turn).unwrap();
        world.step(&turn);
        for (player, bot) in (0..).map(PlayerId).zip(&mut bots) {
            next.extend(bot.decide(&world, player).map(|command| Input::Command(player, command)));
        }
    }
    let file = folder.join(name);
    fs::write(&file, writer.end(world.tick(), "the end").unwrap().0).unwrap();
    file
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn what_fails_becomes_small_and_is_written_over_nothing() {
    let folder = folder("shrink");
    let file = recorded(&folder, "long.rec", true);
    let (output, told) = run(&["shrink", file.to_str().unwrap()]);
    println!("{told}");
    assert_eq!(output.status.code(), Some(1), "{told}");
    let small = folder.join("long-small.rec");
    assert!(told.contains("120 ticks") && told.contains("became 1 tick") && told.contains("long-small.rec"), "{told}");
    let recording = Recording::<Sim>::read(&fs::read(&small).unwrap()).unwrap();
    assert_eq!((recording.header.start, recording.end()), (Tick(WRONG.0 - 1), WRONG));
    let (output, told) = run(&["check", small.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "it still differs: {told}");
    let (output, told) = run(&["shrink", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("it is there already"), "{told}");
}

#[test]
fn what_is_sound_stays() {
    let folder = folder("shrink-sound");
    let file = recorded(&folder, "sound.rec", false);
    let out = folder.join("out.rec");
    let args = ["shrink", file.to_str().unwrap(), "--json", "--out", out.to_str().unwrap()];
    let (output, told) = run(&args);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["before"]["ticks"], &told["after"]), (&TICKS.into(), &serde_json::Value::Null));
    assert!(!out.exists());
    let (output, told) =
        run(&["check", "chaos", "--play", file.to_str().unwrap(), "--only", "restore", "--only", "partial"]);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("verdict passed"), "{told}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let file = folder("shrink-refused").join("none.rec");
    fs::write(&file, "no recording").unwrap();
    let file = file.to_str().unwrap();
    for args in [&["shrink", file][..], &["check", "chaos", "--play", file], &["shrink", file, "--breaker", "wasm"]] {
        let (output, told) = run(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
    }
}
