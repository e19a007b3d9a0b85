//! A simulation of a few lines, for tests of what is around one: each player has a number, and
//! commands add to it.

use std::collections::BTreeMap;

use lockstone::check::{Inspect, Thing};
use lockstone::sim::codec::{self, CodecError};
use lockstone::sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};
use serde::{Deserialize, Serialize};

/// The whole state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub tick: u32,
    pub seed: u64,
    pub numbers: BTreeMap<u16, u64>,
    /// Adds this to every number at tick 50, as a build with a fault would.
    #[serde(skip)]
    pub fault: u64,
    /// A number that changes each tick and enters the others, and that no snapshot holds:
    /// forgotten, as it easily happens.
    #[serde(skip)]
    pub forgotten: Option<u64>,
}

impl Tally {
    pub fn new(seed: u64) -> Tally {
        Tally { seed, ..Tally::default() }
    }
}

impl Simulation for Tally {
    type Command = u32;
    type Hero = String;
    type Join = String;
    type Request = u8;
    type Given = lockstone::sim::Nothing;
    type Snapshot = Tally;

    fn tick(&self) -> Tick {
        Tick(self.tick)
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            match input {
                Input::Command(player, by) => {
                    let number = self.numbers.entry(player.0).or_default();
                    *number = number.wrapping_add(u64::from(*by));
                }
                Input::Join(player, name) => drop(self.numbers.insert(player.0, name.len() as u64)),
                Input::Leave(player) => drop(self.numbers.remove(&player.0)),
                Input::Request(_) => {}
                Input::Given(nothing) => match *nothing {},
            }
        }
        let (tick, seed) = (self.tick, self.seed);
        let fault = if tick == 50 { self.fault } else { 0 };
        self.numbers.values_mut().for_each(|n| *n = mix64(*n ^ seed ^ u64::from(tick)).wrapping_add(fault));
        if let Some(forgotten) = &mut self.forgotten {
            *forgotten += 1;
            self.numbers.values_mut().for_each(|n| *n ^= *forgotten);
        }
        self.tick += 1;
    }

    fn requests(&self) -> &[u8] {
        &[]
    }

    fn admit(&self, _player: PlayerId, hero: String) -> String {
        hero
    }

    fn snapshot(&mut self) -> Tally {
        self.clone()
    }

    fn restore(&mut self, snapshot: &Tally) {
        let (fault, forgotten) = (self.fault, self.forgotten);
        *self = Tally { fault, forgotten, ..snapshot.clone() };
    }

    fn checksum(&mut self) -> Checksum {
        let numbers = self.numbers.iter().fold(mix64(self.tick.into()), |sum, (player, n)| {
            mix64(sum ^ mix64(u64::from(*player) ^ n.rotate_left(17)))
        });
        Checksum(numbers)
    }

    fn encode(&self, snapshot: &Tally) -> Vec<u8> {
        codec::compact(snapshot)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Tally, CodecError> {
        codec::read(bytes, 1 << 20)
    }
}

impl Inspect for Tally {
    fn things(&self, _: Option<CellId>) -> Vec<Thing> {
        vec![Thing::entity(0, "Tally", self)]
    }
}
