//! Frames too large for a packet: who should get one is begun anew, and told what it must know.

use std::sync::Arc;

use lockstone_net::memory::{Driver, MemoryNetwork, Seat, Weather};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone_net::session::{Phase, Session};
use lockstone_sim::{Body, Dice, Fx, Grid, GridConfig, Mind, PlayerId, Rules, Table, Vec2, World};
use serde::{Deserialize, Serialize};
use testkit::sessions::*;

/// All enter at one place, and say much.
struct Market;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Crier {
    words: u32,
}

impl Body for Crier {
    fn is_actor(&self) -> bool {
        true
    }
}

impl Rules for Market {
    type Body = Crier;
    type Effect = ();
    type Command = Vec<u8>;
    type Hero = ();
    type Facts = ();
    type Fact = ();
    type Scratch = ();

    fn entrance(&self, _: PlayerId, (): &(), (): &()) -> Vec2 {
        Vec2::new(Fx::int(100), Fx::int(100))
    }

    fn enter(&self, _: PlayerId, (): &(), _: &mut Dice) -> Crier {
        Crier { words: 0 }
    }

    fn command(&self, me: &mut Crier, command: &Vec<u8>) {
        me.words = me.words.wrapping_add(command.len() as u32);
    }

    fn think(&self, _: &mut Crier, _: &mut Mind<'_, Market>) {}
}

/// Commands of all in one tick are more than a frame holds.
const CRIERS: usize = 60;

#[test]
fn a_joiner_whose_first_frame_is_too_large_gets_in() {
    let settings = RelaySettings {
        commands_per_s_max: 1_000,
        packets_per_s_max: 1_000,
        bytes_per_s_max: 1_000_000,
        core_actors_max: 0,
        ..RelaySettings::default()
    };
    let config = RelayConfig::new(settings).expect("the settings are in range");
    let grid = Grid::new(GridConfig::default()).expect("the default is in range");
    let table = Table::generate([7; 32]);
    let build = move |seed| World::new(Arc::new(Market), grid, table.clone(), seed);
    let network = MemoryNetwork::hub(1, Weather::clear(ms(5)));
    let mut driver = Driver::with_hub(network, Relay::dedicated(config.clone(), IDENTITY, build.clone()), |link| link);
    let replica = |n: usize| {
        let name = format!("crier {n}");
        Replica::<Market>::new(config.clone(), IDENTITY, &name, (), build.clone()).expect("the name is fine")
    };
    for n in 0..CRIERS {
        driver.enter(replica(n));
    }
    driver.run_until(secs(5));
    assert!(driver.seats.iter().all(|seat| seat.session.phase() == Phase::Playing));
    let joiner = driver.enter(replica(CRIERS));
    // It says that it is ready as soon as it knows the place where its hero enters.
    let placed = |seat: &Seat<Replica<Market>>| {
        let core = seat.session.simulation().and_then(|world| world.area().core_rect());
        core.is_some_and(|core| !core.is_empty())
    };
    let end = driver.now() + secs(10);
    let is_placed = driver.run_while(end, |driver| !placed(&driver.seats[joiner]));
    assert!(is_placed, "it never knows its place");
    // All cry in the tick in which it joins.
    for seat in 0..CRIERS {
        let session = &mut driver.seats[seat].session;
        for _ in 0..8 {
            session.command(vec![7; 250]).expect("so many may wait");
        }
    }
    // And goes on like everyone once they have calmed down.
    let end = driver.now() + secs(10);
    let plays = |seat: &Seat<Replica<Market>>| seat.session.phase() == Phase::Playing && placed(seat);
    assert!(driver.run_while(end, |driver| !plays(&driver.seats[joiner])), "it catches up for ever");
    let begun_anew = driver.hub().session.stats().relay.expect("a relay").begun_anew;
    assert!(begun_anew > CRIERS as u64, "not even its own frame was too large: nothing is shown");
    let session = &driver.seats[joiner].session;
    let player = session.stats().player.expect("it is in");
    assert!(session.simulation().is_some_and(|world| world.hero(player).is_some()), "its hero is in its world");
}
