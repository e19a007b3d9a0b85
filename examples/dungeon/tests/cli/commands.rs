//! The command line as people and programs meet it: exit codes, one sentence for each bad input,
//! whole sessions over real WebRTC.
//!
//! Nothing here sleeps or has a fixed port: servers listen at port 0 and say where, peers
//! say when they play.

use std::fs;
use std::net::TcpListener;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::program::{Running, dungeon, folder, refused, run, text};
use dungeon::DungeonGame;
use lockstone::game::Game;
use lockstone::recording::{Entry, Recording};

/// A signaling server, and a peer that plays in its room `hall` with more arguments.
fn hall(more: &[&str]) -> (Running, String, Running) {
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let url = server.line();
    let args = ["--bot", "--report", "--view", "none", "--room", "hall", "--signal", &url, "--name", "Ada"];
    let mut founder = Running::start(&[&args, more].concat());
    assert!(founder.line().contains("tick"), "the founder plays");
    (server, url, founder)
}

/// A signaling server, and as many peers in its room `hall`, who begin a rollback session together.
fn rollback_hall(peers: usize, more: &[&str]) -> (Running, String, Vec<Running>) {
    let mut server = Running::start(&["signal", "--listen", "127.0.0.1:0"]);
    let (url, count) = (server.line(), peers.to_string());
    let args = ["--bot", "--report", "--view", "none", "--room", "hall", "--signal", &url, "--rollback"];
    let args = [&args[..], &["--peers", &count], more].concat();
    let names = ["Ada", "Bram", "Cleo", "Dirk"].into_iter().take(peers);
    let mut running: Vec<_> = names.map(|name| Running::start(&[&args[..], &["--name", name]].concat())).collect();
    running.iter_mut().for_each(|peer| assert!(peer.line().contains("tick"), "everyone plays"));
    (server, url, running)
}

#[test]
fn bad_arguments_are_told_with_what_to_do() {
    assert!(refused(&["--solo", "--hero", "bard"]).contains("warrior, --hero ranger, --hero mage"));
    assert!(refused(&["--room", "no spaces", "--signal", "ws://127.0.0.1:1"]).contains("A-Z a-z 0-9"));
    assert!(refused(&["--solo", "--name", ""]).contains("--name"));
    assert!(refused(&["--solo", "--shot", "/no/such/folder/x.png"]).contains("/no/such/folder/x.png"));
    assert!(refused(&["--solo", "--record", "/no/such/folder/x"]).contains("/no/such/folder/x"));
    assert!(refused(&["--solo", "--record", "/"]).contains("it is a folder"));
    assert!(refused(&["--solo", "--shot", "picture.jpg"]).contains("name a file that ends in .png"));
    assert!(refused(&["crowd", "--plot", "cost.png"]).contains("name a file that ends in .svg"));
    for (view, cause) in [("window", "no window can be opened"), ("terminal", "there is no terminal")] {
        let told = refused(&["--solo", "--view", view, "--seconds", "1"]);
        assert!(told.contains(cause) && told.contains("another --view"), "{told}");
    }
    assert!(refused(&["--solo", "--table", "/no/such/table"]).contains("/no/such/table"));
    assert!(refused(&["replay", "/no/such/recording"]).contains("/no/such/recording"));
    assert!(refused(&["replay", "/no/such/recording", "--view", "window"]).contains("cannot read /no/such/recording"));
    assert!(refused(&["replay", "one", "two"]).contains("look at them with --view window"));
    assert!(refused(&["--solo", "--input-delay", "0"]).contains("only --rollback plays without input delay"));
    let ahead = refused(&["--rollback", "--input-delay", "9", "--max-prediction", "5"]);
    assert!(ahead.contains("--input-delay is 9") && ahead.contains("--max-prediction, 5"), "{ahead}");
    for peers in ["1", "5"] {
        for command in ["play", "demo"] {
            let told = refused(&[command, "--rollback", "--peers", peers]);
            assert!(told.contains("2 to 4 peers") && told.contains("leave out --rollback"), "{told}");
        }
    }
    assert!(refused(&["--rollback", "--max-prediction", "31"]).contains("--max-prediction is 31"));
    assert!(refused(&["demo", "--input-delay", "21"]).contains("must be 1 to 20"));
    assert_eq!(run(&["--rollback", "--solo"]).status.code(), Some(2));
    assert_eq!(run(&["--max-prediction", "5"]).status.code(), Some(2), "a party predicts nothing");
    assert!(refused(&["demo", "--peers", "1"]).contains("nobody to be compared with"));
    assert!(refused(&["demo", "--peers", "17"]).contains("at most 16 peers"));
    for peers in ["0", "65"] {
        assert_eq!(run(&["--peers", peers]).status.code(), Some(2));
        assert_eq!(run(&["demo", "--peers", peers]).status.code(), Some(2));
    }
}

