//! Rollback sessions over the memory network, on virtual time.

mod support;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::session::{Phase, Session};
use lockstone_net::{Rollback, RollbackConfig, RollbackSettings};
use support::*;

fn rollback(settings: RollbackSettings, name: &str) -> Rollback<Mixer> {
    let config = RollbackConfig::new(settings).expect("the settings are in range");
    Rollback::new(config, IDENTITY, name, (7, 9), |seed| Mixer::new(seed, 64)).expect("the name is fine")
}

#[test]
fn two_play() {
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(50))));
    for n in 0..2 {
        driver.enter(rollback(RollbackSettings::default(), &format!("player {n}")));
    }
    driver.run_until(secs(2));
    for n in 0..100 {
        let until = driver.now() + ms(70);
        driver.run_until(until);
        driver.seats[n % 2].session.command(n as u64).unwrap();
    }
    driver.run_until(secs(12));
    for seat in &driver.seats {
        println!("{:?} {:?}", seat.session.phase(), seat.session.stats());
        assert_eq!(seat.session.phase(), Phase::Playing);
    }
    let [a, b] = [0, 1].map(|seat| Played::of(&driver.seats[seat].events));
    println!("{}", assert_same(&a, &b, "x"));
}
