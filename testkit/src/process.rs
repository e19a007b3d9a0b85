//! A bench's own program again, as something else; what processes hold; and the example that fails.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// It is killed when this is dropped.
pub struct Process(Child);

impl Process {
    pub fn start(args: &[&str]) -> Process {
        let program = std::env::current_exe().expect("this program has a place");
        let mut command = Command::new(program);
        Process(command.args(args).stdout(Stdio::piped()).spawn().expect("it starts again"))
    }

    pub fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        let stdout = self.0.stdout.take().expect("it is asked once");
        BufReader::new(stdout).lines().map_while(Result::ok)
    }

    /// Kilobytes that it holds, where Linux tells.
    pub fn memory_kb(&self) -> Option<u64> {
        memory_kb(&self.0.id().to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Kilobytes that this process holds, where Linux tells.
pub fn own_memory_kb() -> Option<u64> {
    memory_kb("self")
}

fn memory_kb(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// The example `faulty`, built from the sources of now: `cargo test` has done so, unless it was
/// asked for this test alone.
pub fn faulty() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        // As `cargo test --workspace` has: its package by itself is compiled with other features.
        cargo.args(["build", "--quiet", "--workspace", "--example", "faulty"]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        // What cargo tells a test of its own package would make it build ring anew, here and
        // then outside again.
        let own = |name: &str| name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_");
        for (name, _) in std::env::vars().filter(|(name, _)| own(name)) {
            cargo.env_remove(name);
        }
        assert!(cargo.status().expect("cargo runs this test").success());
        // A test is target/PROFILE/deps/NAME-HASH.
        let own = std::env::current_exe().expect("a test is a program");
        let profile = own.ancestors().nth(2).expect("cargo puts it there");
        profile.join("examples").join("faulty").with_extension(std::env::consts::EXE_EXTENSION)
    })
}
