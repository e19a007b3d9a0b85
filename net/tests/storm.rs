//! Parties in bad weather, with peers that come and go at random ticks. Every failure names the
//! seed that repeats it: `SEED=17 cargo test -p lockstone-net --test storm --
//! --nocapture`. `SEEDS=5000` tries more of them.

use core::time::Duration;
use std::collections::BTreeSet;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Phase, Session};
use lockstone_sim::Tick;
use testkit::seeds;
use testkit::sessions::*;

const STORM: Weather = Weather {
    delay: Duration::from_millis(30),
    jitter: Duration::from_millis(200),
    loss_permille: 200,
    duplicate_permille: 50,
    reorder_permille: 100,
    line_bytes_per_s: None,
};
const STORM_SECONDS: u64 = 30;

#[test]
fn peers_stay_equal_in_a_storm() {
    let runs = seeds::each("-p lockstone-net --test storm", 100, storm);
    let (compared, joins) = runs.iter().fold((0, 0), |sums, run| (sums.0 + run.0, sums.1 + run.1));
    println!("{compared} checksums compared, {joins} joins");
}

/// One run: returns how many checksums were compared and how many peers joined.
fn storm(seed: u64) -> (usize, usize) {
    let mut dice = Dice(seed);
    let settings = PartySettings { seed, ..PartySettings::default() };
    let mut driver = Driver::new(MemoryNetwork::new(seed, STORM));
    driver.enter(party(settings.clone(), "founder"));
    let mut past = Vec::new();
    let mut joins = 0;
    while driver.now() < secs(STORM_SECONDS) {
        let until = driver.now() + ms(20 + dice.roll(400));
        driver.run_until(until);
        let seats = driver.seats.len();
        match dice.roll(12) {
            0 | 1 if seats < 8 => {
                driver.enter(party(settings.clone(), &format!("peer {joins}")));
                joins += 1;
            }
            2 if seats > 2 => {
                let seat = 1 + dice.roll(seats as u64 - 1) as usize;
                let now = driver.now();
                // Half of them leave, half just break away.
                if dice.roll(2) == 0 {
                    driver.seats[seat].session.leave(now);
                    driver.run_until(now + ms(1));
                }
                past.push(Played::of(&driver.seats.remove(seat).events));
            }
            _ => {
                let seat = dice.roll(seats as u64) as usize;
                // Refused as long as its hero is not in the world.
                let _ = driver.seats[seat].session.command(dice.roll(1 << 40));
            }
        }
    }
    clear_up(&mut driver, seed);
    let context = format!("seed {seed}");
    let founder = Played::of(&driver.seats[0].events);
    let mut compared = 0;
    for (n, seat) in driver.seats.iter().enumerate() {
        let stats = seat.session.stats();
        assert_eq!(stats.desyncs, 0, "{context}: seat {n}");
        assert!(!seat.session.simulation().expect("it plays").nonsense, "{context}: seat {n}");
        assert!(seat.events.iter().all(|event| !matches!(event, Event::Desync { .. })), "{context}: seat {n}");
        compared += assert_same(&founder, &Played::of(&seat.events), &context);
    }
    for played in &past {
        compared += assert_same(&founder, played, &context);
    }
    (compared, joins)
}

/// The weather clears: soon everyone plays at the pace of time, close to the sequencer, and all
/// commands arrive.
fn clear_up(driver: &mut Driver<Party<Mixer>>, seed: u64) {
    driver.network.set_weather(Weather::clear(ms(30)));
    let cleared = driver.now();
    driver.run_until(cleared + secs(10));
    let before = ticks(driver);
    driver.run_until(cleared + secs(15));
    let after = ticks(driver);
    for (n, seat) in driver.seats.iter().enumerate() {
        assert_eq!(seat.session.phase(), Phase::Playing, "seed {seed}: seat {n}");
        let (played, behind) = (after[n].since(before[n]), after[0].since(after[n]));
        assert!((99..=111).contains(&played), "seed {seed}: seat {n} played {played} ticks in 5 s");
        assert!(behind <= 3, "seed {seed}: seat {n} is {behind} ticks behind");
        assert_eq!(seat.session.stats().commands_pending, 0, "seed {seed}: seat {n}");
    }
}

fn ticks(driver: &Driver<Party<Mixer>>) -> Vec<Tick> {
    driver.seats.iter().map(|seat| seat.session.stats().tick).collect()
}

#[test]
fn a_join_leaves_the_ticks_of_others_untouched() {
    let settings = PartySettings::default();
    let world = |seed| Mixer::new(seed, 100_000);
    let mut driver =
        Driver::new(MemoryNetwork::new(5, Weather { loss_permille: 50, jitter: ms(20), ..Weather::clear(ms(40)) }));
    for n in 0..3 {
        driver.enter(party_of(settings.clone(), IDENTITY, &format!("player {n}"), world));
    }
    driver.run_until(secs(10));
    let joiner = driver.enter(party_of(settings, IDENTITY, "joiner", world));
    let mut progress = BTreeSet::new();
    while !playing(&driver.seats[joiner].session) {
        let before = ticks(&driver);
        let until = driver.now() + ms(500);
        driver.run_while(until, |driver| {
            if let Phase::Loading { bytes, total } = driver.seats[joiner].session.phase() {
                assert!(total > 800_000 && bytes <= total);
                progress.insert(bytes);
            }
            true
        });
        let after = ticks(&driver);
        for seat in 0..3 {
            let played = after[seat].since(before[seat]);
            assert!((6..=15).contains(&played), "seat {seat} played {played} ticks in 500 ms while someone joined");
        }
        assert_eq!(after[0].since(before[0]), 10, "the sequencer keeps time exactly");
        assert!(driver.now() < secs(60), "the joiner never gets in");
    }
    assert!(progress.len() >= 4, "a snapshot of several hundred KiB arrives piece by piece: {progress:?}");
    let until = driver.now() + secs(5);
    driver.run_until(until);
    let [founder, joiner] = [0, joiner].map(|seat| Played::of(&driver.seats[seat].events));
    assert!(assert_same(&founder, &joiner, "joiner") >= 8);
}
