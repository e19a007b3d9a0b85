//! The desync checker in a page: plays recordings again, and tells who differs, since when, where
//! and why.
//!
//! It runs in a worker, in which nobody waits for it: `page/checker.js` calls it once, and whoever
//! does not want to wait ends the worker. Nothing leaves the page.

use js_sys::Function;
use lockstone::check::{self, Report};
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::Recording;
use lockstone::sim::Tick;
use lockstone::viewer::Found;
use serde_json::json;
use wasm_bindgen::JsValue;

use crate::clock;
use crate::reading::read;

/// Between two times that the page is told how far it is, in milliseconds.
const TOLD_MS: u128 = 100;

/// Checks the recordings in these files, and tells `watch` how many ticks it has played of how
/// many. Returns the report, as JSON: a page's body, whether all is in step, and what of it the
/// viewer shows.
pub(crate) fn check<G: Game>(files: &[Vec<u8>], watch: &Function) -> Result<String, String> {
    let recordings = read::<G>(files, &mut Vec::new())?;
    let start = recordings.iter().map(|recording| recording.header.start).min().unwrap_or_default();
    let end = recordings.iter().map(Recording::end).max().unwrap_or_default();
    let told_at = std::cell::Cell::new(clock::now());
    let tell = |tick: Tick| {
        let now = clock::now();
        if (now - told_at.get()).as_millis() >= TOLD_MS {
            told_at.set(now);
            // What the page makes of it does not matter here.
            let _ = watch.call2(&JsValue::NULL, &tick.since(start).into(), &end.since(start).into());
        }
    };
    let report = check::compare_of::<G>(recordings, &default_table(), &tell);
    let report = report.map_err(|error| format!("These recordings cannot be checked: {error}."))?;
    Ok(told(&report))
}

fn told(report: &Report) -> String {
    // As a text within the text: a page's numbers have no room for a seed.
    let found = report.finding.as_ref().map(|finding| json!(Found::from(finding)).to_string());
    json!({ "body": check::body(report), "in_step": report.is_in_step(), "found": found, "text": report.to_string() })
        .to_string()
}
