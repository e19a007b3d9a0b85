//! `relay`: the relay of a large session, in a process of its own or in a player's. `play --relay`:
//! one of its players.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use lockstone_net::PlayerKey;
use lockstone_net::matchbox::RoomRole;
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};

use super::args::{self, Play, SIGNAL_PORT, View};
use super::continuing;
use super::failure::Failure;
use super::identity::Identity;
use super::kept::Kept;
use super::link;
use super::place::{self, Signaling, any_number, room_name};
use super::play::player;
use super::player::Player;
use super::sitting::Sitting;
use crate::game::{Game, Wide};
use crate::output::{print, say};
use crate::shell::Options;
use crate::view::Join;

/// A relay tells the parts of its whole world once a second, unless they are recorded: to locate a
/// fault of its own memory, which the replicas' recordings do not tell.
pub(super) const TREE_INTERVAL_TICKS: u32 = 20;
/// What this process is called where it plays no hero.
const DEDICATED: &str = "relay";
const STANDBY: &str = "standby";

/// Serves a room until it is stopped.
pub(super) fn run<G: Wide>(args: args::Relay) -> Result<ExitCode, Failure> {
    if let Some(room) = args.standby.clone() {
        return stand_by::<G>(&room, args);
    }
    let config = config(&args)?;
    let plays = args.hero.is_some() || args.bot || args.name.is_some();
    let (shown, options) = sitting(&args, plays);
    let kept = match plays {
        true => Kept::find(&args.keeping, args.hero.as_deref(), args.bot)?,
        false => Kept::nothing(None),
    };
    let player = Player::<G>::of(args.name.as_deref(), kept, &args.table)?.led(args.bot);
    let identity = G::identity(&player.table);
    // Before anyone is told of it.
    let recorded = args.resume.as_deref().map(|file| continuing::read(file, config.terms(identity).kind, &player));
    let recorded = recorded.transpose()?;
    let before = recorded.as_ref().map(|recorded| recorded.room.as_str());
    let room = room_name(args.room.as_deref().or(before))?;
    let signaling = signaling::<G>(&args)?;
    let needed = link::options(args.key.as_deref(), &args.ice);
    let line = format!("{} play --relay --room {room}{needed} --signal {}", G::NAME, signaling.public_url);
    let page_url = signaling.page_url.as_ref().filter(|_| args.table.file.is_none());
    let page = page_url.map(|page| link::to_room(page, &room, args.key.as_deref(), &["relay"], &args.ice));
    let join = Join { line, link: page };
    // Nobody can know a token that this user's key made.
    let standby = args.host_token.as_deref().map(|token| PlayerKey::of_secret(token).public());
    let claims = args.host_token.is_none().then(|| Identity::of_relay(G::NAME));
    let made = claims.as_ref().map(|claims| claims.key.room_token(&room));
    let token = args.host_token.or(made).expect("whoever names no token has a key");
    let carrier = place::link(&signaling.url, &room, &args.key, &args.ice, RoomRole::Relay { token });
    let build = player.build(false);
    let own = Identity::new(args.identity.as_deref(), G::NAME, args.bot || !plays)?;
    let sitting = Sitting {
        name: if plays { player.name.clone() } else { DEDICATED.to_owned() },
        room,
        join: Some(join),
        terms: config.terms(identity),
        args: shown,
        options,
        kept: player.kept,
    };
    let again = build.clone();
    let relay = if plays {
        Relay::<G::Rules>::new(config, identity, &player.name, player.hero, build)?.with_key(own.key.clone())
    } else {
        Relay::dedicated(config, identity, build)
    };
    let relay = match recorded {
        Some(recorded) => relay.continuing(recorded.session),
        None => relay,
    };
    let relay = match standby {
        Some(key) => relay.with_standby(key),
        None => relay,
    };
    sitting.play(relay.with_horizon(G::horizon()), again, carrier)
}

/// How a relay is shown and recorded. One that nobody plays at has no view, unless one is wanted.
fn sitting(args: &args::Relay, plays: bool) -> (Play, Options) {
    let view = if plays { args.view } else { args.view.or(Some(View::None)) };
    let (bot, record, trees) = (args.bot, args.record.clone(), args.trees);
    let shown = Play { bot, view, record, trees, seconds: args.seconds, report: args.report, ..Play::default() };
    let invite: fn(&Join) = invite;
    let invite = (!args.report).then_some(invite);
    let options =
        Options { keep_parts: args.report, measured_ticks: args.measured_ticks, invite, ..Options::default() };
    (shown, options)
}

