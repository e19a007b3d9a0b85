//! `demo --relay`: a relay and its replicas, each played by a bot, as processes over real WebRTC.
//!
//! Replicas are let in a few at a time. Once all play, the time runs; at its end the replicas
//! leave, then the relay. What is measured is how the ticks came in that time, as each
//! process told them.

use std::collections::BTreeMap;
use std::process::{ExitCode, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::ProgressBar;
use lockstone_sim::{CellId, Checksum};
use serde::Serialize;

use super::{GRACE, broken};
use crate::cli::args::Demo;
use crate::cli::child::{Peer, Word};
use crate::cli::failure::{DIFFERED, Failure};
use crate::cli::place::{Signaling, any_number};
use crate::cli::stdout::print;
use crate::cli::{STOP, progress, relay};
use crate::game::Wide;
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
    let mut cast = Cast::new(args, seed, &signaling.url)?;
    cast.gather::<G>(args, &signaling.url)?;
    cast.play()?;
    let outcome = cast.finish(args, seed)?;
    if args.json {
        print(serde_json::to_string_pretty(&outcome).map_err(Failure::new)?);
    } else {
        print(table(&outcome));
        print(format!("the relay's process: {}", outcome.relay.report.work));
        print(&outcome.verdict);
    }
    Ok(if outcome.ok { ExitCode::SUCCESS } else { ExitCode::from(DIFFERED) })
}

/// Which process said what; nothing once it has ended.
type Heard = (usize, Option<Word>);

/// The processes: the relay is the first.
struct Cast {
    seats: Vec<Seat>,
    words: (Sender<Heard>, Receiver<Heard>),
    /// Ticks to play once all are there.
    ticks: u32,
    began: Instant,
    gathered: Option<Instant>,
    progress: ProgressBar,
}

struct Seat {
    process: Peer,
    /// The last tick that it told, and when.
    at: Option<(u32, Instant)>,
    /// The first that it told once all were there.
    from: Option<(u32, Instant)>,
    longest: Duration,
    report: Option<Report>,
    is_over: bool,
}

impl Cast {
    /// The relay, alone.
    fn new(args: &Demo, seed: u64, url: &str) -> Result<Cast, Failure> {
        let ticks = args.seconds * TICKS_PER_S;
        let mut cast = Cast {
            seats: Vec::new(),
            words: mpsc::channel(),
            ticks,
            began: Instant::now(),
            gathered: None,
            progress: progress::bar(ticks, 24, args.json),
        };
        let (seed, players, measured) = (seed.to_string(), args.peers.to_string(), ticks.to_string());
        let numbers = ["--seed", &seed, "--players", &players, "--measured-ticks", &measured];
        cast.start(&[&["relay", "--report", "--room", "demo", "--signal", url][..], &numbers].concat())?;
        let deadline = Instant::now() + JOIN_MAX;
        while cast.seats[0].at.is_none() {
            cast.listen(deadline)?;
        }
        Ok(cast)
    }

