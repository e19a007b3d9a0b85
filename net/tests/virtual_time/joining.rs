//! A join while others play, and a world that takes several packets. Parties in bad weather, with
//! peers that come and go, are the fleet's: `dungeon soak`.

use std::collections::BTreeSet;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Phase, Session};
use lockstone_sim::Tick;
use testkit::sessions::*;

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
