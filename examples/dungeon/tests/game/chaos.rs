//! The dungeon notices nothing of what a deterministic game must not depend on.

use dungeon::DungeonGame;
use lockstone::check::{self, ChaosConfig, chaos::Breaker};

#[test]
fn the_dungeon_passes_chaos() {
    let program = Some(env!("CARGO_BIN_EXE_dungeon").into());
    let report = check::chaos::<DungeonGame>(&ChaosConfig { program, ..ChaosConfig::default() });
    println!("{report}");
    assert!(report.passed(), "{report}");
    // The other builds are not there yet; the command line finds them.
    let builds = [Breaker::DebugRelease, Breaker::Wasm];
    assert!(report.tried.iter().all(|tried| tried.passed() || builds.contains(&tried.breaker)), "{report}");
}
