//! Sessions that outlive their processes, as people meet them: everyone is killed, and the session
//! goes on from a recording, over real WebRTC. One sentence for each recording that will not do.

use std::fs;
use std::path::Path;

use super::program::{Running, folder, refused, run, text};
use serde_json::Value;

/// The tick in a line of a peer that reports.
fn tick(peer: &mut Running) -> u64 {
    let line = peer.line();
    let word: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
    word["tick"].as_u64().expect("it plays")
}

/// Waits until a peer has played so many ticks. Returns how far it is.
fn until(peer: &mut Running, least: u64) -> u64 {
    std::iter::repeat_with(|| tick(peer)).find(|tick| *tick >= least).expect("it goes on")
}

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_party_whose_processes_were_all_killed_goes_on_with_the_same_heroes() {
    let place = folder("continued");
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let url = server.line();
    let file = |name: &str| at(&place, name);
    let bot = |name: &str, more: &[&str]| {
        let key = file(&format!("{name}.key"));
        let own = ["--bot", "--report", "--view", "none", "--signal", &url, "--name", name, "--identity", &key];
        Running::start(&[&own, more].concat())
    };
    let mut ada = bot("Ada", &["--room", "hall", "--record", &file("ada.lksrec")]);
    until(&mut ada, 10);
    let mut bram = bot("Bram", &["--room", "hall", "--record", &file("bram.lksrec")]);
    let known = until(&mut bram, 60);
    bram.kill();
    ada.kill();

    // Who came last founds it again, by what it recorded itself, and records on.
    let again = file("again.lksrec");
    let mut bram = bot("Bram", &["--continue", &file("bram.lksrec"), "--record", &again]);
    until(&mut bram, known);
    // The founder of until now joins, though it brings its own recording along.
    let mut ada = bot("Ada", &["--continue", &file("ada.lksrec"), "--seconds", "3"]);
    until(&mut ada, known);
    let (status, report) = ada.report();
    assert!(status.success(), "{report:#}");
    assert_eq!((&report["player"], &report["desyncs"]), (&0.into(), &0.into()), "the same hero: {report:#}");
    assert!(report["checksums_compared"].as_u64() > Some(0), "{report:#}");
    bram.signal();
    let (status, report) = bram.report();
    assert!(status.success(), "{report:#}");
    assert_eq!(report["player"], 1, "the same hero: {report:#}");
    // A process that is killed loses two seconds at most, beside what it was about to tell.
    let first = report["first_tick"].as_u64().unwrap();
    assert!(first + 50 >= known, "it goes on at tick {first}, and {known} were played");
    let replayed = run(&["replay", &again]);
    assert!(replayed.status.success(), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
    assert!(text(&replayed.stderr).contains(&format!("from tick {first} on")), "{}", text(&replayed.stderr));
}

#[test]
fn a_relay_that_was_killed_is_resumed_and_its_players_have_the_same_heroes() {
    let place = folder("resumed");
    let file = |name: &str| at(&place, name);
    let relay = |more: &[&str]| {
        let mut relay = Running::start(&[&["relay", "--listen", "127.0.0.1:0"], more].concat());
        let words: Vec<_> = relay.line().split(' ').skip(1).map(str::to_owned).collect();
        (relay, words)
    };
    let player = |words: &[String], name: &str, more: &[&str]| {
        let key = file(&format!("{name}.key"));
        let own = ["--view", "none", "--bot", "--report", "--name", name, "--identity", &key];
        let own = own.iter().chain(more).copied();
        Running::start(&words.iter().map(String::as_str).chain(own).collect::<Vec<_>>())
    };
    let names = ["Ada", "Bram", "Cleo"];
    let (first, words) = relay(&["--room", "hall", "--record", &file("relay.lksrec")]);
    let mut players: Vec<_> = names.iter().map(|name| player(&words, name, &[])).collect();
    let known = players.iter_mut().map(|player| until(player, 30)).max().unwrap();
    // What happened in the last two seconds may not be recorded yet.
    let known = players.iter_mut().map(|player| until(player, known + 60)).max().unwrap();
    first.kill();
    drop(players);

    let (second, words) = relay(&["--resume", &file("relay.lksrec"), "--record", &file("more.lksrec")]);
    assert!(words.contains(&"hall".to_owned()), "the room is the recorded one: {words:?}");
    // Not in the order in which they came first.
    let players: Vec<_> = names.iter().rev().map(|name| player(&words, name, &["--seconds", "4"])).collect();
    let mut numbers = Vec::new();
    for player in players {
        let (status, report) = player.report();
        assert!(status.success(), "{report:#}");
        assert!(report["first_tick"].as_u64() >= Some(known.saturating_sub(40)), "the ticks go on: {report:#}");
        numbers.push(report["player"].as_u64().unwrap());
    }
    numbers.sort();
    assert_eq!(numbers, [1, 2, 3], "nobody is another player");
    assert!(second.interrupt().status.success());
    let replayed = run(&["replay", &file("more.lksrec")]);
    assert!(replayed.status.success(), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
    // A replica's own recording is of a part.
    assert!(refused(&["play", "--solo", "--continue", &file("more.lksrec")]).contains("relay --resume"));
}

#[test]
fn a_game_alone_goes_on_with_its_own_hero() {
    let place = folder("continued-alone");
    let (file, key) = (at(&place, "game.lksrec"), at(&place, "own.key"));
    let alone = ["--solo", "--bot", "--view", "none", "--report", "--identity", &key];
    let mut game = Running::start(&[&alone[..], &["--record", &file]].concat());
    until(&mut game, 100);
    game.kill();
    // What was being written is left out.
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 3]).unwrap();
    let game = Running::start(&[&alone[..], &["--continue", &file, "--seconds", "1"]].concat());
    let (status, report) = game.report();
    assert!(status.success() && report["player"] == 0, "{report:#}");
    assert!(report["first_tick"].as_u64() >= Some(20), "{report:#}");
    assert_eq!(fs::read(&file).unwrap().len(), bytes.len() - 3, "the file stays as it is");
    let stranger = at(&place, "other.key");
    let other = [&alone[..5], &["--identity", &stranger, "--continue", &file, "--seconds", "1"]].concat();
    let (_, report) = Running::start(&other).report();
    assert_eq!(report["player"], 1, "another key is another player");
}

