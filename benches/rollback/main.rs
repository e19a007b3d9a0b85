//! A rollback of 8 ticks of a whole world, driven by ggrs: our session's way beside the ordinary one.
//!
//! Both are ggrs's `SyncTestSession`: each advance goes back 8 ticks, plays them again and then a new one, and keeps the state and its
//! checksum before each tick but the one it went back to. Four of the heroes are the session's players, who give no command.
//! `cargo bench -p lockstone --bench rollback` prints what an advance costs, and the ratio, from one run.

#[path = "../world/contender.rs"]
#[allow(dead_code, reason = "the world's bench measures more")]
mod contender;
#[path = "../world/ordinary.rs"]
mod ordinary;
mod ordinary_session;
#[path = "../world/ours.rs"]
mod ours;
#[path = "../world/play.rs"]
mod play;

use std::time::Duration;

use contender::{time, typical};
use lockstone_net::rollback::SyncTest;
use ordinary_session::OrdinarySession;
use play::{CROWDED, Play, SPREAD};

/// Ticks that are played again.
const DISTANCE_TICKS: u32 = 8;
const PLAYERS: u16 = 4;
const WARM_UP: usize = 40;

fn main() {
    println!("a rollback of {DISTANCE_TICKS} ticks and a new tick, a checksum before each, through ggrs\n");
    println!("{:34} {:>12} {:>12} {:>8}", "", "Lockstone", "ordinary", "ratio");
    for play in [SPREAD, CROWDED] {
        let (ours, theirs) = (measure_ours(&play), measure_ordinary(&play));
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!("{:34} {:>9.2} ms {:>9.2} ms {:>7.1}x", play.name, ms(ours), ms(theirs), ms(theirs) / ms(ours));
    }
}

fn measure_ours(play: &Play) -> Duration {
    let mut test = SyncTest::new(ours::world(play, PLAYERS), &[(); PLAYERS as usize], DISTANCE_TICKS);
    measure(600, || test.advance(|_, _| None).expect("it comes out the same"))
}

fn measure_ordinary(play: &Play) -> Duration {
    let mut session = OrdinarySession::new(play, PLAYERS.into(), DISTANCE_TICKS as usize);
    measure(60, || session.advance())
}

fn measure(rounds: usize, mut advance: impl FnMut()) -> Duration {
    (0..WARM_UP).for_each(|_| advance());
    typical(rounds, || time(&mut advance))
}
