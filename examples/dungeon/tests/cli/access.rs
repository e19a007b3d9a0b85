//! Nobody is kept out by how a page is made: axe-core finds nothing on any screen of the page, the
//! viewer and the report. It is of npm, in `target/npm`, and no part of what is shipped. Nor by a
//! phone's screen, or a slow line.
//! <https://github.com/dequelabs/axe-core>

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::PoisonError;

use serde_json::{Value, json};
use testkit::open_page::OpenPage;
use testkit::{lacks, tell};

use super::comeback::{door, enter};
use super::page::{ALONE, PICKS, blank, faulty, serve, stands, view};
use super::program::{folder, run};
use super::wrong::picture;

/// Its script, if it was installed.
fn axe() -> Option<String> {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("npm/node_modules/axe-core/axe.min.js");
    let script = fs::read_to_string(place).ok();
    if script.is_none() {
        lacks("axe-core: npm install --prefix target/npm axe-core");
    }
    script
}

/// What it finds on a page, a line for each of its rules.
fn violations(page: &mut OpenPage, axe: &str) -> Vec<Value> {
    page.tools.until("document.readyState === 'complete' && location.href !== 'about:blank'");
    page.tools.value(axe);
    let found = page.tools.value(
        "axe.run().then(({ violations }) => violations.map(({ id, help, nodes }) =>
            `${id}: ${help}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`))",
    );
    let Value::Array(found) = found else { panic!("it is a list: {found}") };
    found
}

fn assert_open_to_all(page: &mut OpenPage, axe: &str, screen: &str) {
    let found = violations(page, axe);
    assert!(found.is_empty(), "{screen}: {found:#?}");
}

#[test]
fn the_page_is_open_to_all() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(axe), Some((_server, url))) = (axe(), serve()) else { return };
    let link = format!("{}/#room=hall&name=Ada&hero=mage", url.replace("ws://", "http://"));
    let Some(mut page) = OpenPage::open(&link, folder("open-to-all").join("profile")) else { return };
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.until("document.querySelectorAll('details').forEach((part) => (part.open = true)) ?? true");
    assert_open_to_all(&mut page, &axe, "the door");
    page.tools.click("enter");
    page.tools.until("document.getElementById('curtain').hidden && document.getElementById('link').checkVisibility()");
    assert_open_to_all(&mut page, &axe, "in play");
    page.tools.click("say");
    assert_open_to_all(&mut page, &axe, "what is said");
    page.tools.click("figures");
    page.tools.click("leave");
    page.tools.until("document.getElementById('end').open");
    assert_open_to_all(&mut page, &axe, "the end");
    page.tools.value("document.getElementById('end').append(document.createElement('input'))");
    let found = violations(&mut page, &axe);
    assert!(found.iter().any(|found| found.to_string().contains("label")), "a planted fault is seen: {found:?}");
}

#[test]
fn the_viewer_and_the_report_are_open_to_all() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(axe) = axe() else { return };
    let Some((_server, mut door)) = view(&[]) else { return };
    assert_open_to_all(&mut door, &axe, "the viewer's door");
    drop(door);
    let place = folder("report-open-to-all");
    let bundle = faulty(&place);
    let Some((_server, mut page)) = view(&[("odd.lksbnd", fs::read(&bundle).unwrap())]) else { return };
    page.says("report ");
    page.tools.until(&stands("compared", r"^\d+ cells? differs?"));
    page.tools.until(PICKS);
    page.tools.until(&stands("cone", "^Cell"));
    assert_open_to_all(&mut page, &axe, "two worlds");
    page.tools.click("show");
    assert_open_to_all(&mut page, &axe, "the report in the viewer");
    let report = place.join("report.html");
    run(&["explain", bundle.to_str().unwrap(), "--html", report.to_str().unwrap()]);
    let link = format!("file://{}", report.display());
    let Some(mut report) = OpenPage::open(&link, place.join("profile")) else { return };
    for scheme in ["light", "dark"] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        report.tools.page("Emulation.setEmulatedMedia", json!({ "features": features }));
        assert_open_to_all(&mut report, &axe, scheme);
    }
}

