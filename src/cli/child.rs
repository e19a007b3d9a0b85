//! Other peers as processes of this same program. They end when this one does, whatever ends it.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use serde::{Deserialize, Serialize};

use super::STOP;
use super::failure::Failure;
use crate::shell::Report;

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
pub(super) struct Peer(Child);

impl Peer {
    /// Starts this program again with other arguments.
    pub fn start(args: &[String], stdout: Stdio, stderr: Stdio) -> Result<Peer, Failure> {
        let start = || {
            let program = std::env::current_exe()?;
            Command::new(program).args(args).stdin(Stdio::piped()).stdout(stdout).stderr(stderr).spawn()
        };
        start().map(Peer).map_err(|error| Failure::new(format!("cannot start another peer: {error}")))
    }

    /// Passes on what the child says, from a thread of its own, with the child's number. The last
    /// thing is its end.
    pub fn listen(&mut self, number: usize, heard: Sender<(usize, Option<Word>)>) {
        let Some(stdout) = self.0.stdout.take() else { return };
        std::thread::spawn(move || {
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
        self.0.stdin = None;
    }

    /// How it ended, and what it said on stderr.
    pub fn last_words(&mut self) -> String {
        let status = self.0.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let complaint = self.0.stderr.take().map(io::read_to_string).and_then(Result::ok).unwrap_or_default();
        format!("({status}): {}", complaint.trim())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Either it ended by itself already, or it ends now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In a child: stop when the parent's end of stdin is closed, which it is however the parent ends.
pub(super) fn stop_with_parent() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        STOP.store(true, Ordering::Relaxed);
    });
}
