//! A simulation of another kind: a flock in a `hecs` world. It has recordings and the
//! desync checker too.
//!
//! ```text
//! cargo run -p lockstone --example foreign
//! ```
//!
//! Its fault is the one that such worlds invite: without care, beings act in the order in which the
//! ECS stores them, and that order is no part of the state.

#![allow(missing_docs, reason = "an example")]

use std::process::ExitCode;

use hecs::{Entity, World};
use lockstone::check::chaos::Breaker;
use lockstone::check::{self, Inspect, Thing};
use lockstone::net::Identity;
use lockstone::net::wire::SessionKind;
use lockstone::recording::{Build, Header, Recording, Writer};
use lockstone::sim::codec::{self, CodecError};
use lockstone::sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn, mix64};
use serde::{Deserialize, Serialize};

const MEADOW: i32 = 40;
const WOOL_MAX: u32 = 30;

/// What everyone in the flock is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sheep {
    id: u64,
    x: i32,
    y: i32,
    wool: u32,
}

impl Sheep {
    pub fn set_wool(&mut self, wool: u32) {
        self.wool = wool;
    }
}

/// What the ECS adds to some, which moves them to another archetype, and so to another
/// place in its order.
struct Shorn;

/// What is not in the ECS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meadow {
    tick: u32,
    /// Where the draws come from: each is taken from the one before.
    dice: u64,
    /// Where each player's grass is best.
    grass: [(i32, i32); 4],
}

/// A state as it is kept and sent.
type State = (Meadow, Vec<(Sheep, bool)>);

/// The simulation.
pub struct Flock {
    world: World,
    meadow: Meadow,
    /// Whether sheep act by their ids, or as they are stored.
    careful: bool,
}

impl Flock {
    pub fn new(seed: u64, careful: bool) -> Flock {
        let sheep = |id: u64| {
            let key = mix64(seed ^ id);
            (
                Sheep { id, x: (key % 40) as i32, y: (key >> 8) as i32 % MEADOW, wool: (key >> 16) as u32 % WOOL_MAX },
                false,
            )
        };
        let mut flock =
            Flock { world: World::new(), meadow: Meadow { tick: 0, dice: seed, grass: [(20, 20); 4] }, careful };
        let meadow = flock.meadow.clone();
        flock.restore(&(meadow, (0..30).map(sheep).collect()));
        flock
    }

    fn order(&self) -> Vec<Entity> {
        let mut order: Vec<(u64, Entity)> =
            self.world.query::<(Entity, &Sheep)>().iter().map(|(e, s)| (s.id, e)).collect();
        if self.careful {
            order.sort();
        }
        order.into_iter().map(|(_, entity)| entity).collect()
    }

    fn graze(&mut self, entity: Entity) {
        let grass = self.meadow.grass;
        self.meadow.dice = mix64(self.meadow.dice);
        let draw = self.meadow.dice;
        let mut sheep = self.world.get::<&mut Sheep>(entity).expect("it was listed");
        let (x, y) = grass[(sheep.id % 4) as usize];
        let (dx, dy) =
            if draw.is_multiple_of(3) { ((x - sheep.x).signum(), (y - sheep.y).signum()) } else { stray(draw) };
        (sheep.x, sheep.y) = ((sheep.x + dx).clamp(0, MEADOW), (sheep.y + dy).clamp(0, MEADOW));
        sheep.wool += u32::from(draw.is_multiple_of(5));
        let shear = sheep.wool >= WOOL_MAX;
        if shear {
            sheep.wool = 0;
        }
        drop(sheep);
        if shear {
            self.world.insert_one(entity, Shorn).expect("it is there");
        } else if draw.is_multiple_of(64) {
            // It is told from the others no longer.
            let _ = self.world.remove_one::<Shorn>(entity);
        }
    }
}

fn stray(draw: u64) -> (i32, i32) {
    ((draw >> 8) as i32 % 2, (draw >> 16) as i32 % 2)
}

impl Simulation for Flock {
    /// The grass is better there.
    type Command = (i32, i32);
    type Hero = ();
    type Join = ();
    type Request = ();
    type Given = lockstone::sim::Nothing;
    type Snapshot = State;

    fn tick(&self) -> Tick {
        Tick(self.meadow.tick)
    }

    fn step(&mut self, turn: &Turn<Self>) {
        for input in &turn.inputs {
            if let Input::Command(player, at) = input {
                self.meadow.grass[usize::from(player.0 % 4)] = *at;
            }
        }
        self.order().into_iter().for_each(|entity| self.graze(entity));
        self.meadow.tick += 1;
    }

    fn requests(&self) -> &[()] {
        &[]
    }

    fn admit(&self, _: PlayerId, (): ()) {}

    fn snapshot(&mut self) -> State {
        let mut flock: Vec<_> = self
            .world
            .query::<(&Sheep, hecs::Satisfies<&Shorn>)>()
            .iter()
            .map(|(sheep, shorn)| (*sheep, shorn))
            .collect();
        flock.sort_by_key(|(sheep, _)| sheep.id);
        (self.meadow.clone(), flock)
    }

