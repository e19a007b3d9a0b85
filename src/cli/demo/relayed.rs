//! `demo --relay`: a relay and its replicas, each played by a bot, as processes over real WebRTC.
//!
//! Replicas are let in a few at a time. Once all play, the time runs; at its end the replicas
//! leave, then the relay. What is measured is how the ticks came in that time, as each
//! process told them.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use lockstone_sim::{CellId, Checksum};
use serde::Serialize;

use super::cast::{Cast, GRACE, ROOM, Seat, bot};
use super::table;
use crate::cli::args::Demo;
use crate::cli::failure::{DIFFERED, Failure};
use crate::cli::place::{Signaling, any_number};
use crate::cli::{print_json, progress, relay};
use crate::game::Wide;
use crate::output::print;
use crate::shell::Report;

/// So many come at once: a handshake is work, and the relay has others to serve.
const JOINING_MAX: usize = 4;
/// How long one may take to come into the world.
const JOIN_MAX: Duration = Duration::from_secs(40);
const TICKS_PER_S: u32 = 20;
/// How far the pace may be off, in percent.
const PACE_OFF_MAX: f64 = 5.0;
/// Between two words of a process, ten ticks apart. More is no play.
const PAUSE_MAX: Duration = Duration::from_millis(1_500);

/// What came of it.
#[derive(Serialize)]
struct Outcome {
    ok: bool,
    verdict: String,
    seed: u64,
    seconds: u32,
    /// Until all were in the world.
    gathered_ms: u64,
    /// Checksums of cells that this process compared between the replicas' reports and the relay's.
    cells_cross_checked: u64,
    relay: Played,
    replicas: Vec<Played>,
}

/// What one process played.
#[derive(Serialize)]
struct Played {
    /// Ticks in the time that was measured, a second.
    pace: f64,
    /// The longest time for ten ticks.
    longest_ms: u64,
    #[serde(flatten)]
    report: Report,
}

pub(in crate::cli) fn run<G: Wide>(args: &Demo) -> Result<ExitCode, Failure> {
    relay::refuse_settings(&args.shared)?;
    let seed = args.seed.unwrap_or_else(any_number);
    let signaling = Signaling::private()?;
    let mut play = Play::new(args, seed, &signaling.url)?;
    play.gather::<G>(args, &signaling.url)?;
    play.go_on()?;
    let outcome = play.finish(args, seed)?;
    if args.json {
        print_json(&outcome)?;
    } else {
        print(table(std::iter::once(&outcome.relay).chain(&outcome.replicas).map(Played::row)));
        print(format!("the relay's process: {}", outcome.relay.report.work));
        print(&outcome.verdict);
    }
    Ok(if outcome.ok { ExitCode::SUCCESS } else { ExitCode::from(DIFFERED) })
}

/// A session of a relay, the first of its cast, and of replicas.
struct Play {
    cast: Cast,
    /// Ticks to play once all are there.
    ticks: u32,
    began: Instant,
    progress: ProgressBar,
}

impl Play {
    /// The relay, alone.
    fn new(args: &Demo, seed: u64, url: &str) -> Result<Play, Failure> {
        let (ticks, began) = (args.seconds * TICKS_PER_S, Instant::now());
        let mut cast = Cast::new("the processes did not come further in time than to the ticks".to_owned());
        let (seed, players, measured) = (seed.to_string(), args.peers.to_string(), ticks.to_string());
        let words = ["relay", "--report", "--room", ROOM, "--signal", url, "--seed", &seed, "--players", &players];
        let words = words.into_iter().chain(["--measured-ticks", &measured]).map(str::to_owned);
        cast.start(&words.collect::<Vec<_>>())?;
        while cast.seats[0].at.is_none() {
            cast.listen(began + JOIN_MAX)?;
        }
        Ok(Play { cast, ticks, began, progress: progress::bar(ticks, 24, args.json) })
    }

    /// Brings the replicas in.
    fn gather<G: Wide>(&mut self, args: &Demo, url: &str) -> Result<(), Failure> {
        let mut deadline = Instant::now() + JOIN_MAX;
        let (mut there, all) = (0, usize::from(args.peers));
        while there < all {
            let came = self.cast.seats.len() - 1;
            if came - there < JOINING_MAX && came < all {
                let words = bot::<G>(args, came, url);
                self.cast.start(&[words, vec!["--relay".to_owned()]].concat())?;
                continue;
            }
            self.cast.listen(deadline)?;
            let now_there = self.cast.seats[1..].iter().filter(|seat| seat.at.is_some() || seat.is_over).count();
            if now_there > there {
                (there, deadline) = (now_there, Instant::now() + JOIN_MAX);
                self.progress.set_message(format!("{there} of {all} replicas"));
            }
        }
        self.cast.measured = Some(Instant::now());
        Ok(())
    }

    /// Lets them play for the time.
    fn go_on(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs((self.ticks / TICKS_PER_S).into()) + GRACE;
        loop {
            let playing = self.cast.seats.iter().filter(|seat| !seat.is_over);
            let least = playing.map(|seat| pace(seat).0).min().unwrap_or(self.ticks);
            self.progress.set_position(least.min(self.ticks).into());
            if least >= self.ticks {
                return Ok(());
            }
            self.cast.listen(deadline)?;
        }
    }

