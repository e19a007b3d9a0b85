//! The breakers that play in other processes: the same program again, its other build, its wasm module under node.
//!
//! A child answers a recording on its stdin: see [`answer`](crate::check::answer). What cannot be had here is skipped, never passed.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use lockstone_net::Identity;
use lockstone_sim::{PlayerId, Tick};

use super::ChaosConfig;
use super::breaker::Breaker;
use super::reference::{End, Odd, Reference};
use crate::check::answer::GREETING;
use crate::check::inspect::Inspect;
use crate::game::Game;
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
}

impl Programs {
    pub fn new<G: Game>(config: &ChaosConfig, identity: &Identity) -> Programs {
        let header = Header {
            game: G::NAME.to_owned(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            seed: config.seed,
            rules: identity.rules,
            table: identity.table,
            config: identity.config,
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
        Programs { header, own, other, wasm }
    }

    /// Plays the reference's turns as the breaker does.
    pub fn play<S: Inspect>(
        &self,
        breaker: Breaker,
        reference: &Reference<'_, S>,
        plays: &mut dyn FnMut(Tick),
    ) -> End<S> {
        let recording = self.record(reference);
        let mut ask = |command: &mut Command, unlike: Option<&str>| ask(command, &recording, unlike, reference, plays);
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
            writer.checksum::<S>(tick, root).expect(WRITTEN);
            if let Some(turn) = turn {
                writer.turn(tick, turn).expect(WRITTEN);
            }
        }
        writer.end::<S>(reference.start().plus(reference.ticks()), "the end").expect(WRITTEN).0
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

/// Lets a child play, and compares what it says tick by tick. A child of the profile `unlike` would show nothing.
fn ask<S: Inspect>(
    command: &mut Command,
    recording: &[u8],
    unlike: Option<&str>,
    reference: &Reference<'_, S>,
    plays: &mut dyn FnMut(Tick),
) -> End<S> {
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => Running(child),
        Err(error) => {
            return End::Skipped(format!("{program} cannot be started ({error}): install it, or build it again"));
        }
    };
    let (stdin, stdout, stderr) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let (told, complaint) = thread::scope(|scope| {
        // If it does not take all of it, it ends early, and that is told below.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(recording)));
        let complaint = scope.spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read was not said.
            let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).trim().to_owned()
        });
        let told = stdout.ok_or(Unclear::Nothing).and_then(|out| listen(out, unlike, reference, plays));
        drop(child);
        (told, complaint.join().unwrap_or_default())
    });
    match told {
        Ok(end) => end,
        Err(Unclear::Nothing) => {
            End::Skipped(format!("{program} does not answer: {complaint} Build it again, from the same sources"))
        }
        Err(Unclear::Alike) => {
            End::Skipped(format!("{program} is a {} build too: name one of the other kind", unlike.unwrap_or_default()))
        }
        Err(Unclear::Broke(cause)) => End::Broke(format!("{program}: {cause}. {complaint}")),
    }
}

/// Why an answer tells nothing of the game's checksums.
enum Unclear {
    /// It is not there.
    Nothing,
    /// It comes from a build of the same kind.
    Alike,
    /// It ends in the middle.
    Broke(String),
}

fn listen<S: Inspect>(
    out: impl Read,
    unlike: Option<&str>,
    reference: &Reference<'_, S>,
    plays: &mut dyn FnMut(Tick),
) -> Result<End<S>, Unclear> {
    let mut lines = BufReader::new(out).lines().map_while(io::Result::ok);
    let greeting = lines.next().ok_or(Unclear::Nothing)?;
    let build = greeting.strip_prefix(GREETING).ok_or(Unclear::Nothing)?;
    if unlike.is_some_and(|unlike| build.split_whitespace().next() == Some(unlike)) {
        return Err(Unclear::Alike);
    }
    let ended = |tick: Tick| Unclear::Broke(format!("it ended at tick {tick}"));
    let mut met = 0;
    for (tick, root, _) in reference.moments() {
        plays(tick);
        if lines.next().ok_or_else(|| ended(tick))? == format!("{tick} {root}") {
            met += 1;
            continue;
        }
        let state = lines.next().ok_or_else(|| ended(tick))?;
        let state = state.strip_prefix("state ").and_then(bytes_of).ok_or_else(|| ended(tick))?;
        let mut odd = reference.build();
        let unreadable = |error| Unclear::Broke(format!("its state of tick {tick} cannot be read: {error}"));
        let snapshot = odd.decode(&state).map_err(unreadable)?;
        odd.restore(&snapshot);
        return Ok(End::Parted(Box::new(Odd { state: odd, cells: None, by: Some(build.trim().to_owned()) })));
    }
    Ok(End::Met(met))
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    hex.as_bytes().chunks(2).map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// A process that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Either it ended by itself already, or it ends now.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl ChaosConfig {
    /// Looks for the other build and the wasm module where cargo puts them beside the program, if none are named. They may be older than
    /// the program, and then differ because the sources did.
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
