//! A page of a server that runs here, open in headless Chromium for as long as a test wants it.
//!
//! What the page has to tell it writes in its console. No process of a browser outlives its page.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::browser::QUIET;
use crate::devtools::DevTools;
use crate::lacks;

/// How lines begin that a page writes on purpose.
const TOLD: [&str; 4] = ["told ", "report ", "verdict ", "golden "];

/// A page that is open, until this is dropped: all processes of its browser end with it.
pub struct OpenPage {
    browser: Child,
    told: BufReader<ChildStderr>,
    /// What can be done with the page.
    pub tools: DevTools,
    /// How lines begin that the browser may write in the page's console.
    pub bears: &'static [&'static str],
    profile: PathBuf,
}

impl OpenPage {
    /// Opens a page with a profile in a folder, which is made if it is not there. `None` if there
    /// is no Chromium, which fails in CI.
    pub fn open(url: &str, profile: PathBuf) -> Option<OpenPage> {
        let spawned = Command::new("chromium")
            .args(QUIET)
            .args(["--enable-logging=stderr", "--window-size=960,600", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let Ok(mut browser) = spawned else {
            lacks("Chromium: apt-get install chromium");
            return None;
        };
        let mut told = BufReader::new(browser.stderr.take().expect("it is piped"));
        let tools = loop {
            let mut line = String::new();
            let bytes = told.read_line(&mut line).expect("it can be read");
            assert!(bytes > 0, "the browser ended before it listened");
            if let Some((_, url)) = line.split_once("DevTools listening on ") {
                break DevTools::connect(url.trim());
            }
        };
        Some(OpenPage { browser, told, tools, bears: &[], profile })
    }

    /// The rest of the next line in its console that begins with a word. What no report tells, and
    /// no sentence, is a fault of the page.
    pub fn says(&mut self, word: &str) -> String {
        let mut line = Vec::new();
        loop {
            line.clear();
            let bytes = self.told.read_until(b'\n', &mut line).expect("it can be read");
            assert!(bytes > 0, "the browser ended before the page said {word:?}");
            let Some(said) = console(&String::from_utf8_lossy(&line)).map(str::to_owned) else { continue };
            match said.strip_prefix(word) {
                Some(rest) => return rest.trim().to_owned(),
                None => {
                    let mut known = TOLD.iter().chain(self.bears);
                    assert!(known.any(|word| said.starts_with(*word)), "in the page's console: {said}");
                }
            }
        }
    }

    /// All that its console holds by now is what the page has to tell, and what it
    /// [bears](OpenPage::bears).
    pub fn assert_quiet(&mut self) {
        let bears = self.bears;
        let is_borne = |said: &&String| bears.iter().any(|words| said.starts_with(words));
        let complaints: Vec<_> = self.tools.complaints().iter().filter(|said| !is_borne(said)).collect();
        assert!(complaints.is_empty(), "in the page's console: {complaints:?}");
        self.tools.value("console.log('told all')");
        self.says("told all");
    }
}

/// What a page wrote in its console, if a line of Chromium's is of that.
fn console(line: &str) -> Option<&str> {
    let (_, said) = line.split_once("CONSOLE")?;
    let (_, said) = said.split_once('"')?;
    Some(said.rsplit_once("\", source: ").map_or(said, |(said, _)| said))
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        let group = format!("-{}", self.browser.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.browser.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_is_read() {
        let line =
            r#"[7:7:1126/063200.1:INFO:CONSOLE(331)] "report {"a":1}", source: http://127.0.0.1:1/page.js (331)"#;
        assert_eq!(console(line), Some(r#"report {"a":1}"#));
        assert_eq!(console("[7:7:ERROR:gpu.cc(1)] no display"), None);
    }
}
