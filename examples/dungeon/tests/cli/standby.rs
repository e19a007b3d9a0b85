//! A relay's process is killed, and its standby's leads on, or it is started again: over real
//! WebRTC, with 16 players.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "real processes take real time")]

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::program::{Running, folder, refused, run, text};

const PLAYERS: usize = 16;

/// What a player told.
#[derive(Default)]
struct Told {
    /// The ticks that it played, and when.
    ticks: Vec<(Instant, u64)>,
    report: serde_json::Value,
}

fn told(lines: Receiver<(Instant, String)>) -> Told {
    let mut told = Told::default();
    for (at, line) in lines {
        let mut word: serde_json::Value = serde_json::from_str(&line).unwrap();
        match word["tick"].as_u64() {
            Some(tick) => told.ticks.push((at, tick)),
            None => told.report = word["report"].take(),
        }
    }
    told
}

/// A signaling server in a process of its own, and a relay with more arguments.
fn hall(more: &[&str]) -> (Running, String, Running) {
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let url = server.line();
    let relay = ["relay", "--room", "hall", "--seed", "5", "--signal", &url, "--host-token", "elder"];
    let mut relay = Running::start(&[&relay, more].concat());
    relay.line();
    (server, url, relay)
}

/// Players who play, and what they tell.
fn players(url: &str) -> Vec<(Running, Receiver<(Instant, String)>)> {
    let enter = |n: usize| {
        let name = format!("Bot{n}");
        let args = ["play", "--relay", "--room", "hall", "--signal", url, "--view", "none", "--bot", "--report"];
        let mut player = Running::start(&[&args[..], &["--name", &name, "--seconds", "40"]].concat());
        assert!(player.line().contains("tick"), "{name} plays");
        let lines = player.lines();
        (player, lines)
    };
    (0..PLAYERS).map(enter).collect()
}

/// All of them played on within a time of the relay's death, each as the same player.
fn assert_all_played_on(players: Vec<(Running, Receiver<(Instant, String)>)>, killed: Instant, within: Duration) {
    let mut numbers = Vec::new();
    for (_player, lines) in players {
        let Told { ticks, report } = told(lines);
        assert_eq!(report["desyncs"], 0, "{report:#}");
        // What was on its way when the relay died is no sign of life.
        let known = killed + Duration::from_millis(500);
        let last = ticks.iter().filter(|(at, _)| *at < known).map(|(_, tick)| *tick).max().unwrap_or(0);
        let again = ticks.iter().find(|(at, tick)| *at > known && *tick != last).map(|(at, _)| *at - killed);
        println!("player {} plays again after {again:?}", report["player"]);
        assert!(again.is_some_and(|took| took < within), "{report:#}");
        let end = ticks.last().map(|(_, tick)| *tick);
        assert!(end > Some(last + 200), "it plays on: {last}, {end:?}");
        numbers.push(report["player"].as_u64().unwrap());
    }
    numbers.sort();
    assert_eq!(numbers, (1..=PLAYERS as u64).collect::<Vec<_>>(), "nobody is another player");
}

fn assert_replays(file: &str) {
    let replayed = run(&["replay", file]);
    assert!(replayed.status.success(), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
}

#[test]
fn a_standby_leads_on_when_the_relay_is_killed() {
    let place = folder("standby");
    let recorded = place.join("standby.lksrec").to_str().unwrap().to_owned();
    let (_server, url, relay) = hall(&[]);
    let words = ["relay", "--standby", "hall", "--report", "--signal", &url, "--host-token", "elder"];
    let mut standby = Running::start(&[&words[..], &["--record", &recorded]].concat());
    let following = standby.lines();
    let players = players(&url);
    assert!(following.try_iter().count() > 0, "the standby plays what the relay closes");
    relay.kill();
    assert_all_played_on(players, Instant::now(), Duration::from_secs(10));
    assert!(standby.interrupt().status.success());
    assert_replays(&recorded);
}

#[test]
fn players_find_a_relay_that_is_started_again() {
    let place = folder("started-again");
    let file = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let (_server, url, relay) = hall(&["--record", &file("relay.lksrec")]);
    let players = players(&url);
    relay.kill();
    let killed = Instant::now();
    let words = ["relay", "--resume", &file("relay.lksrec"), "--signal", &url, "--host-token", "elder"];
    let again = Running::start(&[&words[..], &["--record", &file("more.lksrec")]].concat());
    assert_all_played_on(players, killed, Duration::from_secs(15));
    assert!(again.interrupt().status.success());
    assert_replays(&file("more.lksrec"));
}

#[test]
fn bad_input_is_told_with_what_to_do() {
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let url = server.line();
    let by = |more: &[&str]| refused(&[&["relay", "--signal", &url], more].concat());
    assert!(by(&["--standby", "hall", "--host-token", "elder"]).contains("no relay serves this room"));
    assert!(by(&["--standby", "no spaces", "--host-token", "elder"]).contains("A-Z a-z 0-9"));
    assert!(by(&["--standby", "hall", "--host-token", ""]).contains("1 to 128 bytes"));
    let mut relay = Running::start(&["relay", "--room", "hall", "--signal", &url, "--host-token", "elder"]);
    relay.line();
    assert!(by(&["--standby", "hall", "--host-token", "alder"]).contains("another token"));
    assert_eq!(run(&["relay", "--standby", "hall"]).status.code(), Some(2), "its token is not said");
    assert_eq!(run(&["relay", "--standby", "hall", "--host-token", "elder", "--bot"]).status.code(), Some(2));
}
