//! What a page keeps, and comes back to: by a person's own hands, in a real browser. All waits are
//! for what is to come true.

use std::sync::PoisonError;

use lockstone::shell::Report;
use testkit::open_page::OpenPage;

use super::page::{ALONE, blank, playing, serve};

/// What a person opens, with words of the link.
fn door(url: &str, words: &str) -> String {
    format!("{}/#report{words}", url.replace("ws://", "http://"))
}

/// Enters by the door's own button, and waits for the world.
fn enter(page: &mut OpenPage) {
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
    let hero = "/Bea, mage of level \\d+/.exec(document.getElementById('notes').innerText)?.[0]";
    page.tools.until(hero);
    let before = page.tools.value(hero);
    // Another tab of the same browser may play another hero meanwhile.
    page.tools.value("['name', 'hero'].forEach((key) => localStorage.setItem(`lockstone.${key}`, 'ranger'))");
    page.tools.value("window.isBefore = true");
    page.tools.page("Page.reload", serde_json::json!({}));
    page.tools.until("!window.isBefore && window.wasLate && document.getElementById('curtain')?.hidden");
    page.tools.until(&rows("Bea (you)"));
    page.tools.press("i");
    page.tools.until(hero);
    assert_eq!(page.tools.value(hero), before);
    let report = leave(&mut page);
    assert_eq!((report.player, report.name.as_str(), report.desyncs), (Some(1), "Bea", 0), "the same: {report:?}");
    assert_eq!(founder.interrupted().desyncs, 0);
}
