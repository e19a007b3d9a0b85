//! Nobody is kept out by how a page is made: axe-core finds nothing on any screen of the page, the
//! viewer and the report. It is of npm, in `target/npm`, and no part of what is shipped.
//! <https://github.com/dequelabs/axe-core>

use std::fs;
use std::path::PathBuf;
use std::sync::PoisonError;

use serde_json::{Value, json};
use testkit::lacks;
use testkit::open_page::OpenPage;

use super::page::{ALONE, PICKS, faulty, serve, stands, view};
use super::program::{folder, run};

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
