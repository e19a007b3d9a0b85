//! Rollback sessions of mixers.

use core::time::Duration;

use lockstone_net::link::Link;
use lockstone_net::memory::{Driver, MemoryLink, Weather};
use lockstone_net::session::{Event, Session};
use lockstone_net::{PlayerKey, Rollback, RollbackConfig, RollbackSettings};
use lockstone_sim::{Input, PlayerId, Turn};

use super::tap::Tap;
use super::*;

pub fn settings(seed: u64) -> RollbackSettings {
    RollbackSettings { seed, ..RollbackSettings::default() }
}

pub fn rollback(
    settings: RollbackSettings,
    name: &str,
    build: impl Fn(u64) -> Mixer + Send + Sync + 'static,
) -> Rollback<Mixer> {
    let config = RollbackConfig::new(settings).expect("the settings are in range");
    Rollback::new(config, IDENTITY, name, (7, 9), build).expect("the name is fine")
}

/// A driver with so many players, all playing. The weather begins after they have met.
pub fn room(seed: u64, peers: usize, weather: Weather, settings: &RollbackSettings) -> Driver<Rollback<Mixer>> {
    room_by(seed, peers, weather, settings, |_, link| link)
}

/// The same, by what is made of each player's link.
pub fn room_by<L: Link>(
    seed: u64,
    peers: usize,
    weather: Weather,
    settings: &RollbackSettings,
    wrap: impl FnMut(usize, MemoryLink) -> L,
) -> Driver<Rollback<Mixer>, L> {
    let settings = RollbackSettings { players: peers, ..settings.clone() };
    let player = |n| rollback(settings.clone(), &format!("player {n}"), |seed| Mixer::new(seed, 64));
    gather(seed, weather, (0..peers).map(player), wrap)
}

/// Players who all play, the world of one of whom goes wrong at a tick.
pub fn odd_rollback(
    seed: u64,
    players: usize,
    odd: Odd,
    weather: Weather,
    settings: RollbackSettings,
) -> Driver<Rollback<Mixer>> {
    let settings = RollbackSettings { players, seed, ..settings };
    let player = |n| rollback(settings.clone(), &format!("player {n}"), odd_world(n, odd));
    gather(seed, weather, (0..players).map(player), |_, link| link)
}

/// The key of a player in a [`keyed_room`].
pub fn key(seat: usize) -> PlayerKey {
    PlayerKey::from_bytes([seat as u8 + 1; 32])
}

/// Players who all play and have keys, the world of one of whom may go wrong at a tick. Their
/// packets pass through hands.
pub fn keyed_room(seed: u64, players: usize, odd: Odd) -> Driver<Rollback<Mixer>, Tap> {
    room_of_keys(seed, players, odd, |_| true)
}

/// The same, of whom some have keys.
pub fn room_of_keys(
    seed: u64,
    players: usize,
    odd: Odd,
    has_key: impl Fn(usize) -> bool,
) -> Driver<Rollback<Mixer>, Tap> {
    let settings = RollbackSettings { players, ..settings(seed) };
    let player = |n| {
        let player = rollback(settings.clone(), &format!("player {n}"), odd_world(n, odd));
        if has_key(n) { player.with_key(key(n)) } else { player }
    };
    gather(seed, Weather::clear(ms(20)), (0..players).map(player), |_, link| Tap::idle(link))
}

/// Lets everyone give commands now and then.
pub fn play(driver: &mut Driver<impl Session<Sim = Mixer>, impl Link>, dice: &mut Dice, time: Duration) {
    let end = driver.now() + time;
    while driver.now() < end {
        let until = (driver.now() + ms(10 + dice.roll(150))).min(end);
        driver.run_until(until);
        let seat = dice.roll(driver.seats.len() as u64) as usize;
        // Refused by who has ended.
        let _ = driver.seats[seat].session.command(dice.roll(1 << 40));
    }
}

/// A peer is no more. Silently: nobody is told. Returns what it had told.
pub fn kill(
    driver: &mut Driver<impl Session<Sim = Mixer>, impl Link>,
    victim: usize,
    silently: bool,
) -> Vec<Event<Mixer>> {
    if silently {
        let dead = driver.peer(victim);
        driver.seats.iter().for_each(|seat| driver.network.set_cut(dead, seat.peer, true));
    }
    let Seat { link, events, .. } = driver.seats.remove(victim);
    if silently {
        // Its end of the network stays, and says nothing.
        std::mem::forget(link);
    }
    events
}

/// Nobody found a difference, and all told the same. Returns how many checksums were compared.
pub fn in_step(driver: &Driver<impl Session<Sim = Mixer>, impl Link>, seed: u64) -> u64 {
    let context = format!("seed {seed}");
    let first = Played::of(&driver.seats[0].events);
    let mut compared = 0;
    for (n, seat) in driver.seats.iter().enumerate() {
        let stats = seat.session.stats();
        assert_eq!(stats.desyncs, 0, "{context}: seat {n}");
        assert!(stats.checksums_compared > 0 || driver.seats.len() == 1, "{context}: seat {n} compared nothing");
        assert!(!seat.session.simulation().expect("it plays").nonsense, "{context}: seat {n}");
        assert!(seat.events.iter().all(|event| !matches!(event, Event::Desync { .. })), "{context}: seat {n}");
        if n > 0 {
            compared += assert_same(&first, &Played::of(&seat.events), &context);
        }
    }
    compared as u64
}

/// The commands of a player in a turn.
pub fn commands_of(turn: &Turn<Mixer>, of: PlayerId) -> impl Iterator<Item = u64> + '_ {
    turn.inputs.iter().filter_map(move |input| match input {
        Input::Command(player, command) if *player == of => Some(*command),
        _ => None,
    })
}
