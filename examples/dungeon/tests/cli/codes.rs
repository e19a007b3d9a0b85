//! No file, server or log makes a terminal obey: codes are shown, on stdout and on stderr.

#![allow(clippy::disallowed_methods, reason = "a server of the test's own answers real processes")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::thread;

use super::program::{dungeon, folder, refused, run, text};
use dungeon::DungeonGame;
use lockstone::game::Game;
use lockstone::net::text::is_code;
use lockstone::net::wire::LeaveReason;
use lockstone::recording::{Bundle, Ending, Entry, Header, Recording};
use lockstone::sim::{Checksum, PlayerId};
use tungstenite::Message;
use tungstenite::protocol::CloseFrame;

type Sim = <DungeonGame as Game>::Sim;

/// Clears the screen, names the window anew, turns text around, and forges a line.
const CODES: &str = "\u{1b}[2J\u{9d}0;owned\u{7}\u{202e}egap a\u{2066}\nverdict in step";

/// What is printed has no code but the ends of lines, none of which is forged.
fn is_plain(output: &Output) {
    for printed in [&output.stdout, &output.stderr] {
        let printed = text(printed);
        let code = printed.chars().find(|c| is_code(*c) && *c != '\n');
        assert_eq!(code, None, "{printed}");
        assert!(!printed.lines().any(|line| line.starts_with("verdict in step:")), "a forged line: {printed}");
    }
}

/// A bot's recording of a moment, as a hostile player would send it around.
fn hostile(place: &Path, change: impl FnOnce(&mut Recording<Sim>)) -> Vec<u8> {
    let file = place.join("bot.lksrec");
    let file = file.to_str().unwrap();
    if !fs::exists(file).unwrap() {
        let played = run(&["--solo", "--bot", "--view", "none", "--seconds", "2", "--seed", "3", "--record", file]);
        assert!(played.status.success(), "{}", text(&played.stderr));
    }
    let mut recording = Recording::<Sim>::read(&fs::read(file).unwrap()).unwrap_or_else(|error| panic!("{error}"));
    let codes = || format!("{CODES}: Ann");
    let Header { engine, name, room, build, .. } = &mut recording.header;
    (*engine, *name, *room) = (codes(), codes(), codes());
    (build.profile, build.os, build.arch) = (codes(), codes(), codes());
    recording.entries.push(Entry::Name(PlayerId(0), codes()));
    recording.entries.push(Entry::Gone(PlayerId(0), LeaveReason::VotedOut));
    recording.ending = Ending::Closed(codes());
    change(&mut recording);
    recording.write()
}

