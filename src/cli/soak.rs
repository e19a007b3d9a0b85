//! `soak`: whole sessions on virtual time while everything goes wrong, seed by seed.

use std::fs;
use std::ops::{Range as Span, RangeInclusive};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use indicatif::ProgressBar;
use lockstone_net::text::escaped;
use serde::Serialize;

use super::args::{Soak, SoakKind};
use super::failure::{DIFFERED, Failure};
use super::place::any_number;
use super::shrink::hushed;
use super::{goes_on, print_json, progress, stopped};
use crate::game::{Game, Wide};
use crate::output::{print, say};
use crate::soak::{self, Breach, Figures, Kind, Outcome, Player, Range, Schedule, SoakError};

/// So many fresh seeds are played if none are named.
const FRESH_SEEDS: u64 = 60;
/// Fresh seeds are below this, so that they can be typed.
const FRESH_SEED_MAX: u64 = 1_000_000_000;

/// What came of it.
#[derive(Serialize)]
struct Report {
    passed: bool,
    runs: u64,
    figures: Figures,
    /// How long it took, in milliseconds.
    ms: u64,
    /// How much faster than their sessions the runs were, each of the two plays counted.
    times_real_time: f64,
    failed: Vec<Failed>,
}

/// A run that failed.
#[derive(Serialize)]
struct Failed {
    kind: Kind,
    seed: u64,
    breaches: Vec<Breach>,
    /// What repeats it.
    command: String,
    /// Its schedule, made small.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
}

pub(super) fn run<G: Game>(args: &Soak) -> Result<ExitCode, Failure> {
    let kinds: &[Kind] = match args.kind {
        SoakKind::All => &[Kind::Party, Kind::Rollback],
        SoakKind::One(Kind::Relay) => return Err(Failure::new(SoakError::NotWide)),
        SoakKind::One(kind) => &[kind],
    };
    soak::<G>(args, kinds, &soak::play::<G>)
}

/// The same for a game whose world can be relayed in parts.
pub(super) fn run_wide<G: Wide>(args: &Soak) -> Result<ExitCode, Failure> {
    let kinds: &[Kind] = match args.kind {
        SoakKind::All => &Kind::ALL,
        SoakKind::One(kind) => &[kind],
    };
    soak::<G>(args, kinds, &soak::play_wide::<G>)
}

fn soak<G: Game>(args: &Soak, kinds: &[Kind], player: Player<'_>) -> Result<ExitCode, Failure> {
    let schedules = if args.play.is_empty() {
        drawn(args, kinds)
    } else {
        args.play.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?
    };
    let bar = progress::bar_of(schedules.len() as u32, "{bar:30} {pos}/{len} runs {elapsed} {msg}", args.json);
    let started = Instant::now();
    let outcomes = hushed(|| play(&schedules, args.jobs, player, &bar))?;
    let ms = started.elapsed().as_millis() as u64;
    stopped("soak")?;
    let (mut figures, mut failed) = (Figures::default(), Vec::new());
    for (n, (schedule, outcome)) in schedules.iter().zip(outcomes).enumerate() {
        figures.add(&outcome.figures);
        if !outcome.breaches.is_empty() {
            let file = args.play.get(n).map(PathBuf::as_path);
            let mut fails = Failed::of::<G>(args, file, schedule, outcome);
            let schedule = if args.shrink { fails.shrink::<G>(schedule, player, &bar)? } else { schedule.clone() };
            if args.tell {
                let trace = player(&schedule).map_err(Failure::new)?;
                bar.suspend(|| say(soak::story(&schedule, &trace)));
            }
            failed.push(fails);
        }
    }
    bar.finish_and_clear();
    let times_real_time = 2.0 * figures.virtual_ms as f64 / ms.max(1) as f64;
    let report =
        Report { passed: failed.is_empty(), runs: schedules.len() as u64, figures, ms, times_real_time, failed };
    if args.json {
        print_json(&report)?;
    } else {
        tell(&report);
    }
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::from(DIFFERED) })
}

/// The schedules of the seeds, a kind after the other.
fn drawn(args: &Soak, kinds: &[Kind]) -> Vec<Schedule> {
    let fresh = || {
        let first = any_number() % FRESH_SEED_MAX;
        first..first + FRESH_SEEDS
    };
    let range = range(args);
    let seeds = args.seeds.clone().map_or_else(fresh, |seeds| seeds.0);
    let kind = |seed: u64| kinds[(seed % kinds.len() as u64) as usize];
    seeds.map(|seed| soak::draw(kind(seed), seed, &range)).collect()
}

fn range(args: &Soak) -> Range {
    let default = Range::default();
    Range {
        peers: args.peers.clone().map_or(default.peers, |peers| peers.0),
        ms: (args.minutes * 60_000.0) as u32,
        faults: if args.faults.is_empty() { default.faults } else { args.faults.iter().copied().collect() },
    }
}

fn read(file: &Path) -> Result<Schedule, Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::file("read", file, error))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::file("play", file, format!("it is no schedule: {}", escaped(error))))
}

