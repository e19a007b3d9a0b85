//! What the comparison of checksums costs on the wire: the same party twice on virtual
//! time, with checksums as often as by default and as seldom as it is allowed. What is sent
//! more is their cost.

use std::time::Duration;

use lockstone::net::memory::{Driver, MemoryNetwork, Weather};
use lockstone::net::party::{Party, PartyConfig, PartySettings};
use lockstone::net::{Identity, Session};

use testkit::mixer::Mixer;

const PEERS: usize = 4;
const SECONDS: u32 = 60;
/// The longest that may be set.
const SELDOM_TICKS: u32 = 1_000;
/// Between two commands, each of another peer.
const COMMAND_PERIOD: Duration = Duration::from_millis(250);

/// Bytes a second that the checks make one peer send.
pub struct Cost {
    pub sequencer: f64,
    /// Of a replica, the most.
    pub replica: f64,
}

pub fn cost() -> Cost {
    let often = sent(PartySettings::default().checksum_interval_ticks);
    let seldom = sent(SELDOM_TICKS);
    let more: Vec<_> = (0..PEERS).map(|n| (often[n] as f64 - seldom[n] as f64) / f64::from(SECONDS)).collect();
    Cost { sequencer: more[0], replica: more[1..].iter().copied().fold(f64::MIN, f64::max) }
}

/// Bytes that each peer sends in a minute, the founder first, who closes the ticks.
fn sent(checksum_interval_ticks: u32) -> Vec<u64> {
    let settings = PartySettings { checksum_interval_ticks, players_at_start: PEERS, ..PartySettings::default() };
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(Duration::from_millis(50))));
    for n in 0..PEERS {
        let config = PartyConfig::new(settings.clone()).expect("the settings are in range");
        let identity = Identity { rules: 1, table: 2, config: 3 };
        let party = Party::new(config, identity, &format!("peer {n}"), (7, 9), |seed| Mixer::new(seed, 4));
        driver.enter(party.expect("the name is short"));
    }
    let joined = |driver: &Driver<Party<Mixer>>| driver.seats.iter().all(|seat| players(&seat.session) == PEERS);
    assert!(driver.run_while(Duration::from_secs(20), |driver| !joined(driver)), "they do not get together");
    let bytes_out = |driver: &Driver<Party<Mixer>>| -> Vec<u64> {
        driver.seats.iter().map(|seat| seat.session.stats().traffic.bytes_out).collect()
    };
    let (before, start) = (bytes_out(&driver), driver.now());
    for n in 0..SECONDS * 4 {
        driver.run_until(start + COMMAND_PERIOD * n);
        driver.seats[n as usize % PEERS].session.command(n.into()).expect("it plays");
    }
    driver.run_until(start + Duration::from_secs(SECONDS.into()));
    bytes_out(&driver).iter().zip(before).map(|(after, before)| after - before).collect()
}

fn players(party: &Party<Mixer>) -> usize {
    party.stats().players.len()
}
