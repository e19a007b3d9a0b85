//! `play`: one peer, from its arguments to its exit code.

use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use lockstone_net::matchbox::{self, MatchboxLink, is_room_name};
use lockstone_net::session::EndReason;
use lockstone_net::wire::Terms;
use lockstone_net::{Channel, Identity, Link, LinkEvent, Party, PeerId, Rollback, Session};
use lockstone_sim::{Table, Tick};

use super::args::{Play, View};
use super::child::{Peer, Word, stop_with_parent};
use super::config::Config;
use super::failure::{Failure, of_end};
use super::place::{Signaling, any_number, new_room};
use super::{STOP, table};
use crate::game::Game;
use crate::shell::{Labels, Options, Recorder, Screen, Shell, SoloLink, Watch};
use crate::view::Status;
use crate::view::terminal::TerminalView;
use crate::view::window::WindowView;

/// All that was asked for, checked.
struct Plan<G: Game> {
    args: Play,
    name: String,
    hero: <G::Sim as lockstone_sim::Simulation>::Hero,
    table: Table,
    config: Config,
}

/// Where the session takes place.
#[derive(Default)]
struct Place {
    room: String,
    /// The line with which a friend joins.
    join: Option<String>,
}

pub(super) fn run<G: Game>(args: Play) -> Result<ExitCode, Failure> {
    let plan = Plan::<G>::new(args)?;
    if plan.args.report {
        stop_with_parent();
    }
    if plan.args.solo {
        return plan.play(SoloLink::default(), Place::default());
    }
    let args = &plan.args;
    let newcomer = args.room.is_none() && args.signal.is_none() && args.peers.is_none() && !args.bot;
    let signaling = match &args.signal {
        Some(url) => Signaling::of(url),
        None => Signaling::find_or_serve(newcomer)?,
    };
    let room = match &args.room {
        Some(room) if !is_room_name(room) => {
            return Err(Failure::new(format!("the room {room:?} is not a name: use 1 to 64 of A-Z a-z 0-9 _ -")));
        }
        Some(room) => room.clone(),
        None => new_room(),
    };
    let join = join_line::<G>(args, &room, &signaling.public_url());
    // A newcomer's companion takes the last place of a rollback session.
    let join = if newcomer && args.shared.rollback {
        eprintln!("A bot plays with you. With a friend instead: {} --rollback --room {room}", G::NAME);
        None
    } else {
        eprintln!("A friend joins with: {join}");
        Some(join)
    };
    let ice_urls = args.stun.clone();
    let link = matchbox::Config { url: signaling.url.clone(), room: room.clone(), key: args.key.clone(), ice_urls };
    let companion = newcomer.then(|| companion::<G>(&plan, &room, &signaling.url));
    plan.play(Accompanied { link: MatchboxLink::open(link), companion, peer: None }, Place { room, join })
}

/// A link that brings a companion along, once this peer is in the room: whoever is first founds the session.
struct Accompanied {
    link: MatchboxLink,
    companion: Option<Vec<String>>,
    peer: Option<Peer>,
}

impl Link for Accompanied {
    fn poll(&mut self) -> Option<LinkEvent> {
        let event = self.link.poll();
        if matches!(event, Some(LinkEvent::Entered(_)))
            && let Some(args) = self.companion.take()
        {
            match Peer::start(&args, Stdio::null(), Stdio::null()) {
                Ok(peer) => self.peer = Some(peer),
                Err(failure) => eprintln!("You play without a companion: {failure}."),
            }
        }
        event
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        self.link.send(to, channel, bytes);
    }
}

impl<G: Game> Plan<G> {
    fn new(args: Play) -> Result<Self, Failure> {
        let class = args.hero.as_deref().unwrap_or(G::HEROES.first().copied().unwrap_or_default());
        let name = args.name.clone().unwrap_or_else(default_name);
        let hero = G::hero(class, &name).ok_or_else(|| {
            Failure::new(format!("there is no hero {class:?}: choose --hero {}", G::HEROES.join(", --hero ")))
        })?;
        let table = table::load(args.table.as_deref())?;
        let config = Config::new(&args.shared, args.peers, args.seed.unwrap_or_else(any_number))?;
        if let Some(path) = &args.shot {
            check_writable(path)?;
        }
        Ok(Plan { args, name, hero, table, config })
    }

    fn play<L: Link>(self, link: L, place: Place) -> Result<ExitCode, Failure> {
        let (table, faulty) = (self.table.clone(), self.args.plant_fault);
        let identity = Identity { rules: G::rules_digest(), table: table.digest(), config: 0 };
        let build = move |seed: u64| G::build(if faulty { !seed } else { seed }, table.clone());
        let (name, hero, terms) = (self.name.as_str(), self.hero.clone(), self.config.terms(identity));
        let unfit = |error| Failure::new(format!("{error}; choose another --name"));
        match self.config.clone() {
            Config::Party(config) => {
                let party = Party::new(config, identity, name, hero, build).map_err(unfit)?;
                self.play_session(party, terms, link, place)
            }
            Config::Rollback(config) => {
                let rollback = Rollback::new(config, identity, name, hero, build).map_err(unfit)?;
                self.play_session(rollback, terms, link, place)
            }
        }
    }

