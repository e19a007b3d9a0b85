//! A game that fails, as people meet it: real processes, real WebRTC, exit codes and sentences.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use lockstone::recording::{Header, Recording};
use serde_json::{Value, json};
use testkit::faulty::{FROM, Fault, Sim};
use testkit::process;

fn game(fault: Fault, args: &[&str]) -> Command {
    let mut command = Command::new(process::faulty());
    command.args(args).env("FAULT", fault.name()).env_remove("DISPLAY").env_remove("LOCKSTONE_LOG");
    // Nobody's own heroes take part.
    command.env("XDG_STATE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("failing-state"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, what it says to programs, and to people.
fn told(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn run(fault: Fault, args: &[&str]) -> (Option<i32>, String, String) {
    told(game(fault, args).output().expect("it was built"))
}

/// It ends with the test.
struct Server(Child);

impl Server {
    /// Also where it is.
    fn start() -> (Server, String) {
        let mut server = game(Fault::None, &["signal", "--listen", "127.0.0.1:0"]).spawn().expect("it was built");
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

/// The line of the rule that runs over.
fn line() -> String {
    let source = include_str!("../testkit/src/faulty/fault.rs");
    let place = source.lines().position(|line| line.contains("a hero is not that strong")).expect("it is there");
    format!("the game panicked at testkit/src/faulty/fault.rs:{}:", place + 1)
}

/// Two processes begin together; the rules of the second panic in its own process alone.
fn one_of_two_panics(kind: &[&str], name: &str) {
    let (place, (_server, url)) = (folder(name), Server::start());
    let (bram_file, ada_file) = (place.join("bram.lksrec"), place.join("ada.lksrec"));
    let bot = |fault, name: &str, file: &Path| {
        let own = ["play", "--bot", "--view", "none", "--room", "hall", "--signal", &url, "--peers", "2"];
        let more = ["--seconds", "8", "--name", name, "--record", path(file)];
        game(fault, &[&own[..], &more, kind].concat())
    };
    let mut bram = bot(Fault::None, "Bram", &bram_file).spawn().expect("it was built");
    let mut heard = BufReader::new(bram.stderr.take().expect("it is piped")).lines();
    let mut said = vec![heard.next().expect("it says how a friend joins").expect("text")];
    let (code, _, ada) = told(bot(Fault::Panic, "Ada", &ada_file).output().expect("it was built"));
    said.extend(heard.map(|line| line.expect("text")));
    let said = said.join("\n");

    let last = ada.lines().last().unwrap_or_default();
    let sentence = format!(", in the step of tick {FROM}; see it again with `faulty check {}`.", path(&ada_file));
    assert_eq!(code, Some(1), "{ada}");
    assert!(last.starts_with(&line()) && last.ends_with(&sentence), "{ada}");

    for command in ["check", "replay"] {
        let (code, _, again) = run(Fault::Panic, &[command, path(&ada_file)]);
        let last = again.lines().last().unwrap_or_default();
        assert_eq!(code, Some(1), "{command}: {again}");
        assert!(last.starts_with(&line()) && last.ends_with(&format!(", in the step of tick {FROM}.")), "{again}");
        let (code, _, sound) = run(Fault::None, &[command, path(&ada_file)]);
        assert!(code == Some(1) && sound.ends_with("it does not here.\n"), "{command}: {sound}");
    }

    assert!(bram.wait().expect("it ends by itself").success(), "{said}");
    let is_told = |line: &str| line.starts_with("Ada ") && line != "Ada is here.";
    assert!(said.lines().any(is_told), "{said}");
    let (code, checked, failed) = run(Fault::None, &["check", path(&bram_file)]);
    assert_eq!(code, Some(0), "{checked}{failed}");
    let bram = Recording::<Sim>::read(&fs::read(&bram_file).expect("it is there")).unwrap_or_else(|e| panic!("{e}"));
    assert!(bram.end() > FROM.plus(40), "it plays on: {}", bram.end());
}

#[test]
fn a_process_whose_rules_panic_names_the_line_and_the_other_plays_on() {
    one_of_two_panics(&[], "panicked");
}

#[test]
fn so_does_one_whose_rules_panic_in_a_predicted_turn() {
    one_of_two_panics(&["--rollback"], "panicked-ahead");
}

/// Two processes play over WebRTC. Returns the exit code, the verdict, and the bundles that were
/// saved.
fn two_processes_play(fault: Fault, name: &str) -> (Option<i32>, String, Vec<PathBuf>) {
    let place = folder(name);
    let demo = game(fault, &["demo", "--peers", "2", "--seconds", "5", "--seed", "5"]).current_dir(&place).output();
    let (code, verdict, _) = told(demo.expect("it was built"));
    let files = fs::read_dir(&place).expect("it was made").map(|entry| entry.expect("it can be read").path());
    (code, verdict, files.filter(|file| file.extension().is_some_and(|kind| kind == "lksbnd")).collect())
}

/// It was told as a changed state, of which one of the two was blamed.
#[test]
fn two_processes_whose_rules_read_the_clock_are_told_so_and_nobody_is_blamed() {
    let (code, verdict, bundles) = two_processes_play(Fault::Clock, "clock");
    assert!(code == Some(1) && verdict.contains("OUT OF STEP") && !bundles.is_empty(), "{verdict}");
    for bundle in bundles {
        let (code, report, failed) = run(Fault::Clock, &["explain", path(&bundle), "--json"]);
        assert_eq!(code, Some(1), "{failed}");
        let report: Value = serde_json::from_str(&report).expect("a report");
        let finding = &report["finding"];
        assert_eq!((&finding["verdict"]["cause"], &finding["varies"]), (&json!("Nondeterminism"), &json!(true)));
        assert_eq!(finding["verdict"]["blamed"], json!([]), "{report:#}");
        let spots = finding["location"]["spots"].as_array().expect("plays of one tick are compared");
        let fields = spots.iter().flat_map(|spot| spot["fields"].as_array().expect("a list"));
        let varying: BTreeSet<_> = fields.map(|field| field["path"].as_str().expect("a path")).collect();
        assert!(varying.contains("body.Beast.mood"), "{report:#}");
    }

    let (code, verdict, bundles) = two_processes_play(Fault::None, "no-clock");
    assert!(code == Some(0) && verdict.contains("in step") && bundles.is_empty(), "the control: {verdict}");
}

/// A recording, and the same with another header.
fn own_and_other(name: &str, change: fn(&mut Header)) -> (PathBuf, PathBuf) {
    let place = folder(name);
    let (file, other) = (place.join("own.lksrec"), place.join("other.lksrec"));
    let args = ["play", "--solo", "--bot", "--view", "none", "--seconds", "2", "--record", path(&file)];
    let (code, _, failed) = run(Fault::None, &args);
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
        assert_eq!(run(Fault::None, &[command, path(&file)]).0, Some(0), "the control");
        let (code, out, sentence) = run(Fault::None, &[command, path(&other)]);
        assert_eq!((code, out.as_str(), sentence.lines().count()), (Some(2), "", 1), "{sentence}");
        assert!(sentence.starts_with(&format!("cannot {command} ")) && sentence.ends_with(so), "{sentence}");
    }
    // Beside one of these rules that is the answer.
    let (code, report, failed) = run(Fault::None, &["check", path(&file), path(&other)]);
    assert!(code == Some(1) && report.contains("verdict build: another program"), "{report}{failed}");
    assert!(report.contains("has the rules 0000000000000abc"), "{report}");
}

#[test]
fn a_recording_of_another_build_with_the_same_number_of_rules_is_told_before_it_is_played() {
    let (file, other) = own_and_other("other-build", |header| header.build.executable = 0xabc);
    for command in ["replay", "check"] {
        let told = |file| {
            let (code, _, said) = run(Fault::None, &[command, path(file)]);
            (code, said.contains("Another build recorded"), said.contains("0000000000000abc on "))
        };
        assert_eq!(told(&file), (Some(0), false, false), "the control");
        assert_eq!(told(&other), (Some(0), true, true));
    }
}
