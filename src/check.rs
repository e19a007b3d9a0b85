//! The desync checker: finds out whether a game plays the same way twice.
//!
//! ```text
//! recordings, a bundle ─► timeline ─► replayer ─► compare ─► verdict ─► locate ─► report
//!      ▲                                       (odd checksum) (why)   (where)   (text, JSON, page)
//!      └── played, and broken on purpose: chaos, coverage, shrink
//! ```
//!
//! Begin with [`compare()`], whose loop is in `compare.rs`: the turns that most recordings have are
//! played again, and every recorded checksum is compared. `verdict.rs` then tries one suspicion
//! after the other until one leads to the odd peer's checksums; `locate.rs` names cells, entities
//! and fields; a step that parts is played with a journal on both sides. Recordings of parts of a
//! world, as of a relay session, are compared in `shared.rs`, on the cells that they share.
//! [`Inspect`] is all that the checker knows of a simulation. Looking must never change what is
//! looked at, and no peer is ever blamed whose checksums the turns lead to.
//!
//! | a question | who answers |
//! | --- | --- |
//! | is this recording in step with its own turns? | [`verify`] |
//! | which of these peers differs, since when, where, and why? | [`compare()`], [`Checker`] |
//! | does the game depend on what it must not depend on? | [`chaos`](chaos()), [`sync_test`] |
//! | does the checksum cover every field? | [`coverage`](coverage()) |
//! | does the simulation compute with floats? | [`floats`] |
//! | what is the least that still fails? | [`shrink`](shrink()) |
//!
//! For a test among a game's own, [`sync_test`] plays any
//! [`Simulation`](lockstone_sim::Simulation), and after each tick goes back, plays the last ticks
//! again with the same commands and compares checksums. [`sync_test_of_bots`] does so with a
//! [`Game`]'s own bots:
//!
//! ```
//! # use lockstone::sim::{codec::CodecError, mix64, Checksum, Input, PlayerId};
//! # use lockstone::sim::{Simulation, Tick, Turn};
//! # type State = (u32, u64);
//! # struct Tally(State);
//! # impl Simulation for Tally {
//! #     type Command = u64;
//! #     type Hero = ();
//! #     type Join = ();
//! #     type Request = ();
//! #     type Given = lockstone_sim::Nothing;
//! #     type Snapshot = State;
//! #     fn tick(&self) -> Tick { Tick(self.0.0) }
//! #     fn step(&mut self, turn: &Turn<Self>) {
//! #         self.0.0 += 1;
//! #         for input in &turn.inputs {
//! #             if let Input::Command(_, by) = input { self.0.1 += by }
//! #         }
//! #     }
//! #     fn requests(&self) -> &[()] { &[] }
//! #     fn admit(&self, _: PlayerId, _: ()) {}
//! #     fn snapshot(&mut self) -> State { self.0 }
//! #     fn restore(&mut self, state: &State) { self.0 = *state }
//! #     fn checksum(&mut self) -> Checksum { Checksum(mix64(self.0.1 ^ mix64(self.0.0.into()))) }
//! #     fn encode(&self, _: &State) -> Vec<u8> { Vec::new() }
//! #     fn decode(&self, _: &[u8]) -> Result<State, CodecError> {
//! #         Err(CodecError::Malformed("not read here"))
//! #     }
//! # }
//! use lockstone::check;
//!
//! // Two players, 200 ticks; the players' commands are made up from what they see.
//! let simulation = Tally((0, 7));
//! check::sync_test(simulation, &[(), ()], 200, |sim, player| {
//!     Some(sim.0.1 % 5 + u64::from(player.0))
//! })?;
//! # Ok::<(), check::Mismatch>(())
//! ```
//!
//! It finds a step that takes something from outside of the state and the turn, and state that a
//! snapshot leaves out: what differs between two runs in one process. It cannot find what is equal
//! in both, however different it is elsewhere: the order of a hash map that is seeded once a
//! process, an address, the machine's kind of floats, another build. Only comparing processes finds
//! that, as a session does, the `demo` command with a process for each player, and
//! [`chaos`](chaos()). Nor can it find what the checksum leaves out.
//!
//! [`chaos`](chaos()) breaks on purpose what a game must not depend on (the order of cells,
//! threads, snapshots, processes, builds, ...), and names the first cell, entity and field that
//! came out another way.

