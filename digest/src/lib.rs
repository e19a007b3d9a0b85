//! A digest of the sources of a game's rules, for the game's build script.
//!
//! Peers whose rules differ must not play together: their worlds would part, and nobody would know
//! why. `Game::rules_digest` tells them apart, but an author who numbers the rules by hand forgets
//! it once. So let the build number them:
//!
//! ```toml
//! [build-dependencies]
//! lockstone-digest = "0.1"
//! ```
//!
//! ```no_run
//! // build.rs: all of `src` counts, but for what only draws and steers.
//! lockstone_digest::rules("src", &["src/main.rs", "src/scene"]);
//! ```
//!
//! ```ignore
//! // in `impl Game`
//! fn rules_digest() -> u64 {
//!     u64::from_str_radix(env!("LOCKSTONE_RULES"), 16).expect("the build script wrote it")
//! }
//! ```
//!
//! Then a peer of another build of the rules is refused as it joins, and `replay` and `check` say
//! so of its recordings before they play anything. The digest is the same for every profile and
//! machine: it is of paths and texts, whatever their line ends. A comment counts like any other
//! line.
//!
//! It does not cover other crates. Name what else counts, as a `Cargo.lock` or a table of numbers,
//! as further sources of [`of_sources`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// Puts the digest of a directory's files, without some of them, into the environment variable
/// `LOCKSTONE_RULES` of the crate that is built: 16 digits, hexadecimal. It is renewed whenever one
/// of them changes.
///
/// # Panics
/// If they cannot be read: a build must not go on without them.
pub fn rules(dir: &str, without: &[&str]) {
    let digest = of_sources(&[dir], without).unwrap_or_else(|error| panic!("cannot read the rules in {dir}: {error}"));
    println!("cargo::rerun-if-changed={dir}");
    println!("cargo::rustc-env=LOCKSTONE_RULES={digest:016x}");
}

/// The digest of files, and of all files in directories, without some of them.
///
/// # Errors
/// If one of them cannot be read.
pub fn of_sources(sources: &[&str], without: &[&str]) -> io::Result<u64> {
    let mut files = Vec::new();
    for source in sources {
        collect(Path::new(source), without, &mut files)?;
    }
    // By name: the order of a directory is another on each machine.
    files.sort();
    let mut digest = Xxh3::new();
    for (name, path) in files {
        let text: Vec<u8> = fs::read(path)?.into_iter().filter(|byte| *byte != b'\r').collect();
        for part in [name.as_bytes(), &text] {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    // Nobody has to be kept from finding two sources of one digest: who would, can claim any.
    Ok(digest.digest())
}

/// The files of a source, each with its name, which is the same on every machine.
fn collect(source: &Path, without: &[&str], files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    if without.iter().any(|other| source == Path::new(other)) {
        return Ok(());
    }
    if !source.is_dir() {
        let parts: Vec<_> = source.iter().map(|part| part.to_string_lossy()).collect();
        files.push((parts.join("/"), source.to_owned()));
        return Ok(());
    }
    for entry in fs::read_dir(source)? {
        collect(&entry?.path(), without, files)?;
    }
    Ok(())
}
