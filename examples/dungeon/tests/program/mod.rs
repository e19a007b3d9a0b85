//! The game's program, run as people and programs run it.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub fn dungeon(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dungeon"));
    command.args(args).stdin(Stdio::null()).env_remove("DISPLAY").env_remove("LOCKSTONE_LOG");
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
