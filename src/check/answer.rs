//! The other process's side of [`chaos`](super::chaos): plays a recording, and tells the checksum of every tick.
//!
//! ```text
//! stdin  = a recording, with the checksum of every tick
//! stdout = "answer 1 BUILD"  ("TICK CHECKSUM")*  ["state HEX"]  "end"          a line each
//! ```
//!
//! At the first checksum that differs from the recorded one it tells its state, serialised, and ends: asked a second time it might play
//! in a third way. On wasm32 this is all of a game's command line, so its `main` needs nothing of its own.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use lockstone_net::Identity;
use lockstone_sim::{Simulation, Turn};

use super::timeline::Timeline;
use crate::default_table;
use crate::game::Game;
use crate::recording::{Build, Header, Recording};

/// What the first line begins with.
pub(super) const GREETING: &str = "answer 1";

/// Answers a recording on stdin. Exit code 2 if it cannot be read.
pub fn answer<G: Game>() -> ExitCode {
    match play::<G>() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}.");
            ExitCode::from(2)
        }
    }
}

fn play<G: Game>() -> Result<(), String> {
    let timeline = read::<G>()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut say = |line: &str| writeln!(out, "{line}").map_err(|error| format!("cannot answer: {error}"));
    say(&format!("{GREETING} {}", build()))?;
    let mut simulation = G::build(timeline.header.seed, default_table());
    if timeline.start() != simulation.tick() {
        let unreadable = |error| format!("the recording's state cannot be read: {error}");
        let bytes = timeline.states[&timeline.start()].unpack().map_err(unreadable)?;
        let snapshot = simulation.decode(&bytes).map_err(unreadable)?;
        simulation.restore(&snapshot);
    }
    loop {
        let (tick, root) = (simulation.tick(), simulation.checksum());
        say(&format!("{tick} {root}"))?;
        if timeline.roots.get(&tick).is_some_and(|recorded| *recorded != root) {
            let snapshot = simulation.snapshot();
            say(&format!("state {}", hex(&simulation.encode(&snapshot))))?;
            break;
        }
        if tick >= timeline.end {
            break;
        }
        simulation.step(timeline.turns.get(&tick).unwrap_or(&Turn::default()));
    }
    say("end")?;
    out.flush().map_err(|error| format!("cannot answer: {error}"))
}

/// This build, in words: its profile first.
pub(super) fn build() -> String {
    let Build { profile, os, arch, pointer_bits, .. } = Build::of(0);
    format!("{profile} build for {os} on {arch} ({pointer_bits} bits)")
}

fn read<G: Game>() -> Result<Timeline<G::Sim>, String> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("cannot read the recording: {error}"))?;
    let header = Header::peek(&bytes).map_err(|error| error.to_string())?;
    let identity = Identity { rules: G::rules_digest(), table: default_table().digest(), config: 0 };
    header.check(G::NAME, &identity).map_err(|error| error.to_string())?;
    Recording::read(&bytes).map(Timeline::new).map_err(|error| error.to_string())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes all");
        hex
    })
}
