//! Opens a page in headless Chromium, without network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lacks;

/// What Chromium needs to run without a screen, and to ask nobody for anything.
pub(crate) const QUIET: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// Where the pages and pictures of a test are kept: a folder in `CARGO_TARGET_TMPDIR`, which only
/// the test itself is told.
pub fn folder(temporary: &str, name: &str) -> PathBuf {
    let folder = PathBuf::from(temporary).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The document as it is after its script has run; `at` is what follows the file's name: `#tick-7`.
/// `None` if there is no Chromium, which fails in CI.
pub fn opened(page: &Path, at: &str) -> Option<String> {
    let profile = page.with_extension("profile");
    let run = Command::new("chromium")
        .args(QUIET)
        .args(["--proxy-server=127.0.0.1:9", "--virtual-time-budget=20000", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}{at}", page.display()))
        .output();
    let Ok(output) = run else {
        lacks("Chromium: apt-get install chromium");
        return None;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "Chromium ends with {}: {told}", output.status);
    let refused = told.lines().find(|line| line.contains("CONSOLE") && line.contains("Content Security Policy"));
    assert_eq!(refused, None, "the page's own policy refuses a part of it");
    Some(String::from_utf8(output.stdout).unwrap())
}
