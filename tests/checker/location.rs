//! The desync checker's aim: of thousands of entities over a quarter of an hour, the one bit that
//! was turned over is named.
//!
//! A sample of cases is tried.
//! `CASES=1000 cargo test --release -p lockstone --test checker location::`
//! tries a thousand of each kind.

use std::sync::OnceLock;

use lockstone::check::Checker;
use testkit::faulty::{Fault, world};
use testkit::flips::{LongGame, Recorded, dice, read};
use testkit::seeds;

const SEED: u64 = 40;
const TICKS: u32 = 18_000;

/// The game is played once.
fn game() -> &'static LongGame {
    static GAME: OnceLock<LongGame> = OnceLock::new();
    GAME.get_or_init(|| LongGame::play(SEED, TICKS))
}

fn every_bit_is_named(recorded: Recorded) {
    let game = game();
    assert!(game.entities >= 2_000, "{} entities", game.entities);
    for case in 0..seeds::number("CASES").unwrap_or(2) {
        let (files, flip) = game.flipped(recorded, &mut dice(case));
        let build = |seed| world(seed, Fault::None);
        let report = Checker::new(&build).check(read(&files)).expect("they are of one session");
        assert!(flip.is_named(&report), "case {case}: {flip:?}\n{report}");
    }
}

#[test]
fn a_turned_bit_is_named_from_checksums_alone() {
    every_bit_is_named(Recorded::Roots);
}

#[test]
fn a_turned_bit_is_named_by_recorded_trees() {
    every_bit_is_named(Recorded::TreesAndKeyframes);
}

#[test]
fn a_turned_bit_is_named_by_a_tree_of_up_to_a_second_later() {
    every_bit_is_named(Recorded::TreesNowAndThen);
}
