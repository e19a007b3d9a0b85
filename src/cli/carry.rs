//! `carry`: players of a relay that send as much as others do, and nothing that means anything: to
//! them the relay of `crowd --process` sends its packets.

use std::process::{ExitCode, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lockstone_net::matchbox::{MatchboxLink, RoomRole};
use lockstone_net::{Channel, Link, LinkEvent, PeerId};

use super::STOP;
use super::args::{self, Carry};
use super::child::{Peer, stop_with_parent};
use super::failure::Failure;
use super::place::{self, Signaling};
use crate::crowd::{Carrier, Rate};

const ROOM: &str = "crowd";
/// How long all may take to be connected.
const CONNECT_MAX: Duration = Duration::from_secs(60);
/// Between two looks at what is not driven by a session.
const LOOK_PERIOD: Duration = Duration::from_millis(5);

/// Sends until the parent ends. Each in its turn.
pub(super) fn run(args: &Carry) -> ExitCode {
    stop_with_parent();
    let mut links: Vec<_> = (0..args.players).map(|_| (open(&args.signal, RoomRole::Player), None)).collect();
    let pause = Duration::from_secs_f64(1.0 / args.packets_per_s.max(0.1) / f64::from(args.players));
    let mut turn = 0;
    while !STOP.load(Ordering::Relaxed) {
        links.iter_mut().for_each(|(link, relay)| {
            while let Some(event) = link.poll() {
                *relay = connected(&event).or(*relay);
            }
        });
        let place = turn % links.len();
        if let (link, Some(relay)) = &mut links[place] {
            link.send(*relay, Channel::Unreliable, vec![0; args.bytes]);
        }
        turn += 1;
        std::thread::sleep(pause);
    }
    ExitCode::SUCCESS
}

/// A carrier to so many of them, each of which sends as much as this.
pub(super) fn carrier(players: u16, up: Rate) -> Result<Carrier<MatchboxLink>, Failure> {
    let signaling = Signaling::private()?;
    let mut link = open(&signaling.url, RoomRole::Relay { token: ROOM.to_owned() });
    await_events(&mut link, 1, |event| matches!(event, LinkEvent::Entered(_)).then_some(()))?;
    let (number, rate) = (players.to_string(), up.packets.to_string());
    let bytes = (up.payload / up.packets.max(0.1)).round().to_string();
    let words =
        ["carry", "--signal", &signaling.url, "--players", &number, "--packets-per-s", &rate, "--bytes", &bytes];
    let process = Peer::start(&words.map(str::to_owned), Stdio::null(), Stdio::null())?;
    let peers = await_events(&mut link, players.into(), connected)?;
    Ok(Carrier { link, peers, guard: Box::new((process, signaling)) })
}

fn await_events<T>(
    link: &mut MatchboxLink,
    count: usize,
    wanted: fn(&LinkEvent) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let (mut found, deadline) = (Vec::new(), Instant::now() + CONNECT_MAX);
    while found.len() < count {
        found.extend(std::iter::from_fn(|| link.poll()).filter_map(|event| wanted(&event)));
        if Instant::now() > deadline {
            return Err(Failure::new("nobody could be connected; see whether WebRTC works on this machine"));
        }
        std::thread::sleep(LOOK_PERIOD);
    }
    Ok(found)
}

fn connected(event: &LinkEvent) -> Option<PeerId> {
    if let LinkEvent::Connected(peer) = event { Some(*peer) } else { None }
}

fn open(url: &str, role: RoomRole) -> MatchboxLink {
    place::link(url, ROOM, &None, &args::Ice::default(), role)
}
