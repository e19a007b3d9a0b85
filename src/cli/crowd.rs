//! `crowd`: a relay and its replicas in one process, and what they cost.

use std::process::ExitCode;
use std::time::Duration;

use comfy_table::Table;
use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;

use super::args::{Crowd as Args, CrowdSpread};
use super::failure::{DIFFERED, Failure};
use super::files;
use super::place::any_number;
use super::sitting::clocks;
use super::{carry, numbers, print_json, progress, relay};
use crate::crowd::{Crowd, CrowdOptions, CrowdReport, Rate};
use crate::game::{Layout, Spread, Wide};
use crate::output::{print, say};

/// A packet between relay and replica takes so long at least, and up to so much longer.
const DELAY: (Duration, Duration) = (Duration::from_millis(40), Duration::from_millis(20));
/// Of how many players' worlds the cost is drawn, as parts of the number that is asked for.
const PLOTTED: [u16; 4] = [8, 4, 2, 1];
/// Each is a WebRTC connection.
const CARRIED_MAX: u16 = 64;
/// So few players are no crowd.
const PLOTTED_PLAYERS_MIN: u16 = 4;

type Plot = fn(&[CrowdReport]) -> Result<String, String>;

/// What draws the cost, in a build that can.
#[cfg(feature = "plots")]
const PLOT: Option<Plot> = Some(crate::crowd::plot);
#[cfg(not(feature = "plots"))]
const PLOT: Option<Plot> = None;

pub(super) fn run<G: Wide>(args: &Args) -> Result<ExitCode, Failure> {
    let plot = match &args.plot {
        Some(path) => {
            files::is_named(path, "svg")?;
            files::can_create(path)?;
            let plot = PLOT.ok_or_else(|| Failure::file("draw", path, "this build has no plots; leave out --plot"))?;
            Some((path, plot))
        }
        None => None,
    };
    if args.process && args.players > CARRIED_MAX {
        return Err(Failure::new(format!("--process connects at most {CARRIED_MAX} players, not {}", args.players)));
    }
    let seed = args.seed.unwrap_or_else(any_number);
    let mut sizes = vec![args.players];
    if plot.is_some() {
        sizes = PLOTTED.iter().map(|part| (args.players / part).max(PLOTTED_PLAYERS_MIN)).collect();
        sizes.dedup();
    }
    let reports = sizes.into_iter().map(|players| play::<G>(args, players, seed)).collect::<Result<Vec<_>, _>>()?;
    if let Some((path, plot)) = plot {
        let svg = plot(&reports).map_err(Failure::new)?;
        files::create(path, svg.as_bytes())?;
        say(format_args!("The picture is in {}.", path.display()));
    }
    let differs = reports.iter().any(|report| report.verified.as_ref().is_some_and(|verified| !verified.is_exact()));
    match (args.json, reports.as_slice()) {
        (true, [report]) => print_json(report)?,
        (true, reports) => print_json(reports)?,
        (false, reports) => reports.iter().for_each(tell),
    }
    Ok(if differs { ExitCode::from(DIFFERED) } else { ExitCode::SUCCESS })
}

fn play<G: Wide>(args: &Args, players: u16, seed: u64) -> Result<CrowdReport, Failure> {
    let spread = match args.spread {
        CrowdSpread::Uniform => Spread::Uniform,
        CrowdSpread::Parties | CrowdSpread::Own => Spread::Parties,
        CrowdSpread::Hotspot => Spread::Hotspot,
    };
    let layout = Layout::of(spread, players);
    let settings = RelaySettings {
        seed,
        players_max: usize::from(players) + 1,
        emit_trees: args.verify || args.process,
        // Verified is every tick; a relay's own recording holds less.
        tree_interval_ticks: if args.verify { 1 } else { relay::TREE_INTERVAL_TICKS },
        ..RelaySettings::default()
    };
    let relay = relay::checked(settings, args.budget)?;
    let loss_permille = (args.loss * 10.0) as u16;
    let weather = Weather { delay: DELAY.0, jitter: DELAY.1, loss_permille, ..Weather::default() };
    let ticks = (args.minutes * 60.0 * f64::from(relay.settings().ticks_per_s)).round().max(1.0) as u32;
    let progress = progress::bar_of(ticks, "{msg} {bar:30} {pos}/{len} ticks {elapsed}, {eta} left", args.json);
    progress.set_message(format!("{players} players"));
    let (verify, own_world) = (args.verify, args.spread == CrowdSpread::Own);
    let halo_rings_less = args.halo_rings_less;
    let options = CrowdOptions { layout, ticks, seed, weather, relay, halo_rings_less, verify, own_world };
    let mut crowd = Crowd::<G>::new(options, &crate::default_table()).map_err(Failure::new)?;
    let report = crowd.run(|tick| progress.set_position(tick.into()));
    let mut report = report.map_err(Failure::new)?;
    if args.process {
        report.process = Some(crowd.effort(clocks(), carry::carrier(players, report.up)?));
    }
    progress.finish_and_clear();
    Ok(report)
}

