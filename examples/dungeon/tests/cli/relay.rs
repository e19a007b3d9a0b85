//! Relay sessions as people and programs meet them: whole sessions over real WebRTC, and one
//! sentence for each bad input.

use std::net::TcpListener;

use super::program::{Running, folder, refused, run, text};

/// A relay with more arguments, and the words after `play` with which its players join.
fn relay(more: &[&str]) -> (Running, Vec<String>) {
    let mut relay = Running::start(&[&["relay", "--listen", "127.0.0.1:0", "--room", "hall"], more].concat());
    let line = relay.line();
    let words: Vec<_> = line.split(' ').skip(1).map(str::to_owned).collect();
    assert!(
        line.starts_with("dungeon play --relay --room hall") && line.contains("--signal ws://127.0.0.1:"),
        "{line}"
    );
    (relay, words)
}

fn join<'a>(words: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    words.iter().map(String::as_str).chain(["--view", "none"]).chain(more.iter().copied()).collect()
}

/// A player that a bot plays. Returns once it is in the world.
fn player(words: &[String], name: &str, more: &[&str]) -> Running {
    let args = [&["--bot", "--report", "--name", name][..], more].concat();
    let mut player = Running::start(&join(words, &args));
    assert!(player.line().contains("tick"), "{name} plays");
    player
}

