//! A party over WebRTC whose sequencers are killed, each a process, and its signaling server too.

use std::thread;
use std::time::{Duration, Instant};

use super::party::{Party, SECOND, SOON, assert_one_world};
use super::peers::ANY_PORT;
use super::process::{Process, here};

#[test]
fn a_party_outlives_its_sequencers_and_its_signaling_server() {
    let (server, addr) = Process::serve_by(here(), ANY_PORT);
    let mut party = Party::here(addr, "party", 6);
    let kill_first = |party: &mut Party, what: &str, count| {
        party.kill(0..count);
        let takes = party.until_led_on(0..party.players.len());
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

#[test]
fn of_two_the_one_that_is_left_goes_on() {
    let (_server, addr) = Process::serve_by(here(), ANY_PORT);
    thread::scope(|scope| {
        for (killed, what) in ["the sequencer", "the other"].into_iter().enumerate() {
            scope.spawn(move || {
                let mut party = Party::here(addr, &format!("two-{killed}"), 2);
                let at = Instant::now();
                party.kill(killed..killed + 1);
                let takes = party.until_led_on(0..1);
                println!("of two {what} is killed: the next turn comes after {takes:?}");
                assert!(takes < SOON, "{takes:?}");
                let (before, left) = (Instant::now(), party.players[0].id);
                party.pass(3 * SECOND);
                assert!(party.players[0].stall(before) < SECOND, "it plays on at its pace");
                assert_eq!(party.leader(), left);
                assert_eq!(party.players[0].heard(at, "may come back").len(), 1, "it is told so once");
                assert_one_world(party.players.iter().chain(&party.dead), party.begun, 0);
            });
        }
    });
}

/// At several moments of the joining, and each time one more is dead.
#[test]
fn a_sequencer_is_killed_while_another_joins_who_gets_in_all_the_same() {
    const JOINED_WITHIN: Duration = Duration::from_secs(5 + 3);
    let (_server, addr) = Process::serve_by(here(), ANY_PORT);
    let mut party = Party::here(addr, "party", 3);
    for ms in [100, 300, 500, 700] {
        let others = party.players.len() - 1;
        assert_eq!(party.leader(), party.players[0].id);
        party.enter(addr, "party", here());
        party.pass(Duration::from_millis(ms));
        let killed = Instant::now();
        party.kill(0..1);
        let others = party.until_led_on(0..others);
        party.until_whole();
        let joiner = killed.elapsed();
        println!("killed after {ms} ms: the next turn comes after {others:?}, the joiner plays after {joiner:?}");
        assert!(others < SOON, "{others:?}");
        assert!(joiner < JOINED_WITHIN, "{joiner:?}");
        party.pass(SECOND);
    }
    assert_one_world(party.players.iter().chain(&party.dead), party.begun, 1);
}
