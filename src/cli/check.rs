//! `check` and `explain`: tell whether recordings are in step, and if not, who differs from whom,
//! since when, where and why.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lockstone_sim::{Table, Tick};

use super::args::{self, CheckCommand, Telling};
use super::failure::{self, DIFFERED, Failure};
use super::sealed::Viewer;
use super::{chaos, coverage, files, floats, print_json, progress, table};
use crate::check::{self, Report};
use crate::game::Game;
use crate::output::{print, say};
use crate::recording::{Bundle, Header, Recording};
use crate::shell::executable;

pub(super) fn run<G: Game>(args: &args::Check) -> Result<ExitCode, Failure> {
    match &args.command {
        Some(CheckCommand::Chaos(args)) => return chaos::run::<G>(args),
        Some(CheckCommand::Floats(args)) => return floats::run(args),
        Some(CheckCommand::Coverage(args)) => return coverage::run::<G>(args),
        None => {}
    }
    let files = args.files.iter().map(|file| Ok((file, files::read(file)?))).collect::<Result<Vec<_>, Failure>>()?;
    for (n, (file, bytes)) in files.iter().enumerate() {
        if let Some((same, _)) = files[..n].iter().find(|(_, other)| other == bytes) {
            let (same, file) = (same.display(), file.display());
            let advice = "name another peer's, or one file alone";
            let told = format!("{same} and {file} are the same recording, and that they agree shows nothing; {advice}");
            return Err(Failure::new(told));
        }
    }
    let read = |(file, bytes): &(&PathBuf, Vec<u8>)| read_file::<G>("check", file, bytes);
    let recordings = files.iter().map(read).collect::<Result<_, _>>()?;
    let shown: Vec<_> = files.iter().map(|(file, bytes)| (name(file), bytes.as_slice())).collect();
    tell::<G>(recordings, &shown, &args.telling)
}

/// Reads one recording that this program can play, for doing something with it.
pub(super) fn load_one<G: Game>(doing: &str, file: &Path, table: &Table) -> Result<Recording<G::Sim>, Failure> {
    let recording = read_file::<G>(doing, file, &files::read(file)?)?;
    can_be_played::<G>(doing, std::slice::from_ref(&recording), table)?;
    Ok(recording)
}

/// The same of a bundle.
pub(super) fn explain<G: Game>(args: &args::Explain) -> Result<ExitCode, Failure> {
    let bytes = files::read(&args.file)?;
    let recordings = read_bundle::<G>("explain", &args.file, &bytes)?;
    if recordings.is_empty() {
        return Err(Failure::file("explain", &args.file, "none of its recordings can be read"));
    }
    tell::<G>(recordings, &[(name(&args.file), &bytes)], &args.telling)
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The recordings of a bundle. They came from peers: one that cannot be read is told, and left out.
pub(super) fn read_bundle<G: Game>(doing: &str, file: &Path, bytes: &[u8]) -> Result<Vec<Recording<G::Sim>>, Failure> {
    let bundle = Bundle::read(bytes)
        .map_err(|error| Failure::file(doing, file, format!("{error}; {}", failure::of_bundle(&error))))?;
    say(format_args!("A bundle of {} recordings, put together by {}.", bundle.recordings.len(), bundle.player));
    let (recordings, told) = bundle.open(G::NAME);
    told.into_iter().for_each(say);
    Ok(recordings)
}

pub(super) fn read_file<G: Game>(doing: &str, file: &Path, bytes: &[u8]) -> Result<Recording<G::Sim>, Failure> {
    Recording::read_of(G::NAME, bytes).map_err(|error| Failure::recording(doing, file, &error))
}

/// Checks recordings, and tells what came of it. `shown` are the files that they are from.
fn tell<G: Game>(
    recordings: Vec<Recording<G::Sim>>,
    shown: &[(String, &[u8])],
    telling: &Telling,
) -> Result<ExitCode, Failure> {
    telling.html.iter().chain(&telling.page).try_for_each(|file| files::can_write_page(file))?;
    let viewer = telling.page.as_ref().map(|_| Viewer::find()).transpose()?;
    let table = table::load(&telling.table)?;
    can_be_played::<G>("check", &recordings, &table)?;
    let report = check::<G>(recordings, &table)?;
    if telling.json {
        print_json(&report)?;
    } else {
        print(&report);
    }
    if let Some(file) = &telling.html {
        files::write_page(file, &check::page(&report))?;
        say(format_args!("The page is in {}.", file.display()));
    }
    if let Some((viewer, file)) = viewer.zip(telling.page.as_ref()) {
        viewer.write(shown, file)?;
        say(format_args!("The recordings and their viewer are in {}.", file.display()));
    }
    if let (None, Some(panic)) = (&report.finding, report.panic()) {
        return Err(Failure::differed(panic));
    }
    if report.shared == Some(0) && report.finding.is_none() {
        let advice = "check them with the relay's recording, or with those of players who met";
        return Err(Failure::new(format!("nothing is shown, for no two recordings have a cell in common; {advice}")));
    }
    if report.shows_nothing() {
        return Err(Failure::new("nothing is shown, for there is no checksum to compare; record for longer"));
    }
    Ok(if report.is_in_step() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERED) })
}

/// Refuses recordings of another build's rules or table, unless they differ in that from each
/// other: that is the answer, then.
pub(super) fn can_be_played<G: Game>(
    doing: &str,
    recordings: &[Recording<G::Sim>],
    table: &Table,
) -> Result<(), Failure> {
    let Some(Recording { header, .. }) = recordings.first() else { return Ok(()) };
    if recordings.iter().any(|other| other.header.identity != header.identity) {
        return Ok(());
    }
    let identity = G::identity(table);
    header.check(G::NAME, &identity).map_err(|error| {
        let advice = failure::of_recording(&error);
        Failure::new(format!("cannot {doing} the recording of {}: {error}; {advice}", header.name))
    })?;
    recordings.iter().for_each(|recording| tell_of_another_build(&recording.header));
    Ok(())
}

/// Says so if another build recorded it: a game that numbers its rules by hand may have other ones
/// of the same number. Of a page nobody knows which build it is.
pub(super) fn tell_of_another_build(Header { name, player, build, .. }: &Header) {
    let here = executable::build();
    if build.executable != 0 && *build != here {
        say(format_args!(
            "Another build recorded what {name} ({player}) has: {build}, and this is {here}. If worlds differ, the \
             rules may have changed and their digest not: try the build that recorded it."
        ));
    }
}

pub(super) fn check<G: Game>(recordings: Vec<Recording<G::Sim>>, table: &Table) -> Result<Report, Failure> {
    let start = recordings.iter().map(|recording| recording.header.start).min().unwrap_or_default();
    let end = recordings.iter().map(Recording::end).max().unwrap_or_default();
    let bar = progress::bar_of_recording(end.since(start));
    let watch = |tick: Tick| progress::advance(&bar, tick.since(start));
    let report = check::compare_of::<G>(recordings, table, &watch);
    bar.finish_and_clear();
    report.map_err(Failure::new)
}
