//! Every field of everything in the dungeon counts in the checksum.

use dungeon::game::DungeonGame;
use lockstone::check::{CoverageConfig, coverage};

#[test]
fn every_field_is_in_the_checksum() {
    let report = coverage::<DungeonGame>(&CoverageConfig::default());
    println!("{report}");
    assert!(report.passed() && report.uncovered.is_empty(), "{report}");
    assert!(report.never_met.is_empty(), "{report}");
}
