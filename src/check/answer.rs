//! The other process's side of [`chaos`](super::chaos): plays a recording, and tells the
//! checksum of every tick.
//!
//! ```text
//! stdin  = a random table, and a recording with the checksum of every tick
//! stdout = "answer 2 BUILD"  ("TICK CHECKSUM")*  ["state HEX"  ["journal HEX"]]  "end"
//!          a line each
//! ```
//!
//! At the first checksum that differs from the recorded one it tells its state, serialised, and
//! what happened in the step that led there, and ends: asked a second time another process
//! might play in a third way. It goes back that one tick to note it; if it then comes
//! elsewhere, there is no journal. On wasm32 this is all of a game's command line, so its
//! `main` needs nothing of its own.

use std::error::Error;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use lockstone_net::hex;
use lockstone_sim::journal::Journal;
use lockstone_sim::table::TABLE_BYTES;
use lockstone_sim::{Simulation, Table, Turn, codec};

use crate::game::Game;
use crate::inspect::Inspect;
use crate::output::say;
use crate::recording::{Build, Header, Recording, Timeline};

/// What the first line begins with.
pub(super) const GREETING: &str = "answer 2";

/// What can fail with a sentence.
type Told<T> = Result<T, Box<dyn Error>>;

/// Answers a recording on stdin. Exit code 2 if it cannot be read.
pub fn answer<G: Game>() -> ExitCode {
    match play::<G>() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            say(format_args!("{sentence}."));
            ExitCode::from(2)
        }
    }
}

fn play<G: Game>() -> Told<()> {
    let (table, timeline) = read::<G>()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let unsaid = |error: io::Error| format!("cannot answer: {error}");
    let mut say = |line: &str| writeln!(out, "{line}").map_err(unsaid);
    say(&format!("{GREETING} {}", build()))?;
    let new = |seed| G::build(seed, table.clone());
    let mut simulation = new(timeline.header.seed);
    if timeline.start() != simulation.tick() {
        let unreadable = |error| format!("the recording's state cannot be read: {error}");
        simulation = timeline.load(timeline.start(), &new).map_err(unreadable)?;
    }
    let mut before: Option<<G::Sim as Simulation>::Snapshot> = None;
    loop {
        let (tick, root) = (simulation.tick(), simulation.checksum());
        say(&format!("{tick} {root}"))?;
        if timeline.roots.get(&tick).is_some_and(|recorded| *recorded != root) {
            say(&format!("state {}", hex::encode(&simulation.encoded())))?;
            if let Some(before) = &before
                && let Some(journal) = noted(&mut simulation, before, &timeline)
            {
                say(&format!("journal {}", hex::encode(&codec::compact(&journal))))?;
            }
            break;
        }
        if tick >= timeline.end {
            break;
        }
        before.take().into_iter().for_each(|snapshot| simulation.retire(snapshot));
        before = Some(simulation.snapshot());
        simulation.step(timeline.turns.get(&tick).unwrap_or(&Turn::default()));
    }
    say("end")?;
    out.flush().map_err(unsaid)?;
    Ok(())
}

/// The last step once more, noted; nothing if it now leads elsewhere.
fn noted<S: Inspect>(simulation: &mut S, before: &S::Snapshot, timeline: &Timeline<S>) -> Option<Journal> {
    let (root, mut journal) = (simulation.checksum(), Journal::default());
    simulation.restore(before);
    let turn = timeline.turns.get(&simulation.tick());
    simulation.step_noted(turn.unwrap_or(&Turn::default()), &mut journal);
    (simulation.checksum() == root).then_some(journal)
}

/// This build, in words: its profile first.
pub(super) fn build() -> String {
    let Build { profile, os, arch, pointer_bits, .. } = Build::of(0);
    format!("{profile} build for {os} on {arch} ({pointer_bits} bits)")
}

fn read<G: Game>() -> Told<(Table, Timeline<G::Sim>)> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("cannot read the recording: {error}"))?;
    let (table, recording) = bytes.split_at(bytes.len().min(TABLE_BYTES));
    let table = Table::from_bytes(table)?;
    let identity = G::identity(&table);
    Header::peek(recording)?.check(G::NAME, &identity)?;
    Ok((table, Timeline::new(Recording::read(recording)?)))
}
