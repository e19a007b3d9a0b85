//! Joining over lines that lose packets: a handshake that fails is tried again, and nobody is told
//! that something lies in the way.

use std::time::{Duration, Instant};

use testkit::sessions::*;

use super::apart::Site;
use super::line::{self, Weather};
use super::peers::serve;
use super::sessions::{join, party_at, play};

/// Of every hundred.
const LOST: u32 = 10;
/// Two handshakes in vain, and a machine that does other things.
const JOINS_WITHIN: Duration = Duration::from_secs(20);

#[test]
fn newcomers_get_in_over_lines_that_lose_every_tenth_packet() {
    const PLAYERS: u8 = 5;
    let Some(site) = Site::of_test("lossy::newcomers_get_in_over_lines_that_lose_every_tenth_packet", PLAYERS) else {
        return;
    };
    let mut apart = site.party(0..2);
    if !site.network.fray(LOST) {
        return;
    }
    for host in 2..PLAYERS {
        let begun = Instant::now();
        apart.party.enter(site.server, "of-0", site.network.program(host));
        apart.party.until_whole();
        println!("{LOST} % are lost: player {host} is in after {:?}", begun.elapsed());
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
    let far = line::before(server.local_addr(), Weather { lost: LOST.into(), delay: DELAY });
    let mut players = Vec::new();
    for name in ["Ada", "Bram", "Cleo", "Dora"] {
        let begun = Instant::now();
        players.push(party_at(far, name));
        let took = join(&mut players, begun);
        println!("{LOST} % are lost, and the rest takes {DELAY:?}: {name} is in after {took:?}");
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
