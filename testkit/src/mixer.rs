//! A small simulation in which any lost or misplaced input changes every later checksum.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "engine")]
use lockstone::check::{Inspect, Thing};
use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};
use serde::{Deserialize, Serialize};

const REQUEST_EVERY_TICKS: u32 = 37;
const SNAPSHOT_BYTES_MAX: usize = 1 << 26;

/// All that a snapshot holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub tick: Tick,
    pub cells: Vec<u64>,
    pub heroes: BTreeMap<PlayerId, u64>,
    /// Whose player is away.
    pub away: BTreeSet<PlayerId>,
}

/// What goes wrong in a step. It may remember what no snapshot holds.
type Fault = Box<dyn FnMut(&mut State, &Turn<Mixer>) + Send>;

/// The world.
pub struct Mixer {
    pub state: State,
    requests: Vec<u64>,
    /// On this peer only.
    fault: Option<Fault>,
    away_ticks: u32,
    /// Whether a player joined twice, or left without having joined, or did something while it was
    /// away.
    pub nonsense: bool,
}

impl Mixer {
    pub fn new(seed: u64, cells: usize) -> Mixer {
        let cells = (0..cells as u64).map(|n| mix64(seed ^ mix64(n))).collect();
        let state = State { tick: Tick(0), cells, heroes: BTreeMap::new(), away: BTreeSet::new() };
        Mixer { state, requests: Vec::new(), fault: None, away_ticks: 0, nonsense: false }
    }

    /// Heroes stay for so long without their players.
    pub fn keeping(self, away_ticks: u32) -> Mixer {
        Mixer { away_ticks, ..self }
    }

    /// A fault of any kind, which acts in each step once the inputs have.
    pub fn with(self, fault: impl FnMut(&mut State, &Turn<Mixer>) + Send + 'static) -> Mixer {
        Mixer { fault: Some(Box::new(fault)), ..self }
    }

    /// At this tick the world goes wrong.
    pub fn with_fault(self, at: Option<Tick>) -> Mixer {
        self.with(move |state, _| state.cells[1] ^= u64::from(at == Some(state.tick)))
    }

    /// A number that changes each tick enters the world, and no snapshot holds it: forgotten, as it
    /// easily happens.
    pub fn with_hidden_number(self) -> Mixer {
        let mut hidden = 0;
        self.with(move |state, _| {
            hidden += 1;
            state.cells[1] ^= hidden;
        })
    }

    fn stir(&mut self, value: u64) {
        let len = self.state.cells.len() as u64;
        let head = mix64(self.state.cells[0] ^ mix64(value));
        self.state.cells[0] = head;
        let other = (head % len) as usize;
        self.state.cells[other] = mix64(self.state.cells[other].wrapping_add(head));
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
                    self.state.away.remove(player);
                    self.stir(u64::from(player.0) | 2 << 60);
                }
                Input::Away(player) => {
                    let known = self.state.heroes.contains_key(player);
                    self.nonsense |= !known || !self.state.away.insert(*player);
                    self.stir(u64::from(player.0) | 4 << 60);
                }
                Input::Back(player) => {
                    self.nonsense |= !self.state.away.remove(player);
                    self.stir(u64::from(player.0) | 5 << 60);
                }
                Input::Command(player, command) => {
                    self.nonsense |= self.state.away.contains(player);
                    if let Some(hero) = self.state.heroes.get_mut(player) {
                        *hero = mix64(*hero ^ command);
                        let value = *hero;
                        self.stir(value);
                    }
                }
                Input::Request(value) => self.stir(value ^ 3 << 60),
                Input::Given(nothing) => match *nothing {},
            }
        }
        if let Some(fault) = &mut self.fault {
            fault(&mut self.state, turn);
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

    fn away_ticks(&self) -> u32 {
        self.away_ticks
    }

    fn snapshot(&mut self) -> Vec<u8> {
        codec::compact(&self.state)
    }

    fn restore(&mut self, snapshot: &Vec<u8>) {
        self.state = codec::read(snapshot, SNAPSHOT_BYTES_MAX).expect("it was checked");
    }

    fn checksum(&mut self) -> Checksum {
        let cells = self.state.cells.iter().fold(0, |sum, cell| mix64(sum ^ cell));
        let heroes =
            self.state.heroes.iter().fold(cells, |sum, (player, hero)| mix64(sum ^ u64::from(player.0) ^ hero));
        let away = self.state.away.iter().fold(heroes, |sum, player| mix64(sum ^ u64::from(player.0)));
        Checksum(mix64(away ^ u64::from(self.state.tick.0)))
    }

    fn tree(&mut self) -> Vec<(CellId, Checksum)> {
        (0..).zip(&self.state.cells).map(|(y, cell)| (CellId::new(0, y), Checksum(*cell))).collect()
    }

    fn hero_checksum(&self, player: PlayerId) -> Option<Checksum> {
        self.state.heroes.get(&player).map(|hero| Checksum(*hero))
    }

    fn encode(&self, snapshot: &Vec<u8>) -> Vec<u8> {
        snapshot.clone()
    }

    fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        codec::read::<State>(bytes, SNAPSHOT_BYTES_MAX)?;
        Ok(bytes.to_vec())
    }
}

#[cfg(feature = "engine")]
impl Inspect for Mixer {
    fn things(&self, cell: Option<CellId>) -> Vec<Thing> {
        cell.is_none().then(|| Thing::entity(0, "Mixer", &self.state)).into_iter().collect()
    }
}