/// Says it to people.
fn tell(report: &CrowdReport) {
    let CrowdReport { players, spread, side_tiles, seconds, seed, .. } = report;
    print(format!("{players} players ({spread}) on {side_tiles} x {side_tiles} tiles for {seconds:.0} s, seed {seed}"));
    print(traffic(report));
    print(work(report));
    report.process.iter().for_each(|effort| print(format!("the relay's process: {effort}")));
    print(format!(
        "commands {:.2} a player and second; {:.1} heroes a second come into a replica's area, {:.1} go out of one",
        report.commands, report.enters, report.leaves
    ));
    if let Some(verified) = &report.verified {
        print(match &verified.first {
            None if verified.unprotected > 0 => format!(
                "NOT EXACT BUT BY LUCK: of {} cell-ticks of cores, all equal, {} had a halo that is narrower than the core needs",
                verified.cell_ticks, verified.unprotected
            ),
            None => format!("exact: {} cell-ticks of cores are equal to the whole world's", verified.cell_ticks),
            Some(first) => format!(
                "NOT EXACT: {} of {} cell-ticks of cores differ, the first at {} in cell {} of replica {}",
                verified.differing, verified.cell_ticks, first.tick, first.cell, first.replica
            ),
        });
    }
}

fn traffic(report: &CrowdReport) -> Table {
    let rates = [
        ("down", report.down),
        ("down, the most", report.down_max),
        ("up", report.up),
        ("flooding: every turn to everyone", report.flooding),
        ("state replication: nothing simulated", report.replication),
    ];
    let rates = rates.map(|(name, Rate { payload, packets, bytes })| {
        let against = format!("{:.2}", bytes / report.down.bytes.max(1.0));
        (name.to_owned(), [format!("{payload:.0}"), format!("{packets:.1}"), format!("{bytes:.0}"), against])
    });
    let classes = report.classes.iter().map(|class| {
        let cut = if class.cut > 0.0 { format!("{:.0} cut", class.cut) } else { String::new() };
        (format!("  {}", class.name), [format!("{:.0}", class.payload), String::new(), String::new(), cut])
    });
    let secret = [("  secret seed: cells in full", report.full_loads), ("  secret seed: keys", report.cell_keys)];
    let secret = secret.map(|(name, payload)| {
        (name.to_owned(), [format!("{payload:.0}"), String::new(), String::new(), String::new()])
    });
    let titles = ["a player, a second", "payload B", "packets", "B with 93 a packet", "against down"];
    numbers::table(titles, rates.into_iter().chain(classes).chain(secret))
}

fn work(report: &CrowdReport) -> Table {
    let times = [
        ("relay, µs a tick", report.relay),
        ("the same relay alone", report.relay_alone),
        ("replica, µs a tick", report.replica),
    ];
    let times =
        times.map(|(name, spent)| (name, [spent.mean_us, spent.p99_us, spent.max_us].map(|us| format!("{us:.0}"))));
    let sizes = [
        ("relay, lit cells", report.lit_cells),
        ("relay, actors that think", report.relay_actors),
        ("replica, core cells", report.core_cells),
        ("replica, actors that think", report.replica_actors),
    ];
    let sizes = sizes.map(|(name, size)| (name, [format!("{:.0}", size.mean), String::new(), size.max.to_string()]));
    numbers::table(["", "mean", "p99", "max"], times.into_iter().chain(sizes))
}
