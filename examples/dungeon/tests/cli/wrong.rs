//! What keeps a page from what it was opened for: each is one sentence on it, of which a picture is
//! kept in `target/tmp/pictures`, and its console holds nothing but what the page has to tell.

use std::fs;
use std::process::Command;
use std::sync::PoisonError;

use serde_json::{Value, json};
use testkit::open_page::OpenPage;

use super::check::{altered, foreign, recorded};
use super::page::{ALONE, blank, built, link, native_of, open, playing, serve, view};
use super::program::{PROGRAM, Running, built_elsewhere, folder};

/// The sentences that can be read on a page.
const SENTENCES: &str = "[...document.querySelectorAll('#trouble, #sentence, .warnings li')]
    .filter((place) => place.checkVisibility()).map((place) => place.innerText)";

/// Sees a sentence with these words, and nothing else in the console.
pub fn assert_told(page: &mut OpenPage, name: &str, words: &str) {
    page.tools.until(&format!("{SENTENCES}.join().includes({})", json!(words)));
    let Value::Array(told) = page.tools.value(SENTENCES) else { panic!("it is a list") };
    for told in told {
        let told = told.as_str().expect("it is text");
        println!("{name}: {told}");
        let is_one = told.ends_with('.') && !told.contains(". ") && !told.contains('\n');
        assert!(is_one && !told.contains("..") && !told.contains(".;"), "{name}: {told}");
    }
    picture(page, name);
    page.assert_quiet();
}

/// Keeps a picture of a page, to be looked at.
pub fn picture(page: &mut OpenPage, name: &str) {
    let pictures = testkit::browser::folder(env!("CARGO_TARGET_TMPDIR"), "pictures");
    fs::write(pictures.join(name).with_extension("png"), page.tools.picture()).expect("there is room");
}

/// What a person opens who is about to enter.
fn door(url: &str, words: &str) -> String {
    format!("{}/#report&name=Bea&hero=mage{words}", url.replace("ws://", "http://"))
}

fn enter(page: &mut OpenPage) {
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.click("enter");
}

#[test]
fn links_that_lead_to_no_session() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let _founder = playing("--bot --key oak", &url);
    for (name, words, told) in [
        ("wrong-key", "&key=elm", "has another key"),
        ("relay-of-a-party", "&relay&key=oak", "ask for the whole link"),
        ("rollback-of-a-party", "&rollback&key=oak", "ask for the whole link"),
    ] {
        let Some(mut pages) = open(&url, words, &["Bea"]) else { return };
        assert_told(&mut pages[0], name, told);
    }
    for (name, words, told) in [
        ("unknown-room", "&room=nowhere&relay", "no relay serves this room"),
        ("no-room", "&room=no%20room", "is not the name of a room"),
    ] {
        let Some(mut page) = OpenPage::open(&door(&url, words), folder(name).join("profile")) else { return };
        enter(&mut page);
        assert_told(&mut page, name, told);
    }
}

#[test]
fn a_session_that_is_full() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let _relay = playing("relay --players 1", &url);
    let _player = playing("play --relay --bot", &url);
    let Some(mut pages) = open(&url, "&relay", &["Bea"]) else { return };
    assert_told(&mut pages[0], "full", "places are taken");
    assert_eq!(pages[0].tools.value("document.getElementById('keep').hidden"), true, "there is nothing to keep");
}

#[test]
fn a_session_of_other_rules() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let _founder = native_of(&of_other_rules(), "--bot", &url).playing();
    let Some(mut pages) = open(&url, "", &["Bea"]) else { return };
    assert_told(&mut pages[0], "other-rules", "load this page again");
}

#[test]
fn a_page_of_other_rules_than_the_program_that_serves_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(page), Some(mut opened)) = (built("page", "cargo xtask page"), blank()) else { return };
    let place = page.to_str().expect("it is text");
    let mut server =
        Running::of(built_elsewhere(&of_other_rules(), &["serve", "--listen", "127.0.0.1:0", "--page", place]));
    opened.tools.go(&door(&server.line(), ""), "");
    assert_told(&mut opened, "page-of-other-rules", "have the page built again");
}

