//! The desync checker's aim: of thousands of entities over a quarter of an hour, the one bit that
//! was turned over is named.
//!
//! A sample of cases is tried.
//! `CASES=1000 cargo test --release -p lockstone --test checker location::`
//! tries a thousand of each kind.

use std::sync::LazyLock;

use lockstone::check::Checker;
use lockstone::sim::{Rules, World};
use testkit::faulty::{self, Fault, Wilds};
use testkit::flips::{LongGame, Recorded, dice, read};
use testkit::pasture::{self, Pasture, Wrong};
use testkit::seeds;

const SEED: u64 = 40;
const TICKS: u32 = 18_000;
/// A flock grows as long as it is shorn.
const MEADOW_TICKS: u32 = 3_000;

fn wilds(seed: u64) -> World<Wilds> {
    faulty::world(seed, Fault::None)
}

fn meadow(seed: u64) -> World<Pasture> {
    pasture::world(seed, Wrong::Nothing)
}

/// Each game is played once. Some peers of the first have bots beside them, so that more of the
/// world is awake.
static WILDS: LazyLock<LongGame<Wilds>> = LazyLock::new(|| LongGame::play(SEED, wilds, faulty::turns(SEED, 8, TICKS)));
static MEADOW: LazyLock<LongGame<Pasture>> =
    LazyLock::new(|| LongGame::play(SEED, meadow, pasture::turns(SEED, MEADOW_TICKS)));

fn every_bit_is_named(recorded: Recorded) {
    assert!(WILDS.entities >= 2_000, "{} entities", WILDS.entities);
    every_bit_of(&WILDS, &wilds, recorded);
    every_bit_of(&MEADOW, &meadow, recorded);
}

fn every_bit_of<R: Rules>(game: &LongGame<R>, build: &dyn Fn(u64) -> World<R>, recorded: Recorded) {
    for case in 0..seeds::number("CASES").unwrap_or(2) {
        let (files, flip) = game.flipped(recorded, &mut dice(case));
        let report = Checker::new(build).check(read(&files)).expect("they are of one session");
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
