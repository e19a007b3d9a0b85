//! A simulation that goes wrong when one player has armed it and another fires, however long after;
//! where it keeps that it is armed, one chooses.

use lockstone::check::{Inspect, Thing};
use lockstone::sim::codec::{self, CodecError};
use lockstone::sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};
use serde::{Deserialize, Serialize};

/// Where it keeps that it is armed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// In its state.
    #[default]
    Saved,
    /// In no snapshot.
    Hidden,
}

/// What it does when it goes off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bang {
    #[default]
    Panics,
    /// It is armed no more: as it is hidden, whoever plays the tick a second time sees nothing.
    Counts,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    tick: u32,
    armed: bool,
    bangs: u64,
    said: [u64; 4],
}

/// The simulation.
#[derive(Clone, Debug, Default)]
pub struct Fuse {
    state: State,
    kept: Kept,
    bang: Bang,
    hidden: bool,
}

impl Fuse {
    pub const ARM: u32 = 1_000;
    pub const FIRE: u32 = 1_001;

    pub fn new(kept: Kept, bang: Bang) -> Fuse {
        Fuse { kept, bang, ..Fuse::default() }
    }

    /// Four players who talk all the time; player 1 arms it at a tick, player 2 fires at another.
    pub fn turns(ticks: u32, armed: u32, fired: u32) -> Vec<Turn<Fuse>> {
        let say = |tick: u32, player: u16| match (tick, player) {
            (tick, 1) if tick == armed => Some(Fuse::ARM),
            (tick, 2) if tick == fired => Some(Fuse::FIRE),
            _ => mix64(u64::from(tick) << 8 | u64::from(player)).is_multiple_of(20).then_some(tick % 900),
        };
        let turn = |tick: u32| {
            let inputs = (0..4).filter_map(|n| Some(Input::Command(PlayerId(n), say(tick, n)?)));
            Turn { inputs: inputs.collect() }
        };
        (0..ticks).map(turn).collect()
    }

    fn fire(&mut self) {
        let armed = match self.kept {
            Kept::Saved => std::mem::take(&mut self.state.armed),
            Kept::Hidden => std::mem::take(&mut self.hidden),
        };
        if armed {
            assert!(self.bang != Bang::Panics, "the fuse of tick {} has burnt down", self.state.tick);
            self.state.bangs += 1;
        }
    }
}

impl Simulation for Fuse {
    type Command = u32;
    type Hero = ();
    type Join = ();
    type Request = ();
    type Given = lockstone::sim::Nothing;
    type Snapshot = Vec<u8>;

    fn tick(&self) -> Tick {
        Tick(self.state.tick)
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            match input {
                Input::Command(_, Self::FIRE) => self.fire(),
                Input::Command(_, Self::ARM) if self.kept == Kept::Saved => self.state.armed = true,
                Input::Command(_, Self::ARM) => self.hidden = true,
                Input::Command(player, word) => self.state.said[usize::from(player.0 % 4)] += u64::from(*word),
                _ => {}
            }
        }
        self.state.tick += 1;
    }

    fn requests(&self) -> &[()] {
        &[]
    }

    fn admit(&self, _: PlayerId, (): ()) {}

    fn snapshot(&mut self) -> Vec<u8> {
        codec::compact(&self.state)
    }

    fn restore(&mut self, snapshot: &Vec<u8>) {
        self.state = codec::read(snapshot, 1_000).expect("it was checked");
    }

    fn checksum(&mut self) -> Checksum {
        Checksum(self.snapshot().iter().fold(7, |sum, byte| mix64(sum ^ u64::from(*byte))))
    }

    fn encode(&self, snapshot: &Vec<u8>) -> Vec<u8> {
        snapshot.clone()
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        codec::read::<State>(bytes, 1_000).map(|_| bytes.to_vec())
    }
}

impl Inspect for Fuse {
    fn things(&self, _: Option<CellId>) -> Vec<Thing> {
        vec![Thing::entity(0, "Fuse", &self.state)]
    }
}