/// The game's program with another number of its rules, which stands in it as text.
fn of_other_rules() -> String {
    let (program, number) = (folder("other-rules").join("dungeon"), env!("LOCKSTONE_RULES"));
    let program = program.to_str().expect("it is text");
    let other: String = number.chars().rev().collect();
    // By programs of their own: what this process wrote could not be run while another test starts
    // something.
    for words in [["cp", PROGRAM].as_slice(), &["sed", "-i", &format!("s/{number}/{other}/g")]] {
        let mut command = Command::new(words[0]);
        assert!(command.args(&words[1..]).arg(program).env("LC_ALL", "C").status().expect("it is there").success());
    }
    let is_other = fs::read(program).expect("it is there") != fs::read(PROGRAM).expect("it is there");
    assert!(is_other, "the program has the number of its rules");
    program.to_owned()
}

#[test]
fn a_server_that_is_gone() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((server, url)) = serve() else { return };
    let Some(mut page) = OpenPage::open(&door(&url, "&room=hall"), folder("gone").join("profile")) else { return };
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    // Else its browser could complain that it cannot keep the page for use without a server.
    page.tools.value("navigator.serviceWorker.ready.then(() => true)");
    server.kill();
    // That a browser writes by itself, and no page can keep it from that.
    page.bears = &["WebSocket connection to", "Failed to load resource: net::ERR_CONNECTION_REFUSED"];
    enter(&mut page);
    assert_told(&mut page, "server-gone", "signaling server answers");
}

#[test]
fn a_browser_without_webrtc() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.go(&link(&url, "", "Bea"), "delete globalThis.RTCPeerConnection");
    assert_told(&mut page, "no-webrtc", "This browser has no WebRTC");
}

#[test]
fn a_browser_whose_wasm_knows_no_vectors() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // As one of before 2021: it takes every program but those.
    let script = "WebAssembly.validate = (bytes) => ![...bytes].join().includes('253,15');
        const fails = () => Promise.reject(new WebAssembly.CompileError('invalid numeric opcode 0xfd'));
        Object.assign(WebAssembly, { instantiateStreaming: fails, instantiate: fails, compileStreaming: fails })";
    for (name, at) in [("no-simd", "/#report&room=hall"), ("no-simd-viewer", "/view.html#report")] {
        let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
        page.tools.go(&format!("{}{at}", url.replace("ws://", "http://")), script);
        assert_told(&mut page, name, "This browser's WebAssembly has no SIMD");
    }
}

#[test]
fn a_browser_whose_storage_is_full() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    let origin = url.replace("ws://", "http://");
    page.tools.page("Storage.overrideQuotaForOrigin", json!({ "origin": origin, "quotaSize": 1 }));
    page.tools.go(&door(&url, "&seconds=2"), "");
    enter(&mut page);
    assert_told(&mut page, "storage-full", "does not keep the recording: its storage is full");
}

#[test]
fn a_browser_whose_storage_is_forbidden() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let profile = folder("forbidden").join("profile");
    fs::create_dir_all(profile.join("Default")).expect("there is room");
    // As who blocks all data of pages in the browser's settings.
    let blocked = r#"{ "profile": { "default_content_setting_values": { "cookies": 2 } } }"#;
    fs::write(profile.join("Default/Preferences"), blocked).expect("there is room");
    let Some((_server, url)) = serve() else { return };
    let Some(mut page) = OpenPage::open(&door(&url, "&seconds=2"), profile) else { return };
    enter(&mut page);
    assert_told(&mut page, "storage-forbidden", "does not keep the recording: its storage is forbidden");
}

#[test]
fn a_folder_that_is_dropped_on_the_viewer() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = folder("dropped");
    let (file, _) = recorded(&place);
    let Some((_server, mut page)) = view(&[]) else { return };
    page.tools.until("document.readyState === 'complete' && document.getElementById('drop')?.checkVisibility()");
    page.tools.drop_file((300, 200), &place);
    assert_told(&mut page, "folder", "drop recordings, not folders");
    page.tools.drop_file((300, 200), &file);
    assert!(page.says("verdict ").starts_with("In step: all "));
}

#[test]
fn files_that_are_no_sound_recording() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, sound) = recorded(&folder("not-shown-on-a-page"));
    for (name, bytes, told) in [
        ("damaged", altered(&sound, sound.len() / 2), "copy it again"),
        ("cut", sound[..20].to_vec(), "copy it again"),
        ("no-recording", b"a picture of a cat".to_vec(), "drop one that ends in .lksrec"),
        ("damaged-bundle", b"LKSTBND\x01 and no more".to_vec(), "ask for it again"),
        ("another-game", foreign(&sound), "the build that recorded it"),
    ] {
        let Some((_server, mut page)) = view(&[("odd.lksrec", bytes)]) else { return };
        assert_told(&mut page, name, told);
    }
}