    fn start(&mut self, words: &[&str]) -> Result<(), Failure> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let mut process = Peer::start(&words, Stdio::piped(), Stdio::piped())?;
        process.listen(self.seats.len(), self.words.0.clone());
        self.seats.push(Seat { process, at: None, from: None, longest: Duration::ZERO, report: None, is_over: false });
        Ok(())
    }

    /// Brings the replicas in.
    fn gather<G: Wide>(&mut self, args: &Demo, url: &str) -> Result<(), Failure> {
        let mut heroes = G::HEROES.iter().cycle();
        let mut deadline = Instant::now() + JOIN_MAX;
        let mut there = 0;
        while there < usize::from(args.peers) {
            let joining = self.seats.len() - 1 - there;
            if joining < JOINING_MAX && self.seats.len() <= usize::from(args.peers) {
                let name = format!("Bot-{}", self.seats.len());
                let hero = heroes.next().copied().unwrap_or_default();
                let mut words = vec![
                    "play", "--relay", "--bot", "--report", "--view", "none", "--room", "demo", "--signal", url,
                    "--name", &name, "--hero", hero,
                ];
                if args.plant_fault && self.seats.len() == usize::from(args.peers) {
                    words.push("--plant-fault");
                }
                self.start(&words)?;
                continue;
            }
            self.listen(deadline)?;
            let now_there = self.seats[1..].iter().filter(|seat| seat.at.is_some() || seat.is_over).count();
            if now_there > there {
                (there, deadline) = (now_there, Instant::now() + JOIN_MAX);
                self.progress.set_message(format!("{there} of {} replicas", args.peers));
            }
        }
        self.gathered = Some(Instant::now());
        Ok(())
    }

    /// Lets them play for the time.
    fn play(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + Duration::from_secs((self.ticks / TICKS_PER_S).into()) + GRACE;
        loop {
            let least = self.seats.iter().filter(|seat| !seat.is_over).map(Seat::played).min().unwrap_or(self.ticks);
            self.progress.set_position(least.min(self.ticks).into());
            if least >= self.ticks {
                return Ok(());
            }
            self.listen(deadline)?;
        }
    }

    /// Lets them leave, the relay last, and says what they had to report.
    fn finish(mut self, args: &Demo, seed: u64) -> Result<Outcome, Failure> {
        for last in [self.seats.len() - 1, 0] {
            let first = last.min(1);
            self.seats[first..=last].iter_mut().for_each(|seat| seat.process.let_go());
            let deadline = Instant::now() + GRACE;
            while !self.seats[first..=last].iter().all(|seat| seat.is_over) {
                self.listen(deadline)?;
            }
        }
        self.progress.finish_and_clear();
        let gathered_ms = self.gathered.map_or(0, |gathered| (gathered - self.began).as_millis() as u64);
        let mut played: Vec<_> = self.seats.into_iter().filter_map(Seat::told).collect();
        let relay = played.remove(0);
        Ok(judge(relay, played, args, seed, gathered_ms))
    }

    /// Hears one word.
    fn listen(&mut self, deadline: Instant) -> Result<(), Failure> {
        if STOP.load(Ordering::Relaxed) {
            return Err(Failure::new("the demo was stopped"));
        }
        match self.words.1.recv_timeout(Duration::from_millis(100)) {
            Ok((n, Some(Word::Tick(tick)))) => self.seats[n].tick(tick, self.gathered.is_some()),
            Ok((n, Some(Word::Report(report)))) => self.seats[n].report = Some(*report),
            Ok((n, None)) => {
                self.seats[n].is_over = true;
                if self.seats[n].report.is_none() {
                    return Err(broken(n, &mut self.seats[n].process));
                }
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => {
                let at: Vec<_> = self.seats.iter().map(|seat| seat.at.map_or(0, |(tick, _)| tick)).collect();
                return Err(Failure::new(format!(
                    "the processes did not come further in time than to the ticks {at:?}; see whether WebRTC works on this machine"
                )));
            }
        }
        Ok(())
    }
}

impl Seat {
    fn tick(&mut self, tick: u32, measured: bool) {
        let now = Instant::now();
        if let (true, Some((_, before))) = (measured && self.from.is_some(), self.at) {
            self.longest = self.longest.max(now - before);
        }
        self.at = Some((tick, now));
        if measured {
            self.from.get_or_insert((tick, now));
        }
    }

    /// Ticks in the time that is measured.
    fn played(&self) -> u32 {
        self.at.zip(self.from).map_or(0, |((tick, _), (from, _))| tick - from)
    }

    fn told(self) -> Option<Played> {
        let time = self.at.zip(self.from).map_or(0.0, |((_, at), (_, from))| (at - from).as_secs_f64());
        let pace = f64::from(self.played()) / time.max(0.001);
        Some(Played { pace, longest_ms: self.longest.as_millis() as u64, report: self.report? })
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
    let failed = |verdict: String| (false, verdict);
    let (ok, verdict) = if let Some((name, tick, cell)) = differing {
        failed(format!("OUT OF STEP: the world of {name} differs from the relay's at tick {tick}, in cell {cell}"))
    } else if desyncs > 0 {
        failed(format!("OUT OF STEP: {desyncs} differences were found"))
    } else if let Some(Played { report, .. }) = silent {
        failed(format!("NOT SHOWN: {} reported no cells", report.name))
    } else if compared == 0 || cores < replicas.len() as u64 {
        failed("NOT SHOWN: too little was compared".to_owned())
    } else if let Some(Played { pace, longest_ms, report }) = unsteady {
        let Report { name, ended, .. } = report;
        failed(format!(
            "UNSTEADY: {name} played {pace:.2} ticks a second, ten in {longest_ms} ms at worst, and not {TICKS_PER_S}: {ended}"
        ))
    } else {
        let count = replicas.len();
        (
            true,
            format!(
                "in step: {cores} cores of {count} replicas and {compared} of their cells are equal to the relay's"
            ),
        )
    };
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

fn table(outcome: &Outcome) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "peer",
        "ticks",
        "a second",
        "ten at worst, ms",
        "a tick, ms",
        "commands",
        "bytes in",
        "bytes out",
        "packets in",
        "packets out",
        "compared",
        "desyncs",
    ]);
    for Played { pace, longest_ms, report } in std::iter::once(&outcome.relay).chain(&outcome.replicas) {
        let numbers = [
            report.ticks.to_string(),
            format!("{pace:.2}"),
            longest_ms.to_string(),
            format!("{:.2}", report.work.mean_us / 1_000.0),
            report.commands_sent.to_string(),
            report.bytes_in.to_string(),
            report.bytes_out.to_string(),
            report.packets_in.to_string(),
            report.packets_out.to_string(),
            report.checksums_compared.to_string(),
            report.desyncs.to_string(),
        ];
        let cells = numbers.into_iter().map(|n| Cell::new(n).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(&report.name)).chain(cells));
    }
    table
}
