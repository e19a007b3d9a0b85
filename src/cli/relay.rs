//! `relay`: the relay of a large session, in a process of its own or in a player's. `play --relay`:
//! one of its players.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::task::Waker;
use std::time::Duration;

use lockstone_net::matchbox::{self, MatchboxLink, TOKEN_BYTES_MAX};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone_net::session::PlayerError;
use lockstone_net::{Channel, Link, LinkEvent, PeerId};

use super::args::{self, SIGNAL_PORT, View};
use super::child::stop_with_parent;
use super::failure::Failure;
use super::place::{Signaling, any_number, room_name};
use super::play;
use super::player::Player;
use super::sitting::Sitting;
use super::stdout::print;
use crate::game::Wide;
use crate::shell::Options;

/// A relay tells the parts of its whole world once a second, unless they are recorded: to locate a
/// fault of its own memory, which the replicas' recordings do not tell.
pub(super) const TREE_INTERVAL_TICKS: u32 = 20;
/// What this process is called where it plays no hero.
const DEDICATED: &str = "relay";

/// Serves a room until it is stopped.
pub(super) fn run<G: Wide>(args: args::Relay) -> Result<ExitCode, Failure> {
    let room = room_name(args.room.as_deref())?;
    let config = config(&args)?;
    let plays = args.hero.is_some() || args.bot || args.name.is_some();
    let player = Player::<G>::new(args.name.as_deref(), args.hero.as_deref(), args.table.as_deref())?;
    if args.report {
        stop_with_parent();
    }
    let signaling = signaling(&args)?;
    let key = args.key.as_ref().map_or(String::new(), |key| format!(" --key {key}"));
    let join = format!("{} play --relay --room {room}{key} --signal {}", G::NAME, signaling.public_url);
    let token = args.host_token.clone().unwrap_or_else(drawn_token);
    let link = MatchboxLink::open(matchbox::Config {
        url: signaling.url.clone(),
        room: room.clone(),
        key: args.key.clone(),
        ice_urls: args.stun.clone(),
        role: matchbox::RoomRole::Relay { token },
    });
    let link = Announced { link, join: (!args.report).then(|| join.clone()) };
    let (identity, build) = (player.identity(), player.build(false));
    let sitting = Sitting {
        name: if plays { player.name.clone() } else { DEDICATED.to_owned() },
        room,
        join: Some(join),
        terms: config.terms(identity),
        period: config.period(),
        view: if plays { args.view } else { args.view.or(Some(View::None)) },
        record: args.record,
        trees: args.trees,
        shot: None,
        report: args.report,
        options: Options {
            bot: args.bot,
            time: args.seconds.map(|seconds| Duration::from_secs(seconds.into())),
            keep_parts: args.report,
            measured_ticks: args.measured_ticks,
            ..Options::default()
        },
    };
    let again = build.clone();
    let relay = if plays {
        Relay::<G::Rules>::new(config, identity, &player.name, player.hero, build).map_err(unfit)?
    } else {
        Relay::dedicated(config, identity, build)
    };
    sitting.play::<G, _, _>(relay.with_horizon(G::horizon()), again, link)
}

/// A link that tells how others join, once the room is this relay's.
struct Announced {
    link: MatchboxLink,
    join: Option<String>,
}

impl Link for Announced {
    fn poll(&mut self) -> Option<LinkEvent> {
        let event = self.link.poll();
        if matches!(event, Some(LinkEvent::Entered(_)))
            && let Some(join) = self.join.take()
        {
            print(join);
            eprintln!("So players join. Ctrl-C ends the session for all.");
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

/// Joins the relay of a room.
pub(super) fn join<G: Wide>(args: args::Play) -> Result<ExitCode, Failure> {
    refuse_settings(&args.shared)?;
    let Some(room) = &args.room else {
        return Err(Failure::new("which relay is to be joined is not said: name its room with --room"));
    };
    let room = room_name(Some(room))?;
    for (given, option) in [(args.peers.is_some(), "--peers"), (args.seed.is_some(), "--seed"), (args.solo, "--solo")] {
        if given {
            return Err(Failure::new(format!("{option} is not for who joins a relay: leave out {option} or --relay")));
        }
    }
    let player = Player::<G>::new(args.name.as_deref(), args.hero.as_deref(), args.table.as_deref())?;
    if args.report {
        stop_with_parent();
    }
    let local = || format!("ws://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, SIGNAL_PORT)));
    let link = MatchboxLink::open(matchbox::Config {
        url: args.signal.clone().unwrap_or_else(local),
        room: room.clone(),
        key: args.key.clone(),
        ice_urls: args.stun.clone(),
        role: matchbox::RoomRole::Player,
    });
    let config = RelayConfig::new(settings()).map_err(Failure::new)?;
    let (identity, build) = (player.identity(), player.build(args.plant_fault));
    let sitting = Sitting {
        name: player.name.clone(),
        room,
        join: None,
        terms: config.terms(identity),
        period: config.period(),
        options: Options { keep_parts: args.report, ..play::options(&args) },
        report: args.report,
        view: args.view,
        record: args.record,
        trees: args.trees,
        shot: args.shot,
    };
    let replica =
        Replica::<G::Rules>::new(config, identity, &player.name, player.hero, build.clone()).map_err(unfit)?;
    sitting.play::<G, _, _>(replica.with_horizon(G::horizon()), build, link)
}

/// A relay's session has settings of its own: refuses those of the other kinds.
pub(super) fn refuse_settings(shared: &args::Shared) -> Result<(), Failure> {
    let told = if shared.rollback {
        "a session is either a relay's or a rollback session: leave out --rollback or --relay"
    } else if shared.input_delay.is_some() {
        "a relay's session has no input delay: leave out --input-delay or --relay"
    } else {
        return Ok(());
    };
    Err(Failure::new(told))
}

/// What relay and players have in common.
fn settings() -> RelaySettings {
    RelaySettings { emit_trees: true, ..RelaySettings::default() }
}

fn config(args: &args::Relay) -> Result<RelayConfig, Failure> {
    let mut settings = settings();
    settings.tree_interval_ticks = if args.trees { 1 } else { TREE_INTERVAL_TICKS };
    settings.seed = args.seed.unwrap_or_else(any_number);
    settings.players_max = args.players.into();
    settings.budget_bytes_per_s = args.budget.unwrap_or(settings.budget_bytes_per_s);
    let in_options = |error: String| Failure::new(error.replace("budget_bytes_per_s", "--budget"));
    RelayConfig::new(settings).map_err(|error| in_options(error.to_string()))
}

fn signaling(args: &args::Relay) -> Result<Signaling, Failure> {
    let token = args.host_token.as_deref();
    if token.is_some_and(|token| !(1..=TOKEN_BYTES_MAX).contains(&token.len())) {
        return Err(Failure::new(format!("the host token is not one: use 1 to {TOKEN_BYTES_MAX} bytes")));
    }
    match (&args.signal, args.listen) {
        (Some(_), Some(_)) => Err(Failure::new(
            "signaling is served either at --listen, by this process, or by another at --signal: leave out one of them",
        )),
        (Some(url), None) => Ok(Signaling::of(url)),
        (None, listen) => Signaling::at(listen.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, SIGNAL_PORT).into()), token),
    }
}

/// A token that nobody could have known.
fn drawn_token() -> String {
    format!("{:016x}{:016x}", any_number(), any_number())
}

fn unfit(error: PlayerError) -> Failure {
    Failure::new(format!("{error}; choose another --name"))
}
