//! What is checked about bytes from outside, whatever they are: one module a fuzz target.
//!
//! Each has `check`, which takes any bytes, panics if Lockstone does what it must not and tells
//! whether they meant anything, and `seeds`, real bytes from which a fuzzer goes on. Nothing here
//! may depend on anything but the bytes: what was found once must be found again.
#![forbid(unsafe_code)]

pub mod bundle;
pub mod dungeon;
pub mod party;
pub mod recording;
pub mod relay;
pub mod rollback;
pub mod snapshot;
pub mod table;
pub mod wire;

mod memory;
mod session;
mod slices;
mod turns;

/// A fuzz target: its name, its check and its seeds.
pub struct Target {
    /// As `cargo fuzz run` knows it.
    pub name: &'static str,
    /// Panics if these bytes do harm. Returns whether they were understood, and so whether anything
    /// was checked in depth.
    pub check: fn(&[u8]) -> bool,
    /// Real bytes.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 9] = [
    Target { name: "wire", check: wire::check, seeds: wire::seeds },
    Target { name: "party", check: party::check, seeds: party::seeds },
    Target { name: "rollback", check: rollback::check, seeds: rollback::seeds },
    Target { name: "relay", check: relay::check, seeds: relay::seeds },
    Target { name: "snapshot", check: snapshot::check, seeds: snapshot::seeds },
    Target { name: "dungeon", check: dungeon::check, seeds: dungeon::seeds },
    Target { name: "table", check: table::check, seeds: table::seeds },
    Target { name: "recording", check: recording::check, seeds: recording::seeds },
    Target { name: "bundle", check: bundle::check, seeds: bundle::seeds },
];
