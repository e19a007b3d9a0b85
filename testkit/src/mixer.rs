//! A small simulation in which any lost or misplaced input changes every later checksum.

use std::collections::BTreeMap;

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};
use serde::{Deserialize, Serialize};

use crate::mix;

const REQUEST_EVERY_TICKS: u32 = 37;
const SNAPSHOT_BYTES_MAX: usize = 1 << 26;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    tick: Tick,
    cells: Vec<u64>,
    heroes: BTreeMap<PlayerId, u64>,
}

/// The world.
#[derive(Clone)]
pub struct Mixer {
    state: State,
    requests: Vec<u64>,
    /// At this tick the world goes wrong, on this peer only.
    fault: Option<Tick>,
    /// Whether a player joined twice, or left without having joined.
    pub nonsense: bool,
}

impl Mixer {
    pub fn new(seed: u64, cells: usize) -> Mixer {
        let cells = (0..cells as u64).map(|n| mix(seed ^ mix(n))).collect();
        let state = State { tick: Tick(0), cells, heroes: BTreeMap::new() };
        Mixer { state, requests: Vec::new(), fault: None, nonsense: false }
    }

    pub fn with_fault(self, fault: Option<Tick>) -> Mixer {
        Mixer { fault, ..self }
    }

    pub fn heroes(&self) -> usize {
        self.state.heroes.len()
    }

    pub fn hero(&self, player: PlayerId) -> Option<u64> {
        self.state.heroes.get(&player).copied()
    }

    /// What a hero is after a command.
    pub fn hero_after(&self, player: PlayerId, command: u64) -> Option<u64> {
        self.hero(player).map(|hero| mix(hero ^ command))
    }

    fn stir(&mut self, value: u64) {
        let len = self.state.cells.len() as u64;
        let head = mix(self.state.cells[0] ^ mix(value));
        self.state.cells[0] = head;
        let other = (head % len) as usize;
        self.state.cells[other] = mix(self.state.cells[other].wrapping_add(head));
    }
}

impl Simulation for Mixer {
    type Command = u64;
    type Hero = (u8, u64);
    type Join = (u64, Tick);
    type Request = u64;
    type Given = lockstone_sim::Nothing;
    type Snapshot = Vec<u8>;

    fn tick(&self) -> Tick {
        self.state.tick
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            match input {
                Input::Join(player, (hero, admitted)) => {
                    self.nonsense |= self.state.heroes.insert(*player, *hero).is_some();
                    self.stir(u64::from(player.0) ^ hero ^ u64::from(admitted.0) << 32 | 1 << 60);
                }
                Input::Leave(player) => {
                    self.nonsense |= self.state.heroes.remove(player).is_none();
                    self.stir(u64::from(player.0) | 2 << 60);
                }
                Input::Command(player, command) => {
                    if let Some(hero) = self.state.heroes.get_mut(player) {
                        *hero = mix(*hero ^ command);
                        let value = *hero;
                        self.stir(value);
                    }
                }
                Input::Request(value) => self.stir(value ^ 3 << 60),
                Input::Given(nothing) => match *nothing {},
            }
        }
        if self.fault == Some(self.state.tick) {
            self.state.cells[1] ^= 1;
        }
        self.stir(u64::from(self.state.tick.0));
        self.state.tick = self.state.tick.next();
        self.requests.clear();
        if self.state.tick.0.is_multiple_of(REQUEST_EVERY_TICKS) {
            self.requests.push(self.state.cells[0]);
        }
    }

    fn requests(&self) -> &[u64] {
        &self.requests
    }

    fn admit(&self, _: PlayerId, hero: (u8, u64)) -> (u64, Tick) {
        (hero.1 ^ u64::from(hero.0), self.state.tick)
    }

    fn snapshot(&mut self) -> Vec<u8> {
        codec::compact(&self.state)
    }

    fn restore(&mut self, snapshot: &Vec<u8>) {
        self.state = codec::read(snapshot, SNAPSHOT_BYTES_MAX).expect("it was checked");
    }

    fn checksum(&mut self) -> Checksum {
        let cells = self.state.cells.iter().fold(0, |sum, cell| mix(sum ^ cell));
        let heroes = self.state.heroes.iter().fold(cells, |sum, (player, hero)| mix(sum ^ u64::from(player.0) ^ hero));
        Checksum(mix(heroes ^ u64::from(self.state.tick.0)))
    }

    fn tree(&mut self) -> Vec<(CellId, Checksum)> {
        (0..).zip(&self.state.cells).map(|(y, cell)| (CellId::new(0, y), Checksum(*cell))).collect()
    }

    fn encode(&self, snapshot: &Vec<u8>) -> Vec<u8> {
        snapshot.clone()
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        codec::read::<State>(bytes, SNAPSHOT_BYTES_MAX)?;
        Ok(bytes.to_vec())
    }
}
