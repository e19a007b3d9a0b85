//! `shrink`: the smallest recording that still fails.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use indicatif::ProgressBar;
use lockstone_sim::Simulation;
use serde::Serialize;

use super::STOP;
use super::args;
use super::failure::{BAD_INPUT, DIFFERED, Failure};
use super::{check, files, print_json, progress, table};
use crate::check::chaos::Breaker;
use crate::check::shrink::{PLAYS, Size, Step, Symptom};
use crate::check::{Checker, Shrunk};
use crate::game::Game;
use crate::output::{print, say};
use crate::shell::storage::named_after;

/// What came of it.
#[derive(Serialize)]
struct Outcome<'o> {
    /// How it fails.
    #[serde(flatten)]
    symptom: Option<&'o Symptom>,
    before: Size,
    after: Option<Size>,
    /// How many candidates were played.
    tried: u32,
    /// How often the small recording was played then, and how often it failed so.
    plays: u32,
    failed: Option<u32>,
    file: Option<&'o Path>,
    /// What shows it.
    command: Option<String>,
}

pub(super) fn run<G: Game>(args: &args::Shrink) -> Result<ExitCode, Failure> {
    if let Some(breaker) = args.breaker.filter(|breaker| breaker.needs_program()) {
        return Err(Failure::new(format!("{breaker} needs another process; name a breaker that plays in this one")));
    }
    let table = table::load(&args.table)?;
    let recording = check::load_one::<G>("shrink", &args.file, &table)?;
    let before = Size::of(&recording);
    let out = args.out.clone().unwrap_or_else(|| named_after(&args.file, "-small"));
    files::can_create(&out)?;
    let build = |seed| G::build(seed, table.clone());
    let players = recording.players();
    let look = |simulation: &G::Sim| players.iter().for_each(|player| drop(G::scene(simulation, *player)));
    let checker = Checker::new(&build).with_presentation(&look);
    let bar = progress::bar(0, 40, args.json);
    let shrunk = hushed(|| checker.shrink(recording, args.breaker, &mut |step| show(&bar, step)));
    bar.finish_and_clear();
    let shrunk = shrunk.map_err(|error| Failure::file("shrink", &args.file, error))?;
    if let Some(shrunk) = &shrunk {
        files::create(&out, &shrunk.recording.write())?;
    }
    tell(args.json, before, shrunk.as_ref(), &out)?;
    Ok(if shrunk.is_some() { ExitCode::from(DIFFERED) } else { ExitCode::SUCCESS })
}

/// The rules may panic hundreds of times: that is told once, at the end.
pub(super) fn hushed<T>(work: impl FnOnce() -> T) -> T {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = work();
    std::panic::set_hook(tell);
    done
}

fn show(bar: &ProgressBar, step: Step) {
    if STOP.load(Ordering::Relaxed) {
        bar.finish_and_clear();
        // Nothing is written yet, and what is played cannot be left in any other way.
        say(format_args!("the search was stopped."));
        std::process::exit(BAD_INPUT.into());
    }
    match step {
        Step::Looks(breaker, tick, end) => {
            bar.set_length(end.0.into());
            bar.set_position(tick.0.into());
            bar.set_message(breaker.map_or("plays it", Breaker::name));
        }
        Step::Smaller(size) => bar.set_message(format!("it fails: {size}")),
        Step::Tried(_) => bar.tick(),
    }
}

fn tell<S: Simulation>(json: bool, before: Size, shrunk: Option<&Shrunk<S>>, out: &Path) -> Result<(), Failure> {
    let outcome = Outcome {
        symptom: shrunk.map(|shrunk| &shrunk.symptom),
        before,
        after: shrunk.map(|shrunk| shrunk.after),
        tried: shrunk.map_or(0, |shrunk| shrunk.tried),
        plays: PLAYS,
        failed: shrunk.map(|shrunk| shrunk.failed),
        file: shrunk.map(|_| out),
        command: shrunk.map(|shrunk| command(&shrunk.symptom, out)),
    };
    match &outcome {
        _ if json => print_json(&outcome)?,
        Outcome { symptom: Some(symptom), after: Some(after), command: Some(command), .. } => {
            print(format_args!("it fails: {symptom}"));
            print(format_args!("{before} became {after}: {}; see it fail with `{command}`", out.display()));
            if let Some(failed) = outcome.failed.filter(|failed| *failed < PLAYS) {
                print(format_args!(
                    "the failure varies: it came in {failed} of {PLAYS} plays of the small recording; \
                     so try again if it does not come, or with another verdict"
                ));
            }
        }
        _ => print(format_args!("verdict in step: {before}, and nothing makes it fail")),
    }
    Ok(())
}

/// What shows that the small recording fails.
fn command(symptom: &Symptom, file: &Path) -> String {
    let file = file.display();
    let program = std::env::args().next().unwrap_or_default();
    match symptom {
        Symptom::Unmet { .. } | Symptom::Breaker { breaker: Breaker::Again } => format!("{program} check {file}"),
        Symptom::Panic { .. } => format!("{program} replay {file}"),
        Symptom::Breaker { breaker } => format!("{program} check chaos --play {file} --only {breaker}"),
    }
}