#[test]
fn a_recording_that_will_not_do_is_told_with_what_to_do() {
    let place = folder("not-continued");
    let file = |name: &str| at(&place, name);
    let go_on = |name: &str| refused(&["--solo", "--view", "none", "--continue", &file(name)]);
    assert!(go_on("none.lksrec").contains("No such file"));
    fs::write(place.join("text"), "what is no recording").unwrap();
    assert!(go_on("text").contains("not a recording"));

    let sound = file("sound.lksrec");
    let play = ["--solo", "--bot", "--view", "none", "--seconds", "2", "--record", &sound];
    assert!(run(&play).status.success());
    let bytes = fs::read(&sound).unwrap();
    let mut damaged = bytes.clone();
    damaged[200] ^= 1;
    fs::write(place.join("damaged"), damaged).unwrap();
    assert!(go_on("damaged").contains("damaged"));
    assert!(refused(&["--solo", "--continue", &sound, "--record", &sound]).contains("choose another name"));
    assert!(refused(&["--rollback", "--continue", &sound]).contains("leave out --rollback"));
    assert!(refused(&["play", "--relay", "--room", "hall", "--continue", &sound]).contains("leave out --continue"));
    assert_eq!(run(&["--solo", "--continue", &sound, "--seed", "1"]).status.code(), Some(2));
    assert!(refused(&["relay", "--resume", &sound]).contains("play --continue"));
    let other = file("other.bin");
    assert!(run(&["table", "generate", "--seed", &"ab".repeat(32), "--out", &other]).status.success());
    assert!(refused(&["--solo", "--continue", &sound, "--table", &other]).contains("random table"));

    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let (url, rollback) = (server.line(), file("rollback.lksrec"));
    let args =
        ["--bot", "--view", "none", "--report", "--rollback", "--room", "hall", "--signal", &url, "--seconds", "2"];
    let peers = [&[][..], &["--record", &rollback]].map(|more| Running::start(&[&args, more].concat()));
    peers.into_iter().for_each(|peer| assert!(peer.report().0.success()));
    assert!(go_on("rollback.lksrec").contains("no rollback session can be gone on with"));

    let (part, mut relay) = (file("part.lksrec"), Running::start(&["relay", "--listen", "127.0.0.1:0"]));
    let words: Vec<_> = relay.line().split(' ').skip(1).map(str::to_owned).collect();
    let more = ["--view", "none", "--bot", "--report", "--seconds", "1", "--record", &part];
    let player = Running::start(&words.iter().map(String::as_str).chain(more).collect::<Vec<_>>());
    assert!(player.report().0.success());
    assert!(go_on("part.lksrec").contains("relay --resume"));
    assert!(refused(&["relay", "--resume", &part]).contains("a part of a relay's world"));
}