#[test]
fn help_and_version_are_the_games_own() {
    for args in [&["--help"][..], &["play", "--help"], &["relay", "--help"]] {
        let help = run(args);
        assert!(text(&help.stdout).contains("one of warrior, ranger, mage"), "{args:?}: {}", text(&help.stdout));
    }
    assert!(text(&run(&["--help"]).stdout).starts_with("A co-op dungeon"));
    assert_eq!(text(&run(&["--version"]).stdout), format!("dungeon {}\n", env!("CARGO_PKG_VERSION")));
}

/// It played on for 112 s.
#[test]
fn a_large_crowd_keeps_nobody_who_interrupts() {
    let mut command = dungeon(&["crowd", "--players", "500"]);
    command.env("LOCKSTONE_LOG", "lockstone::session=info");
    let mut crowd = Running::of(command);
    // Many of them play, and nobody is done.
    crowd.await_on_stderr(" player=100 ");
    let said = crowd.lines();
    crowd.signal();
    let ended = said.recv_timeout(Duration::from_secs(2));
    assert!(matches!(ended, Err(RecvTimeoutError::Disconnected)), "2 s later it has not ended: {ended:?}");
    assert_eq!(crowd.interrupt().status.code(), None, "by the signal");
}

#[test]
fn no_signaling_server_and_a_taken_port_are_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    assert!(refused(&["signal", "--listen", &addr]).contains("taken"));
    drop(taken);
    let told = refused(&["--room", "hall", "--signal", &format!("ws://{addr}"), "--view", "none"]);
    assert!(told.contains("no signaling server answers") && told.contains("--signal"), "{told}");
    for command in ["play", "relay"] {
        for url in [&format!("http://{addr}"), "ws://", &addr] {
            let refused = run(&[command, "--room", "hall", "--signal", url]);
            let told = text(&refused.stderr);
            assert!(told.contains("as ws://host:port, or wss://host") && !told.contains("kept"), "{told}");
            assert_eq!(refused.status.code(), Some(2));
        }
    }
}

#[test]
fn a_page_is_served_beside_signaling_and_linked_to() {
    let place = folder("page");
    let path = place.to_str().unwrap();
    assert!(refused(&["serve", "--listen", "127.0.0.1:0", "--page", path]).contains("cargo xtask page"));
    fs::write(place.join("index.html"), "<!doctype html>").unwrap();
    let mut server = Running::start(&["serve", "--listen", "127.0.0.1:0", "--page", path]);
    let url = server.line();
    let args = ["--bot", "--report", "--view", "none", "--room", "hall", "--signal", &url, "--key", "an oak"];
    let mut founder = Running::start(&args);
    let page = url.replace("ws://", "http://");
    founder.await_on_stderr(&format!("In a browser: {page}/#room=hall&key=an%20oak"));
    assert!(founder.line().contains("tick"), "it plays");
}

#[test]
fn tables_are_made_verified_and_refused_when_damaged() {
    let file = folder("tables").join("table.bin");
    let path = file.to_str().unwrap();
    let seed: String = lockstone::table::DEFAULT_SEED.iter().map(|byte| format!("{byte:02x}")).collect();
    let made = run(&["table", "generate", "--seed", &seed, "--out", path]);
    assert!(made.status.success());
    let verified = run(&["table", "verify", path]);
    assert!(verified.status.success() && verified.stdout == made.stdout);
    let mut bytes = fs::read(&file).unwrap();
    assert_eq!(bytes, lockstone::default_table().to_bytes(), "the embedded table is the one of its documented seed");
    bytes[5_000] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert!(refused(&["table", "verify", path]).contains("damaged"));
    assert!(refused(&["--solo", "--table", path]).contains("damaged"));
    assert!(refused(&["table", "generate", "--seed", "12", "--out", path]).contains("64 hexadecimal digits"));
}

