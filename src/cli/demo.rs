//! `demo`: bots play as processes of their own over real WebRTC, and their worlds are compared.

mod cast;
pub(super) mod relayed;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comfy_table::Table;
use lockstone_net::limits::PLAYERS_MAX;
use serde::Serialize;

use super::args::Demo;
use super::config::Config;
use super::failure::Failure;
use super::place::{Signaling, any_number};
use super::{numbers, print_json, progress};
use crate::game::Game;
use crate::output::{print, say};
use crate::shell::Report;
use cast::{Cast, GRACE, bot};

/// In a shorter game all are there from the start: who comes late has to play, too.
const LATE_SECONDS_MIN: u32 = 10;

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
    if args.peers == 1 {
        return Err(Failure::new(
            "one peer has nobody to be compared with: let 2 play, or play alone with `play --solo`",
        ));
    }
    let ticks = args.seconds * config.ticks_per_s();
    let signaling = Signaling::private()?;
    let reports = play::<G>(args, seed, ticks, &signaling.url)?;
    let result = judge(reports, args, seed, ticks, config.ticks_per_s());
    if args.json {
        print_json(&result)?;
    } else {
        print(table(result.peers.iter().map(|report| (report, Vec::new()))));
        print(&result.verdict);
    }
    if let Some(bundle) = result.peers.iter().find_map(|report| report.bundle.as_ref()) {
        say(format_args!("What all peers have of it is in {bundle}: see `{} explain {bundle}`.", G::NAME));
    }
    Ok(if result.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Lets them play, until every peer has reported and ended. Some faults show only when somebody
/// comes into a world that others have played: the last bot comes late, where that is possible.
fn play<G: Game>(args: &Demo, seed: u64, ticks: u32, url: &str) -> Result<Vec<Report>, Failure> {
    let mut cast = Cast::new(format!("the peers did not come to tick {ticks} in time, but to"));
    let comes_late = !args.shared.rollback && args.seconds >= LATE_SECONDS_MIN;
    let first = args.peers - u16::from(comes_late);
    let words = |n: u16| {
        let (seed, until, peers) = (seed.to_string(), ticks.to_string(), first.to_string());
        let mut words = bot::<G>(args, n.into(), url);
        words.extend(["--seed", &seed, "--until", &until, "--peers", &peers].map(str::to_owned));
        words.extend(args.shared.words());
        words
    };
    (0..first).try_for_each(|n| cast.start(&words(n)))?;
    let progress = progress::bar(ticks, 0, args.json);
    progress.set_message(format!("{} peers", args.peers));
    let deadline = Instant::now() + Duration::from_secs(args.seconds.into()) + GRACE;
    while !cast.seats.iter().all(|seat| seat.is_over) {
        cast.listen(deadline)?;
        if cast.seats.len() < usize::from(args.peers) && cast.ticks().all(|tick| tick > 0) {
            cast.start(&words(first))?;
        }
        progress.set_position(cast.ticks().min().unwrap_or(0).min(ticks).into());
    }
    progress.finish_and_clear();
    Ok(cast.seats.into_iter().filter_map(|seat| seat.report).collect())
}

/// Whether the worlds were equal, and the ticks add up to the time.
fn judge(reports: Vec<Report>, args: &Demo, seed: u64, ticks: u32, ticks_per_s: u32) -> Outcome {
    let (compared, differing) = cross_check(&reports);
    let desyncs: u64 = reports.iter().map(|report| report.desyncs).sum();
    let silent = reports.len() > 1 && reports.iter().any(|report| report.checksums_compared == 0);
    let short = reports.iter().find(|report| !adds_up(report, ticks, ticks_per_s));
    let panicked = reports.iter().find_map(|report| Some((&report.name, report.panic.as_ref()?)));
    let verdict = if let Some((name, (tick, panicked))) = panicked {
        Err(format!("PANICKED: at {name}'s, {panicked}, in the step of tick {tick}"))
    } else if let Some(tick) = differing {
        Err(format!("OUT OF STEP: the peers' worlds differ at tick {tick}"))
    } else if desyncs > 0 {
        Err(format!("OUT OF STEP: the peers found {desyncs} differences"))
    } else if silent || compared == 0 && reports.len() > 1 {
        Err("NOT SHOWN: some peer compared no checksum".to_owned())
    } else if let Some(report) = short {
        let Report { name, ticks: played, played_ms, ended, .. } = report;
        let wanted = format!("{ticks} at {ticks_per_s} a second");
        Err(format!("SHORT: {name} played {played} ticks in {played_ms} ms, and not {wanted}: {ended}"))
    } else {
        Ok(format!("in step: {compared} checksums of the same ticks are equal on {} peers", reports.len()))
    };
    let (ok, seconds) = (verdict.is_ok(), args.seconds);
    let (Ok(verdict) | Err(verdict)) = verdict;
    let mut peers = reports;
    peers.iter_mut().for_each(|report| report.checksums.clear());
    Outcome { ok, verdict, seed, seconds, ticks_expected: ticks, checksums_cross_checked: compared, peers }
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
fn adds_up(report: &Report, ticks: u32, ticks_per_s: u32) -> bool {
    let due = Duration::from_secs(report.ticks.into()) / ticks_per_s;
    let off = due.abs_diff(Duration::from_millis(report.played_ms));
    report.first_tick + report.ticks >= ticks && off <= Duration::from_millis(1_500) + due / 20
}

/// What processes report in numbers, with columns of one's own behind the ticks.
fn table<'r>(reports: impl IntoIterator<Item = (&'r Report, Vec<(&'static str, String)>)>) -> Table {
    let row = |(report, own): (&'r Report, Vec<_>)| {
        let counts = [
            ("commands", report.commands_sent),
            ("bytes in", report.bytes_in),
            ("bytes out", report.bytes_out),
            ("packets in", report.packets_in),
            ("packets out", report.packets_out),
            ("compared", report.checksums_compared),
            ("desyncs", report.desyncs),
        ];
        let rollback = report.rollback.iter();
        let rollback =
            rollback.flat_map(|stats| [("rollbacks", stats.rollbacks), ("deepest", stats.deepest_ticks.into())]);
        let ahead = report.ahead.iter();
        let ahead = ahead.flat_map(|stats| [("ahead", stats.ticks.into()), ("corrections", stats.corrections)]);
        let counts = counts.into_iter().chain(rollback).chain(ahead).map(|(title, count)| (title, count.to_string()));
        let numbers = [("ticks", report.ticks.to_string())].into_iter().chain(own).chain(counts);
        (&report.name, numbers.collect::<Vec<_>>())
    };
    let rows: Vec<_> = reports.into_iter().map(row).collect();
    let longest = rows.iter().map(|(_, numbers)| numbers).max_by_key(|numbers| numbers.len());
    let titles = ["peer"].into_iter().chain(longest.into_iter().flatten().map(|(title, _)| *title));
    numbers::table(titles, rows.iter().map(|(name, numbers)| (name, numbers.iter().map(|(_, number)| number))))
}