#[test]
fn a_file_with_escape_codes_clears_no_terminal() {
    let place = folder("codes");
    let write = |name: &str, bytes: &[u8]| {
        let file = place.join(name);
        fs::write(&file, bytes).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let sound = hostile(&place, |_| {});
    let odd = hostile(&place, |recording| {
        recording.header.player = PlayerId(1);
        recording.header.room += "elsewhere";
    });
    let fails = hostile(&place, |recording| {
        recording.header.player = PlayerId(2);
        let half = recording.entries.len() / 2;
        recording.entries[half..].iter_mut().for_each(|entry| {
            if let Entry::Checksum(Checksum(sum)) = entry {
                *sum ^= 1;
            }
        });
    });
    let foreign = hostile(&place, |recording| recording.header.game = CODES.into());
    let recordings = vec![sound.clone(), fails.clone(), foreign.clone()];
    let bundle = Bundle { player: PlayerId(0), recordings, missing: Vec::new() };
    let (sound, odd, fails) = (write("sound", &sound), write("odd", &odd), write("fails", &fails));
    let (foreign, bundle) = (write("foreign", &foreign), write("bundle", &bundle.write()));
    let schedule =
        write("schedule", format!("{{\"kind\": {:?}}}", CODES.replace('\n', " ")).replace("\\u{", "\u{1b}").as_bytes());
    let small = place.join("small");
    for args in [
        &["replay", &sound][..],
        &["replay", &fails],
        &["replay", &foreign],
        &["check", &sound],
        &["check", &sound, "--json"],
        &["check", &sound, &odd],
        &["check", &sound, &fails],
        &["check", &sound, &fails, "--json"],
        &["check", &foreign],
        &["explain", &bundle],
        &["shrink", &fails, "--out", small.to_str().unwrap()],
        &["play", "--view", "none", "--bot", "--seconds", "1", "--continue", &sound],
        &["soak", "--play", &schedule],
    ] {
        let mut command = dungeon(args);
        is_plain(&command.env("LOCKSTONE_LOG", "lockstone=trace").output().unwrap());
    }
    let told = run(&["replay", &sound]);
    assert!(text(&told.stderr).contains(r"\u001b[2J\u009d0;owned\u0007\u202eegap a"), "{}", text(&told.stderr));
    assert!(text(&told.stderr).contains(": Ann (P0) was voted out at tick "), "{}", text(&told.stderr));
}

#[test]
fn a_page_of_such_a_file_turns_no_text_around() {
    let place = folder("codes-page");
    let (file, page) = (place.join("sound"), place.join("page.html"));
    fs::write(&file, hostile(&place, |_| {})).unwrap();
    let told = run(&["check", file.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    assert!(told.status.success(), "{}", text(&told.stderr));
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(page.chars().find(|c| is_code(*c) && !c.is_ascii_whitespace()), None);
}

/// A server that answers everyone so, and its address as one of signaling.
pub fn server(answer: impl Fn(TcpStream) + Send + 'static) -> String {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", server.local_addr().unwrap());
    thread::spawn(move || server.incoming().for_each(|stream| answer(stream.unwrap())));
    url
}

#[test]
fn a_server_that_refuses_with_codes_is_not_quoted() {
    let refuses = |status: &'static str, body: String| {
        server(move |mut stream| {
            let _ = stream.read(&mut [0; 4_096]);
            // At once, as servers do: of what comes later than the head nothing is known.
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes());
        })
    };
    let not_quoted = "refused room \"hall\": it answered HTTP 403";
    for (url, words) in [
        (refuses("403 Forbidden", "the room is \u{202e}denwo".into()), not_quoted),
        (refuses("403 Forbidden", CODES.into()), not_quoted),
        (refuses("403 Forbidden", "the room is full ".repeat(4_000)), not_quoted),
        (refuses("403 \u{1b}[2J\u{9b}2J", "the room is full".into()), "no signaling server answers"),
    ] {
        let told = refused(&["play", "--view", "none", "--signal", &url, "--room", "hall"]);
        assert!(told.contains(words), "{told}");
        assert_eq!(told.chars().find(|c| is_code(*c)), None);
    }
    let plain = refuses("403 Forbidden", "the room is closed".into());
    let told = refused(&["play", "--view", "none", "--signal", &plain, "--room", "hall"]);
    assert!(told.contains("refused room \"hall\": the room is closed"), "a sentence is quoted: {told}");
}

/// Whatever it says to whom it lets in, or in place of that, and as it closes the connection.
#[test]
fn a_server_that_speaks_and_closes_with_codes_clears_no_terminal() {
    const LET_IN: &str = r#"{"IdAssigned":"00000000-0000-0000-0000-000000000007"}"#;
    // So many bytes a reason may have.
    let reason: String = CODES.chars().chain("x".repeat(123 - CODES.len()).chars()).collect();
    let says = |texts: Vec<String>, code: u16| {
        let reason = reason.clone();
        server(move |stream| {
            // It may be asked what it is before.
            let Ok(mut socket) = tungstenite::accept(stream) else { return };
            texts.iter().for_each(|text| drop(socket.send(Message::text(text))));
            let _ = socket.close(Some(CloseFrame { code: code.into(), reason: reason.as_str().into() }));
            while socket.read().is_ok() {}
        })
    };
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let word = format!(r#"{{"{}":7}}"#, "\u{9b}2J\u{202e}");
    let turn = |url: &str, user: &str| {
        format!(r#"{{"Turn":{{"url":{},"user":{},"password":"p"}}}}"#, quoted(url), quoted(user))
    };
    let let_in = |more: &[String]| [&[LET_IN.to_owned()], more].concat();
    let signal = format!(r#"{{"Signal":{{"sender":{},"data":{{"Offer":{}}}}}}}"#, quoted(CODES), quoted(CODES));
    for (texts, code, words) in [
        (let_in(&[]), 4_001, "is gone (\\u001b[2J\\u009d0;owned\\u0007\\u202eegap a"),
        (let_in(&[word.clone(), signal, turn(CODES, "u"), turn("turn:a", CODES), quoted(CODES)]), 4_001, "is gone ("),
        (vec![format!(r#"{{"Refused":{}}}"#, quoted(CODES))], 1_000, "it does not say why"),
        (vec![word], 1_000, "no signaling server"),
        (vec![], 1_000, "no signaling server"),
    ] {
        let url = says(texts, code);
        let mut command = dungeon(&["play", "--bot", "--view", "none", "--signal", &url, "--room", "hall"]);
        let output = command.env("LOCKSTONE_LOG", "lockstone=trace").output().unwrap();
        is_plain(&output);
        let told = text(&output.stderr);
        assert!(told.contains(words), "{told}");
        assert!(told.lines().all(|line| line.len() < 600), "{told}");
    }
}

#[test]
fn a_name_with_codes_is_refused_before_anything_is_played() {
    for name in ["\u{1b}[2J", "Ann\u{202e}", "\u{200f}Ann", "A\u{2028}B"] {
        let told = refused(&["play", "--solo", "--view", "none", "--name", name]);
        assert!(told.contains("no characters that control or turn around text"), "{told}");
    }
}
