//! Players of a rollback session keep abreast: whoever is ahead waits, and nobody else.
//!
//! `SEEDS=200 cargo test -p lockstone-net --test virtual_time rollback::pace -- --nocapture`
//! tries as many.

use lockstone_net::Rollback;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::session::{Phase, Session};
use lockstone_sim::Tick;
use testkit::seeds;
use testkit::sessions::rollback::*;
use testkit::sessions::*;

/// One session among many.
struct Side {
    seed: u64,
    dice: Dice,
    driver: Driver<Rollback<Mixer>>,
    /// Where all were when the weather had cleared.
    cleared: Vec<Tick>,
}

impl Side {
    fn new(seed: u64) -> Side {
        let mut dice = Dice(seed);
        let (peers, delay) = (2 + dice.roll(3) as usize, ms(50 + 50 * dice.roll(2)));
        let weather = Weather { jitter: ms(50), loss_permille: 100, ..Weather::clear(delay) };
        Side { seed, dice, driver: room(seed, peers, weather, &settings(seed)), cleared: Vec::new() }
    }

    fn ticks(&self) -> Vec<Tick> {
        self.driver.seats.iter().map(|seat| seat.session.stats().settled).collect()
    }
}

/// Lets all sessions live for a time.
fn live(sides: &mut [Side], seconds: u64, mut act: impl FnMut(&mut Side)) {
    for side in sides {
        let end = side.driver.now() + secs(seconds);
        while side.driver.now() < end {
            side.driver.run_until(side.driver.now() + ms(10));
            act(side);
        }
    }
}

#[test]
fn worlds_stay_equal_and_players_abreast() {
    let mut sides: Vec<_> = (0..seeds::count(12)).map(Side::new).collect();
    let act = |side: &mut Side| {
        if side.dice.roll(8) == 0 {
            let seat = side.dice.roll(side.driver.seats.len() as u64) as usize;
            let _ = side.driver.seats[seat].session.command(side.dice.roll(1 << 40));
        }
    };
    live(&mut sides, 8, act);
    for side in &mut sides {
        side.driver.network.set_weather(Weather::clear(ms(50)));
    }
    live(&mut sides, 1, act);
    sides.iter_mut().for_each(|side| side.cleared = side.ticks());
    live(&mut sides, 4, act);
    let (mut compared, mut stalls) = (0, 0);
    for side in &sides {
        for (n, seat) in side.driver.seats.iter().enumerate() {
            let stats = seat.session.stats();
            let played = stats.settled.since(side.cleared[n]);
            assert_eq!(seat.session.phase(), Phase::Playing, "seed {}", side.seed);
            assert!((68..=84).contains(&played), "seed {}: seat {n} played {played} ticks in 4 s", side.seed);
            stalls += stats.rollback.expect("it predicts").stalls;
        }
        compared += in_step(&side.driver, side.seed);
    }
    println!("{} sessions, {compared} checksums compared, {stalls} ticks stood still", sides.len());
}

#[test]
fn who_is_ahead_waits_until_the_others_are_abreast() {
    let mut sides = vec![Side { driver: room(1, 2, Weather::clear(ms(20)), &settings(1)), ..Side::new(1) }];
    live(&mut sides, 1, |_| {});
    // One peer stands still for 1.3 s. The other plays on as far as its prediction lasts, and is
    // that much ahead.
    let until = sides[0].driver.now() + ms(1_300);
    sides[0].driver.seats[1].freeze(until);
    sides[0].driver.run_until(until - ms(1));
    let lead = |sides: &[Side]| {
        let [ahead, behind] = [0, 1].map(|seat| sides[0].driver.seats[seat].session.stats().tick);
        ahead.since(behind)
    };
    assert!(lead(&sides) >= 6, "{}", lead(&sides));
    live(&mut sides, 8, |_| {});
    assert!(lead(&sides) <= 3, "{}", lead(&sides));
    assert!(sides[0].driver.seats.iter().all(|seat| seat.session.phase() == Phase::Playing));
    in_step(&sides[0].driver, 1);
}
