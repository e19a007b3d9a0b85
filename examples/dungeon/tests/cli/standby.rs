//! A relay's process is killed, and its standby's leads on, or it is started again: over real
//! WebRTC, with 16 players.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "real processes take real time")]

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::program::{Running, folder, refused, run, text};

const PLAYERS: usize = 16;

/// What a player tells, and when.
type Lines = Receiver<(Instant, String)>;

/// A signaling server in a process of its own, and a relay with more arguments.
fn hall(more: &[&str]) -> (Running, String, Running) {
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let url = server.line();
    let relay = ["relay", "--room", "hall", "--seed", "5", "--signal", &url, "--host-token", "elder"];
    let mut relay = Running::start(&[&relay, more].concat());
    relay.line();
    (server, url, relay)
}

/// Players who play until they are interrupted: when the last one enters depends on the machine.
fn players(url: &str) -> Vec<(Running, Lines)> {
    let enter = |n: usize| {
        let name = format!("Bot{n}");
        let args = ["play", "--relay", "--room", "hall", "--signal", url, "--view", "none", "--bot", "--report"];
        let mut player = Running::start(&[&args[..], &["--name", &name, "--seconds", "300"]].concat()).playing();
        let lines = player.lines();
        (player, lines)
    };
    (0..PLAYERS).map(enter).collect()
}

/// Waits until a player has played on for 200 ticks. Returns how long after the relay's death it
/// played again, or nothing if it ended instead.
fn plays_on(lines: &Lines, killed: Instant) -> Option<Duration> {
    // What was on its way when the relay died is no sign of life.
    let known = killed + Duration::from_millis(500);
    let tick = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["tick"].as_u64();
    let mut ticks = lines.iter().filter_map(|(at, line)| Some((at, tick(&line)?)));
    let mut last = 0;
    let (again, _) = ticks.find(|&(at, tick)| {
        let is_further = at > known && tick != last;
        if !is_further {
            last = tick;
        }
        is_further
    })?;
    ticks.find(|(_, tick)| *tick > last + 200)?;
    Some(again - killed)
}

/// All of them played on within a time of the relay's death, each as the same player.
fn assert_all_played_on(players: Vec<(Running, Lines)>, killed: Instant, within: Duration) {
    let took: Vec<_> = players.iter().map(|(_, lines)| plays_on(lines, killed)).collect();
    let mut numbers = Vec::new();
    for ((player, lines), took) in players.iter().zip(took) {
        player.signal();
        let last = lines.iter().last().map(|(_, line)| line).unwrap_or_default();
        let report = serde_json::from_str::<serde_json::Value>(&last).unwrap_or_default()["report"].take();
        println!("player {} plays again after {took:?}", report["player"]);
        assert!(took.is_some_and(|took| took < within), "{report:#}");
        assert_eq!(report["desyncs"], 0, "{report:#}");
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
