//! What Lockstone's tests, benches, examples and fuzz targets share: worlds that find faults,
//! sessions on virtual time, links that listen, lose or lie, and recordings of what was played.
//!
//! ```text
//! always    seeds, dice       storm, mixer    worlds without a network
//! net       sessions, relay   clocks          sessions of them, on virtual time
//! engine    recorded, relayed faulty, pasture  recordings, and what a checker must find
//!                             flips
//! dungeon   delve, golden                     the example game, without a network
//! strangers strangers, process                who attacks a signaling server and rooms, really
//!           coturn                            the TURN server of its package
//! contest   contest                           what benches measure, either way
//! ```
//!
//! Whatever is drawn here comes from a seed that a failing test prints. It is in no release.
#![allow(missing_docs, reason = "a test's parts are named for who reads the test")]

mod dice;
pub mod mixer;
pub mod seeds;
pub mod storm;

#[cfg(feature = "net")]
pub mod clocks;
#[cfg(feature = "net")]
pub mod relay;
#[cfg(feature = "net")]
pub mod sessions;
#[cfg(feature = "net")]
pub mod tampered;

#[cfg(feature = "engine")]
pub mod browser;
#[cfg(all(feature = "browser", unix))]
pub mod devtools;
#[cfg(feature = "engine")]
pub mod faulty;
#[cfg(feature = "engine")]
pub mod flips;
#[cfg(all(feature = "browser", unix))]
pub mod open_page;
#[cfg(feature = "engine")]
pub mod pasture;
#[cfg(feature = "engine")]
pub mod recorded;
#[cfg(feature = "engine")]
pub mod relayed;

#[cfg(feature = "dungeon")]
pub mod delve;
#[cfg(feature = "dungeon")]
pub mod golden;

#[cfg(any(feature = "strangers", all(feature = "browser", unix)))]
pub mod coturn;
#[cfg(feature = "strangers")]
pub mod process;
#[cfg(feature = "strangers")]
pub mod router;
#[cfg(feature = "strangers")]
pub mod strangers;

#[cfg(feature = "contest")]
pub mod contest;

pub use dice::Dice;

use core::time::Duration;
use std::io::Write as _;

pub const fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// This test cannot be made without something: it is skipped by who says that it may be.
pub fn lacks(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "this test needs {what}");
    tell(&format!("SKIPPED: this test needs {what}"));
}

/// Says something of a test that passes, too: what its macros print nobody sees then.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
