//! The game's program, run as people and programs run it.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "real processes take real time")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use lockstone::shell::Report;

/// Where it is.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_dungeon");

pub fn dungeon(args: &[&str]) -> Command {
    built_elsewhere(PROGRAM, args)
}

/// The same of another build of it.
pub fn built_elsewhere(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).env_remove("DISPLAY").env_remove("LOCKSTONE_LOG");
    // Nobody's own heroes take part.
    command.env("XDG_STATE_HOME", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("state"));
    command
}

pub fn run(args: &[&str]) -> Output {
    dungeon(args).output().unwrap()
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Runs into bad input. Returns the sentence: the last line that was printed.
pub fn refused(args: &[&str]) -> String {
    let output = run(args);
    let told = text(&output.stderr).trim().to_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
    assert!(output.stdout.is_empty());
    for said in ["friend", "Your hero is kept in"] {
        assert!(!told.contains(said), "{args:?}: whoever is refused invites nobody, and keeps nothing: {told}");
    }
    let sentence = told.lines().last().unwrap_or_default().to_owned();
    assert!(sentence.ends_with('.') && !sentence.contains("panicked"), "{args:?}: {told}");
    sentence
}

/// A folder of one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A process that ends with the test.
pub struct Running {
    process: Child,
    /// Until somebody else reads it.
    stdout: Option<BufReader<ChildStdout>>,
}

impl Running {
    pub fn start(args: &[&str]) -> Running {
        Running::of(dungeon(args))
    }

    pub fn of(mut command: Command) -> Running {
        // A peer with `--report` ends when its stdin does.
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let stdout = process.stdout.take().map(BufReader::new);
        Running { process, stdout }
    }

    /// Waits until a peer plays.
    pub fn playing(mut self) -> Running {
        assert!(self.line().contains("tick"), "it plays");
        self
    }

    /// The next line on stdout.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut told = String::new();
            self.process.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            panic!("it says no more: {told}");
        }
        line.trim().to_owned()
    }

    /// What it says on stdout from now on, and when.
    pub fn lines(&mut self) -> Receiver<(Instant, String)> {
        let (told, lines) = mpsc::channel();
        let stdout = self.stdout.take().unwrap();
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| told.send((Instant::now(), line)))
        });
        lines
    }

    /// Has it end, as Ctrl-C does.
    pub fn signal(&self) {
        assert!(Command::new("kill").args(["-INT", &self.process.id().to_string()]).status().unwrap().success());
    }

    /// Ends it so. Returns its report.
    pub fn interrupted(self) -> Report {
        self.signal();
        let (_, report) = self.report();
        serde_json::from_value(report).expect("it is a report")
    }

    /// Waits for its end. Returns the last thing it says: its report.
    pub fn report(mut self) -> (ExitStatus, serde_json::Value) {
        let mut said = String::new();
        self.stdout.as_mut().unwrap().read_to_string(&mut said).unwrap();
        let _stdin = self.process.stdin.take();
        let report = said.lines().last().and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        (self.process.wait().unwrap(), report.map(|mut word| word["report"].take()).unwrap_or_default())
    }

    pub fn kill(mut self) {
        self.process.kill().unwrap();
    }

    /// Reads what it says to people, up to the end of a line with these words.
    pub fn await_on_stderr(&mut self, words: &str) {
        let mut told = Vec::new();
        while !(told.ends_with(b"\n") && String::from_utf8_lossy(&told).contains(words)) {
            let mut byte = [0];
            self.process.stderr.as_mut().unwrap().read_exact(&mut byte).unwrap();
            told.extend(byte);
        }
    }

    pub fn interrupt(mut self) -> Output {
        self.signal();
        let _stdin = self.process.stdin.take();
        let mut output = Output { status: self.process.wait().unwrap(), stdout: Vec::new(), stderr: Vec::new() };
        self.process.stderr.as_mut().unwrap().read_to_end(&mut output.stderr).unwrap();
        output
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