    fn play_session<T, L>(self, session: T, terms: Terms, link: L, place: Place) -> Result<ExitCode, Failure>
    where
        T: Session<Sim = G::Sim>,
        L: Link,
    {
        let Plan { args, name, config, .. } = self;
        let Place { room, join } = place;
        let labels = Labels { game: G::NAME, terms, name: name.clone(), room: room.clone() };
        let recorder = Recorder::new(labels, args.record.as_deref()).map_err(Failure::new)?.with_trees(args.trees);
        let status = Status { game: G::NAME, room, join, ..Status::default() };
        let watch = Watch::new(screen(G::NAME, args.view, args.report), name, status, config.period());
        let options = Options {
            bot: args.bot,
            time: args.seconds.map(|seconds| Duration::from_secs(seconds.into())),
            until: args.until.map(Tick),
            keep_checksums: args.report,
            picture: args.shot.is_some(),
            progress: args.report.then_some(print_tick as fn(Tick)),
        };
        let mut shell = Shell::<G, L, T>::new(session, link, recorder, watch, options);
        let (reason, report) = shell.run(&STOP);
        if let Some((path, png)) = args.shot.as_ref().zip(shell.take_picture()) {
            let png = png.map_err(|error| Failure::file("draw", path, error))?;
            std::fs::write(path, png).map_err(|error| Failure::file("write", path, error))?;
        }
        // The terminal is given back before anything is said.
        drop(shell);
        if args.report {
            print_word(&Word::Report(Box::new(report.clone())));
        } else if report.ticks > 0 || reason == EndReason::SequencerLeft {
            eprintln!("{} ticks played; the session is over: {reason}.", report.ticks);
        }
        match of_end(&reason) {
            Some(failure) => Err(failure),
            None if report.desyncs > 0 => Err(Failure::differed("the worlds of this session differed")),
            None => Ok(ExitCode::SUCCESS),
        }
    }
}

/// The arguments of the bot that a newcomer finds at their side: a peer like any other, in a process of its own.
fn companion<G: Game>(plan: &Plan<G>, room: &str, url: &str) -> Vec<String> {
    let hero = G::HEROES.get(1).or(G::HEROES.first()).copied().unwrap_or_default();
    let words = ["play", "--bot", "--report", "--view", "none", "--name", "Companion", "--hero", hero];
    let mut args: Vec<String> = words.map(str::to_owned).into();
    args.extend(["--room", room, "--signal", url].map(str::to_owned));
    args.extend(plan.args.key.iter().flat_map(|key| ["--key".to_owned(), key.clone()]));
    args.extend(plan.args.shared.words());
    let table = plan.args.table.iter().map(|table| table.display().to_string());
    args.extend(table.flat_map(|table| ["--table".to_owned(), table]));
    args
}

fn join_line<G: Game>(args: &Play, room: &str, url: &str) -> String {
    let key = args.key.as_ref().map_or(String::new(), |key| format!(" --key {key}"));
    let shared: String = args.shared.words().iter().map(|word| format!(" {word}")).collect();
    format!("{} --room {room}{key} --signal {url}{shared}", G::NAME)
}

fn default_name() -> String {
    let of_system = ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    of_system.filter(|name| !name.is_empty()).unwrap_or_else(|| "Hero".to_owned())
}

/// Checks a path before the game, so that nothing is lost after it. What is there already stays as it is until then.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let there = path.exists();
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| Failure::file("write", path, error))?;
    if !there {
        std::fs::remove_file(path).map_err(|error| Failure::file("write", path, error))?;
    }
    Ok(())
}

/// The view that was asked for, or the best there is.
fn screen(game: &str, asked: Option<View>, report: bool) -> Screen {
    let none = Screen::None { lines: !report };
    let asked = asked.unwrap_or(if has_display() { View::Window } else { View::Terminal });
    if asked == View::Window {
        match WindowView::open(game) {
            Ok(window) => return Screen::Window(Box::new(window)),
            Err(error) => eprintln!("{error}; use --view terminal or none."),
        }
    }
    if asked == View::None || !std::io::stdout().is_terminal() {
        return none;
    }
    match TerminalView::open() {
        Ok(terminal) => Screen::Terminal(Box::new(terminal)),
        Err(error) => {
            eprintln!("The terminal cannot show the world: {error}.");
            none
        }
    }
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

fn print_tick(tick: Tick) {
    print_word(&Word::Tick(tick.0));
}

/// Tells the parent. If it is gone, so is this process soon.
fn print_word(word: &Word) {
    use std::io::Write;
    if let Ok(line) = serde_json::to_string(word) {
        let mut stdout = std::io::stdout().lock();
        let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    }
}
