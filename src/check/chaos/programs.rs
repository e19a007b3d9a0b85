//! The breakers that play in other processes: the same program again, its other build, its wasm
//! module under node.
//!
//! A child answers a table and a recording on its stdin: see [`answer`](crate::check::answer). What
//! cannot be had here is skipped, never passed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use lockstone_net::wire::SessionKind;
use lockstone_sim::{PlayerId, Tick};

use super::ChaosConfig;
use super::breaker::Breaker;
use super::child::Question;
use super::reference::{End, Observer, Played, Reference};
use crate::game::Game;
use crate::inspect::Inspect;
use crate::recording::{Build, Ending, Entry, Header, Recording};

/// The hidden subcommand that answers.
const ANSWER: &str = "answer";
/// So many more processes play, so that a draw of few outcomes is not met by luck.
const PROCESSES: u32 = 2;
/// Makes an environment larger than any, so that the stack lies elsewhere.
const PADDING_BYTES: usize = 6_000;
const PROFILES: [&str; 2] = ["release", "debug"];

/// The game as other processes can play it.
pub(super) struct Programs<'c> {
    header: Header,
    config: &'c ChaosConfig,
}

impl<'c> Programs<'c> {
    /// Of a game with this seed; the configuration's own is not looked at.
    pub fn new<G: Game>(config: &'c ChaosConfig, seed: u64) -> Self {
        let header = Header {
            game: G::NAME.to_owned(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            identity: G::identity(&config.table),
            kind: SessionKind::Party { packet_interval_ticks: 1 },
            ticks_per_s: 20,
            input_delay_ticks: 0,
            checksum_interval_ticks: 1,
            player: PlayerId(0),
            name: "chaos".to_owned(),
            room: String::new(),
            start: Tick(0),
            build: Build::here(),
        };
        Programs { header, config }
    }

    /// Plays the reference's turns as the breaker does.
    pub fn play<S: Inspect>(&self, breaker: Breaker, reference: &Reference<'_, S>, plays: Observer<'_>) -> Played<S> {
        let mut command = self.command(breaker).map_err(End::Skipped)?;
        let input: Arc<[u8]> = [self.config.table.to_bytes(), self.record(reference)].concat().into();
        let unlike = (breaker == Breaker::DebugRelease).then_some(self.header.build.profile.as_str());
        let processes = if breaker == Breaker::SecondProcess { PROCESSES } else { 1 };
        let mut met = 0;
        for _ in 0..processes {
            let (input, answer_time) = (input.clone(), self.config.answer_time);
            met += Question { input, unlike, answer_time, reference, plays }.ask(&mut command)?;
        }
        Ok(met)
    }

    /// What answers as the breaker wants it; if it is not there, what to do about it.
    fn command(&self, breaker: Breaker) -> Result<Command, String> {
        let (program, missing) = match breaker {
            Breaker::DebugRelease => {
                let release = if cfg!(debug_assertions) { " --release" } else { "" };
                let advice = format!("build it with cargo build{release}, or name it with --other");
                (&self.config.other, format!("the program's other build is not there: {advice}"))
            }
            Breaker::Wasm => {
                let advice = "build it with cargo build --release --target wasm32-wasip1, or name it with --wasm";
                (&self.config.wasm, format!("the wasm module is not there: {advice}"))
            }
            _ => (&self.config.program, "the game's own program is not known".to_owned()),
        };
        let program = program.as_ref().ok_or(missing)?;
        let program = std::path::absolute(program).unwrap_or_else(|_| program.clone());
        let mut command = Command::new(if breaker == Breaker::Wasm { Path::new("node") } else { &program });
        match breaker {
            Breaker::Wasm => {
                let script = include_str!("wasi.mjs");
                command.args(["--no-warnings", "--input-type=module", "--eval", script, "--"]).arg(&program);
            }
            Breaker::Environment => elsewhere(&mut command),
            _ => {}
        }
        command.arg(ANSWER);
        Ok(command)
    }

    fn record<S: Inspect>(&self, reference: &Reference<'_, S>) -> Vec<u8> {
        let snapshot = reference.build().encoded();
        let header = Header { start: reference.start, ..self.header.clone() };
        let entries = reference
            .moments()
            .flat_map(|(_, root, turn)| [Some(Entry::Checksum(root)), turn.cloned().map(Entry::Turn)])
            .flatten();
        let ending = Ending::Closed("the end".to_owned());
        Recording { header, snapshot, entries: entries.collect(), ending }.write()
    }
}

/// Another time, place and language. All that is not named here is inherited.
fn elsewhere(command: &mut Command) {
    let changed = [
        ("TZ", "Pacific/Kiritimati"),
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("HOME", "/nonexistent"),
        ("USER", "nobody-in-particular"),
        ("RUST_BACKTRACE", "full"),
    ];
    command.current_dir(std::env::temp_dir()).envs(changed).env("LOCKSTONE_CHAOS", "x".repeat(PADDING_BYTES));
}

impl ChaosConfig {
    /// Looks for the other build and the wasm module where cargo puts them beside the program, if
    /// none are named. They may be older than the program, and then differ because the sources did.
    #[must_use]
    pub fn with_builds_of_cargo(mut self) -> Self {
        let Some((target, own, program)) = self.program.as_deref().and_then(in_target) else { return self };
        let built = |path: PathBuf| Some(path).filter(|path| path.is_file());
        let other = PROFILES.into_iter().find(|profile| *profile != own);
        let other = other.and_then(|profile| built(target.join(profile).join(program)));
        let wasm = |profile| target.join("wasm32-wasip1").join(profile).join(program).with_extension("wasm");
        let wasm = PROFILES.into_iter().map(wasm).find_map(built);
        (self.other, self.wasm) = (self.other.or(other), self.wasm.or(wasm));
        self
    }
}

/// Where cargo has put a program that it built: the folder of all profiles, the profile, and the
/// program in its profile's folder.
fn in_target(program: &Path) -> Option<(&Path, &str, &Path)> {
    program.ancestors().skip(1).find_map(|folder| {
        let profile = folder.file_name().and_then(OsStr::to_str).filter(|name| PROFILES.contains(name))?;
        Some((folder.parent()?, profile, program.strip_prefix(folder).ok()?))
    })
}
