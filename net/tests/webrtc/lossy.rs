//! Joining over lines that lose packets: a handshake that fails is tried again, and nobody is told
//! that something lies in the way.

use std::time::{Duration, Instant};

use lockstone_net::matchbox::RoomRole;
use lockstone_net::signaling::Handle;
use lockstone_net::{LinkEvent, PeerId};
use testkit::sessions::*;

use super::apart::Site;
use super::line::{self, Weather};
use super::peers::{Peer, meet, serve};
use super::sessions::{join, party_at, play};

/// Of so many packets one is lost.
const OF: u32 = 10;
/// Four handshakes in vain, or a few and a machine that does other things.
const JOINS_WITHIN: Duration = Duration::from_secs(20);

#[test]
fn newcomers_get_in_over_lines_that_lose_every_tenth_packet() {
    const PLAYERS: u8 = 5;
    let Some(site) = Site::of_test("lossy::newcomers_get_in_over_lines_that_lose_every_tenth_packet", PLAYERS) else {
        return;
    };
    let mut apart = site.party(0..2);
    if !site.network.fray(OF) {
        return;
    }
    for host in 2..PLAYERS {
        let begun = Instant::now();
        apart.party.enter(site.server, "of-0", site.network.program(host));
        apart.party.until_whole();
        println!("one of {OF} is lost: player {host} is in after {:?}", begun.elapsed());
        assert!(begun.elapsed() < JOINS_WITHIN, "{:?}", begun.elapsed());
    }
    let ended = apart.party.players.iter().flat_map(|player| &player.news).find(|(_, news)| news.contains("firewall"));
    assert!(ended.is_none(), "{ended:?}");
}

/// On every way, in each direction.
const DELAY: Duration = Duration::from_millis(100);

#[test]
fn newcomers_get_in_over_lines_that_lose_every_tenth_packet_and_take_100_ms() {
    let server = serve();
    let far =
        line::before(server.local_addr(), Weather { lost: u64::from(100 / OF), delay: DELAY, opens: Instant::now() });
    let mut players = Vec::new();
    for name in ["Ada", "Bram", "Cleo", "Dora"] {
        let begun = Instant::now();
        players.push(party_at(far, name));
        let took = join(&mut players, begun);
        println!("one of {OF} is lost, and the rest takes {DELAY:?}: {name} is in after {took:?}");
        assert!(took < JOINS_WITHIN, "{took:?}");
    }
    play(&mut players, 60);
    // That they are as far from each other as that.
    for player in &players[1..] {
        let stats = player.session.stats();
        let trip = stats.players.iter().find_map(|row| row.exchange.as_ref()?.rtt()).expect("it hears the sequencer");
        assert!(trip >= 2 * DELAY, "{trip:?}");
        assert_eq!((stats.desyncs, ended(&player.session)), (0, None));
    }
}

/// A relay, and a player of it, with nothing between them before that.
fn relay_and_player(opens: Instant) -> ((Peer, PeerId), (Peer, PeerId), Handle) {
    let server = serve();
    let far = line::before(server.local_addr(), Weather { lost: 0, delay: Duration::ZERO, opens });
    let host = Peer::enter_as(RoomRole::Relay { token: "t".into() }, far, "r");
    (host, Peer::enter_as(RoomRole::Player, far, "r"), server)
}

/// Its first handshake is in vain: ICE seeks a way for 1.4 s alone.
#[test]
fn a_relays_player_tries_again_before_its_relay_is_said_not_to_answer() {
    let (begun, opens) = (Instant::now(), Instant::now() + Duration::from_secs(5));
    let (mut host, player, _server) = relay_and_player(opens);
    meet(&mut host, &mut [player]);
    println!("the player is in after {:?}", begun.elapsed());
    assert!(Instant::now() > opens && begun.elapsed() < JOINS_WITHIN, "{:?}", begun.elapsed());
}

#[test]
fn a_relays_player_that_cannot_reach_it_is_told_so_within_half_a_minute() {
    let begun = Instant::now();
    let (mut host, (mut player, _), _server) = relay_and_player(begun + Duration::from_secs(3_600));
    let ended = loop {
        host.0.look();
        let closed = |event: &LinkEvent| if let LinkEvent::Closed(error) = event { Some(error.clone()) } else { None };
        if let Some(error) = player.find(closed) {
            break error;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it waits for ever");
        std::thread::park_timeout(Duration::from_millis(1));
    };
    println!("{ended} after {:?}", begun.elapsed());
    assert!(ended.to_string().contains("does not answer"), "{ended}");
    assert!(begun.elapsed() > Duration::from_secs(20), "it tries for long enough: {:?}", begun.elapsed());
}
