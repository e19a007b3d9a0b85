//! What a page keeps, and comes back to: by a person's own hands, in a real browser. All waits are
//! for what is to come true.

use std::fs;
use std::sync::PoisonError;

use lockstone::shell::Report;
use testkit::open_page::OpenPage;

use super::page::{ALONE, TICK, blank, link, playing, serve};
use super::program::{folder, run};
use super::wrong::assert_told;

/// What a person opens, with words of the link.
pub fn door(url: &str, words: &str) -> String {
    format!("{}/#report{words}", url.replace("ws://", "http://"))
}

/// Enters by the door's own button, and waits for the world.
pub fn enter(page: &mut OpenPage) {
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.click("enter");
    page.tools.until("document.getElementById('curtain').hidden");
}

/// Leaves by the button. Returns what the page reports.
fn leave(page: &mut OpenPage) -> Report {
    page.tools.click("leave");
    serde_json::from_str(&page.says("report ")).expect("it is one")
}

/// A page that is loaded again finds that the one before has not given up its player's key yet: not
/// before somebody waits for it.
const LATE: &str = r#"
sessionStorage.getItem("lockstone.inside") && navigator.locks.request("lockstone.identity", async () => {
  const isWaitedFor = async () => (await navigator.locks.query()).pending.some(({ name }) => name === "lockstone.identity");
  for (let n = 0; n < 250 && !(await isWaitedFor()); n += 1) await new Promise((done) => setTimeout(done, 20));
  window.wasLate = true;
});
"#;

#[test]
fn a_page_that_is_loaded_again_before_the_one_before_is_gone_is_the_same_player() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    let founder = playing("--bot --name Ada", &url);
    page.tools.go(&door(&url, "&room=hall&hero=mage"), LATE);
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.value("document.getElementById('name').value = 'Bea'");
    enter(&mut page);
    let rows = |words: &str| format!("document.getElementById('rows').innerText.includes('{words}')");
    page.tools.until(&rows("Bea (you)"));
    page.tools.press("i");
    let hero = r"Number(/Bea, mage of level (\d+)/.exec(document.getElementById('notes').innerText)?.[1])";
    page.tools.until(hero);
    let before = page.tools.value(hero).as_u64();
    // Another tab of the same browser may play another hero meanwhile.
    page.tools.value("['name', 'hero'].forEach((key) => localStorage.setItem(`lockstone.${key}`, 'ranger'))");
    page.tools.reload();
    page.tools.until("window.wasLate && document.getElementById('curtain')?.hidden");
    page.tools.until(&rows("Bea (you)"));
    page.tools.press("i");
    page.tools.until(hero);
    assert!(page.tools.value(hero).as_u64() >= before, "it comes back as it was");
    let report = leave(&mut page);
    assert_eq!((report.player, report.name.as_str(), report.desyncs), (Some(1), "Bea", 0), "the same: {report:?}");
    assert_eq!(founder.interrupted().desyncs, 0);
}

/// The recording that the page keeps, as its own module tells it.
const KEPT: &str = "import('./store.js').then(({ kept }) => kept()).then(([newest]) => (window.kept = newest))";

/// Hides the page, and waits until it has kept its recording since.
fn hide(page: &mut OpenPage) {
    page.tools.value("window.since = Date.now()");
    page.tools.hide();
    page.tools.until(&format!("document.hidden && {KEPT} && window.kept?.at >= window.since"));
}

#[test]
fn a_hidden_tab_that_is_closed_keeps_its_hero_and_what_was_played() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    let link = link(&url, "&keeps&hero=mage&seed=5&seconds=600", "Ada");
    page.tools.go(&link, "");
    page.tools.until("document.getElementById('curtain')?.hidden");
    hide(&mut page);
    // From here on no picture is drawn, and what the bot wins is kept nevertheless.
    let hero = "localStorage.getItem('lockstone.character.dungeon.mage')";
    page.tools.until(&format!("{hero} && (window.hero ??= {hero}) !== {hero}"));
    page.tools.close_for(&door(&url, "&name=Ada&hero=mage"));
    page.tools.until("/^Your mage of level \\d+ comes along/.test(document.getElementById('comes')?.innerText)");
    page.tools.until("/\\(1\\)/.test(document.getElementById('kept-count').innerText)");
    page.assert_quiet();
}