#[test]
fn a_game_alone_is_recorded_replayed_and_pictured() {
    let folder = folder("alone");
    let (record, shot) = (folder.join("game.lksrec"), folder.join("game.png"));
    let (record, shot) = (record.to_str().unwrap(), shot.to_str().unwrap());
    let args =
        ["--solo", "--bot", "--view", "none", "--seconds", "2", "--seed", "3", "--record", record, "--shot", shot];
    let played = run(&args);
    assert!(played.status.success(), "{}", text(&played.stderr));
    assert!(fs::read(shot).unwrap().starts_with(b"\x89PNG"));
    let replayed = run(&["replay", record]);
    assert!(replayed.status.success() && text(&replayed.stdout).contains("verdict in step"));
    assert!(refused(&args).contains("is there already"), "a recording is never written over");
    let gif = folder.join("game.gif");
    let draw = ["replay", record, "--gif", gif.to_str().unwrap(), "--from", "10"];
    let drawn = run(&[&draw[..], &["--to", "20"]].concat());
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    assert!(fs::read(&gif).unwrap().starts_with(b"GIF89a"));
    let webp = folder.join("game.webp");
    let drawn = run(&["replay", record, "--webp", webp.to_str().unwrap(), "--to", "20"]);
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    let webp = fs::read(webp).unwrap();
    assert!(webp.starts_with(b"RIFF") && webp[8..].starts_with(b"WEBP") && webp.windows(4).any(|word| word == b"ANMF"));
    let both = run(&[&draw[..], &["--webp", "a.webp"]].concat());
    assert!(both.status.code() == Some(2) && text(&both.stderr).contains("cannot be used with"));
    assert!(refused(&[&draw[..], &["--to", "20"]].concat()).contains("is there already"));
    assert!(refused(&[&draw[..], &["--to", "9999"]].concat()).contains("choose others with --from and --to"));

    let mut bytes = fs::read(record).unwrap();
    fs::write(record, &bytes[..bytes.len() - 3]).unwrap();
    let torn = run(&["replay", record]);
    assert!(torn.status.success() && text(&torn.stderr).contains("left out"), "{}", text(&torn.stderr));
    bytes[100] ^= 1;
    fs::write(record, &bytes).unwrap();
    assert!(refused(&["replay", record]).contains("damaged"));
    fs::write(record, b"something else").unwrap();
    assert!(refused(&["replay", record]).contains("not a recording"));
}

#[test]
fn an_interrupt_leaves_cleanly_and_closes_the_recording() {
    let record = folder("interrupt").join("game.lksrec");
    let record = record.to_str().unwrap();
    let mut peer = Running::start(&["--solo", "--bot", "--report", "--view", "none", "--record", record]);
    assert!(peer.line().contains("tick"));
    assert!(peer.interrupt().status.success());
    let replayed = run(&["replay", record]);
    assert!(text(&replayed.stderr).contains("It was closed"), "{}", text(&replayed.stderr));
    assert!(replayed.status.success());
}

#[test]
fn a_wrong_key_and_another_build_are_refused_at_the_door() {
    let other = folder("door").join("other.bin");
    let other = other.to_str().unwrap();
    assert!(run(&["table", "generate", "--seed", &"ab".repeat(32), "--out", other]).status.success());
    let (_server, url, founder) = hall(&["--key", "oak"]);
    let join = |more: &[&str]| refused(&[&["--view", "none", "--room", "hall", "--signal", &url], more].concat());
    assert!(join(&[]).contains("another key"));
    assert!(join(&["--key", "elm"]).contains("another key"));
    assert!(join(&["--key", "oak", "--table", other]).contains("random table differs"));
    let kind = "kind of session differs (session party, joiner rollback)";
    let told = run(&["--view", "none", "--room", "hall", "--signal", &url, "--key", "oak", "--rollback"]);
    let told = text(&told.stderr);
    assert!(told.contains(kind) && told.contains("leave out --rollback"), "{told}");
    assert_eq!(told.matches(kind).count(), 1, "it is said once: {told}");
    // How far ahead it would close ticks is no matter of joining.
    let args = ["--bot", "--report", "--view", "none", "--room", "hall", "--signal", &url, "--key", "oak"];
    let mut joiner = Running::start(&[&args[..], &["--name", "Bram", "--input-delay", "9"]].concat());
    joiner.await_on_stderr("A friend joins with: dungeon --room hall --key oak --signal ");
    assert!(joiner.line().contains("tick"), "it plays");
    assert!(joiner.interrupt().status.success());
    let ended = founder.interrupt();
    assert!(ended.status.success(), "the founder is none the worse: {}", text(&ended.stderr));
}

