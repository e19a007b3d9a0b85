//! `check chaos`: bots play, and each breaker plays the same in its own way.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Duration;

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::args::{self, TICKS_MAX};
use super::failure::{DIFFERED, Failure};
use super::progress;
use super::{check, goes_on, print_json, stopped, table};
use crate::check::chaos::{ChaosConfig, ChaosReport, Progress, Tried, chaos_of_recording, chaos_with_progress};
use crate::game::Game;
use crate::output::{print, say};

pub(super) fn run<G: Game>(args: &args::Chaos) -> Result<ExitCode, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
    let args::Chaos { bots, only, other, wasm, .. } = args;
    let table = table::load(&args.table)?;
    if let Some(missing) = other.iter().chain(wasm).find(|path| !path.is_file()) {
        return Err(Failure::file("play", missing, "there is no such file; build it first"));
    }
    let config = ChaosConfig {
        seed: bots.seed,
        ticks: bots.ticks,
        heroes: bots.heroes,
        only: only.clone(),
        program: Some(program),
        other: other.clone(),
        wasm: wasm.clone(),
        table: table.clone(),
        answer_time: Duration::from_secs(args.answer_seconds),
    }
    .with_builds_of_cargo();
    let recording = args.play.as_ref().map(|file| check::load_one::<G>("play", file, &table)).transpose()?;
    let bar = progress::bar(bots.ticks, 15, args.json);
    bar.set_message("bots play");
    if let Some(recording) = &recording {
        let ticks = recording.end().since(recording.header.start);
        if ticks > TICKS_MAX {
            let sentence = format!("the recording has {ticks} ticks, and at most {TICKS_MAX} are played");
            return Err(Failure::new(sentence));
        }
        bar.set_length(recording.end().0.into());
    }
    let mut watch = |progress: Progress<'_>| -> ControlFlow<()> {
        match progress {
            Progress::Begins(breaker) => bar.set_message(breaker.name()),
            Progress::Prepares(tick) | Progress::Plays(tick) => bar.set_position(tick.0.into()),
            Progress::Done(_) if args.json || goes_on().is_break() => {}
            Progress::Done(tried) => bar.suspend(|| say(format_args!("{:<15} {}", tried.breaker, tried.result()))),
        }
        goes_on()
    };
    let report = match recording {
        None => chaos_with_progress::<G>(&config, &mut watch),
        Some(recording) => chaos_of_recording::<G>(recording, &config, &mut watch).map_err(Failure::new)?,
    };
    bar.finish_and_clear();
    stopped("check chaos")?;
    if args.json {
        print_json(&report)?;
    } else {
        tell(&report);
    }
    match report.tried.iter().all(|tried| !tried.passed() && !tried.failed()) {
        true => Err(Failure::new("nothing is shown, for nothing could be played; see why above")),
        false if report.passed() => Ok(ExitCode::SUCCESS),
        false => Ok(ExitCode::from(DIFFERED)),
    }
}

/// What failed in full, then the table, then the verdict.
fn tell(report: &ChaosReport) {
    let failed: Vec<_> = report.tried.iter().filter(|tried| tried.failed()).collect();
    failed.iter().for_each(|tried| print(format_args!("{tried}\n")));
    print(table(report));
    let skipped: Vec<_> = report.tried.iter().filter(|tried| !tried.failed() && !tried.passed()).collect();
    skipped.iter().for_each(|tried| print(format_args!("{tried}.")));
    if failed.is_empty() && skipped.len() == report.tried.len() {
        return;
    }
    let (noticed, all) = (failed.len(), report.tried.len());
    let not_tried = if skipped.is_empty() { String::new() } else { format!("; {} skipped", skipped.len()) };
    match failed.first() {
        None => print(format_args!("verdict passed: nothing was noticed{not_tried}")),
        Some(Tried { breaker, .. }) => {
            print(format_args!("verdict FAILED: {noticed} of {all} noticed, first {breaker}{not_tried}"));
        }
    }
}

fn table(report: &ChaosReport) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for tried in &report.tried {
        let seconds = Cell::new(format!("{:.1} s", tried.ms as f64 / 1000.0)).set_alignment(CellAlignment::Right);
        table.add_row([Cell::new(tried.breaker.name()), Cell::new(tried.result()), seconds, Cell::new(tried.does)]);
    }
    table
}