fn invite(join: &Join) {
    print(&join.line);
    link::tell(join);
    say(format_args!("So players join. Ctrl-C ends the session for all."));
}

/// Follows the relay of a room, and leads on if that is lost.
fn stand_by<G: Wide>(room: &str, args: args::Relay) -> Result<ExitCode, Failure> {
    let (config, room) = (config(&args)?, room_name(Some(room))?);
    let (shown, options) = sitting(&args, false);
    place::check_token(args.host_token.as_deref())?;
    let token = args.host_token.unwrap_or_default();
    let player = Player::<G>::new(None, None, &args.table)?;
    let (identity, build) = (G::identity(&player.table), player.build(false));
    let key = PlayerKey::of_secret(&token);
    let url = args.signal.unwrap_or_else(local_signaling);
    let link = place::link(&url, &room, &args.key, &args.ice, RoomRole::Standby { token });
    let sitting = Sitting {
        name: STANDBY.to_owned(),
        room,
        join: None,
        terms: config.terms(identity),
        args: shown,
        options,
        kept: player.kept,
    };
    let standby = Relay::<G::Rules>::standby(config, identity, key, build.clone());
    sitting.play(standby.with_horizon(G::horizon()), build, link)
}

/// Joins the relay of a room.
pub(super) fn join<G: Wide>(args: args::Play) -> Result<ExitCode, Failure> {
    refuse_settings(&args.shared)?;
    let Some(room) = &args.room else {
        return Err(Failure::new("which relay is to be joined is not said: name its room with --room"));
    };
    let room = room_name(Some(room))?;
    let (peers, seed, continues) = (args.peers.is_some(), args.seed.is_some(), args.continues.is_some());
    for (given, option) in [(peers, "--peers"), (seed, "--seed"), (args.solo, "--solo"), (continues, "--continue")] {
        if given {
            return Err(Failure::new(format!("{option} is not for who joins a relay: leave out {option} or --relay")));
        }
    }
    let player = player::<G>(&args)?;
    let url = args.signal.clone().unwrap_or_else(local_signaling);
    let own = Identity::new(args.identity.as_deref(), G::NAME, args.bot)?;
    let link = place::link(&url, &room, &args.key, &args.ice, RoomRole::Player);
    let config = checked(settings(), None)?;
    let (identity, build) = (G::identity(&player.table), player.build(args.plant_fault));
    let (terms, name) = (config.terms(identity), player.name.clone());
    let options = Options { keep_parts: args.report, ..Options::default() };
    let sitting = Sitting { name, room, join: None, terms, args, options, kept: player.kept };
    let replica = Replica::<G::Rules>::new(config, identity, &player.name, player.hero, build.clone())?;
    let replica = replica.with_key(own.key.clone());
    sitting.play(replica.with_horizon(G::horizon()), build, link)
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
    checked(settings, args.budget)
}

/// The settings of a relay, told by its options if they are wrong.
pub(super) fn checked(mut settings: RelaySettings, budget: Option<u32>) -> Result<RelayConfig, Failure> {
    settings.budget_bytes_per_s = budget.unwrap_or(settings.budget_bytes_per_s);
    RelayConfig::new(settings)
        .map_err(|error| Failure::new(error.to_string().replace("budget_bytes_per_s", "--budget")))
}

fn signaling<G: Game>(args: &args::Relay) -> Result<Signaling, Failure> {
    let token = args.host_token.as_deref();
    place::check_token(token)?;
    match (&args.signal, args.listen) {
        (Some(_), Some(_)) => Err(Failure::new(
            "signaling is served either at --listen, by this process, or by another at --signal: leave out one of them",
        )),
        (Some(url), None) => Ok(Signaling::of(url, &args.ice)),
        (None, listen) => {
            Signaling::at::<G>(listen.unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, SIGNAL_PORT).into()), token)
        }
    }
}

/// The signaling server that is looked for where none is named.
fn local_signaling() -> String {
    format!("ws://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, SIGNAL_PORT)))
}