mod answer;
#[cfg(not(target_arch = "wasm32"))]
pub mod chaos;
#[cfg(not(target_arch = "wasm32"))]
pub mod floats;

mod compare;
#[cfg(not(target_arch = "wasm32"))]
pub mod coverage;
mod extent;
pub(crate) mod locate;
pub(crate) mod moment;
mod page;
mod part;
mod parting;
mod replayer;
mod report;
mod shared;
#[cfg(not(target_arch = "wasm32"))]
pub mod shrink;
mod states;
mod verdict;
mod waver;

pub use answer::answer;
#[cfg(not(target_arch = "wasm32"))]
pub use chaos::{ChaosConfig, chaos, chaos_of};
pub use compare::{CheckError, Checker};
#[cfg(not(target_arch = "wasm32"))]
pub use coverage::{CoverageConfig, coverage, coverage_of};
pub use extent::Covered;
pub use locate::{Location, SPOTS_MAX, Side, Spot, locate};
pub use lockstone_sim::Extent;
pub use page::{body, page};
pub use part::{PartFinding, part};
pub use report::{BadWrite, Cause, Finding, OddWorld, PeerReport, Report, Spread, Unmet, Verdict};
#[cfg(not(target_arch = "wasm32"))]
pub use shrink::{Shrunk, shrink};
pub use states::Unusable;

use std::collections::BTreeSet;

use lockstone_sim::{PlayerId, Table, Tick};

pub use lockstone_net::rollback::{Mismatch, SyncTest, sync_test};

use crate::default_table;
use crate::game::{Bot, Game};
pub use crate::inspect::{GivenInfo, Inspect, Sketch, Thing, View, Way};
use crate::recording::Recording;

/// Plays a recording again: whether every checksum is met, and if not, since when, where and why.
/// `build` makes the simulation of a seed, as it is before tick 0.
///
/// # Errors
/// [`CheckError`] if it is not of this simulation.
pub fn verify<S: Inspect>(recording: Recording<S>, build: &dyn Fn(u64) -> S) -> Result<Report, CheckError> {
    compare(vec![recording], build)
}

/// Plays the peers' recordings of one session again: who differs from whom, since when, where and
/// why. `build` makes the simulation of a seed, as it is before tick 0.
///
/// # Errors
/// [`CheckError`] if they are not of one session, or not of this simulation.
pub fn compare<S: Inspect>(recordings: Vec<Recording<S>>, build: &dyn Fn(u64) -> S) -> Result<Report, CheckError> {
    Checker::new(build).check(recordings)
}

/// Plays recordings of a game's session again, as [`compare`] does, and draws its scenes to see
/// that they change nothing. `watch` is told of each tick that is played, however often.
///
/// # Errors
/// [`CheckError`] if they are not of one session, or not of this simulation.
pub fn compare_of<G: Game>(
    recordings: Vec<Recording<G::Sim>>,
    table: &Table,
    watch: &dyn Fn(Tick),
) -> Result<Report, CheckError> {
    let build = |seed| G::build(seed, table.clone());
    let players: BTreeSet<PlayerId> = recordings.iter().flat_map(Recording::players).collect();
    let look = |simulation: &G::Sim| players.iter().for_each(|player| drop(G::scene(simulation, *player)));
    Checker::new(&build).with_presentation(&look).with_progress(watch).check(recordings)
}

/// Plays a game of so many bots, their heroes of all classes in turn, as a [`SyncTest`]. One line
/// in a game's own tests.
///
/// # Errors
/// [`Mismatch`] for the first tick that came out another way.
///
/// # Panics
/// Without bots, or if the game does not know its own heroes.
pub fn sync_test_of_bots<G: Game>(seed: u64, bots: u16, ticks: u32) -> Result<(), Mismatch> {
    let hero = |(n, class): (u16, &&str)| G::hero(class, &format!("{class} {n}")).expect("a class of the game");
    let heroes: Vec<_> = (0..bots).zip(G::HEROES.iter().cycle()).map(hero).collect();
    let mut bots: Vec<_> = (0..bots).map(|n| G::bot(PlayerId(n))).collect();
    let decide = |sim: &G::Sim, player: PlayerId| bots[usize::from(player.0)].decide(sim, player);
    sync_test(G::build(seed, default_table()), &heroes, ticks, decide)
}
