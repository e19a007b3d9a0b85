//! Sessions of [mixers](Mixer) over memory networks: how they begin, who lies in them, and what
//! must come out.

pub mod crafted;
pub mod evidence;
pub mod hostile;
pub mod messages;
mod played;
pub mod rollback;
pub mod tap;

use core::time::Duration;

use lockstone_net::Identity;
use lockstone_net::memory::{Driver, MemoryNetwork, Seat, Weather};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::wire::List;

pub use lockstone_net::{Link, Session};

pub use crate::mixer::Mixer;
pub use crate::{Dice, mix, ms, secs};
pub use played::{Played, assert_same, desyncs, ended, playing, said};

pub const IDENTITY: Identity = Identity { rules: 1, table: 2, config: 3 };

pub fn party(settings: PartySettings, name: &str) -> Party<Mixer> {
    party_of(settings, IDENTITY, name, |seed| Mixer::new(seed, 64))
}

pub fn party_of(
    settings: PartySettings,
    identity: Identity,
    name: &str,
    build: impl Fn(u64) -> Mixer + Send + Sync + 'static,
) -> Party<Mixer> {
    let config = PartyConfig::new(settings).expect("the settings are in range");
    Party::new(config, identity, name, (7, 9), build).expect("the name is fine")
}

/// A driver with `peers` parties of the same settings on a clear network, all playing.
pub fn session(peers: usize, settings: &PartySettings, delay: Duration) -> Driver<Party<Mixer>> {
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(delay)));
    for n in 0..peers {
        driver.enter(party(settings.clone(), &format!("player {n}")));
    }
    let all_play = driver.run_while(secs(10), |driver| !driver.seats.iter().all(|seat| playing(&seat.session)));
    assert!(all_play, "the peers do not get into the session");
    driver
}

/// A bounded list of values that fit into it.
pub fn list<T: core::fmt::Debug, const MAX: usize>(values: Vec<T>) -> List<T, MAX> {
    List::try_from(values).expect("fits")
}

/// The digest of bytes that go in pieces, as the wire has it.
pub fn digest(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}