#[test]
fn a_rollback_session_takes_in_only_peers_of_its_own_settings_and_none_later() {
    let (_server, url, peers) = rollback_hall(2, &[]);
    let join = |more: &[&str]| refused(&[&["--view", "none", "--room", "hall", "--signal", &url], more].concat());
    assert!(join(&[]).contains("kind of session differs (session rollback, joiner party)"));
    assert!(join(&["--rollback", "--input-delay", "2"]).contains("input delay differs (session 0, joiner 2)"));
    assert!(join(&["--rollback", "--max-prediction", "5"]).contains("prediction limit differs (session 8, joiner 5)"));
    let third = join(&["--rollback"]);
    assert!(third.contains("places are taken") || third.contains("has begun"), "{third}");
    for peer in peers {
        let ended = peer.interrupt();
        assert!(ended.status.success(), "the players are none the worse: {}", text(&ended.stderr));
    }
}

#[test]
fn a_rollback_session_goes_on_without_a_peer_that_was_killed() {
    let (_server, _url, mut peers) = rollback_hall(3, &["--until", "160"]);
    peers.remove(1).kill();
    for peer in peers {
        let (status, report) = peer.report();
        assert!(status.success() && report["ticks"].as_u64() >= Some(160), "{report:#}");
        assert!(report["rollback"]["regroupings"].as_u64() >= Some(1), "{report:#}");
        assert_eq!(report["desyncs"], 0, "{report:#}");
        assert!(report["checksums_compared"].as_u64() >= Some(10), "{report:#}");
    }
}

/// Lets bots play, and checks that nothing differed. Returns what each reported.
fn demo_in_step(more: &[&str]) -> Vec<serde_json::Value> {
    let demo = run(&[&["demo", "--peers", "3", "--seconds", "4", "--seed", "5", "--json"], more].concat());
    let mut told: serde_json::Value = serde_json::from_slice(&demo.stdout).unwrap();
    assert!(demo.status.success(), "{told:#}");
    assert_eq!((&told["ok"], &told["ticks_expected"]), (&true.into(), &80.into()));
    assert!(told["checksums_cross_checked"].as_u64() >= Some(14));
    let peers = told["peers"].as_array_mut().unwrap();
    assert_eq!(peers.len(), 3);
    for peer in &*peers {
        assert!(peer["ticks"].as_u64() >= Some(80) && peer["checksums_compared"].as_u64() > Some(0), "{peer:#}");
        assert_eq!(peer["desyncs"], 0);
    }
    std::mem::take(peers)
}

#[test]
fn a_demo_plays_over_webrtc_and_compares_the_worlds() {
    let peers = demo_in_step(&[]);
    let delays: Vec<_> = peers.iter().filter_map(|peer| peer["input_delay_ticks"].as_u64()).collect();
    assert_eq!(delays, [3], "of whoever closes ticks, and no line is known for long");
    for peer in peers {
        assert!(peer.get("rollback").is_none());
        // Bots see their own heroes answer at once, and what that costs is told.
        assert!(peer["ahead"]["compared"].as_u64() > Some(40), "{peer:#}");
        assert!(peer["work"]["ahead_us"].as_f64() > Some(0.0), "{peer:#}");
    }
}

#[test]
fn a_demo_goes_on_while_its_bots_log_more_than_a_pipe_holds() {
    let mut demo = dungeon(&["demo", "--peers", "2", "--seconds", "2", "--json"]);
    let demo = demo.env("LOCKSTONE_LOG", "trace").output().unwrap();
    // How fast a machine plays and logs is not asked here.
    let told: serde_json::Value = serde_json::from_slice(&demo.stdout).expect("it comes to a verdict");
    assert_eq!(told["peers"].as_array().map(Vec::len), Some(2), "{told:#}");
}

