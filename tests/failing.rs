//! A game that fails, as people meet it: real processes, real WebRTC, exit codes and sentences.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use lockstone::game::Game;
use lockstone::recording::{Header, Recording};
use serde_json::{Value, json};
use testkit::faulty::{FROM, Fault, Faulty, Sim};
use testkit::pasture::Meadow;
use testkit::process;

/// A game, and what is wrong with it.
#[derive(Clone, Copy)]
struct Program {
    game: &'static str,
    fault: &'static str,
}

fn wilds(fault: Fault) -> Program {
    Program { game: Faulty::NAME, fault: fault.name() }
}

fn meadow(fault: &'static str) -> Program {
    Program { game: Meadow::NAME, fault }
}

impl Program {
    fn command(self, args: &[&str]) -> Command {
        let mut command = Command::new(process::faulty());
        command.args(args).env("GAME", self.game).env("FAULT", self.fault);
        command.env_remove("DISPLAY").env_remove("LOCKSTONE_LOG");
        // Nobody's own heroes take part.
        command.env("XDG_STATE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("failing-state"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(self, args: &[&str]) -> (Option<i32>, String, String) {
        told(self.command(args).output().expect("it was built"))
    }
}

/// Exit code, what it says to programs, and to people.
fn told(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// It ends with the test.
struct Server(Child);

impl Server {
    /// Also where it is.
    fn start() -> (Server, String) {
        let mut server =
            wilds(Fault::None).command(&["signal", "--listen", "127.0.0.1:0"]).spawn().expect("it was built");
        let (stdout, mut url) = (server.stdout.take().expect("it is piped"), String::new());
        BufReader::new(stdout).read_line(&mut url).expect("it says where it is");
        (Server(server), url.trim().to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

fn path(file: &Path) -> &str {
    file.to_str().expect("the target directory has a plain name")
}

/// What a game says whose rules run over, up to the column.
fn panicked(game: &str) -> String {
    let (path, source) = match game {
        Meadow::NAME => ("testkit/src/pasture.rs", include_str!("../testkit/src/pasture.rs")),
        _ => ("testkit/src/faulty/fault.rs", include_str!("../testkit/src/faulty/fault.rs")),
    };
    let place = source.lines().position(|line| line.contains("checked_add(u8::MAX)")).expect("it is there");
    format!("the game panicked at {path}:{}:", place + 1)
}

/// Two processes play with each other: in a party, a rollback session, or one of them as the relay.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Party,
    Rollback,
    Relay,
}

impl Kind {
    /// Bram's words, and Ada's.
    fn words(self) -> [&'static [&'static str]; 2] {
        match self {
            Kind::Party => [&["play", "--peers", "2"]; 2],
            Kind::Rollback => [&["play", "--peers", "2", "--rollback"]; 2],
            Kind::Relay => [&["relay"], &["play", "--relay"]],
        }
    }
}

/// The rules of Ada, who comes second, panic in her own process alone.
fn one_of_two_panics<G: Game>(kind: Kind, name: &str) {
    let (place, (_server, url)) = (folder(name), Server::start());
    let (sound, broken) = (Program { game: G::NAME, fault: "none" }, Program { game: G::NAME, fault: "panic" });
    let (bram_file, ada_file) = (place.join("bram.lksrec"), place.join("ada.lksrec"));
    let [bram_words, ada_words] = kind.words();
    let bot = |program: Program, words: &[&str], name: &str, file: &Path| {
        let own = ["--bot", "--view", "none", "--room", "hall", "--signal", &url, "--seconds", "8"];
        program.command(&[words, &own[..], &["--name", name, "--record", path(file)]].concat())
    };
    let mut bram = bot(sound, bram_words, "Bram", &bram_file).spawn().expect("it was built");
    let mut heard = BufReader::new(bram.stderr.take().expect("it is piped")).lines();
    let mut said = vec![heard.next().expect("it says how a friend joins").expect("text")];
    let (code, _, ada) = told(bot(broken, ada_words, "Ada", &ada_file).output().expect("it was built"));
    said.extend(heard.map(|line| line.expect("text")));
    let said = said.join("\n");

    // She joins a relay whenever she does.
    let step =
        if kind == Kind::Relay { ", in the step of tick ".into() } else { format!(", in the step of tick {FROM}") };
    let last = ada.lines().last().unwrap_or_default();
    let sentence = format!("; see it again with `{} check {}`.", G::NAME, path(&ada_file));
    assert_eq!(code, Some(1), "{ada}");
    assert!(last.starts_with(&panicked(G::NAME)) && last.contains(&step) && last.ends_with(&sentence), "{ada}");

    for command in ["check", "replay"] {
        let (code, _, again) = broken.run(&[command, path(&ada_file)]);
        let last = again.lines().last().unwrap_or_default();
        assert_eq!(code, Some(1), "{command}: {again}");
        assert!(last.starts_with(&panicked(G::NAME)) && last.contains(&step), "{command}: {again}");
        let (code, _, sound) = sound.run(&[command, path(&ada_file)]);
        assert!(code == Some(1) && sound.ends_with("it does not here.\n"), "{command}: {sound}");
    }

    assert!(bram.wait().expect("it ends by itself").success(), "{said}");
    let is_told = |line: &str| line.starts_with("Ada ") && line != "Ada is here.";
    assert!(said.lines().any(is_told), "{said}");
    let (code, checked, failed) = sound.run(&["check", path(&bram_file)]);
    assert_eq!(code, Some(0), "{checked}{failed}");
    let bytes = fs::read(&bram_file).expect("it is there");
    let bram = Recording::<G::Sim>::read(&bytes).unwrap_or_else(|e| panic!("{e}"));
    assert!(bram.end() > FROM.plus(40), "it plays on: {}", bram.end());
}

#[test]
fn a_process_whose_rules_panic_names_the_line_and_the_other_plays_on() {
    one_of_two_panics::<Faulty>(Kind::Party, "panicked");
    one_of_two_panics::<Meadow>(Kind::Party, "panicked-meadow");
}

#[test]
fn so_does_one_whose_rules_panic_in_a_predicted_turn() {
    one_of_two_panics::<Faulty>(Kind::Rollback, "panicked-ahead");
}

#[test]
fn so_does_a_relays_player_whose_rules_panic_in_its_part_of_the_world() {
    one_of_two_panics::<Meadow>(Kind::Relay, "panicked-part");
}

/// Two processes play over WebRTC. Returns the exit code, the verdict, and the bundles that were
/// saved.
fn two_processes_play(program: Program, seconds: &str) -> (Option<i32>, String, Vec<PathBuf>) {
    let place = folder(&format!("{}-{}", program.game, program.fault));
    let demo =
        program.command(&["demo", "--peers", "2", "--seconds", seconds, "--seed", "5"]).current_dir(&place).output();
    let (code, verdict, _) = told(demo.expect("it was built"));
    let files = fs::read_dir(&place).expect("it was made").map(|entry| entry.expect("it can be read").path());
    (code, verdict, files.filter(|file| file.extension().is_some_and(|kind| kind == "lksbnd")).collect())
}

/// What is found in each bundle of two who play for so long, and fall out of step.
fn findings(program: Program, seconds: &str) -> Vec<Value> {
    let (code, verdict, bundles) = two_processes_play(program, seconds);
    assert!(code == Some(1) && verdict.contains("OUT OF STEP") && !bundles.is_empty(), "{verdict}");
    let found = |bundle: PathBuf| {
        let (code, report, failed) = program.run(&["explain", path(&bundle), "--json"]);
        assert_eq!(code, Some(1), "{failed}");
        let report: Value = serde_json::from_str(&report).expect("a report");
        assert_eq!(report["finding"]["verdict"]["blamed"], json!([]), "{report:#}");
        report["finding"].clone()
    };
    bundles.into_iter().map(found).collect()
}

/// The fields that differ.
fn fields(finding: &Value) -> BTreeSet<&str> {
    let spots = finding["location"]["spots"].as_array().expect("it is located");
    let fields = spots.iter().flat_map(|spot| spot["fields"].as_array().expect("a list"));
    fields.map(|field| field["path"].as_str().expect("a path")).collect()
}

#[test]
fn two_processes_of_a_sound_game_are_in_step() {
    for program in [wilds(Fault::None), meadow("none")] {
        let (code, verdict, bundles) = two_processes_play(program, "5");
        assert!(code == Some(0) && verdict.contains("in step") && bundles.is_empty(), "{verdict}");
    }
}

/// It was told as a changed state, of which one of the two was blamed.
#[test]
fn two_processes_whose_rules_read_the_clock_are_told_so_and_nobody_is_blamed() {
    for (program, varies) in [(wilds(Fault::Clock), "body.Beast.mood"), (meadow("clock"), "body.Wolf.hunger")] {
        for finding in findings(program, "5") {
            assert_eq!((&finding["verdict"]["cause"], &finding["varies"]), (&json!("Nondeterminism"), &json!(true)));
            assert!(fields(&finding).contains(varies), "{finding:#}");
        }
    }
}

#[test]
fn two_processes_whose_rules_take_the_first_of_a_hash_set_are_told_so_and_nobody_is_blamed() {
    for finding in findings(meadow("hash-order"), "5") {
        assert_eq!((&finding["verdict"]["cause"], &finding["varies"]), (&json!("Nondeterminism"), &json!(true)));
        assert!(fields(&finding).contains("body.Wolf.hunger"), "{finding:#}");
    }
}

/// One of the two was blamed for a changed state: what each process draws for itself, the checker
/// cannot draw again.
#[test]
fn of_two_processes_that_draw_for_themselves_nobody_is_blamed() {
    for finding in findings(meadow("process"), "5") {
        let cause = finding["verdict"]["cause"].as_str().expect("a cause");
        assert!(["Unknown", "Nondeterminism"].contains(&cause), "{finding:#}");
        assert!(fields(&finding).contains("body.Wolf.hunger"), "{finding:#}");
    }
}

/// It was told as a bit that turned over in the joiner's memory.
#[test]
fn a_process_that_joins_a_game_with_an_unsaved_field_is_told_that_it_is_not_in_the_snapshot() {
    for finding in findings(meadow("unsaved"), "10") {
        assert_eq!(finding["verdict"]["cause"], json!("SnapshotField"), "{finding:#}");
        assert!(fields(&finding).iter().any(|field| field.starts_with("body.Sheep.")), "{finding:#}");
    }
}

/// A recording, and the same with another header.
fn own_and_other(name: &str, change: fn(&mut Header)) -> (PathBuf, PathBuf) {
    let place = folder(name);
    let (file, other) = (place.join("own.lksrec"), place.join("other.lksrec"));
    let args = ["play", "--solo", "--bot", "--view", "none", "--seconds", "2", "--record", path(&file)];
    let (code, _, failed) = wilds(Fault::None).run(&args);
    assert_eq!(code, Some(0), "{failed}");
    let mut recording =
        Recording::<Sim>::read(&fs::read(&file).expect("it is there")).unwrap_or_else(|e| panic!("{e}"));
    change(&mut recording.header);
    fs::write(&other, recording.write()).expect("the target directory can be written");
    (file, other)
}

#[test]
fn a_recording_of_other_rules_is_told_before_anything_is_played() {
    let (file, other) = own_and_other("other-rules", |header| header.identity.rules = 0xabc);
    let so = "the recording is of rules abc, and this program has rules 1; use the build that recorded it.\n";
    for command in ["replay", "check"] {
        assert_eq!(wilds(Fault::None).run(&[command, path(&file)]).0, Some(0), "the control");
        let (code, out, sentence) = wilds(Fault::None).run(&[command, path(&other)]);
        assert_eq!((code, out.as_str(), sentence.lines().count()), (Some(2), "", 1), "{sentence}");
        assert!(sentence.starts_with(&format!("cannot {command} ")) && sentence.ends_with(so), "{sentence}");
    }
    // Beside one of these rules that is the answer.
    let (code, report, failed) = wilds(Fault::None).run(&["check", path(&file), path(&other)]);
    assert!(code == Some(1) && report.contains("verdict build: another program"), "{report}{failed}");
    assert!(report.contains("has the rules 0000000000000abc"), "{report}");
}

#[test]
fn a_recording_of_another_build_with_the_same_number_of_rules_is_told_before_it_is_played() {
    let (file, other) = own_and_other("other-build", |header| header.build.executable = 0xabc);
    for command in ["replay", "check"] {
        let told = |file| {
            let (code, _, said) = wilds(Fault::None).run(&[command, path(file)]);
            (code, said.contains("Another build recorded"), said.contains("0000000000000abc on "))
        };
        assert_eq!(told(&file), (Some(0), false, false), "the control");
        assert_eq!(told(&other), (Some(0), true, true));
    }
}