    /// Lets them leave, the relay last, and says what they had to report.
    fn finish(self, args: &Demo, seed: u64) -> Result<Outcome, Failure> {
        let Play { mut cast, began, progress, .. } = self;
        for last in [cast.seats.len() - 1, 0] {
            let leaving = last.min(1)..=last;
            cast.seats[leaving.clone()].iter_mut().for_each(|seat| seat.process.let_go());
            let deadline = Instant::now() + GRACE;
            while !cast.seats[leaving.clone()].iter().all(|seat| seat.is_over) {
                cast.listen(deadline)?;
            }
        }
        progress.finish_and_clear();
        let gathered_ms = cast.measured.map_or(0, |gathered| (gathered - began).as_millis() as u64);
        let mut played: Vec<_> = cast.seats.into_iter().filter_map(Played::of).collect();
        let relay = played.remove(0);
        Ok(judge(relay, played, args, seed, gathered_ms))
    }
}

/// Ticks in the time that is measured, and that time in seconds.
fn pace(seat: &Seat) -> (u32, f64) {
    seat.at.zip(seat.from).map_or((0, 0.0), |((tick, at), (from, since))| (tick - from, (at - since).as_secs_f64()))
}

impl Played {
    fn of(seat: Seat) -> Option<Played> {
        let (ticks, seconds) = pace(&seat);
        let pace = f64::from(ticks) / seconds.max(0.001);
        Some(Played { pace, longest_ms: seat.longest.as_millis() as u64, report: seat.report? })
    }

    /// As the table shows it.
    fn row(&self) -> (&Report, Vec<(&'static str, String)>) {
        let Played { pace, longest_ms, report } = self;
        let own = [
            ("a second", format!("{pace:.2}")),
            ("ten at worst, ms", longest_ms.to_string()),
            ("a tick, ms", format!("{:.2}", report.work.mean_us / 1_000.0)),
        ];
        (report, own.into())
    }
}

/// Whether all cores were equal to the relay's world, and all ticks came at their time.
fn judge(mut relay: Played, mut replicas: Vec<Played>, args: &Demo, seed: u64, gathered_ms: u64) -> Outcome {
    let (compared, differing) = cross_check(&relay.report, &replicas);
    let desyncs: u64 = relay.report.desyncs + replicas.iter().map(|replica| replica.report.desyncs).sum::<u64>();
    // The relay compares what replicas report.
    let cores = relay.report.checksums_compared;
    let silent = replicas.iter().find(|replica| replica.report.parts.is_empty());
    let unsteady = std::iter::once(&relay).chain(&replicas).find(|played| !is_steady(played));
    let verdict = if let Some((name, tick, cell)) = differing {
        Err(format!("OUT OF STEP: the world of {name} differs from the relay's at tick {tick}, in cell {cell}"))
    } else if desyncs > 0 {
        Err(format!("OUT OF STEP: {desyncs} differences were found"))
    } else if let Some(Played { report, .. }) = silent {
        Err(format!("NOT SHOWN: {} reported no cells", report.name))
    } else if compared == 0 || cores < replicas.len() as u64 {
        Err("NOT SHOWN: too little was compared".to_owned())
    } else if let Some(Played { pace, longest_ms, report }) = unsteady {
        let Report { name, ended, .. } = report;
        Err(format!(
            "UNSTEADY: {name} played {pace:.2} ticks a second, ten in {longest_ms} ms at worst, and not {TICKS_PER_S}: {ended}"
        ))
    } else {
        let count = replicas.len();
        Ok(format!("in step: {cores} cores of {count} replicas and {compared} of their cells are equal to the relay's"))
    };
    let ok = verdict.is_ok();
    let (Ok(verdict) | Err(verdict)) = verdict;
    std::iter::once(&mut relay).chain(&mut replicas).for_each(|played| played.report.parts.clear());
    let (seconds, cells_cross_checked) = (args.seconds, compared);
    Outcome { ok, verdict, seed, seconds, gathered_ms, cells_cross_checked, relay, replicas }
}

/// Compares cells of the same ticks. Returns how many, and whose is the first that differs.
fn cross_check<'r>(relay: &Report, replicas: &'r [Played]) -> (u64, Option<(&'r str, u32, CellId)>) {
    let whole: BTreeMap<u32, BTreeMap<CellId, Checksum>> =
        relay.parts.iter().map(|parts| (parts.tick, parts.cells.iter().copied().collect())).collect();
    let (mut compared, mut differing) = (0, None);
    for report in replicas.iter().map(|replica| &replica.report) {
        for parts in &report.parts {
            let Some(whole) = whole.get(&parts.tick) else { continue };
            for (cell, checksum) in &parts.cells {
                compared += 1;
                if whole.get(cell) != Some(checksum) && differing.is_none_or(|(_, tick, _)| parts.tick < tick) {
                    differing = Some((report.name.as_str(), parts.tick, *cell));
                }
            }
        }
    }
    (compared, differing)
}

fn is_steady(played: &Played) -> bool {
    let off = (played.pace / f64::from(TICKS_PER_S) - 1.0).abs() * 100.0;
    off <= PACE_OFF_MAX && played.longest_ms <= PAUSE_MAX.as_millis() as u64
}
