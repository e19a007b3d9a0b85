//! Recordings of a session's peers, made by playing: each peer's world can be tampered
//! with while it plays.

use lockstone::check::Inspect;
use lockstone::net::Identity;
use lockstone::net::wire::SessionKind;
use lockstone::recording::{Build, Header, Packed, Recording, Writer};
use lockstone::sim::{PlayerId, Tick, Turn};

/// One peer, as it records.
#[derive(Clone)]
pub struct Peer {
    pub header: Header,
    /// Whether it records the checksum tree too.
    pub trees: bool,
    /// When it records its state, beside its start.
    pub keyframe_at: Option<Tick>,
}

impl Peer {
    pub fn new(n: u16, seed: u64) -> Peer {
        let name = ["Ada", "Bram", "Cleo", "Dora"][usize::from(n) % 4].into();
        let (player, build) = (PlayerId(n), Build::of(7));
        let header = Header { checksum_interval_ticks: 20, player, name, build, ..header("test", seed) };
        Peer { header, trees: false, keyframe_at: None }
    }

    /// Plays turns and records them. `tamper` is called with the state before each turn, before its
    /// checksum is taken, and may change it; it returns another turn than the given one if this
    /// peer has another.
    pub fn record<S: Inspect>(
        &self,
        simulation: &mut S,
        turns: &[Turn<S>],
        tamper: impl FnMut(&mut S) -> Option<Turn<S>>,
    ) -> Recording<S> {
        self.play(simulation, turns, tamper, |_| ())
    }

    /// As [`record`](Peer::record), and `tamper` is called after the checksum was taken, just
    /// before the step.
    pub fn record_late<S: Inspect>(
        &self,
        simulation: &mut S,
        turns: &[Turn<S>],
        tamper: impl FnMut(&mut S),
    ) -> Recording<S> {
        self.play(simulation, turns, |_| None, tamper)
    }

    fn play<S: Inspect>(
        &self,
        simulation: &mut S,
        turns: &[Turn<S>],
        mut before_checksum: impl FnMut(&mut S) -> Option<Turn<S>>,
        mut before_step: impl FnMut(&mut S),
    ) -> Recording<S> {
        let start = simulation.tick();
        let header = Header { start, ..self.header.clone() };
        let snapshot = simulation.encoded();
        let mut writer = Writer::create(Vec::new(), &header, &snapshot).expect("memory can be written");
        for turn in &turns[start.0 as usize..] {
            let other = before_checksum(simulation);
            self.look(simulation, &mut writer);
            before_step(simulation);
            let (tick, turn) = (simulation.tick(), other.as_ref().unwrap_or(turn));
            if !turn.inputs.is_empty() {
                writer.turn(tick, turn).expect("memory can be written");
            }
            simulation.step(turn);
        }
        self.look(simulation, &mut writer);
        let (bytes, _) = writer.end(simulation.tick(), "the end").expect("memory can be written");
        Recording::read(&bytes).expect("it was just written")
    }

    fn look<S: Inspect>(&self, simulation: &mut S, writer: &mut Writer<Vec<u8>>) {
        let tick = simulation.tick();
        writer.checksum(tick, simulation.checksum()).expect("memory can be written");
        if self.trees {
            writer.tree(tick, &simulation.tree()).expect("memory can be written");
        }
        if self.keyframe_at == Some(tick) {
            writer.keyframe(tick, &Packed::of(&simulation.encoded())).expect("memory can be written");
        }
    }
}

/// The header of Ada's recording, from the start.
pub fn header(game: &str, seed: u64) -> Header {
    Header {
        game: game.into(),
        engine: env!("CARGO_PKG_VERSION").into(),
        seed,
        identity: Identity { rules: 1, table: 2, config: 3 },
        kind: SessionKind::Party { packet_interval_ticks: 2 },
        ticks_per_s: 20,
        input_delay_ticks: 3,
        checksum_interval_ticks: 10,
        player: PlayerId(0),
        name: "Ada".into(),
        room: String::new(),
        start: Tick(0),
        build: Build::default(),
    }
}
