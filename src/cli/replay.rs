//! `replay`: plays a recording again and verifies every checksum; or draws it, or shows it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lockstone_sim::Simulation;

#[cfg(feature = "picture")]
use super::animation;
use super::args;
use super::check::tell_of_another_build;
use super::failure::Failure;
use super::{files, progress, table};
use crate::game::Game;
use crate::output::{print, say};
use crate::panics::caught;
use crate::recording::{Ending, Entry, Header, Recording, replay_with_progress};

pub(super) fn run<G: Game>(args: &args::Replay) -> Result<ExitCode, Failure> {
    let table = table::load(&args.table)?;
    if args.view.is_some() {
        return look::<G>(&args.files, &table);
    }
    let [file] = args.files.as_slice() else {
        let advice = "compare several with `check`, or look at them with --view window";
        return Err(Failure::new(format!("one recording is verified at a time; {advice}")));
    };
    let bytes = files::read(file)?;
    let unreadable = |error| Failure::recording("replay", file, &error);
    let header = Header::peek(&bytes).map_err(unreadable)?;
    let identity = G::identity(&table);
    header.check(G::NAME, &identity).map_err(unreadable)?;
    let recording = Recording::<G::Sim>::read(&bytes).map_err(unreadable)?;
    describe(&recording);
    tell_of_another_build(&recording.header);
    let simulation = G::build(header.seed, table);
    if let Some(file) = args.gif.as_ref().or(args.webp.as_ref()) {
        return draw::<G>(recording, simulation, args, file);
    }
    let started = Instant::now();
    let bar = progress::bar_of_recording(recording.end().since(header.start));
    let (mut played, ended_in) = (0, recording.ending.panic().map(str::to_owned));
    let mut watch = |ticks: u32| {
        played = ticks;
        progress::advance(&bar, ticks);
    };
    let replay = caught(|| replay_with_progress(recording, simulation, &mut watch));
    bar.finish_and_clear();
    let replay = replay
        .map_err(|panicked| {
            Failure::differed(format!("{panicked}, in the step of tick {}", header.start.plus(played)))
        })?
        .map_err(|error| Failure::file("replay", file, error))?;
    let elapsed = started.elapsed().max(Duration::from_micros(1));
    let per_s = f64::from(replay.ticks) / elapsed.as_secs_f64();
    let times = per_s / f64::from(header.ticks_per_s);
    print(format_args!("ticks {}", replay.ticks));
    print(format_args!("inputs {}", replay.inputs));
    print(format_args!("checksums {}", replay.checksums));
    print(format_args!("ticks_per_s {per_s:.0} ({times:.0} x real time)"));
    if let Some(mismatch) = replay.mismatch {
        let since = mismatch.agreed.map_or("from the start".to_owned(), |tick| format!("after tick {tick}"));
        return Err(Failure::differed(format!(
            "the worlds differ at tick {}: recorded {}, played {}; they parted {since}",
            mismatch.tick, mismatch.recorded, mismatch.played,
        )));
    }
    if let Some(panic) = ended_in {
        return Err(Failure::differed(format!("{panic} when it was recorded; it does not here")));
    }
    if replay.checksums == 0 || replay.ticks == 0 {
        let lacks = if replay.ticks == 0 { "tick" } else { "checksum" };
        return Err(Failure::new(format!("nothing is shown, for the recording holds no {lacks}; record for longer")));
    }
    print("verdict in step");
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "picture")]
fn draw<G: Game>(
    recording: Recording<G::Sim>,
    simulation: G::Sim,
    args: &args::Replay,
    file: &Path,
) -> Result<ExitCode, Failure> {
    let (format, extension) = match args.gif {
        Some(_) => (animation::Format::Gif, "gif"),
        None => (animation::Format::Webp, "webp"),
    };
    files::is_named(file, extension)?;
    let span = animation::Span { from: args.from, to: args.to };
    let told = animation::write::<G>(recording, simulation, &span, (file, format))?;
    say(format_args!("{told}."));
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "picture"))]
fn draw<G: Game>(
    _recording: Recording<G::Sim>,
    _simulation: G::Sim,
    _args: &args::Replay,
    file: &Path,
) -> Result<ExitCode, Failure> {
    Err(Failure::file("draw", file, "this build has no pictures; leave out --gif and --webp"))
}

#[cfg(feature = "window")]
use super::looking::run as look;

#[cfg(not(feature = "window"))]
#[expect(clippy::extra_unused_type_parameters, reason = "where there is a window it takes a game")]
fn look<G: Game>(_files: &[std::path::PathBuf], _table: &lockstone_sim::Table) -> Result<ExitCode, Failure> {
    Err(Failure::new("no window can be opened: this build has none; leave out --view"))
}

fn describe<S: Simulation>(recording: &Recording<S>) {
    let Header { game, engine, seed, player, name, room, start, .. } = &recording.header;
    let room = if room.is_empty() { "alone".to_owned() } else { format!("in room {room}") };
    say(format_args!(
        "{game}, engine {engine}, seed {seed}: recorded by {name} ({player}) {room}, from tick {start} on."
    ));
    match &recording.ending {
        Ending::Closed(reason) => say(format_args!("It was closed at tick {}: {reason}.", recording.end())),
        Ending::Open => say(format_args!("It was never closed, and ends at tick {}.", recording.end())),
        Ending::Torn { bytes } => say(format_args!(
            "It broke off while it was written: the last {bytes} bytes are left out, and it ends at tick {}.",
            recording.end()
        )),
    }
    let (mut tick, mut names) = (*start, BTreeMap::from([(*player, name)]));
    for entry in &recording.entries {
        match entry {
            Entry::Desync(desync) => say(format_args!(
                "{} differed at tick {}: recorder {}, other {}.",
                desync.player, desync.tick, desync.ours, desync.theirs
            )),
            Entry::Name(player, name) => drop(names.insert(*player, name)),
            Entry::Gone(player, reason) => match names.get(player) {
                Some(name) => say(format_args!("{name} ({player}) {reason} at tick {tick}.")),
                None => say(format_args!("{player} {reason} at tick {tick}.")),
            },
            _ => {}
        }
        tick = tick.plus(entry.ticks());
    }
}
