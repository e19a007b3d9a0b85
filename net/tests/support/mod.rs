//! A small simulation in which any lost or misplaced input changes every later checksum, and what the tests look at.
#![allow(dead_code)] // Each test binary uses a part.

pub mod crafted;
pub mod evidence;
pub mod hostile;
pub mod messages;
pub mod rollback;
pub mod tap;

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::Identity;
use lockstone_net::memory::{Driver, MemoryNetwork, Seat, Weather};
use lockstone_net::party::{Party, PartyConfig, PartySettings};
use lockstone_net::session::{EndReason, Event, Phase, Session};
use lockstone_net::wire::List;
use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};
use serde::{Deserialize, Serialize};

pub const IDENTITY: Identity = Identity { rules: 1, table: 2, config: 3 };
const REQUEST_EVERY_TICKS: u32 = 37;
const SNAPSHOT_BYTES_MAX: usize = 1 << 26;

pub fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    tick: Tick,
    cells: Vec<u64>,
    heroes: BTreeMap<PlayerId, u64>,
}

/// What a peer was told that players said, with their names.
pub fn said<S: Simulation>(events: &[Event<S>]) -> Vec<(String, String)> {
    let said = events.iter().filter_map(|event| match event {
        Event::Said { name, text, .. } => Some((name.clone(), text.clone())),
        _ => None,
    });
    said.collect()
}

/// Random numbers of a test, from its seed.
#[derive(Default)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % sides
    }
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

pub const fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

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

pub fn playing(party: &impl Session) -> bool {
    party.phase() == Phase::Playing && party.stats().players.iter().any(|player| player.own)
}

pub fn ended(party: &impl Session) -> Option<EndReason> {
    match party.phase() {
        Phase::Ended(reason) => Some(reason),
        _ => None,
    }
}

/// Whose world a seat found to differ, at which tick, and when both were equal.
pub fn desyncs<T: Session<Sim = Mixer>>(driver: &Driver<T>, seat: usize) -> Vec<(PlayerId, Tick, Option<Tick>)> {
    let desync = |event: &Event<Mixer>| match event {
        Event::Desync { player, tick, agreed, ours, theirs } => {
            assert_ne!(ours, theirs);
            Some((*player, *tick, *agreed))
        }
        _ => None,
    };
    driver.seats[seat].events.iter().filter_map(desync).collect()
}

/// What a peer played: turns that are not empty, and checksums.
#[derive(Default, PartialEq, Debug)]
pub struct Played {
    pub turns: BTreeMap<Tick, Turn<Mixer>>,
    pub checksums: BTreeMap<Tick, Checksum>,
}

impl Played {
    pub fn of(events: &[Event<Mixer>]) -> Played {
        let mut played = Played::default();
        for event in events {
            match event {
                Event::Turn { tick, turn } => {
                    assert!(played.turns.insert(*tick, turn.clone()).is_none(), "turn {tick} was played twice");
                }
                Event::Checksum { tick, checksum, .. } => {
                    played.checksums.insert(*tick, *checksum);
                }
                _ => {}
            }
        }
        played
    }
}

/// Both played the same between the ticks that both played. Returns how many checksums were compared.
pub fn assert_same(a: &Played, b: &Played, context: &str) -> usize {
    let ticks = |played: &Played| {
        let first = played.checksums.keys().next().copied()?;
        Some((first, *played.checksums.keys().next_back()?))
    };
    let (Some((a_first, a_last)), Some((b_first, b_last))) = (ticks(a), ticks(b)) else { return 0 };
    let (first, last) = (a_first.max(b_first), a_last.min(b_last));
    if first > last {
        return 0;
    }
    let turns =
        |played: &Played| played.turns.range(first..last).map(|(t, turn)| (*t, turn.clone())).collect::<Vec<_>>();
    assert_eq!(turns(a), turns(b), "{context}: the turns differ");
    let sums = |played: &Played| played.checksums.range(first..=last).map(|(t, c)| (*t, *c)).collect::<Vec<_>>();
    assert_eq!(sums(a), sums(b), "{context}: the checksums differ");
    sums(a).len()
}

/// A bounded list of values that fit into it.
pub fn list<T: core::fmt::Debug, const MAX: usize>(values: Vec<T>) -> List<T, MAX> {
    List::try_from(values).expect("fits")
}