#[test]
fn a_relay_and_its_players_are_in_step_and_recorded() {
    let place = folder("relayed");
    let file = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let (relay, words) = relay(&["--seed", "5", "--record", &file("relay.lksrec")]);
    let names = ["Ada", "Bram", "Cleo"];
    let players = names.map(|name| (name, player(&words, name, &["--seconds", "5", "--record", &file(name)])));
    for (name, player) in players {
        let (status, report) = player.report();
        assert!(status.success(), "{report:#}");
        assert!(report["ticks"].as_u64() >= Some(90), "{report:#}");
        assert_eq!(report["desyncs"], 0);
        let replayed = run(&["replay", &file(name)]);
        assert!(replayed.status.success(), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
    }
    let ended = relay.interrupt();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("a tick"), "a line tells how it goes: {}", text(&ended.stderr));
    let replayed = run(&["replay", &file("relay.lksrec")]);
    assert!(replayed.status.success(), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
}

#[test]
fn a_relay_that_is_ended_ends_the_session_for_its_players() {
    let (relay, words) = relay(&["--bot", "--hero", "mage", "--name", "Host"]);
    let player = player(&words, "Ada", &[]);
    assert!(relay.interrupt().status.success());
    let (status, report) = player.report();
    assert!(status.success() && report["ended"].as_str().unwrap().contains("ended the session"), "{report:#}");
}

#[test]
fn who_may_not_join_is_told_why() {
    let other = folder("relay-door").join("other.bin");
    let other = other.to_str().unwrap();
    assert!(run(&["table", "generate", "--seed", &"ab".repeat(32), "--out", other]).status.success());
    let (relay, words) = relay(&["--key", "oak", "--players", "1"]);
    let at = words.iter().position(|word| word == "--signal").unwrap() + 1;
    let url = words[at].as_str();
    let hall = |more: &[&str]| refused(&[&["--room", "hall", "--signal", url, "--view", "none"], more].concat());
    assert!(hall(&["--relay"]).contains("another key"));
    assert!(hall(&["--relay", "--key", "elm"]).contains("another key"));
    let told = hall(&["--key", "oak"]);
    assert!(told.contains("belongs to a relay") && told.contains("--relay"), "{told}");
    let empty = refused(&["play", "--relay", "--room", "cellar", "--signal", url, "--view", "none"]);
    assert!(empty.contains("no relay serves this room"), "{empty}");
    let second = refused(&["relay", "--room", "hall", "--signal", url, "--key", "oak"]);
    assert!(second.contains("another token"), "{second}");
    assert!(refused(&join(&words, &["--table", other])).contains("random table differs"));
    let _player = player(&words, "Ada", &[]);
    assert!(refused(&join(&words, &[])).contains("places are taken"));
    assert!(relay.interrupt().status.success(), "the relay is none the worse");
}

#[test]
fn a_host_token_is_asked_of_every_relay() {
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0", "--host-token", "elder"]);
    let url = server.line();
    assert!(refused(&["relay", "--room", "hall", "--signal", &url]).contains("host token"));
    let mut relay = Running::start(&["relay", "--room", "hall", "--signal", &url, "--host-token", "elder"]);
    let words: Vec<_> = relay.line().split(' ').skip(1).map(str::to_owned).collect();
    player(&words, "Ada", &[]);
}

#[test]
fn bad_input_is_told_with_what_to_do() {
    let budget = refused(&["relay", "--listen", "127.0.0.1:0", "--budget", "0"]);
    assert!(budget.contains("--budget is 0, but must be 4096"), "{budget}");
    assert!(refused(&["relay", "--room", "no spaces"]).contains("A-Z a-z 0-9"));
    assert!(refused(&["relay", "--listen", "127.0.0.1:0", "--host-token", ""]).contains("1 to 128 bytes"));
    assert!(refused(&["relay", "--listen", "127.0.0.1:0", "--signal", "ws://127.0.0.1:1"]).contains("leave out one"));
    let page = run(&["signal", "--listen", "127.0.0.1:0", "--origin", "play.example.org/game"]);
    assert!(String::from_utf8_lossy(&page.stderr).contains("as in https://play.example.org"));
    assert!(refused(&["relay", "--hero", "bard"]).contains("--hero warrior"));
    assert_eq!(run(&["relay", "--listen", "nowhere"]).status.code(), Some(2));
    assert_eq!(run(&["relay", "--players", "0"]).status.code(), Some(2));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let told = refused(&["relay", "--listen", &addr]);
    assert!(told.contains("taken") && told.contains("--signal"), "{told}");
    drop(taken);
    let url = format!("ws://{addr}");
    let joining = |more: &[&str]| refused(&[&["play", "--relay", "--room", "hall", "--signal", &url], more].concat());
    assert!(joining(&[]).contains("no signaling server answers"));
    for (option, value) in
        [("--rollback", None), ("--input-delay", Some("3")), ("--peers", Some("2")), ("--seed", Some("1"))]
    {
        let told = joining(&std::iter::once(option).chain(value).collect::<Vec<_>>());
        assert!(told.contains(option) && told.contains("leave out"), "{told}");
    }
    assert!(refused(&["play", "--relay"]).contains("--room"));
    assert!(refused(&["demo", "--relay", "--rollback"]).contains("leave out --rollback"));
    assert!(refused(&["demo", "--peers", "17"]).contains("add --relay"));
}

#[test]
fn a_key_too_long_is_told() {
    let told = text(&run(&["relay", "--listen", "127.0.0.1:0", "--key", &"k".repeat(129)]).stderr).to_owned();
    assert!(told.contains("at most 128 bytes"), "{told}");
}

#[test]
fn a_demo_compares_the_replicas_with_their_relay() {
    let demo = run(&["demo", "--relay", "--peers", "3", "--seconds", "4", "--seed", "5", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&demo.stdout).unwrap();
    assert!(demo.status.success(), "{told:#}");
    assert_eq!((&told["ok"], told["replicas"].as_array().unwrap().len()), (&true.into(), 3));
    assert!(told["cells_cross_checked"].as_u64() > Some(0), "{told:#}");
}

#[test]
fn a_demo_finds_a_replica_of_another_world() {
    let place = folder("relay-fault");
    let args = ["demo", "--relay", "--peers", "2", "--seconds", "5", "--seed", "5", "--json", "--plant-fault"];
    let demo = super::program::dungeon(&args).current_dir(&place).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&demo.stdout).unwrap();
    assert_eq!(demo.status.code(), Some(1), "{told:#}");
    assert!(told["verdict"].as_str().unwrap().contains("OUT OF STEP"), "{told:#}");
}
