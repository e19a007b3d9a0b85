//! A session as this process plays it: shown, recorded, and told about at its end.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};
use lockstone_net::session::EndReason;
use lockstone_net::wire::Terms;
use lockstone_net::{Link, Session};
use lockstone_sim::Tick;

use super::STOP;
use super::args::{Play, View};
use super::child::{Word, stop_with_parent};
use super::failure::{DIFFERED, Failure, of_end};
use super::files;
use super::kept::Kept;
use crate::game::Game;
use crate::output::say;
use crate::shell::{Clocks, Display, Files, Labels, Options, Recorder, Screen, Shell};
#[cfg(feature = "sound")]
use crate::sound::{Sound, Speaker};
use crate::view::{self, Draw, Join};

/// What draws the picture of the end, in a build that can.
#[cfg(feature = "picture")]
const DRAW: Option<Draw> = Some(view::frame::picture);
#[cfg(not(feature = "picture"))]
const DRAW: Option<Draw> = None;

/// All of it but the session itself.
pub(super) struct Sitting<G: Game> {
    /// What this process is called in it.
    pub name: String,
    pub room: String,
    /// How a friend joins.
    pub join: Option<Join>,
    pub terms: Terms,
    /// How it is played, shown, recorded and ended.
    pub args: Play,
    /// What else the shell is to keep and to measure.
    pub options: Options,
    /// Where the hero is kept.
    pub kept: Kept<G>,
}

impl<G: Game> Sitting<G> {
    /// Plays to the end. `build` makes the world of a seed, as it does for the session.
    pub fn play<T, L>(
        self,
        session: T,
        build: impl Fn(u64) -> G::Sim + Send + Sync + 'static,
        link: L,
    ) -> Result<ExitCode, Failure>
    where
        T: Session<Sim = G::Sim>,
        L: Link,
    {
        let Sitting { name, room, join, terms, args, options, kept } = self;
        if let Some(path) = &args.shot {
            files::is_named(path, "png")?;
            check_writable(path)?;
            DRAW.ok_or_else(|| Failure::file("draw", path, "this build has no pictures; leave out --shot"))?;
        }
        if args.report {
            stop_with_parent();
        }
        let kind = terms.kind;
        let labels = Labels { game: G::NAME, terms, name, room };
        let recorder = Recorder::new(labels.clone(), Files, args.record.as_deref())
            .map_err(|error| files::cannot_write(&error.path, &error.cause))?
            .with_trees(args.trees)
            .beside();
        let screen = screen(G::NAME, args.view, args.report)?;
        #[cfg(feature = "sound")]
        let is_seen = matches!(screen, Screen::View(_));
        let display = Display::new(screen, &labels, join);
        let options = Options {
            bot: args.bot,
            no_look_ahead: args.no_look_ahead,
            greeting: kept.told().filter(|_| !args.report),
            time: args.seconds.map(|seconds| Duration::from_secs(seconds.into())),
            until: args.until.map(Tick),
            picture: DRAW.filter(|_| args.shot.is_some()),
            progress: args.report.then_some(print_tick),
            clocks: clocks(),
            ..options
        };
        let mut shell = Shell::<G, L, T>::new(session, link, recorder, display, options).with_rerun(build);
        if let Some((class, progress, keep)) = kept.keeper() {
            shell = shell.with_character((&class, progress), keep);
        }
        #[cfg(feature = "sound")]
        if is_seen {
            shell = shell.with_sound(!args.mute, speak());
        }
        let (reason, report) = shell.run(&STOP);
        if let Some((path, png)) = args.shot.as_ref().zip(shell.take_picture()) {
            let png = png.map_err(|error| Failure::file("draw", path, error))?;
            std::fs::write(path, &png).map_err(|error| Failure::file("write", path, error))?;
        }
        let obstacle = shell.link_mut().obstacle();
        // The terminal is given back before anything is said.
        drop(shell);
        if args.report {
            print_word(&Word::Report(Box::new(report.clone())));
        } else if let Some((tick, panicked)) = &report.panic {
            let sentence = format!("{panicked}, in the step of tick {tick}");
            return Err(Failure::differed(match &report.recording {
                Some(file) => format!("{sentence}; see it again with `{} check {file}`", G::NAME),
                None => sentence,
            }));
        } else if report.ticks > 0 || reason == EndReason::SequencerLeft {
            say(format_args!("{} ticks played; the session is over: {reason}.", report.ticks));
        }
        match of_end(&reason, kind, obstacle) {
            Some(failure) => Err(failure),
            None if report.panic.is_some() => Ok(ExitCode::from(DIFFERED)),
            None if report.desyncs > report.acquitted => Err(Failure::differed("the worlds of this session differed")),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}

/// Checks a path before the game, so that nothing is lost after it. What is there already stays as
/// it is until then.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let there = path.exists();
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| files::cannot_write(path, &error))?;
    if !there {
        std::fs::remove_file(path).map_err(|error| Failure::file("write", path, error))?;
    }
    Ok(())
}

