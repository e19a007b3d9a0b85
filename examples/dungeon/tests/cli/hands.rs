//! What is pressed on a page is what its program is told: buttons of the mouse, keys of any layout.

use std::sync::PoisonError;

use serde_json::json;
use testkit::open_page::OpenPage;

use super::comeback::{door, enter};
use super::page::{ALONE, blank, serve};

/// Notes what the page's program is told from now on, as words: which call, and with what of it.
const NOTES: &str = "import('./game.js').then(({ Page }) => {
    window.told = [];
    for (const [name, words] of [['press', 2], ['key', 1], ['walk', 2]]) {
        const tell = Page.prototype[name];
        Page.prototype[name] = function (...all) {
            window.told.push([name, ...all.slice(0, words)].join(' '));
            return tell.apply(this, all);
        };
    }
})";

/// A page in play, of which is noted what its program is told.
fn noted(page: &mut OpenPage, url: &str) {
    page.tools.go(&door(url, "&name=Ada&hero=mage"), "");
    enter(page);
    page.tools.value(NOTES);
}

fn assert_told(page: &mut OpenPage, calls: &[&str]) {
    assert_eq!(page.tools.value("window.told.splice(0)"), json!(calls));
}

#[test]
fn both_buttons_of_a_mouse_count_while_the_other_is_held() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    noted(&mut page, &url);
    for (kind, button, buttons) in [
        ("mousePressed", "left", 1),
        ("mousePressed", "right", 3),
        ("mouseReleased", "left", 2),
        ("mouseReleased", "right", 0),
    ] {
        page.tools.mouse(kind, button, buttons, (200, 200));
    }
    let calls = ["press true false", "press true true", "press false false", "press false true"];
    assert_told(&mut page, &calls);
}

#[test]
fn who_clicks_a_button_plays_on_by_keys() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    noted(&mut page, &url);
    let place = "(({ left, top, width, height }) => [left + width / 2, top + height / 2].map(Math.round))(
        document.getElementById('figures').getBoundingClientRect())";
    let place = page.tools.value(place);
    let place = (place[0].as_i64().expect("a number"), place[1].as_i64().expect("a number"));
    for (kind, buttons) in [("mousePressed", 1), ("mouseReleased", 0)] {
        page.tools.mouse(kind, "left", buttons, place);
    }
    for kind in ["keyDown", "keyUp"] {
        page.tools.page("Input.dispatchKeyEvent", json!({ "type": kind, "key": "Enter", "code": "Enter" }));
    }
    page.tools.until("document.activeElement === document.getElementById('line')");
}

#[test]
fn a_page_fills_the_screen_and_gives_it_back() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    noted(&mut page, &url);
    for is_filled in [true, false] {
        page.tools.click("full");
        page.tools.until(&format!("(document.fullscreenElement !== null) === {is_filled}"));
    }
}

#[test]
fn on_a_phone_the_list_of_what_is_carried_is_seen_and_what_is_typed_is() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.become_phone();
    page.tools.go(&door(&url, "&name=Ada&hero=mage"), "");
    enter(&mut page);
    page.tools.value("document.querySelector('#skills [data-key=I]').click()");
    page.tools.until("document.getElementById('notes').checkVisibility() && document.querySelector('#notes.lists')");
    page.tools.click("say");
    page.tools.until(
        "document.getElementById('line').checkVisibility() && !document.getElementById('panel').checkVisibility()",
    );
}

#[test]
fn a_key_is_meant_by_what_it_says_or_else_by_its_place() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    noted(&mut page, &url);
    for (layout, code, key, calls) in [
        ("AZERTY", "KeyQ", "a", &["key q"][..]),
        ("AZERTY", "Digit1", "&", &["key 1"]),
        ("AZERTY", "KeyA", "q", &["walk -1 0", "walk 0 0"]),
        ("Cyrillic", "KeyK", "л", &["key k"]),
        ("Dvorak", "KeyV", "k", &["key k"]),
        ("QWERTY", "KeyB", "b", &["key b"]),
    ] {
        for kind in ["keyDown", "keyUp"] {
            page.tools.page("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": code }));
        }
        println!("{layout}: {code} says {key}");
        assert_told(&mut page, calls);
    }
}
