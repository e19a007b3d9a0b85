//! `demo`: bots play as processes of their own over real WebRTC, and their worlds are compared.

pub(super) mod relayed;

use std::collections::BTreeMap;
use std::process::{ExitCode, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use lockstone_net::limits::PLAYERS_MAX;
use serde::Serialize;

use super::STOP;
use super::args::Demo;
use super::child::{Peer, Word};
use super::config::Config;
use super::failure::Failure;
use super::place::{Signaling, any_number};
use super::stdout::print;
use crate::game::Game;
use crate::shell::Report;

/// How much longer than the game all of it may take: connecting, leaving, a busy machine.
const GRACE: Duration = Duration::from_secs(60);

/// The columns of the result.
const TITLES: [&str; 9] =
    ["peer", "ticks", "commands", "bytes in", "bytes out", "packets in", "packets out", "compared", "desyncs"];

/// What came of it.
#[derive(Serialize)]
struct Outcome {
    ok: bool,
    verdict: String,
    seed: u64,
    seconds: u32,
    ticks_expected: u32,
    /// Checksums of the same tick that this process compared between peers' reports.
    checksums_cross_checked: u64,
    peers: Vec<Report>,
}

pub(super) fn run<G: Game>(args: &Demo) -> Result<ExitCode, Failure> {
    let seed = args.seed.unwrap_or_else(any_number);
    if usize::from(args.peers) > PLAYERS_MAX {
        let told =
            format!("a session without a relay has at most {PLAYERS_MAX} peers, not {}: add --relay", args.peers);
        return Err(Failure::new(told));
    }
    let config = Config::new(&args.shared, Some(args.peers), seed)?;
    let ticks = args.seconds * config.ticks_per_s();
    let signaling = Signaling::private()?;
    let peers = start::<G>(args, seed, ticks, &signaling.url)?;
    let reports = listen(peers, args, ticks)?;
    let result = judge(reports, args, seed, ticks, config.period());
    if args.json {
        print(serde_json::to_string_pretty(&result).map_err(Failure::new)?);
    } else {
        print(table(&result));
        print(&result.verdict);
    }
    if let Some(bundle) = result.peers.iter().find_map(|report| report.bundle.as_ref()) {
        eprintln!("What all peers have of it is in {bundle}: see `{} explain {bundle}`.", G::NAME);
    }
    Ok(if result.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn start<G: Game>(args: &Demo, seed: u64, ticks: u32, url: &str) -> Result<Vec<Peer>, Failure> {
    let heroes = G::HEROES.iter().cycle();
    let start = |(n, hero): (u16, &&str)| {
        let name = format!("Bot-{}", n + 1);
        let (seed, until, peers) = (seed.to_string(), ticks.to_string(), args.peers.to_string());
        let mut words = vec![
            "play", "--bot", "--report", "--view", "none", "--room", "demo", "--signal", url, "--name", &name,
            "--hero", hero, "--seed", &seed, "--until", &until, "--peers", &peers,
        ];
        if args.plant_fault && n + 1 == args.peers {
            words.push("--plant-fault");
        }
        let words: Vec<String> = words.into_iter().map(str::to_owned).chain(args.shared.words()).collect();
        Peer::start(&words, Stdio::piped(), Stdio::piped())
    };
    (0..args.peers).zip(heroes).map(start).collect()
}

/// Listens until every peer has reported or ended.
fn listen(mut peers: Vec<Peer>, args: &Demo, ticks: u32) -> Result<Vec<Report>, Failure> {
    let (heard_tx, heard) = mpsc::channel();
    peers.iter_mut().enumerate().for_each(|(n, peer)| peer.listen(n, heard_tx.clone()));
    let progress = progress(args, ticks);
    let deadline = Instant::now() + Duration::from_secs(args.seconds.into()) + GRACE;
    let mut at = vec![0; peers.len()];
    let mut reports: Vec<Option<Report>> = vec![None; peers.len()];
    let mut running = peers.len();
    while running > 0 {
        if STOP.load(Ordering::Relaxed) {
            return Err(Failure::new("the demo was stopped"));
        }
        match heard.recv_timeout(Duration::from_millis(100)) {
            Ok((n, Some(Word::Tick(tick)))) => {
                at[n] = tick;
                progress.set_position(at.iter().copied().min().unwrap_or(0).min(ticks).into());
            }
            Ok((n, Some(Word::Report(report)))) => reports[n] = Some(*report),
            Ok((n, None)) => {
                running -= 1;
                if reports[n].is_none() {
                    return Err(broken(n, &mut peers[n]));
                }
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => return Err(Failure::new(stuck(&at, ticks))),
        }
    }
    progress.finish_and_clear();
    Ok(reports.into_iter().flatten().collect())
}

fn progress(args: &Demo, ticks: u32) -> ProgressBar {
    let style = "{msg} {bar:30} {pos}/{len} ticks {elapsed}";
    let bar = if args.json { ProgressBar::hidden() } else { ProgressBar::new(ticks.into()) };
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(format!("{} peers", args.peers));
    bar
}

fn broken(n: usize, peer: &mut Peer) -> Failure {
    let status = peer.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
    let complaint = peer.complaint();
    Failure::new(format!("peer {} ended early ({status}): {complaint}", n + 1))
}

fn stuck(at: &[u32], ticks: u32) -> String {
    format!("the peers did not come to tick {ticks} in time, but to {at:?}; see whether WebRTC works on this machine")
}

/// Whether the worlds were equal, and the ticks add up to the time.
fn judge(reports: Vec<Report>, args: &Demo, seed: u64, ticks: u32, period: Duration) -> Outcome {
    let (compared, differing) = cross_check(&reports);
    let desyncs: u64 = reports.iter().map(|report| report.desyncs).sum();
    let silent = reports.len() > 1 && reports.iter().any(|report| report.checksums_compared == 0);
    let short = reports.iter().find(|report| !adds_up(report, ticks, period));
    let failed = |verdict: String| (false, verdict);
    let (ok, verdict) = if let Some(tick) = differing {
        failed(format!("OUT OF STEP: the peers' worlds differ at tick {tick}"))
    } else if desyncs > 0 {
        failed(format!("OUT OF STEP: the peers found {desyncs} differences"))
    } else if silent || compared == 0 && reports.len() > 1 {
        failed("NOT SHOWN: some peer compared no checksum".to_owned())
    } else if let Some(report) = short {
        let Report { name, ticks: played, played_ms, ended, .. } = report;
        failed(format!(
            "SHORT: {name} played {played} ticks in {played_ms} ms, and not {ticks} at 20 a second: {ended}"
        ))
    } else {
        (true, format!("in step: {compared} checksums of the same ticks are equal on {} peers", reports.len()))
    };
    let mut peers = reports;
    peers.iter_mut().for_each(|report| report.checksums.clear());
    Outcome {
        ok,
        verdict,
        seed,
        seconds: args.seconds,
        ticks_expected: ticks,
        checksums_cross_checked: compared,
        peers,
    }
}

/// Compares the peers' own checksums tick by tick. Returns how many pairs were compared, and the
/// first tick that differs.
fn cross_check(reports: &[Report]) -> (u64, Option<u32>) {
    let mut first: BTreeMap<u32, &str> = BTreeMap::new();
    let (mut compared, mut differing) = (0, None);
    for check in reports.iter().flat_map(|report| &report.checksums) {
        match first.get(&check.tick) {
            None => {
                first.insert(check.tick, &check.checksum);
            }
            Some(other) => {
                compared += 1;
                if *other != check.checksum && differing.is_none_or(|tick| check.tick < tick) {
                    differing = Some(check.tick);
                }
            }
        }
    }
    (compared, differing)
}

/// All ticks were played, at the session's pace: to a second, and a twentieth for a busy machine.
fn adds_up(report: &Report, ticks: u32, period: Duration) -> bool {
    let due = period * report.ticks;
    let off = due.abs_diff(Duration::from_millis(report.played_ms));
    report.first_tick + report.ticks >= ticks && off <= Duration::from_millis(1_500) + due / 20
}

fn table(result: &Outcome) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    let mut titles = TITLES.to_vec();
    if result.peers.iter().any(|report| report.rollback.is_some()) {
        titles.extend(["rollbacks", "deepest"]);
    }
    table.set_header(titles);
    for report in &result.peers {
        let numbers = [
            report.ticks.into(),
            report.commands_sent,
            report.bytes_in,
            report.bytes_out,
            report.packets_in,
            report.packets_out,
            report.checksums_compared,
            report.desyncs,
        ];
        let corrections =
            report.rollback.iter().flat_map(|rollback| [rollback.rollbacks, rollback.deepest_ticks.into()]);
        let cells = numbers.into_iter().chain(corrections).map(|n| Cell::new(n).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(&report.name)).chain(cells));
    }
    table
}