#[test]
fn a_page_goes_on_with_a_kept_recording_from_where_its_tab_was_closed() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.go(&door(&url, "&name=Ada&hero=ranger&seed=5"), "");
    enter(&mut page);
    page.tools.press("d");
    page.tools.until(&format!("{TICK} > 50"));
    let known = page.tools.value(TICK).as_u64();
    hide(&mut page);
    page.tools.close_for(&door(&url, "&name=Bea&hero=mage"));
    page.tools.until("document.querySelector('#kept-list li')");
    page.tools.value(
        "[...document.querySelectorAll('#kept-list button')].find(({ textContent }) => textContent === 'Go on').click()",
    );
    page.tools.until("document.getElementById('curtain').hidden");
    page.tools.press("i");
    page.tools.until("/Ada, ranger of level/.test(document.getElementById('notes').innerText)");
    let report = leave(&mut page);
    assert_eq!((report.player, report.name.as_str()), (Some(0), "Ada"), "the same hero: {report:?}");
    // What was seen last may have been some ticks ahead of what is final.
    let known = known.expect("a tick");
    assert!(u64::from(report.first_tick) + 10 >= known, "it goes on at {}, {known} were seen", report.first_tick);
    // What is no recording to go on with is told.
    page.tools.click("out");
    let spoil = "import('./store.js').then(({ kept, keep }) => kept().then(([newest]) =>
        keep(newest.key, { ...newest, bytes: newest.bytes.slice(0, 30) })))";
    page.tools.value(spoil);
    page.tools.close_for(&door(&url, "&name=Ada"));
    page.tools.until("document.querySelector('#kept-list li')");
    page.tools.value("document.querySelector('#kept-list button').click()");
    page.tools.until("/cannot be gone on with/.test(document.getElementById('trouble').innerText)");
    page.assert_quiet();
}

#[test]
fn a_page_alone_that_is_loaded_again_goes_on_from_where_it_was() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.go(&door(&url, "&seed=5"), "");
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.value("document.getElementById('name').value = 'Ada'");
    enter(&mut page);
    page.tools.press("d");
    // A bot is at its side, in a world of its own.
    let others = "(document.getElementById('rows').innerText.match(/Companion/g) ?? []).length";
    let in_step = "/in step at tick/.test(document.getElementById('rows').innerText)";
    page.tools.until(&format!("{TICK} > 50 && {others} === 1 && {in_step}"));
    let known = page.tools.value(TICK).as_u64().expect("a tick");
    page.tools.reload();
    page.tools.until("document.getElementById('curtain')?.hidden");
    page.tools.until(&format!("{others} === 1 && {in_step}"));
    let nameless = page.tools.value(r"/\bP\d/.test(document.getElementById('news').innerText)");
    assert_eq!(nameless, false, "whoever is told of has a name");
    let report = leave(&mut page);
    assert_eq!((report.player, report.name.as_str()), (Some(0), "Ada"), "the same hero: {report:?}");
    assert_eq!(report.desyncs, 0);
    assert!(u64::from(report.first_tick) + 10 >= known, "it goes on at {}, {known} were seen", report.first_tick);
    // Who wants none has none.
    page.tools.click("out");
    page.tools.click("companion");
    enter(&mut page);
    page.tools.until(&format!("{TICK} > 20 && {others} === 0"));
    page.tools.click("leave");
    page.tools.until("document.getElementById('end').open");
    // Who has left comes to the door.
    page.tools.reload();
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.assert_quiet();
}

#[test]
fn a_hero_leaves_a_page_as_a_file_and_comes_back_by_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    let place = folder("carried");
    page.tools.download_to(&place);
    page.tools.go(&door(&url, "&name=Ada&hero=mage"), "");
    enter(&mut page);
    leave(&mut page);
    page.tools.click("out");
    let comes = |words: &str| format!("document.getElementById('comes').innerText.includes('{words}')");
    page.tools.until(&comes("Your mage of level 1 comes along"));
    page.tools.click("carry");
    let saved = place.join("mage.character");
    let written = || fs::read_to_string(&saved).ok().filter(|text| text.lines().count() == 8);
    let text = std::iter::repeat_with(|| {
        page.tools.value("new Promise((done) => setTimeout(done, 20))");
        written()
    });
    let text = text.take(3_000).find_map(|text| text).expect("it is saved");
    let hero = "localStorage.getItem('lockstone.character.dungeon.mage')";
    assert_eq!(page.tools.value(hero), text.as_str());
    // The program takes what the page kept, and the page what the program keeps.
    let native = place.join("native.character");
    fs::copy(&saved, &native).expect("there is room");
    let path = native.to_str().expect("it is text");
    let played = run(&["--solo", "--view", "none", "--until", "40", "--character", path]);
    assert!(super::program::text(&played.stderr).contains("Your mage of level 1 is back"));
    page.tools.click("anew");
    page.tools.until(&format!("{hero} === null && !document.getElementById('carry').checkVisibility()"));
    page.tools.until("document.getElementById('before').innerText === 'Take back the mage of level 1'");
    page.tools.click("before");
    page.tools.until(&format!("{hero} !== null && document.getElementById('carry').checkVisibility()"));
    page.tools.click("anew");
    page.tools.until(&format!("{hero} === null"));
    page.tools.choose_file("brought", &native);
    page.tools.until(&comes("Your mage of level 1 comes along"));
    let kept = page.tools.value(hero);
    assert_eq!(kept, fs::read_to_string(&native).expect("it is there").as_str());
    for (name, bytes, told) in [
        ("cut", &text.as_bytes()[..text.len() / 2], "it is damaged"),
        ("cat", &b"a picture of a cat"[..], "it is no character of this game"),
    ] {
        let file = place.join(name);
        fs::write(&file, bytes).expect("there is room");
        page.tools.choose_file("brought", &file);
        assert_told(&mut page, &format!("hero-{name}"), told);
        assert_eq!(page.tools.value(hero), kept, "it stays as it is");
    }
}
