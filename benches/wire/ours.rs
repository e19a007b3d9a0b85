//! Lockstone's sessions, on virtual time.

use std::time::Duration;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartyConfig};
use lockstone_net::{Identity, Rollback, RollbackConfig, RollbackSettings, Session};
use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};

use crate::{Command, DELAY_MS, SECONDS, Sent, TICKS_PER_S, command};

/// A simulation that only counts what it is told.
#[derive(Clone, Copy, Default)]
struct Tally {
    tick: Tick,
    played: u32,
    sum: u64,
}

impl Simulation for Tally {
    type Command = Command;
    type Hero = ();
    type Join = ();
    type Request = ();
    type Given = lockstone::sim::Nothing;
    type Snapshot = Tally;

    fn tick(&self) -> Tick {
        self.tick
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            if let Input::Command(player, command) = input {
                self.played += 1;
                self.sum =
                    command.iter().fold(mix64(self.sum ^ u64::from(player.0)), |sum, &b| mix64(sum ^ u64::from(b)));
            }
        }
        self.tick = self.tick.next();
    }

    fn requests(&self) -> &[()] {
        &[]
    }

    fn admit(&self, _player: PlayerId, _hero: ()) {}

    fn snapshot(&mut self) -> Tally {
        *self
    }

    fn restore(&mut self, snapshot: &Tally) {
        *self = *snapshot;
    }

    fn checksum(&mut self) -> Checksum {
        Checksum(mix64(self.sum ^ u64::from(self.tick.0)))
    }

    fn encode(&self, snapshot: &Tally) -> Vec<u8> {
        codec::compact(&(snapshot.tick, snapshot.played, snapshot.sum))
    }

    fn decode(&self, bytes: &[u8]) -> Result<Tally, CodecError> {
        codec::read(bytes, 64).map(|(tick, played, sum)| Tally { tick, played, sum })
    }
}

const IDENTITY: Identity = Identity { rules: 1, table: 1, config: 1 };

pub fn party(peers: usize) -> Sent {
    let mut driver = driver();
    for n in 0..peers {
        let party = Party::new(PartyConfig::default(), IDENTITY, &format!("peer {n}"), (), |_seed| Tally::default());
        driver.enter(party.expect("the name is short"));
        let until = driver.now() + Duration::from_secs(1);
        driver.run_until(until);
    }
    measure(driver)
}

pub fn rollback(peers: usize) -> Sent {
    let mut driver = driver();
    let config = RollbackConfig::new(RollbackSettings { players: peers, ..RollbackSettings::default() });
    let config = config.expect("so many can play");
    for n in 0..peers {
        let rollback = Rollback::new(config.clone(), IDENTITY, &format!("peer {n}"), (), |_seed| Tally::default());
        driver.enter(rollback.expect("the name is short"));
    }
    measure(driver)
}

fn driver<T: Session>() -> Driver<T> {
    let weather = Weather { delay: Duration::from_millis(DELAY_MS), ..Weather::default() };
    Driver::new(MemoryNetwork::new(1, weather))
}

/// Lets all peers play, once they have met.
fn measure<T: Session<Sim = Tally>>(mut driver: Driver<T>) -> Sent {
    let until = driver.now() + Duration::from_secs(3);
    driver.run_until(until);
    let (start, before) = (driver.now(), driver.network.carried_in_all());
    let played = |driver: &Driver<T>| {
        let tallies = driver.seats.iter().map(|seat| seat.session.simulation().expect("it plays").played as usize);
        tallies.min().expect("there are peers")
    };
    let played_before = played(&driver);
    for tick in 0..SECONDS as usize * TICKS_PER_S {
        driver.run_until(start + Duration::from_secs(1) * tick as u32 / TICKS_PER_S as u32);
        for peer in 0..driver.seats.len() {
            if let Some(command) = command(peer, tick) {
                driver.seats[peer].session.command(command).expect("it plays");
            }
        }
    }
    driver.run_until(start + Duration::from_secs(SECONDS));
    let after = driver.network.carried_in_all();
    driver.run_until(start + Duration::from_secs(SECONDS + 1));
    Sent {
        bytes: after.bytes - before.bytes,
        packets: after.packets - before.packets,
        played: played(&driver) - played_before,
    }
}
