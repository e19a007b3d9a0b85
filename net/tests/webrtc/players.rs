//! Players of a party whose processes stand still, are killed, and come back.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lockstone_net::Party;
use lockstone_net::session::Event;
use lockstone_sim::PlayerId;
use testkit::sessions::*;

use super::peers::*;
use super::process::{Process, keyed};
use super::sessions::{Player, all};

const ROOM: &str = "players";
/// The player in a process of its own.
const THEIRS: PlayerId = PlayerId(3);

type Players = Vec<Player<Party<Mixer>>>;

/// Three players here, and one in a process of its own.
fn four(server: SocketAddr) -> (Players, Process) {
    let mut players = Players::new();
    for key in 0..3 {
        players.push(Player::enter(server, ROOM, keyed(key)));
        all("to play", &mut players, |player| playing(&player.session));
    }
    let process = Process::play(server, ROOM, 3);
    all("the fourth", &mut players, |player| player.session.stats().players.len() == 4);
    (players, process)
}

/// What all were told of players since they were asked last.
fn news(players: &mut Players) -> Vec<Vec<String>> {
    let of_players = |event: &Event<Mixer>| {
        use Event::*;
        matches!(event, PlayerJoined { .. } | PlayerAway { .. } | PlayerBack { .. } | PlayerLeft { .. })
    };
    let told = |player: &mut Player<Party<Mixer>>| {
        player.events.drain(..).filter(of_players).map(|event| format!("{event:?}")).collect()
    };
    players.iter_mut().map(told).collect()
}

fn await_news(players: &mut Players, wanted: impl Fn(&Event<Mixer>) -> bool) {
    all("news of the fourth", players, |player| player.events.iter().any(&wanted));
}

fn is_away(event: &Event<Mixer>) -> bool {
    matches!(event, Event::PlayerAway { player: THEIRS, .. })
}

fn is_back(event: &Event<Mixer>) -> bool {
    matches!(event, Event::PlayerBack { player: THEIRS, .. })
}

#[test]
fn a_process_that_stands_still_slows_nobody_down_and_comes_back_to_its_hero() {
    stands_still(Duration::from_secs(20));
}

/// For so long that the connections end, and the others offer new ones twice in vain.
#[test]
#[ignore = "takes more than a minute"]
fn a_process_that_stands_still_for_a_minute_comes_back_to_its_hero() {
    stands_still(Duration::from_secs(60));
}

fn stands_still(time: Duration) {
    let server = serve();
    let (mut players, process) = four(server.local_addr());
    news(&mut players);
    let (tick, stopped) = (players[0].session.stats().tick, Instant::now());
    process.stop();
    while stopped.elapsed() < time {
        players.iter_mut().for_each(Player::advance);
        std::thread::park_timeout(Duration::from_millis(1));
    }
    let (played, expected) = (players[0].session.stats().tick.since(tick), stopped.elapsed().as_millis() as u32 / 50);
    assert!(played.abs_diff(expected) <= 10, "{played} ticks, not {expected}");
    assert!(players.iter().all(|player| player.events.iter().any(is_away)));
    process.go_on();
    let woken = Instant::now();
    await_news(&mut players, is_back);
    println!("back after {:?}", woken.elapsed());
    assert!(woken.elapsed() < Duration::from_secs(3));
    assert!(news(&mut players).iter().all(|told| told.len() == 2), "away, back, and nothing else");
}

#[test]
fn a_process_that_is_killed_comes_back_with_its_key_and_another_is_new() {
    let server = serve();
    let (mut players, process) = four(server.local_addr());
    news(&mut players);
    drop(process);
    let killed = Instant::now();
    await_news(&mut players, is_away);
    println!("missed after {:?}", killed.elapsed());
    assert!(killed.elapsed() < Duration::from_secs(5));
    let started = Instant::now();
    let _process = Process::play(server.local_addr(), ROOM, 3);
    await_news(&mut players, is_back);
    println!("back after {:?}", started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(news(&mut players).iter().all(|told| told.len() == 2), "away, back, and no second hero");
    let _other = Process::play(server.local_addr(), ROOM, 9);
    await_news(&mut players, |event| matches!(event, Event::PlayerJoined { player: PlayerId(4), .. }));
    assert!(news(&mut players).iter().all(|told| told.len() == 1));
}

/// While the process is gone the room's server is too, and begins anew.
#[test]
fn a_process_comes_back_to_its_hero_by_a_server_that_was_restarted() {
    let server = serve();
    let addr = server.local_addr();
    let (mut players, process) = four(addr);
    news(&mut players);
    drop(server);
    drop(process);
    let _server = serve_at(addr);
    let _process = Process::play(addr, ROOM, 3);
    await_news(&mut players, is_back);
    assert!(news(&mut players).iter().all(|told| told.len() == 2));
}
