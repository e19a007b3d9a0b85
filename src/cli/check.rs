//! `check`: tells whether recordings are in step, and if not, who differs from whom, since when, where and why.

use std::path::PathBuf;
use std::process::ExitCode;

use lockstone_net::Identity;
use lockstone_sim::{PlayerId, Table};

use super::args::{self, CheckCommand};
use super::failure::{DIFFERED, Failure};
use super::{chaos, coverage, files, table};
use crate::check::{Checker, Report};
use crate::game::Game;
use crate::recording::{Header, Recording};

pub(super) fn run<G: Game>(args: &args::Check) -> Result<ExitCode, Failure> {
    match &args.command {
        Some(CheckCommand::Chaos(args)) => return chaos::run::<G>(args),
        Some(CheckCommand::Coverage(args)) => return coverage::run::<G>(args),
        None => {}
    }
    let table = table::load(args.table.as_deref())?;
    let recordings = load::<G>(&args.files, &table)?;
    tell(args, &check::<G>(recordings, &table)?)
}

/// Reads one recording that this program can play.
pub(super) fn load_one<G: Game>(file: &PathBuf, table: &Table) -> Result<Recording<G::Sim>, Failure> {
    let mut recordings = load::<G>(std::slice::from_ref(file), table)?;
    Ok(recordings.remove(0))
}

/// Reads recordings that this program can play, or that differ in what they are of: that is an answer too.
fn load<G: Game>(files: &[PathBuf], table: &Table) -> Result<Vec<Recording<G::Sim>>, Failure> {
    let identity = Identity { rules: G::rules_digest(), table: table.digest(), config: 0 };
    let read = |file: &PathBuf| {
        let unusable = |error: &dyn std::fmt::Display| Failure::file("check", file, error);
        let bytes = files::read(file)?;
        let header = Header::peek(&bytes).map_err(|error| unusable(&error))?;
        // Of another game nothing could be read.
        header.check_game(G::NAME).map_err(|error| unusable(&error))?;
        let recording = Recording::read(&bytes).map_err(|error| unusable(&error))?;
        let fits = header.check(G::NAME, &identity).map_err(|error| unusable(&error));
        Ok((recording, fits))
    };
    let read = files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let of = |n: usize| {
        let Header { rules, table, config, .. } = read[n].0.header;
        (rules, table, config)
    };
    let alike = (1..read.len()).all(|n| of(n) == of(0));
    let checked = read.into_iter().map(|(recording, fits)| match fits {
        Err(failure) if alike => Err(failure),
        _ => Ok(recording),
    });
    checked.collect()
}

fn check<G: Game>(recordings: Vec<Recording<G::Sim>>, table: &Table) -> Result<Report, Failure> {
    let build = |seed| G::build(seed, table.clone());
    let players: Vec<PlayerId> = recordings.iter().map(|recording| recording.header.player).collect();
    let look = |simulation: &G::Sim| players.iter().for_each(|player| drop(G::scene(simulation, *player)));
    Checker::new(&build).with_presentation(&look).check(recordings).map_err(Failure::new)
}

fn tell(args: &args::Check, report: &Report) -> Result<ExitCode, Failure> {
    if args.json {
        println!("{}", serde_json::to_string_pretty(report).expect("a report is plain data"));
    } else {
        println!("{report}");
    }
    Ok(if report.is_in_step() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERED) })
}
