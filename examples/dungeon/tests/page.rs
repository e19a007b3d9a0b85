//! A dungeon's party that drifts apart, as a page: one bit of a hero's position is turned over on
//! one peer's machine.

use std::fs;

use dungeon::{Dungeon, DungeonGame};
use lockstone::check::{Cause, Checker, page};
use lockstone::game::Game;
use lockstone::recording::{Build, Header, Recording, Writer};
use lockstone::sim::codec::fields;
use lockstone::sim::world::{StateBit, StatePart};
use lockstone::sim::{PlayerId, Simulation, Tick, Turn, World, tamper};
use testkit::browser;
use testkit::delve::{self, Play};
use testkit::recorded;

const SEED: u64 = 20;
const TURNED: Tick = Tick(330);
const TICKS: u32 = 480;
const JOINED: u32 = 150;
const LEFT: u32 = 360;

type Sim = World<Dungeon>;

fn header(player: u16, name: &str, start: Tick) -> Header {
    Header {
        identity: DungeonGame::identity(&delve::table()),
        player: PlayerId(player),
        name: name.into(),
        room: "amber".into(),
        start,
        build: Build::here(),
        ..recorded::header(DungeonGame::NAME, SEED)
    }
}

/// One peer's session: the same turns as all, in its own world.
struct Peer {
    world: Sim,
    writer: Writer<Vec<u8>>,
}

impl Peer {
    fn new(player: u16, name: &str, host: &mut Sim) -> Peer {
        let (snapshot, start) = (host.snapshot(), host.tick());
        let mut world = DungeonGame::build(SEED, delve::table());
        world.restore(&snapshot);
        let writer = Writer::create(Vec::new(), &header(player, name, start), &host.encode(&snapshot)).unwrap();
        Peer { world, writer }
    }

    fn play(&mut self, turn: &Turn<Sim>) {
        let tick = self.world.tick();
        if tick.0.is_multiple_of(10) {
            self.writer.checksum(tick, self.world.checksum()).unwrap();
        }
        if !turn.inputs.is_empty() {
            self.writer.turn(tick, turn).unwrap();
        }
        self.world.step(turn);
    }

    /// A bit worth two tiles, in the position of a player's hero.
    fn turn_a_bit_of(&mut self, player: u16) {
        let hero = self.world.hero(PlayerId(player)).unwrap();
        let of = StatePart::Entity(self.world.grid().cell_of(hero.pos), hero.id);
        let field = fields(hero).into_iter().find(|field| field.path.starts_with("pos")).unwrap();
        let bit = StateBit { of, byte: field.bytes.start + 1, bit: 5 };
        let turned = tamper::with_bit_turned(&self.world.snapshot(), &bit).unwrap();
        self.world.restore(&turned);
    }

    fn recording(self) -> Recording<Sim> {
        let tick = self.world.tick();
        let (bytes, _) = self.writer.end(tick, "left the session").unwrap();
        Recording::read(&bytes).ok().unwrap()
    }
}

/// The recordings of four peers: the second's memory fails, the third joins late, the
/// fourth leaves early.
fn session(fails: bool) -> Vec<Recording<Sim>> {
    let mut play = Play::bots(SEED, 4);
    let peers = [(0, "Ada"), (1, "Bram <b>the Bold</b>"), (3, "Dirk")];
    let mut peers: Vec<_> = peers.map(|(n, name)| Peer::new(n, name, &mut play.world)).into();
    let mut gone = Vec::new();
    while play.world.tick().0 < TICKS {
        let tick = play.world.tick();
        if tick.0 == JOINED {
            peers.push(Peer::new(2, "Cleo", &mut play.world));
        }
        if tick.0 == LEFT {
            gone.push(peers.remove(2));
        }
        if tick == TURNED && fails {
            peers[1].turn_a_bit_of(1);
        }
        let inputs = play.decide();
        let turn = play.turn(inputs);
        peers.iter_mut().for_each(|peer| peer.play(&turn));
    }
    peers.append(&mut gone);
    peers.into_iter().map(Peer::recording).collect()
}

fn opened(name: &str, fails: bool) -> (lockstone::check::Report, Option<String>) {
    let build = |seed| DungeonGame::build(seed, delve::table());
    let report = Checker::new(&build).check(session(fails)).unwrap();
    let path = browser::folder(env!("CARGO_TARGET_TMPDIR"), "page").join(name);
    fs::write(&path, page(&report)).unwrap();
    println!("{report}\n{}", path.display());
    (report, browser::opened(&path, ""))
}

#[test]
fn a_turned_bit_and_how_it_spreads_are_shown() {
    let (report, document) = opened("dungeon-differs.html", true);
    let finding = report.finding.unwrap();
    assert_eq!((finding.verdict.cause, finding.odd), (Cause::StateCorruption, vec![1]));
    assert!(finding.spread.iter().all(|tick| tick.sketch.as_ref().is_some_and(|sketch| !sketch.lit.is_empty())));
    let Some(document) = document else { return };
    for part in
        ["Where it spreads", "class=\"scripted\"", "pos.x", "Bram &lt;b&gt;the Bold&lt;/b&gt;", "circle class=\"hero\""]
    {
        assert!(document.contains(part), "{part:?} is missing");
    }
}

#[test]
fn a_sound_session_is_in_step() {
    let (report, document) = opened("dungeon-in-step.html", false);
    assert!(report.is_in_step());
    assert!(document.is_none_or(|document| document.contains("<h1>In step</h1>")));
}
