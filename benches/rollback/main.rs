//! A rollback of 8 ticks of a whole world, driven by ggrs: our session's way beside the ordinary
//! one.
//!
//! Both are ggrs's `SyncTestSession`: each advance goes back 8 ticks, plays them again and then a
//! new one, and keeps the state and its checksum before each tick but the one it went back to. Four
//! of the heroes are the session's players, who give no command.
//! `cargo bench -p lockstone --bench rollback` prints what an advance costs, what of it the new
//! tick, and the ratios, from one run.

mod ordinary_session;

use std::time::Duration;

use lockstone_net::rollback::SyncTest;
use lockstone_sim::{Simulation, Turn};
use ordinary_session::OrdinarySession;
use testkit::contest::ordinary::Ordinary;
use testkit::contest::ours;
use testkit::contest::play::{CROWDED, Play, SPREAD};
use testkit::contest::{least_disturbed, time, typical};

/// Ticks that are played again.
const DISTANCE_TICKS: u32 = 8;
const PLAYERS: u16 = 4;
const WARM_UP: usize = 40;
const ROUNDS: usize = 60;
/// So many of ours to one of the ordinary way, which takes longer.
const OURS_A_ROUND: usize = 10;

fn main() {
    println!("a rollback of {DISTANCE_TICKS} ticks through ggrs, a checksum before each tick");
    for play in [SPREAD, CROWDED] {
        println!("\n{:34} {:>12} {:>12} {:>8}", play.name, "Lockstone", "ordinary", "ratio");
        let (advance, tick) = (measure(&play), [new_tick(ours::world(&play, 0)), new_tick(Ordinary::new(&play))]);
        let row = |name, [ours, theirs]: [Duration; 2]| {
            let [ours, theirs] = [ours, theirs].map(|time| time.as_secs_f64() * 1000.0);
            println!("{name:34} {ours:>9.3} ms {theirs:>9.3} ms {:>7.1}x", theirs / ours);
        };
        row("rollback and new tick", advance);
        row("of it the new tick", tick);
        row("rollback alone", [0, 1].map(|way| advance[way].saturating_sub(tick[way])));
    }
}

/// What a tick alone costs.
fn new_tick(mut world: impl Simulation) -> Duration {
    (0..WARM_UP).for_each(|_| world.step(&Turn::EMPTY));
    typical(ROUNDS * OURS_A_ROUND, || time(|| world.step(&Turn::EMPTY)))
}

/// What an advance costs our way and the ordinary way: the least disturbed tenth of each. They take
/// turns, so that both have the same disturbances.
fn measure(play: &Play) -> [Duration; 2] {
    let mut ours = SyncTest::new(ours::world(play, PLAYERS), &[(); PLAYERS as usize], DISTANCE_TICKS);
    let mut ordinary = OrdinarySession::new(play, PLAYERS.into(), DISTANCE_TICKS as usize);
    let mut advance_ours = || ours.advance(|_, _| None).expect("it comes out the same");
    (0..WARM_UP).for_each(|_| advance_ours());
    (0..WARM_UP).for_each(|_| ordinary.advance());
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        samples[0].extend((0..OURS_A_ROUND).map(|_| time(&mut advance_ours)));
        samples[1].push(time(|| ordinary.advance()));
    }
    samples.map(least_disturbed)
}
