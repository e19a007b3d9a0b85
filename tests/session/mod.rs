//! Recordings of a session's peers, made by playing: each peer's world can be tampered with while it plays.

#![allow(dead_code, reason = "each test uses a part of it")]

use lockstone::check::Inspect;
use lockstone::recording::{Build, Header, Packed, Recording, Writer};
use lockstone::sim::{PlayerId, Simulation, Tick, Turn};

/// Ticks between two keyframes.
pub const KEYFRAME_TICKS: u32 = 200;

/// One peer, as it records.
#[derive(Clone)]
pub struct Peer {
    pub header: Header,
    /// Whether it records the checksum tree too.
    pub trees: bool,
    /// Whether it records keyframes.
    pub keyframes: bool,
}

impl Peer {
    pub fn new(n: u16, seed: u64) -> Peer {
        let header = Header {
            game: "test".into(),
            engine: env!("CARGO_PKG_VERSION").into(),
            seed,
            rules: 1,
            table: 2,
            config: 3,
            ticks_per_s: 20,
            input_delay_ticks: 3,
            checksum_interval_ticks: 20,
            player: PlayerId(n),
            name: ["Ada", "Bram", "Cleo", "Dora"][usize::from(n) % 4].into(),
            room: String::new(),
            start: Tick(0),
            build: Build::of(7),
        };
        Peer { header, trees: false, keyframes: false }
    }

    /// Plays turns and records them. `tamper` is called with the state before each turn, before its checksum is taken, and may change it;
    /// it returns another turn than the given one if this peer has another.
    pub fn record<S: Inspect>(
        &self,
        simulation: &mut S,
        turns: &[Turn<S>],
        mut tamper: impl FnMut(&mut S) -> Option<Turn<S>>,
    ) -> Recording<S> {
        let start = simulation.tick();
        let header = Header { start, ..self.header.clone() };
        let snapshot = encoded(simulation);
        let mut writer = Writer::create(Vec::new(), &header, &snapshot).expect("memory can be written");
        for turn in &turns[start.0 as usize..] {
            let other = tamper(simulation);
            self.look(simulation, &mut writer);
            let (tick, turn) = (simulation.tick(), other.as_ref().unwrap_or(turn));
            writer.turn(tick, turn).expect("memory can be written");
            simulation.step(turn);
        }
        self.look(simulation, &mut writer);
        let (bytes, _) = writer.end::<S>(simulation.tick(), "the end").expect("memory can be written");
        Recording::read(&bytes).expect("it was just written")
    }

    fn look<S: Inspect>(&self, simulation: &mut S, writer: &mut Writer<Vec<u8>>) {
        let tick = simulation.tick();
        writer.checksum::<S>(tick, simulation.checksum()).expect("memory can be written");
        if self.trees {
            writer.tree::<S>(tick, &simulation.tree()).expect("memory can be written");
        }
        if self.keyframes && tick.0.is_multiple_of(KEYFRAME_TICKS) {
            writer.keyframe::<S>(tick, &Packed::of(&encoded(simulation))).expect("memory can be written");
        }
    }
}

pub fn encoded<S: Simulation>(simulation: &mut S) -> Vec<u8> {
    let snapshot = simulation.snapshot();
    simulation.encode(&snapshot)
}
