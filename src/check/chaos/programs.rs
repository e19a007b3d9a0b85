//! The breakers that play in other processes: the same program again, its other build, its wasm
//! module under node.
//!
//! A child answers a table and a recording on its stdin: see [`answer`](crate::check::answer). What
//! cannot be had here is skipped, never passed.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lockstone_net::Identity;
use lockstone_sim::{PlayerId, Table, Tick};

use super::ChaosConfig;
use super::breaker::Breaker;
use super::child::Question;
use super::reference::{End, Reference};
use crate::game::Game;
use crate::inspect::Inspect;
use crate::recording::{Build, Header, Writer};

/// The hidden subcommand that answers.
const ANSWER: &str = "answer";
/// So many more processes play, so that a draw of few outcomes is not met by luck.
const PROCESSES: u32 = 2;
/// Makes an environment larger than any, so that the stack lies elsewhere.
const PADDING_BYTES: usize = 6_000;
const PROFILES: [&str; 2] = ["release", "debug"];

/// The game as other processes can play it.
pub(super) struct Programs {
    header: Header,
    own: Option<PathBuf>,
    other: Option<PathBuf>,
    wasm: Option<PathBuf>,
    table: Table,
    answer_time: Duration,
}

impl Programs {
    pub fn new<G: Game>(config: &ChaosConfig, identity: &Identity) -> Programs {
        let header = Header {
            game: G::NAME.to_owned(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            seed: config.seed,
            identity: *identity,
            ticks_per_s: 20,
            input_delay_ticks: 0,
            checksum_interval_ticks: 1,
            player: PlayerId(0),
            name: "chaos".to_owned(),
            room: String::new(),
            start: Tick(0),
            build: Build::of(0),
        };
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let [own, other, wasm] = [&config.program, &config.other, &config.wasm].map(|path| path.as_ref().map(absolute));
        Programs { header, own, other, wasm, table: config.table.clone(), answer_time: config.answer_time }
    }

    /// Plays the reference's turns as the breaker does.
    pub fn play<S: Inspect>(
        &self,
        breaker: Breaker,
        reference: &Reference<'_, S>,
        plays: &mut dyn FnMut(Tick) -> ControlFlow<()>,
    ) -> End<S> {
        let input: Arc<[u8]> = [self.table.to_bytes(), self.record(reference)].concat().into();
        let mut ask = |command: &mut Command, unlike: Option<&str>| {
            Question { input: input.clone(), unlike, answer_time: self.answer_time, reference, plays }.ask(command)
        };
        match (breaker, &self.own) {
            (Breaker::DebugRelease, _) => match &self.other {
                Some(other) => ask(Command::new(other).arg(ANSWER), Some(&self.header.build.profile)),
                None => End::Skipped(format!(
                    "the program's other build is not there: build it with cargo build{}, or name it with --other",
                    if cfg!(debug_assertions) { " --release" } else { "" }
                )),
            },
            (Breaker::Wasm, _) => match &self.wasm {
                Some(wasm) => ask(&mut under_node(wasm), None),
                None => End::Skipped(
                    "the wasm module is not there: build it with cargo build --release --target wasm32-wasip1, or name it with --wasm".to_owned(),
                ),
            },
            (_, None) => End::Skipped("the game's own program is not known".to_owned()),
            (Breaker::Environment, Some(own)) => ask(&mut elsewhere(own), None),
            (_, Some(own)) => {
                let mut met = 0;
                for _ in 0..PROCESSES {
                    match ask(Command::new(own).arg(ANSWER), None) {
                        End::Met(checksums) => met += checksums,
                        end => return end,
                    }
                }
                End::Met(met)
            }
        }
    }

    fn record<S: Inspect>(&self, reference: &Reference<'_, S>) -> Vec<u8> {
        const WRITTEN: &str = "memory can be written";
        let mut simulation = reference.build();
        let start = simulation.snapshot();
        let header = Header { start: reference.start(), ..self.header.clone() };
        let mut writer = Writer::create(Vec::new(), &header, &simulation.encode(&start)).expect(WRITTEN);
        for (tick, root, turn) in reference.moments() {
            writer.checksum(tick, root).expect(WRITTEN);
            if let Some(turn) = turn {
                writer.turn(tick, turn).expect(WRITTEN);
            }
        }
        writer.end(reference.start().plus(reference.ticks()), "the end").expect(WRITTEN).0
    }
}

/// Another time, place and language. All that is not named here is inherited.
fn elsewhere(program: &Path) -> Command {
    let mut command = Command::new(program);
    let changed = [
        ("TZ", "Pacific/Kiritimati"),
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("HOME", "/nonexistent"),
        ("USER", "nobody-in-particular"),
        ("RUST_BACKTRACE", "full"),
    ];
    command.arg(ANSWER).current_dir(std::env::temp_dir()).envs(changed);
    command.env("LOCKSTONE_CHAOS", "x".repeat(PADDING_BYTES));
    command
}

fn under_node(module: &Path) -> Command {
    let mut command = Command::new("node");
    let script = include_str!("wasi.mjs");
    command.args(["--no-warnings", "--input-type=module", "--eval", script, "--"]).arg(module).arg(ANSWER);
    command
}

impl ChaosConfig {
    /// Looks for the other build and the wasm module where cargo puts them beside the program, if
    /// none are named. They may be older than the program, and then differ because the sources did.
    #[must_use]
    pub fn with_builds_of_cargo(mut self) -> Self {
        let found = self.program.as_deref().and_then(Found::beside);
        let (other, wasm) = (found.as_ref().and_then(Found::other), found.as_ref().and_then(Found::wasm));
        (self.other, self.wasm) = (self.other.or(other), self.wasm.or(wasm));
        self
    }
}

/// Where cargo puts what it builds: beside a program that it built.
struct Found<'p> {
    /// The folder of all profiles.
    target: &'p Path,
    profile: &'p str,
    /// The program in its profile's folder.
    program: &'p Path,
}

impl<'p> Found<'p> {
    fn beside(own: &'p Path) -> Option<Found<'p>> {
        own.ancestors().skip(1).find_map(|folder| {
            let profile = folder.file_name().and_then(OsStr::to_str).filter(|name| PROFILES.contains(name))?;
            Some(Found { target: folder.parent()?, profile, program: own.strip_prefix(folder).ok()? })
        })
    }

    fn other(&self) -> Option<PathBuf> {
        let profile = PROFILES.into_iter().find(|profile| *profile != self.profile)?;
        Some(self.target.join(profile).join(self.program)).filter(|path| path.is_file())
    }

    fn wasm(&self) -> Option<PathBuf> {
        let module =
            |profile| self.target.join("wasm32-wasip1").join(profile).join(self.program).with_extension("wasm");
        PROFILES.into_iter().map(module).find(|path| path.is_file())
    }
}
