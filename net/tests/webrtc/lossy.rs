//! Joining over lines that lose packets: a handshake that fails is tried again, and nobody is told
//! that something lies in the way.

use std::time::{Duration, Instant};

use super::apart::Site;

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
