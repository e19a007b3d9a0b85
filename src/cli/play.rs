//! `play`: one peer of a party or a rollback session, from its arguments to its exit code.

use std::process::{ExitCode, Stdio};
use std::task::Waker;
use std::time::Duration;

use lockstone_net::matchbox::{self, MatchboxLink};
use lockstone_net::{Channel, Link, LinkEvent, Party, PeerId, Rollback};
use lockstone_sim::Tick;

use super::args::Play;
use super::child::{Peer, stop_with_parent};
use super::config::Config;
use super::failure::Failure;
use super::place::{Signaling, any_number, room_name};
use super::player::Player;
use super::sitting::Sitting;
use crate::game::Game;
use crate::shell::{Options, SoloLink};

/// All that was asked for, checked.
struct Plan<G: Game> {
    args: Play,
    player: Player<G>,
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
    let room = room_name(args.room.as_deref())?;
    let signaling = match &args.signal {
        Some(url) => Signaling::of(url),
        None => Signaling::find_or_serve(newcomer)?,
    };
    let join = join_line::<G>(args, &room, &signaling.public_url);
    // A newcomer's companion takes the last place of a rollback session.
    let join = if newcomer && args.shared.rollback {
        eprintln!("A bot plays with you. With a friend instead: {} --rollback --room {room}", G::NAME);
        None
    } else {
        eprintln!("A friend joins with: {join}");
        Some(join)
    };
    let ice_urls = args.stun.clone();
    let role = matchbox::RoomRole::Peer;
    let link =
        matchbox::Config { url: signaling.url.clone(), room: room.clone(), key: args.key.clone(), ice_urls, role };
    let companion = newcomer.then(|| companion::<G>(&plan, &room, &signaling.url));
    plan.play(Accompanied { link: MatchboxLink::open(link), companion, peer: None }, Place { room, join })
}

/// How this peer plays.
pub(super) fn options(args: &Play) -> Options {
    Options {
        bot: args.bot,
        time: args.seconds.map(|seconds| Duration::from_secs(seconds.into())),
        until: args.until.map(Tick),
        ..Options::default()
    }
}

/// A link that brings a companion along, once this peer is in the room: whoever is first
/// founds the session.
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

    fn wake_with(&mut self, driver: &Waker) -> bool {
        self.link.wake_with(driver)
    }
}

impl<G: Game> Plan<G> {
    fn new(args: Play) -> Result<Self, Failure> {
        let player = Player::new(args.name.as_deref(), args.hero.as_deref(), args.table.as_deref())?;
        let config = Config::new(&args.shared, args.peers, args.seed.unwrap_or_else(any_number))?;
        Ok(Plan { args, player, config })
    }

    fn play<L: Link>(self, link: L, place: Place) -> Result<ExitCode, Failure> {
        let Plan { args, player, config } = self;
        let (identity, build) = (player.identity(), player.build(args.plant_fault));
        let Place { room, join } = place;
        let sitting = Sitting {
            name: player.name.clone(),
            room,
            join,
            terms: config.terms(identity),
            period: config.period(),
            options: Options { keep_checksums: args.report, ..options(&args) },
            report: args.report,
            view: args.view,
            record: args.record,
            trees: args.trees,
            shot: args.shot,
        };
        let (name, hero, again) = (player.name.as_str(), player.hero, build.clone());
        let unfit = |error| Failure::new(format!("{error}; choose another --name"));
        match config {
            Config::Party(config) => {
                let party = Party::new(config, identity, name, hero, build).map_err(unfit)?;
                sitting.play::<G, _, _>(party, again, link)
            }
            Config::Rollback(config) => {
                let rollback = Rollback::new(config, identity, name, hero, build).map_err(unfit)?;
                sitting.play::<G, _, _>(rollback, again, link)
            }
        }
    }
}

/// The arguments of the bot that a newcomer finds at their side: a peer like any other, in a
/// process of its own.
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