/// The view that was asked for, or the best there is.
///
/// # Errors
/// If the one that was asked for cannot be had: nobody is to play on unseen.
fn screen(game: &str, asked: Option<View>, report: bool) -> Result<Screen, Failure> {
    let none = Screen::None { lines: !report };
    let other = |error: String| Failure::new(format!("{error}; choose another --view, or none"));
    match asked {
        Some(View::Window) => window(game).map(Screen::View).map_err(other),
        Some(View::Terminal) => terminal().map(Screen::View).map_err(other),
        Some(View::None) => Ok(none),
        None => {
            let window = has_display().then(|| window(game));
            let window = window.and_then(|opened| opened.inspect_err(|error| say(format_args!("{error}."))).ok());
            Ok(window.or_else(|| terminal().ok()).map_or(none, Screen::View))
        }
    }
}

/// Plays what is heard, on a device that is opened for the first of it.
#[cfg(feature = "sound")]
fn speak() -> impl FnMut(&[Sound]) -> Result<(), String> {
    let mut speaker = None;
    move |sounds| {
        if speaker.is_none() {
            speaker = Some(Speaker::open().map_err(|error| error.to_string())?);
        }
        speaker.iter().for_each(|speaker| speaker.play(sounds));
        Ok(())
    }
}

type Opened = Result<Box<dyn view::View>, String>;

#[cfg(feature = "window")]
fn window(game: &str) -> Opened {
    let opened = view::window::WindowView::open(game).map_err(|error| error.to_string())?;
    Ok(Box::new(opened))
}

#[cfg(not(feature = "window"))]
fn window(_game: &str) -> Opened {
    Err("this build has no window".to_owned())
}

#[cfg(feature = "terminal")]
fn terminal() -> Opened {
    if !std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        return Err("there is no terminal to show the world in".to_owned());
    }
    let opened = view::terminal::TerminalView::open();
    Ok(Box::new(opened.map_err(|error| format!("the terminal cannot show the world: {error}"))?))
}

#[cfg(not(feature = "terminal"))]
fn terminal() -> Opened {
    Err("this build has no view in a terminal".to_owned())
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_set = set("DISPLAY") || set("WAYLAND_DISPLAY");
    cfg!(feature = "window") && (is_set || cfg!(any(windows, target_os = "macos")))
}

/// The clocks of this machine.
pub(super) fn clocks() -> Clocks {
    let thread = || ThreadTime::now().as_duration();
    let process = || ProcessTime::now().as_duration();
    Clocks { wall: || START.elapsed(), thread, process }
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn print_tick(tick: Tick) {
    print_word(&Word::Tick(tick.0));
}

/// Tells the parent. If it is gone, so is this process soon.
fn print_word(word: &Word) {
    if let Ok(line) = serde_json::to_string(word) {
        let mut stdout = std::io::stdout().lock();
        let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    }
}
