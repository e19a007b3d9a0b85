//! A quarter of an hour of four peers, as often as one likes: each time one bit of one peer's
//! state is turned over.

use std::io;

use lockstone::check::{Cause, Location, Report};
use lockstone::default_table;
use lockstone::recording::{Header, Packed, Recording, Writer};
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{CellId, Checksum, Dice, Rules, Simulation, Tick, Turn, World, codec, tamper};

use crate::recorded::Peer;
use crate::tampered::{entities, turn_any};

const PEERS: u16 = 4;
const KEYFRAME_TICKS: u32 = 1_200;
/// The odd peer is stopped so soon after it went wrong, as a session does.
const STOPPED_AFTER_TICKS: usize = 40;

/// What is recorded beside turns and checksums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recorded {
    Roots,
    TreesAndKeyframes,
    /// Keyframes too, and a tree a second, as a relay records.
    TreesNowAndThen,
}

impl Recorded {
    fn has_tree(self, tick: Tick) -> bool {
        match self {
            Recorded::Roots => false,
            Recorded::TreesAndKeyframes => true,
            Recorded::TreesNowAndThen => tick.0.is_multiple_of(20),
        }
    }
}

/// What was planted.
#[derive(Debug)]
pub struct Flip {
    pub tick: Tick,
    pub bit: StateBit,
    /// What it does to the fields.
    pub fields: Vec<codec::FieldDifference>,
    pub odd: usize,
}

impl Flip {
    /// Whether a report names it: the tick, the entity, its fields with both values,
    /// and whose it was.
    pub fn is_named(&self, report: &Report) -> bool {
        let Some(finding) = &report.finding else { return false };
        let Some(Location { tick, spots, .. }) = &finding.location else { return false };
        let [spot] = spots.as_slice() else { return false };
        (finding.tick, finding.agreed) == (self.tick, Some(Tick(self.tick.0 - 1)))
            && (finding.verdict.cause, finding.verdict.blamed.as_slice()) == (Cause::StateCorruption, &[self.odd])
            && (*tick, spot.part, &spot.fields) == (self.tick, self.bit.of, &self.fields)
            && finding.bad_writes.is_empty()
    }
}

/// A long game, played once.
pub struct LongGame<R: Rules> {
    seed: u64,
    build: fn(u64) -> World<R>,
    moments: Vec<Moment<R>>,
    /// One each [`KEYFRAME_TICKS`].
    states: Vec<Vec<u8>>,
    pub entities: usize,
}

/// What a peer may record of a tick.
struct Moment<R: Rules> {
    root: Checksum,
    tree: Vec<(CellId, Checksum)>,
    turn: Turn<World<R>>,
}

impl<R: Rules> LongGame<R> {
    pub fn play(seed: u64, build: fn(u64) -> World<R>, turns: Vec<Turn<World<R>>>) -> LongGame<R> {
        let mut world = build(seed);
        let mut game = LongGame { seed, build, moments: Vec::new(), states: Vec::new(), entities: 0 };
        for turn in turns {
            if world.tick().0.is_multiple_of(KEYFRAME_TICKS) {
                game.states.push(world.encoded());
            }
            let (root, tree) = (world.checksum(), world.tree());
            world.step(&turn);
            game.moments.push(Moment { root, tree, turn });
        }
        game.entities = world.cells().map(|cell| world.actors(cell).len() + world.props(cell).len()).sum();
        game
    }

    fn ticks(&self) -> u32 {
        self.moments.len() as u32
    }

    /// The recordings of all peers, as files; one bit of the state of one of them is turned over at
    /// a tick, all drawn from the dice.
    pub fn flipped(&self, recorded: Recorded, dice: &mut Dice<'_>) -> (Vec<Vec<u8>>, Flip) {
        let tick = Tick(1 + dice.below(self.ticks() - 2));
        let odd = dice.below(PEERS.into()) as usize;
        let mut world = self.at(tick);
        let parts = entities(&world);
        let (bit, turned) = turn_any(&mut world, &parts, dice);
        let fields = changes(&world, &bit);
        world.restore(&turned);
        let files = (0..PEERS).map(|n| match usize::from(n) == odd {
            true => self.record(n, recorded, tick.0, Some(&mut world)),
            false => self.record(n, recorded, self.ticks(), None),
        });
        let files = files.map(|file| file.expect("memory can be written"));
        (files.collect(), Flip { tick, bit, fields, odd })
    }

    fn at(&self, tick: Tick) -> World<R> {
        let mut world = (self.build)(self.seed);
        let state = (tick.0 / KEYFRAME_TICKS) as usize;
        let snapshot = world.decode(&self.states[state]).expect("our own bytes");
        world.restore(&snapshot);
        while world.tick() < tick {
            world.step(&self.moments[world.tick().0 as usize].turn);
        }
        world
    }

    /// What was played up to a tick, and then what a world that went another way plays.
    fn record(&self, n: u16, recorded: Recorded, until: u32, odd: Option<&mut World<R>>) -> io::Result<Vec<u8>> {
        let header = Header { game: "faulty".into(), ..Peer::new(n, self.seed).header };
        let mut writer = Writer::create(Vec::new(), &header, &self.states[0])?;
        let write = |writer: &mut Writer<Vec<u8>>, tick: Tick, moment: &Moment<R>| {
            writer.checksum(tick, moment.root)?;
            if recorded.has_tree(tick) {
                writer.tree(tick, &moment.tree)?;
            }
            if moment.turn.inputs.is_empty() { Ok(()) } else { writer.turn(tick, &moment.turn) }
        };
        let (before, after) = self.moments.split_at(until as usize);
        for (tick, moment) in (0..).map(Tick).zip(before) {
            if recorded != Recorded::Roots && tick > Tick(0) && tick.0.is_multiple_of(KEYFRAME_TICKS) {
                let state = &self.states[(tick.0 / KEYFRAME_TICKS) as usize];
                writer.keyframe(tick, &Packed::of(state))?;
            }
            write(&mut writer, tick, moment)?;
        }
        let mut end = Tick(until);
        if let Some(world) = odd {
            for Moment { turn, .. } in after.iter().take(STOPPED_AFTER_TICKS) {
                let moment = Moment { root: world.checksum(), tree: world.tree(), turn: turn.clone() };
                write(&mut writer, world.tick(), &moment)?;
                world.step(turn);
            }
            end = world.tick();
        }
        Ok(writer.end(end, "the end")?.0)
    }
}

/// Reads files as the checker's command line does.
pub fn read<S: Simulation>(files: &[Vec<u8>]) -> Vec<Recording<S>> {
    files.iter().map(|file| Recording::read(file).expect("it was just written")).collect()
}

/// What a bit does to the fields of its entity.
fn changes<R: Rules>(world: &World<R>, bit: &StateBit) -> Vec<codec::FieldDifference> {
    let StatePart::Entity(cell, id) = bit.of else { return Vec::new() };
    let mut entities = world.actors(cell).iter().chain(world.props(cell));
    let entity = entities.find(|entity| entity.id == id).expect("it was picked from the world");
    let turned = tamper::turned(entity, bit.byte, bit.bit).expect("there is such a state");
    codec::differences(&codec::fields(entity), &codec::fields(&turned))
}

/// The draws of a case.
pub fn dice(case: u64) -> Dice<'static> {
    default_table().dice(case, Tick(0))
}
