//! Sessions of [mixers](Mixer) over memory networks: how they begin, who lies in them, and what
//! must come out.

pub mod crafted;
pub mod hostile;
pub mod log;
pub mod messages;
mod played;
pub mod rollback;
pub mod story;
pub mod tap;

use core::time::Duration;

use lockstone_net::Identity;
use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Seat, Weather};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::wire::List;
use lockstone_sim::Tick;

pub use lockstone_net::{Link, Session};

pub use crate::mixer::Mixer;
pub use crate::{Dice, ms, secs};
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

/// Whose world goes wrong, by its seat, and at which tick.
pub type Odd = Option<(usize, Tick)>;

/// Makes the world of a seat.
fn odd_world(seat: usize, odd: Odd) -> impl Fn(u64) -> Mixer + Send + Sync + 'static {
    let at = odd.filter(|(odd, _)| *odd == seat).map(|(_, tick)| tick);
    move |seed| Mixer::new(seed, 64).with_fault(at)
}

/// A driver with `peers` parties of the same settings on a clear network, all playing.
pub fn session(peers: usize, settings: &PartySettings, delay: Duration) -> Driver<Party<Mixer>> {
    let parties = (0..peers).map(|n| party(settings.clone(), &format!("player {n}")));
    gather(1, Weather::clear(delay), parties, |_, link| link)
}

/// Parties that all play, the world of one of whom goes wrong at a tick.
pub fn odd_party(
    seed: u64,
    players: usize,
    odd: Odd,
    weather: Weather,
    settings: PartySettings,
) -> Driver<Party<Mixer>> {
    let settings = PartySettings { players_at_start: players, seed, ..settings };
    let party = |n| party_of(settings.clone(), IDENTITY, &format!("player {n}"), odd_world(n, odd));
    gather(seed, weather, (0..players).map(party), |_, link| link)
}

/// Players who all play, by what is made of each one's link. The weather begins after they have
/// met.
pub fn gather<T: Session<Sim = Mixer>, L: Link>(
    seed: u64,
    weather: Weather,
    sessions: impl Iterator<Item = T>,
    mut wrap: impl FnMut(usize, MemoryLink) -> L,
) -> Driver<T, L> {
    let mut driver = Driver::new(MemoryNetwork::new(seed, Weather::clear(weather.delay)));
    for (n, session) in sessions.enumerate() {
        driver.enter_by(session, |link| wrap(n, link));
    }
    let waits = |driver: &Driver<T, L>| !driver.seats.iter().all(|seat| playing(&seat.session));
    assert!(driver.run_while(secs(10), waits), "the players do not get together");
    driver.network.set_weather(weather);
    driver
}

/// A bounded list of values that fit into it.
pub fn list<T: core::fmt::Debug, const MAX: usize>(values: Vec<T>) -> List<T, MAX> {
    List::try_from(values).expect("fits")
}

/// The digest of bytes that go in pieces, as the wire has it.
pub fn digest(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(blake3::hash(bytes).as_bytes()[..16].try_into().expect("it has 32 bytes"))
}
