//! The desync checker on the command line: exit codes 0, 1 and 2, one sentence for each bad input,
//! and nothing written then.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::program::{Running, folder, refused, run, text};
use dungeon::DungeonGame;
use lockstone::game::Game;
use lockstone::recording::{Bundle, Entry, Header, Recording, Writer, format};
use lockstone::sim::{Checksum, PlayerId, Tick};

type Sim = <DungeonGame as Game>::Sim;

/// Records a bot that plays alone for two seconds.
pub(crate) fn recorded(place: &Path) -> (PathBuf, Vec<u8>) {
    let file = place.join("solo.lksrec");
    let args = ["--solo", "--bot", "--view", "none", "--seconds", "2", "--seed", "3", "--record", path(&file)];
    let played = run(&args);
    assert!(played.status.success(), "{}", text(&played.stderr));
    let bytes = fs::read(&file).unwrap();
    (file, bytes)
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

fn write(place: &Path, name: &str, bytes: &[u8]) -> String {
    let file = place.join(name);
    fs::write(&file, bytes).unwrap();
    path(&file).to_owned()
}

fn names(place: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Bad input gets one sentence, the only line there is, with these words in it.
fn refused_in_a_sentence(args: &[&str], words: &str) {
    let output = run(args);
    let told = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{args:?}: {told}");
    assert!(told.ends_with(".\n") && told.lines().count() == 1, "{args:?}: {told}");
    assert!(told.contains(words), "{args:?}: {told}");
}

/// The file with one byte of a frame turned over.
pub(crate) fn altered(file: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = file.to_vec();
    bytes[at] ^= 0x20;
    bytes
}

/// A sound recording, but of another game.
pub(crate) fn foreign(file: &[u8]) -> Vec<u8> {
    let header = Header { game: "tally".into(), ..Header::peek(file).unwrap() };
    Writer::create(Vec::new(), &header, &[]).unwrap().into_output().unwrap()
}

/// A recording whose first frame says that it has four GiB, with its check, and not one of them.
fn huge_frame() -> Vec<u8> {
    let whole = format::frame(0, &[]);
    let mut bytes = [&format::MAGIC[..], &[format::VERSION], &whole].concat();
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    bytes
}

/// A sound recording that goes on for so many ticks without turns, with no more checksums than it
/// must have.
fn endless(file: &[u8], ticks: u32) -> Vec<u8> {
    let mut recording = Recording::<Sim>::read(file).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..ticks.div_ceil(format::EMPTY_TICKS_MAX) {
        recording.entries.extend([Entry::Empty(format::EMPTY_TICKS_MAX), Entry::Checksum(Checksum(0))]);
    }
    recording.write()
}

/// A few bytes that claim so many ticks, from a tick on.
fn claims(file: &[u8], start: u32, ticks: u32) -> Vec<u8> {
    let mut recording = Recording::<Sim>::read(file).unwrap_or_else(|error| panic!("{error}"));
    recording.header.start = Tick(start);
    recording.entries = vec![Entry::Empty(ticks), Entry::Checksum(Checksum(0))];
    recording.write()
}

/// The recording of another peer, who saw another world from the middle on.
fn odd(file: &[u8]) -> Vec<u8> {
    let mut recording = Recording::<Sim>::read(file).unwrap_or_else(|error| panic!("{error}"));
    (recording.header.player, recording.header.name) = (PlayerId(1), "Odd".into());
    let half = recording.entries.len() / 2;
    for entry in &mut recording.entries[half..] {
        if let Entry::Checksum(Checksum(sum)) = entry {
            *sum ^= 1;
        }
    }
    recording.write()
}

#[test]
fn bad_recordings_are_refused_in_a_sentence_and_nothing_is_written() {
    let place = folder("check-bad");
    let (_, good) = recorded(&place);
    let bundle = Bundle { player: PlayerId(0), recordings: vec![good.clone()], missing: Vec::new() };
    let bad = [
        (path(&place.join("none.lksrec")).to_owned(), "No such file"),
        (path(&place).to_owned(), "directory"),
        (write(&place, "empty", b""), "not a recording"),
        (write(&place, "cut", &good[..40]), "breaks off"),
        (write(&place, "altered", &altered(&good, 200)), "damaged"),
        (write(&place, "foreign", &foreign(&good)), "game tally"),
        (write(&place, "picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "not a recording"),
        (write(&place, "bundle", &bundle.write()), "not a recording"),
        (write(&place, "frame", &huge_frame()), "damaged"),
        (write(&place, "zeros", &vec![0; 1_000_000]), "not a recording"),
        (write(&place, "claims", &claims(&good, 0, 50_000_000)), "empty ticks without a checksum"),
        (write(&place, "late", &claims(&good, u32::MAX - 50, 60)), "more ticks than a session has"),
        (large(&place), "more than"),
    ];
    let page = place.join("page.html");
    let before = names(&place);
    for (file, words) in &bad {
        refused_in_a_sentence(&["check", file, "--json", "--html", path(&page)], words);
        refused_in_a_sentence(&["shrink", file], words);
        refused_in_a_sentence(&["replay", file], words);
        assert!(!refused(&["shrink", file]).starts_with("cannot check"), "it says what it was to do");
    }
    let solo = path(&place.join("solo.lksrec")).to_owned();
    refused_in_a_sentence(&["check", &solo, &bad[4].0], "damaged");
    refused_in_a_sentence(&["check", "chaos", "--play", &bad[4].0], "damaged");
    let days = write(&place, "days", &endless(&good, 1_000_000));
    refused_in_a_sentence(&["check", "chaos", "--play", &days], "at most 1000000 are played");
    refused_in_a_sentence(&["check", "floats", &solo], "no WebAssembly module");
    refused_in_a_sentence(&["shrink", &solo, "--out", &bad[2].0], "it is there already");
    fs::remove_file(days).unwrap();
    assert_eq!(names(&place), before, "nothing is written");
    assert_eq!(fs::read(&solo).unwrap(), good);
}

#[test]
fn a_file_that_claims_weeks_of_play_keeps_nobody_who_interrupts() {
    let place = folder("check-weeks");
    let (_, good) = recorded(&place);
    let weeks = write(&place, "weeks", &endless(&good, 40_000_000));
    let mut replay = Running::start(&["replay", &weeks]);
    replay.await_on_stderr("recorded by");
    for reader in [replay, Running::start(&["check", &weeks])] {
        let ended = reader.interrupt();
        assert_eq!(ended.status.code(), None, "by the signal");
    }
}

/// A file that is larger than any recording, of which the disk holds nothing.
fn large(place: &Path) -> String {
    let file = place.join("large");
    fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    path(&file).to_owned()
}

#[test]
fn bad_bundles_are_refused_in_a_sentence_and_nothing_is_written() {
    let place = folder("explain-bad");
    let (solo, good) = recorded(&place);
    let of = |recordings: &[&[u8]]| {
        let recordings = recordings.iter().map(|bytes| bytes.to_vec()).collect();
        Bundle { player: PlayerId(0), recordings, missing: vec![PlayerId(1)] }.write()
    };
    let bundle = of(&[&good]);
    let bad = [
        (path(&place.join("none")).to_owned(), "No such file"),
        (write(&place, "empty", b""), "not a bundle"),
        (write(&place, "cut", &bundle[..bundle.len() - 1]), "breaks off"),
        (write(&place, "cut-early", &bundle[..9]), "breaks off"),
        (write(&place, "altered", &altered(&bundle, 100)), "damaged"),
        (write(&place, "picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "not a bundle"),
        (path(&solo).to_owned(), "not a bundle"),
        (write(&place, "long", &of(&[&vec![0; 1_100_000]])), "at most 1000000 are allowed"),
        (large(&place), "more than"),
    ];
    let page = place.join("page.html");
    let unusable = [&b""[..], b"nothing", &foreign(&good), &altered(&good, 200), &endless(&good, 4_000)];
    let hollow = write(&place, "hollow", &of(&unusable));
    let before = names(&place);
    for (file, words) in &bad {
        refused_in_a_sentence(&["explain", file, "--json", "--html", path(&page)], words);
    }
    // Why each of its recordings is left out is told before.
    assert!(refused(&["explain", &hollow, "--html", path(&page)]).contains("none of its recordings can be read"));
    refused_in_a_sentence(&["explain", &bad[1].0, "--table", path(&solo)], "not a bundle");
    assert_eq!(names(&place), before, "nothing is written");
    let one_left = write(&place, "one-left", &of(&[b"nothing", &good]));
    assert_eq!(run(&["explain", &one_left]).status.code(), Some(0), "what is left is in step");
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    for args in [
        &["check"][..],
        &["explain"],
        &["shrink"],
        &["check", "coverage", "--ticks", "0"],
        &["check", "coverage", "--heroes", "17"],
        &["check", "floats"],
        &["check", "chaos", "--only", "gremlin"],
        &["shrink", "x", "--breaker", "gremlin"],
    ] {
        let output = run(args);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{args:?}");
        assert!(text(&output.stderr).starts_with("error: "), "{args:?}");
    }
}

#[test]
fn recordings_in_step_end_with_0_and_a_pair_that_differs_with_1() {
    let place = folder("check-good");
    let (solo, good) = recorded(&place);
    let solo = path(&solo);
    let checked = run(&["check", solo, "--json"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert!(report["finding"].is_null() && report["peers"][0]["checksums"].as_u64() >= Some(35), "{report:#}");

    let (odd, page) = (write(&place, "odd", &odd(&good)), place.join("page.html"));
    let checked = run(&["check", solo, &odd, "--json", "--html", path(&page)]);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked.stderr));
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(report["finding"]["odd"], serde_json::json!([1]), "{report:#}");
    // Another process of the same program may do so in the same way: nobody is to blame.
    assert_eq!(report["finding"]["verdict"]["cause"], "Unknown", "{report:#}");
    assert_eq!(report["peers"][1]["who"], "Odd (P1)", "{report:#}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Odd") && page.ends_with("</html>"));

    let shrunk = run(&["shrink", solo, "--json"]);
    assert_eq!(shrunk.status.code(), Some(0), "nothing makes it fail: {}", text(&shrunk.stderr));
    assert!(!place.join("solo-small.lksrec").exists());
    let (shrunk, small) = (run(&["shrink", &odd, "--json"]), place.join("odd-small"));
    assert_eq!(shrunk.status.code(), Some(1), "{}", text(&shrunk.stderr));
    let outcome: serde_json::Value = serde_json::from_slice(&shrunk.stdout).unwrap();
    assert_eq!(outcome["file"], path(&small));
    assert_eq!(run(&["check", path(&small)]).status.code(), Some(1), "it still fails");
}

#[test]
fn what_a_recording_lacks_is_told() {
    let place = folder("check-lacks");
    let (solo, good) = recorded(&place);
    let mut empty = Recording::<Sim>::read(&good).unwrap_or_else(|error| panic!("{error}"));
    empty.entries.clear();
    let (torn, none) = (write(&place, "torn", &good[..good.len() - 3]), write(&place, "none", &empty.write()));
    let checked = run(&["check", &torn]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    assert!(text(&checked.stdout).contains("broke off while it was written"), "{}", text(&checked.stdout));
    let report: serde_json::Value = serde_json::from_slice(&run(&["check", &torn, "--json"]).stdout).unwrap();
    assert!(report["peers"][0]["ending"]["Torn"]["bytes"].as_u64() > Some(0), "{report:#}");

    let checked = run(&["check", &none]);
    assert_eq!(checked.status.code(), Some(2), "{}", text(&checked.stdout));
    assert!(text(&checked.stderr).starts_with("nothing is shown"), "{}", text(&checked.stderr));
    refused_in_a_sentence(&["check", path(&solo), path(&solo)], "the same recording");
    let replayed = run(&["replay", &none]);
    assert_eq!(replayed.status.code(), Some(2), "{}", text(&replayed.stderr));
    assert!(text(&replayed.stderr).contains("nothing is shown"), "{}", text(&replayed.stderr));
}

#[test]
fn recordings_that_no_window_can_show_are_told_why() {
    let place = folder("looked-at");
    let (solo, good) = recorded(&place);
    let (foreign, cat) = (write(&place, "foreign", &foreign(&good)), write(&place, "cat", b"a picture of a cat"));
    let hollow = Bundle { player: PlayerId(0), recordings: vec![b"nothing".to_vec()], missing: Vec::new() };
    let hollow = write(&place, "hollow", &hollow.write());
    for (file, words) in
        [(foreign.as_str(), "game tally"), (&cat, "not a recording"), (path(&solo), "no window can be opened")]
    {
        refused_in_a_sentence(&["replay", file, "--view", "window"], words);
    }
    assert!(refused(&["replay", &hollow, "--view", "window"]).contains("none of its recordings can be read"));
}

#[test]
fn only_a_page_is_written_over_by_a_page() {
    let place = folder("check-over");
    let (solo, good) = recorded(&place);
    let page = place.join("page.html");
    for _ in 0..2 {
        assert_eq!(run(&["check", path(&solo), "--html", path(&page)]).status.code(), Some(0));
    }
    refused_in_a_sentence(&["check", path(&solo), "--html", path(&solo)], "is no page");
    refused_in_a_sentence(&["check", path(&solo), "--html", path(&place.join("none/page.html"))], "No such file");
    refused_in_a_sentence(&["shrink", path(&solo), "--out", path(&place.join("none/small"))], "No such file");
    assert_eq!(fs::read(&solo).unwrap(), good);
}

#[test]
fn coverage_of_a_second_of_play_is_told_for_programs() {
    let output = run(&["check", "coverage", "--ticks", "20", "--heroes", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["uncovered"], serde_json::json!([]), "{report:#}");
    assert!(!report["kinds"].as_array().unwrap().is_empty());
}