/// Plays all, on so many threads. What was not played when it was stopped has no outcome.
fn play(schedules: &[Schedule], jobs: u16, player: Player<'_>, bar: &ProgressBar) -> Result<Vec<Outcome>, Failure> {
    let (next, done) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        while goes_on().is_continue() {
            let n = next.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(schedule) = schedules.get(n) else { return };
            let outcome = soak::run(schedule, player);
            if let Ok(Outcome { breaches, .. }) = &outcome
                && let Some(first) = breaches.first()
            {
                bar.suspend(|| say(format_args!("{} {}: {first}", schedule.kind.name(), schedule.seed)));
            }
            bar.inc(1);
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((n, outcome));
        }
    };
    thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, outcome)| outcome.map_err(Failure::new)).collect()
}

impl Failed {
    fn of<G: Game>(args: &Soak, file: Option<&Path>, schedule: &Schedule, outcome: Outcome) -> Failed {
        let Schedule { kind, seed, .. } = *schedule;
        let what = file.map_or_else(|| words(args, kind, seed), |file| format!("--play {}", file.display()));
        Failed { kind, seed, breaches: outcome.breaches, command: format!("{} soak {what}", G::NAME), file: None }
    }

    /// Makes its schedule small, in a file.
    fn shrink<G: Game>(
        &mut self,
        schedule: &Schedule,
        player: Player<'_>,
        bar: &ProgressBar,
    ) -> Result<Schedule, Failure> {
        let steps = schedule.steps.len();
        let small = hushed(|| {
            soak::shrink(schedule, player, &mut |tried| {
                bar.set_message(format!("shrinks {}: {tried} tried", self.seed));
                goes_on()
            })
        });
        stopped("soak")?;
        let Some((small, outcome)) = small else { return Ok(schedule.clone()) };
        let file = PathBuf::from(format!("{}-soak-{}-{}.json", G::NAME, self.kind.name(), self.seed));
        let text = serde_json::to_string_pretty(&small).map_err(Failure::new)?;
        fs::write(&file, text).map_err(|error| Failure::file("write", &file, error))?;
        bar.suspend(|| say(format_args!("{steps} steps became {}: {}\n{small}", small.steps.len(), file.display())));
        self.command = format!("{} soak --play {}", G::NAME, file.display());
        (self.breaches, self.file) = (outcome.breaches, Some(file));
        Ok(small)
    }
}

/// The options that draw one seed's schedule again.
fn words(args: &Soak, kind: Kind, seed: u64) -> String {
    let mut words = format!("--kind {} --seeds {seed}..{}", kind.name(), seed + 1);
    if let Some(peers) = &args.peers {
        words += &format!(" --peers {}..{}", peers.0.start(), peers.0.end());
    }
    if args.minutes != Soak::MINUTES {
        words += &format!(" --minutes {}", args.minutes);
    }
    if !args.faults.is_empty() {
        let names: Vec<_> = args.faults.iter().map(|fault| fault.name()).collect();
        words += &format!(" --faults {}", names.join(","));
    }
    words
}

fn tell(report: &Report) {
    for failed in &report.failed {
        print(format_args!("{} {}:", failed.kind.name(), failed.seed));
        failed.breaches.iter().for_each(|breach| print(format_args!("  {breach}")));
        print(format_args!("  repeat it with `{}`", failed.command));
    }
    let Figures { peers, without_excuse, put_out, commands, takeovers, reloads, virtual_ms, .. } = report.figures;
    print(format_args!(
        "{} runs of {} minutes in {:.1} s, each twice: {:.0} times real time",
        report.runs,
        virtual_ms / 60_000,
        report.ms as f64 / 1_000.0,
        report.times_real_time,
    ));
    print(format_args!(
        "{peers} peers, {without_excuse} of them without an excuse for anything, {put_out} put out; {commands} commands, {takeovers} takeovers, {reloads} worlds loaded anew"
    ));
    match report.failed.len() {
        0 => print("verdict passed: nothing failed"),
        failed => print(format_args!("verdict FAILED: {failed} of {} runs", report.runs)),
    }
}

/// `A..B`: from A on, B left out.
#[derive(Clone, Debug)]
pub(super) struct Seeds(pub Span<u64>);

/// `LO..HI`, both ends included.
#[derive(Clone, Debug)]
pub(super) struct Peers(pub RangeInclusive<u16>);

impl std::str::FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Seeds, String> {
        let (from, to) = pair(text)?;
        if from < to { Ok(Seeds(from..to)) } else { Err("the first seed must be below the second".to_owned()) }
    }
}

impl std::str::FromStr for Peers {
    type Err = String;

    fn from_str(text: &str) -> Result<Peers, String> {
        let (low, high) = pair(text)?;
        let sound = (1..=16).contains(&low) && (low..=16).contains(&high);
        if sound { Ok(Peers(low as u16..=high as u16)) } else { Err("1..1 to 16..16 are possible".to_owned()) }
    }
}

fn pair(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or("two numbers are needed, with .. between them")?;
    let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is not a number"));
    Ok((number(from)?, number(to)?))
}
