//! Other peers as processes of this same program. They end when this one does, whatever ends it.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use serde::{Deserialize, Serialize};

use super::STOP;
use super::failure::Failure;
use crate::shell::Report;

/// Of what a child says on stderr, so many lines are kept: those behind which it ended.
const LAST_LINES: usize = 40;

/// What a child says on stdout, a line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The tick it has come to.
    Tick(u32),
    /// What it played. Its last word.
    Report(Box<Report>),
}

/// The words of a bot that plays in a room, and shows it to nobody.
pub(super) fn bot_words(name: &str, hero: &str, room: &str, url: &str) -> Vec<String> {
    let words = [
        "play", "--bot", "--report", "--view", "none", "--name", name, "--hero", hero, "--room", room, "--signal", url,
    ];
    words.map(str::to_owned).into()
}

/// A process that is killed when this is dropped. It also ends by itself when its stdin closes.
pub(super) struct Peer {
    child: Child,
    /// Hears its stderr, if that is piped: a child whose pipe is full waits for ever.
    complaints: Option<JoinHandle<String>>,
}

impl Peer {
    /// Starts this program again with other arguments.
    pub fn start(args: &[String], stdout: Stdio, stderr: Stdio) -> Result<Peer, Failure> {
        let start = || {
            let program = std::env::current_exe()?;
            Command::new(program).args(args).stdin(Stdio::piped()).stdout(stdout).stderr(stderr).spawn()
        };
        let mut child = start().map_err(|error| Failure::new(format!("cannot start another peer: {error}")))?;
        let complaints = child.stderr.take().map(|stderr| thread::spawn(|| last_lines(stderr)));
        Ok(Peer { child, complaints })
    }

    /// Passes on what the child says, from a thread of its own, with the child's number. The last
    /// thing is its end.
    pub fn listen(&mut self, number: usize, heard: Sender<(usize, Option<Word>)>) {
        let Some(stdout) = self.child.stdout.take() else { return };
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Ok(word) = serde_json::from_str(&line) {
                    // Nobody listens any more: the program is ending.
                    let _ = heard.send((number, Some(word)));
                }
            }
            let _ = heard.send((number, None));
        });
    }

    /// Lets it end, as it does when this process ends.
    pub fn let_go(&mut self) {
        self.child.stdin = None;
    }

    /// How it ended, and what it said on stderr at last.
    pub fn last_words(&mut self) -> String {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let complaint = self.complaints.take().and_then(|heard| heard.join().ok()).unwrap_or_default();
        format!("({status}): {}", complaint.trim())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Either it ended by itself already, or it ends now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In a child: stop when the parent's end of stdin is closed, which it is however the parent ends.
pub(super) fn stop_with_parent() {
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        STOP.store(true, Ordering::Relaxed);
    });
}

/// Reads all, and keeps the end of it.
fn last_lines(output: impl Read) -> String {
    let mut lines = VecDeque::new();
    for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(String::from_utf8_lossy(&line).into_owned());
    }
    Vec::from(lines).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_all_that_a_child_says_the_last_lines_are_kept() {
        let said: String = (1..=1_000).map(|n| format!("line {n}\n")).collect();
        let kept = last_lines(said.as_bytes());
        assert_eq!((kept.lines().count(), kept.lines().next()), (LAST_LINES, Some("line 961")));
        assert!(kept.ends_with("line 1000"), "{kept}");
        assert_eq!(last_lines(&b"not \xff text"[..]), "not \u{fffd} text");
        assert_eq!(last_lines(io::empty()), "");
    }
}