/// Whether the button lies over the small map: a box in the upper right corner of the picture, with
/// its margin 163 wide and 109 high in the canvas's pixels.
const COVERS: &str = "(() => {
    const [canvas, drawer] = ['canvas', 'drawer'].map((id) => document.getElementById(id));
    const [picture, button] = [canvas, drawer].map((part) => part.getBoundingClientRect());
    const scale = picture.width / canvas.width;
    return canvas.width < 480 || !drawer.checkVisibility() || (button.right > picture.right - 163 * scale
        && button.left < picture.right && button.top < picture.top + 109 * scale && button.bottom > picture.top);
})()";

#[test]
fn no_button_covers_the_small_map_of_a_phone() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.become_phone();
    page.tools.go(&door(&url, "&name=Ada&hero=mage"), "");
    enter(&mut page);
    page.tools.until("document.getElementById('life').children.length");
    picture(&mut page, "phone");
    assert_eq!(page.tools.value(COVERS), false, "the button is out of the map's way");
    page.tools.click("drawer");
    page.tools.until("document.getElementById('panel').checkVisibility()");
    picture(&mut page, "phone-session");
    page.tools.click("drawer");
    page.tools.until("!document.getElementById('panel').checkVisibility()");
    page.tools.value("document.getElementById('drawer').style.cssText = 'left: auto; right: 10px; top: 10px'");
    assert_eq!(page.tools.value(COVERS), true, "a planted fault is seen");
}

/// Which of these parts of a page cover each other.
fn covering(parts: &str) -> String {
    format!(
        "(() => {{
            const parts = [...document.querySelectorAll('{parts}')].filter((part) => part.checkVisibility());
            const boxes = parts.map((part) => [part.innerText, part.getBoundingClientRect()]);
            const meet = ([, a], [, b]) => a.right > b.left && b.right > a.left && a.bottom > b.top && b.bottom > a.top;
            return boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) => meet(a, b)).map((b) => [a[0], b[0]]));
        }})()"
    )
}

#[test]
fn a_page_that_shows_all_four_times_as_large_covers_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.zoom();
    page.tools.go(&door(&url, "&name=Ada&hero=mage"), "");
    enter(&mut page);
    page.tools.until("document.getElementById('life').children.length");
    picture(&mut page, "zoomed");
    assert_eq!(page.tools.value(&covering("#life .gauge, #drawer, #skills button")), json!([]));
    page.tools.click("drawer");
    page.tools.until("document.getElementById('panel').checkVisibility()");
    picture(&mut page, "zoomed-session");
    assert_eq!(page.tools.value(&covering("#drawer, #panel h2, #panel .gauge, #panel button")), json!([]));
    page.tools.value("document.getElementById('panel').style.paddingTop = 0");
    let covered = page.tools.value(&covering("#drawer, #panel h2, #panel .gauge, #panel button"));
    assert_ne!(covered, json!([]), "a planted fault is seen");
}

#[test]
fn a_page_is_loaded_with_a_million_bytes_at_most() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.go(&format!("{}/#report", url.replace("ws://", "http://")), "");
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    let loaded = page.tools.value(
        "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
            .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])",
    );
    let loaded: Vec<(String, u64)> = serde_json::from_value(loaded).expect("names and sizes");
    // Once, however often it is asked for.
    let loaded: BTreeMap<_, _> = loaded.into_iter().collect();
    let bytes: u64 = loaded.values().sum();
    tell(&format!("a page is loaded with {bytes} bytes"));
    let is_whole =
        ["/", "/page.js", "/game.js", "/game_bg.wasm", "/page.css"].iter().all(|name| loaded.contains_key(*name));
    assert!(is_whole && loaded["/game_bg.wasm"] > 500_000, "nothing is left out: {loaded:?}");
    assert!(bytes <= 1_000_000, "{loaded:?}");
}
