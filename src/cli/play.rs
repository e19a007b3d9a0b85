//! `play`: one peer of a party or a rollback session, from its arguments to its exit code.

use std::process::{ExitCode, Stdio};

use lockstone_net::matchbox::RoomRole;
use lockstone_net::{Link, Party, Rollback};

use super::args::{Play, Shared};
use super::child::{Peer, bot_words};
use super::config::Config;
use super::continuing;
use super::failure::Failure;
use super::identity::Identity;
use super::kept::Kept;
use super::link;
use super::place::{self, Entering, Signaling, any_number, room_name};
use super::player::Player;
use super::sitting::Sitting;
use crate::game::Game;
use crate::output::say;
use crate::recording::Recorded;
use crate::shell::{Options, SoloLink};
use crate::view::Join;

pub(super) fn run<G: Game>(args: Play) -> Result<ExitCode, Failure> {
    let player = player::<G>(&args)?;
    let config = Config::new(&args.shared, args.peers, args.seed.unwrap_or_else(any_number))?;
    let recorded = recorded(&args, &config, &player)?;
    if args.solo {
        return play(args, player, config, recorded, SoloLink::default(), String::new(), None);
    }
    let anywhere = args.room.is_none() && args.signal.is_none() && args.peers.is_none() && !args.bot;
    // Who goes on with a session is no newcomer.
    let newcomer = anywhere && recorded.is_none();
    let before = recorded.as_ref().map(|recorded| recorded.room.as_str()).filter(|room| !room.is_empty());
    let room = room_name(args.room.as_deref().or(before))?;
    let signaling = match &args.signal {
        Some(url) => Signaling::of(url, &args.ice),
        None => Signaling::find_or_serve::<G>(anywhere)?,
    };
    let join = join::<G>(&args, &room, &signaling);
    // A newcomer's companion takes the last place of a rollback session.
    let join = if newcomer && args.shared.rollback {
        say(format_args!("A bot plays with you. With a friend instead: {} --rollback --room {room}", G::NAME));
        None
    } else {
        Some(join)
    };
    // It comes once this peer is in the room: whoever is first founds the session.
    let companion = newcomer.then(|| companion::<G>(&args, &room, &signaling.url)).map(|words| {
        move || {
            let started = Peer::start(&words, Stdio::null(), Stdio::null());
            started.inspect_err(|failure| say(format_args!("You play without a companion: {failure}.")))
        }
    });
    let carrier = place::link(&signaling.url, &room, &args.key, &args.ice, RoomRole::Peer);
    play(args, player, config, recorded, Entering::new(carrier, companion), room, join)
}

/// Who plays, with the hero that is kept for them.
pub(super) fn player<G: Game>(args: &Play) -> Result<Player<G>, Failure> {
    let kept = Kept::find(&args.keeping, args.hero.as_deref(), args.bot)?;
    Ok(Player::of(args.name.as_deref(), kept, &args.table)?.led(args.bot))
}

/// The session to go on with, if there is one.
fn recorded<G: Game>(args: &Play, config: &Config, player: &Player<G>) -> Result<Option<Recorded<G::Sim>>, Failure> {
    let Some(file) = &args.continues else { return Ok(None) };
    let Config::Party(_) = config else {
        return Err(Failure::new("no rollback session can be gone on with: leave out --rollback or --continue"));
    };
    let kind = config.terms(G::identity(&player.table)).kind;
    continuing::read(file, kind, player).map(Some)
}

fn play<G: Game>(
    args: Play,
    player: Player<G>,
    config: Config,
    recorded: Option<Recorded<G::Sim>>,
    link: impl Link,
    room: String,
    join: Option<Join>,
) -> Result<ExitCode, Failure> {
    let (identity, build) = (G::identity(&player.table), player.build(args.plant_fault));
    // A game alone needs a key only if it is to go on another time.
    let keeps = !args.solo || args.record.is_some() || args.continues.is_some();
    let own = Identity::new(args.identity.as_deref(), G::NAME, args.bot || !keeps)?;
    let Player { name, hero, kept, .. } = player;
    let options = Options { keep_checksums: args.report, invite: Some(invite), ..Options::default() };
    let sitting = Sitting { name: name.clone(), room, join, terms: config.terms(identity), args, options, kept };
    let again = build.clone();
    match config {
        Config::Party(config) => {
            let party = Party::new(config, identity, &name, hero, build)?.with_key(own.key.clone());
            let party = match recorded {
                Some(recorded) => party.continuing(recorded.session),
                None => party,
            };
            sitting.play(party, again, link)
        }
        Config::Rollback(config) => {
            let rollback = Rollback::new(config, identity, &name, hero, build)?.with_key(own.key.clone());
            sitting.play(rollback, again, link)
        }
    }
}

fn invite(join: &Join) {
    say(format_args!("A friend joins with: {}", join.line));
    link::tell(join);
}

/// The arguments of the bot that a newcomer finds at their side: a peer like any other, in a
/// process of its own.
fn companion<G: Game>(args: &Play, room: &str, url: &str) -> Vec<String> {
    let hero = G::HEROES.get(1).or(G::HEROES.first()).copied().unwrap_or_default();
    let mut words = bot_words("Companion", hero, room, url);
    words.extend(args.key.iter().flat_map(|key| ["--key".to_owned(), key.clone()]));
    words.extend(args.shared.words());
    words.extend(args.table.file.iter().flat_map(|table| ["--table".to_owned(), table.display().to_string()]));
    words
}

fn join<G: Game>(args: &Play, room: &str, signaling: &Signaling) -> Join {
    let url = &signaling.public_url;
    let needed = link::options(args.key.as_deref(), &args.ice);
    let shared: String = args.shared.words().iter().map(|word| format!(" {word}")).collect();
    let line = format!("{} --room {room}{needed} --signal {url}{shared}", G::NAME);
    Join { line, link: page_link(args, room, signaling) }
}

/// A page has the settings that a session has by itself, but for how many begin it.
fn page_link(args: &Play, room: &str, signaling: &Signaling) -> Option<String> {
    let peers = args.peers.map(|peers| format!("peers={peers}"));
    let words = match (args.shared.rollback, &peers) {
        (true, Some(peers)) => vec!["rollback", peers],
        (true, None) => vec!["rollback"],
        (false, _) => Vec::new(),
    };
    let usual = Shared { rollback: args.shared.rollback, ..Shared::default() };
    // How far ahead a party's ticks are closed is no matter of joining.
    let is_usual = !args.shared.rollback || args.shared == usual;
    let page_url = signaling.page_url.as_ref().filter(|_| is_usual && args.table.file.is_none());
    page_url.map(|page| link::to_room(page, room, args.key.as_deref(), &words, &args.ice))
}