    fn restore(&mut self, (meadow, flock): &State) {
        (self.world, self.meadow) = (World::new(), meadow.clone());
        for &(sheep, shorn) in flock {
            if shorn {
                self.world.spawn((sheep, Shorn))
            } else {
                self.world.spawn((sheep,))
            };
        }
    }

    fn checksum(&mut self) -> Checksum {
        let bytes = codec::compact(&self.snapshot());
        Checksum(bytes.iter().fold(1, |sum, byte| mix64(sum ^ u64::from(*byte))))
    }

    fn encode(&self, state: &State) -> Vec<u8> {
        codec::compact(state)
    }

    fn decode(&self, bytes: &[u8]) -> Result<State, CodecError> {
        codec::read(bytes, 1 << 20)
    }
}

/// All that the checker must be told: what there is, by name.
impl Inspect for Flock {
    fn things(&self, _: Option<CellId>) -> Vec<Thing> {
        let meadow = Thing::entity(u64::MAX, "Meadow", &self.meadow);
        let flock = self.world.query::<&Sheep>().iter().map(|sheep| Thing::entity(sheep.id, "Sheep", sheep)).collect();
        [vec![meadow], flock].concat()
    }
}

/// What a session would hand over.
pub fn turns(ticks: u32) -> Vec<Turn<Flock>> {
    let say =
        |tick: u32| Input::Command(PlayerId((tick / 15 % 4) as u16), ((tick % 40) as i32, (tick / 7 % 40) as i32));
    (0..ticks).map(|tick| Turn { inputs: tick.is_multiple_of(15).then(|| say(tick)).into_iter().collect() }).collect()
}

/// What a peer records who plays from a state on.
pub fn record(player: u16, flock: &mut Flock, turns: &[Turn<Flock>]) -> Recording<Flock> {
    const MEMORY: &str = "memory takes everything";
    let header = Header {
        game: "flock".into(),
        engine: env!("CARGO_PKG_VERSION").into(),
        seed: SEED,
        identity: Identity { rules: 1, table: 0, config: 0 },
        kind: SessionKind::Party { packet_interval_ticks: 2 },
        ticks_per_s: 20,
        input_delay_ticks: 0,
        checksum_interval_ticks: 20,
        player: PlayerId(player),
        name: ["Ada", "Bram"][usize::from(player % 2)].into(),
        room: String::new(),
        start: flock.tick(),
        build: Build::here(),
    };
    let state = flock.snapshot();
    let mut writer = Writer::create(Vec::new(), &header, &flock.encode(&state)).expect(MEMORY);
    for turn in &turns[flock.tick().0 as usize..] {
        writer.checksum(flock.tick(), flock.checksum()).expect(MEMORY);
        writer.turn(flock.tick(), turn).expect(MEMORY);
        flock.step(turn);
    }
    let (bytes, _) = writer.end(flock.tick(), "the end").expect(MEMORY);
    Recording::read(&bytes).expect("it was just written")
}

pub const SEED: u64 = 3;
pub const TICKS: u32 = 600;

/// Two peers' recordings: Ada plays from the start, Bram joins half-way, with Ada's
/// state as it was sent.
pub fn session(careful: bool) -> [Recording<Flock>; 2] {
    let turns = turns(TICKS);
    let (mut ada, mut bram) = (Flock::new(SEED, careful), Flock::new(SEED, careful));
    turns[..300].iter().for_each(|turn| ada.step(turn));
    bram.restore(&ada.snapshot());
    [record(0, &mut Flock::new(SEED, careful), &turns), record(1, &mut bram, &turns)]
}

pub fn main() -> ExitCode {
    let careful = |seed| Flock::new(seed, true);
    let careless = |seed| Flock::new(seed, false);

    println!("-- one recording, played again");
    let [ada, _] = session(true);
    println!("{}\n", check::verify(ada, &careful).expect("it is of this simulation"));

    println!("-- two peers, and the order is left to the ECS");
    println!("{}\n", check::compare(session(false).into(), &careless).expect("they are of one session"));

    println!("-- broken on purpose, in a game's own tests");
    let (build, broken) = (|| careful(SEED), || careless(SEED));
    println!("{}", check::chaos_of(&build, turns(TICKS), None, &[Breaker::Serialise]));
    println!("{}\n", check::chaos_of(&broken, turns(TICKS), None, &[Breaker::Serialise]));

    println!("-- the smallest recording that fails");
    let [ada, _] = session(false);
    if let Some(small) = check::shrink(ada, &careless).expect("it is of this simulation") {
        println!("{} became {}: {}\n", small.before, small.after, small.symptom);
    }

    println!("-- every field changed: does the checksum?");
    println!("{}", check::coverage_of(&build, turns(TICKS), &[]));
    ExitCode::SUCCESS
}
