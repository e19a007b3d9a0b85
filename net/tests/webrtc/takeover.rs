//! A party over WebRTC whose sequencers are killed, each a process, and its signaling server too.

use super::party::{Party, SECOND, SOON, assert_one_world};
use super::peers::any_port;
use super::process::{Process, here};

#[test]
fn a_party_outlives_its_sequencers_and_its_signaling_server() {
    let (server, addr) = Process::serve_by(here(), any_port());
    let mut party = Party::gather(addr, (0..6).map(|_| here()));
    let kill_first = |party: &mut Party, what: &str, count| {
        let takes = party.kill_first(count);
        println!("{what}: the next turn comes after {takes:?}");
        // By then those who are gone have no vote.
        party.pass(5 * SECOND);
        takes
    };
    assert!(kill_first(&mut party, "the sequencer is killed", 1) < SOON);
    assert!(kill_first(&mut party, "the sequencer and its successor", 2) < SOON + SECOND);
    drop(server);
    assert!(kill_first(&mut party, "the sequencer and the signaling server", 1) < SOON);
    let all = party.players.iter().chain(&party.dead);
    assert_one_world(all, party.begun, 2);
}