#[test]
fn in_a_longer_demo_the_last_bot_comes_late() {
    let demo = run(&["demo", "--peers", "2", "--seconds", "10", "--seed", "5", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&demo.stdout).unwrap();
    assert!(demo.status.success(), "{told:#}");
    let mut first: Vec<_> = told["peers"].as_array().unwrap().iter().map(|peer| peer["first_tick"].as_u64()).collect();
    first.sort();
    assert!(first[0] == Some(0) && first[1] > Some(0), "{told:#}");
}

#[test]
fn a_rollback_demo_plays_over_webrtc_and_compares_the_worlds() {
    let peers = demo_in_step(&["--rollback"]);
    assert!(peers.iter().all(|peer| peer.get("ahead").is_none()), "it has no need to look ahead: {peers:#?}");
    let rollbacks = peers.iter().filter_map(|peer| peer["rollback"]["rollbacks"].as_u64()).sum::<u64>();
    assert!(rollbacks > 0, "bots give commands that nobody predicts: {peers:#?}");
}

/// Lets bots play, one of them in another world, and checks that it is found out.
fn demo_with_fault(folder_name: &str, more: &[&str]) {
    let place = folder(folder_name);
    let args = ["demo", "--peers", "2", "--seconds", "6", "--seed", "5", "--json", "--plant-fault"];
    let demo = dungeon(&[&args, more].concat()).current_dir(&place).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&demo.stdout).unwrap();
    assert_eq!(demo.status.code(), Some(1), "{told:#}");
    assert!(told["verdict"].as_str().unwrap().contains("OUT OF STEP"), "{told:#}");
    for peer in told["peers"].as_array().unwrap() {
        assert!(peer["desyncs"].as_u64() >= Some(1), "{peer:#}");
        let record = place.join(peer["recording"].as_str().expect("a recording was saved"));
        assert!(fs::metadata(&record).unwrap().len() > 100);
        if more.contains(&"--rollback") {
            let bytes = fs::read(&record).unwrap();
            let read = Recording::<<DungeonGame as Game>::Sim>::read(&bytes).unwrap_or_else(|error| panic!("{error}"));
            assert!(read.entries.iter().any(|entry| matches!(entry, Entry::Signed(_))), "players sign what they give");
        }
        // The healthy peer's recording replays in step; what the faulty one played is not
        // what the seed gives.
        let replayed = run(&["replay", record.to_str().unwrap()]);
        let faulty = peer["name"] == "Bot-2";
        assert_eq!(replayed.status.code(), Some(i32::from(faulty)), "{}", text(&replayed.stdout));
        // Each has the evidence of both, and it blames the faulty one.
        let bundle = place.join(peer["bundle"].as_str().expect("a bundle was saved"));
        assert!(fs::metadata(&bundle).unwrap().len() <= 1_000_000);
        let explained = run(&["explain", bundle.to_str().unwrap(), "--json"]);
        assert_eq!(explained.status.code(), Some(1), "{}", text(&explained.stderr));
        let report: serde_json::Value = serde_json::from_slice(&explained.stdout).unwrap();
        assert!(matches!(blamed(&report)[..], [who] if who.starts_with("Bot-2 ")), "{report:#}");
        // Its own program has played again: it was given another seed, and in which line
        // that shows first.
        let finding = &report["finding"];
        assert_eq!(finding["verdict"]["cause"], "StartData", "{report:#}");
        let first = &finding["bad_writes"][0];
        // Where the other world has nothing at all, only one side has a place.
        let is_told =
            |side: &str| first[side]["file"].as_str().is_some_and(|file| file.starts_with("examples/dungeon/src/"));
        let entered = first["phase"] == "Turn" && more.contains(&"--rollback");
        assert!(entered || is_told("here") || is_told("there"), "{report:#}");
    }
}

/// Whom a report blames, by name.
fn blamed(report: &serde_json::Value) -> Vec<&str> {
    let blamed = report["finding"]["verdict"]["blamed"].as_array().unwrap();
    let who = |peer: &serde_json::Value| report["peers"][peer.as_u64().unwrap() as usize]["who"].as_str().unwrap();
    blamed.iter().map(who).collect()
}

#[test]
fn a_world_that_differs_is_found_told_and_recorded_on_both_sides() {
    demo_with_fault("fault", &[]);
}

#[test]
fn a_world_that_differs_is_found_in_a_rollback_session_too() {
    demo_with_fault("rollback-fault", &["--rollback"]);
}

#[test]
fn floats_are_told_from_none_and_from_what_is_no_module() {
    let file = |name: &str, bytes: &[u8]| {
        let path = folder("floats").join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // A function that returns 1.0, and one that returns 1.
    let one = b"\0asm\x01\0\0\0\x01\x05\x01\x60\0\x01\x7d\x03\x02\x01\0\x0a\x09\x01\x07\0\x43\0\0\x80\x3f\x0b";
    let none = b"\0asm\x01\0\0\0\x01\x05\x01\x60\0\x01\x7f\x03\x02\x01\0\x0a\x06\x01\x04\0\x41\x01\x0b";
    let output = run(&["check", "floats", &file("one.wasm", one), "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["functions"][0]["first"], "f32.const");
    assert_eq!(run(&["check", "floats", &file("one.wasm", one), "--allow", "function 0"]).status.code(), Some(0));

    let output = run(&["check", "floats", &file("none.wasm", none)]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "functions 1\nfloats 0\n"));

    assert!(refused(&["check", "floats", &file("cut.wasm", &one[..25])]).contains("damaged"));
    assert!(refused(&["check", "floats", &file("text", b"no module")]).contains("no WebAssembly module"));
    assert!(refused(&["check", "floats", "no/such.wasm"]).contains("cannot read"));
}
