//! A bench's own program again, as something else, and what processes hold.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// It is killed when this is dropped.
pub struct Process(Child);

impl Process {
    pub fn start(args: &[&str]) -> Process {
        let program = std::env::current_exe().expect("this program has a place");
        let mut command = Command::new(program);
        // To find the lines of a panic in a bench's own program takes seconds, which would be measured.
        command.env("RUST_BACKTRACE", "0");
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
