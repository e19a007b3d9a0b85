//! A bit of one process's world turns over, and the party puts it right over WebRTC.

use std::collections::BTreeMap;
use std::time::Instant;

use lockstone_sim::PlayerId;

use super::party::{Party, Player, SECOND, SOON, assert_one_world};
use super::peers::ANY_PORT;
use super::process::{Order, Process, here};

/// A bit of a player's world turns over. Nobody else's differs, and soon that one does no more.
fn is_put_right(party: &mut Party, odd: PlayerId) {
    let (odd, sound) = (usize::from(odd.0), usize::from(other(odd).0));
    let erred = Instant::now();
    party.players[odd].order(Order::Err);
    party.pass(SOON + SECOND);
    let sound: BTreeMap<_, _> = party.players[sound].told.iter().map(|(_, word)| (word.tick, word.checksum)).collect();
    let mut wrong = Vec::new();
    for player in &party.players {
        let told = player.told.iter().filter(|(at, _)| *at > erred);
        let differs = told.filter(|(_, word)| sound.get(&word.tick).is_some_and(|sound| *sound != word.checksum));
        wrong.extend(differs.map(|(at, _)| (*at - erred, player.id)));
    }
    assert!(wrong.iter().all(|(_, player)| *player == party.players[odd].id), "{wrong:?}");
    let (last, player) = wrong.last().expect("the bit is found to differ");
    println!("the world of {player:?} is put right after {last:?}");
    assert!(*last < SOON, "{last:?}");
    party.until_whole();
}

#[test]
fn a_bit_that_turns_over_is_put_right_in_a_replica_and_in_the_sequencer() {
    let (_server, addr) = Process::serve_by(here(), ANY_PORT);
    let mut party = Party::here(addr, "party", 4);
    let replica = other(party.leader());
    is_put_right(&mut party, replica);
    let leader = party.leader();
    is_put_right(&mut party, leader);
    assert_ne!(party.leader(), leader, "it hands over before it is repaired");
}

/// Its world is right, and it says so when it is asked what that is made of.
#[test]
fn who_reports_a_false_checksum_is_named_and_put_out() {
    let (_server, addr) = Process::serve_by(here(), ANY_PORT);
    let mut party = Party::here(addr, "party", 4);
    let (sequencer, liar) = (party.leader(), other(party.leader()));
    let [sequencer, odd] = [sequencer, liar].map(|player| usize::from(player.0));
    let lied = Instant::now();
    party.players[odd].order(Order::Lie);
    let named = format!("{liar} reported a false checksum");
    let takes = party.until("the liar to be named", |players| !players[sequencer].heard(lied, &named).is_empty());
    println!("{named}: after {takes:?}");
    assert!(takes < SOON, "{takes:?}");
    party.pass(SECOND / 2);
    let out = |player: &Player| !player.heard(party.begun, "put out of the session").is_empty();
    assert!(out(&party.players[odd]), "{:?}", party.players[odd].news);
    assert_one_world(&party.players, party.begun, 0);
    party.dead.push(party.players.remove(odd));
    party.until_whole();
    for player in &party.players {
        assert_eq!(player.heard(party.begun, "repaired").len(), 0);
        assert!(player.stall(party.begun) < SECOND, "the others play on at their pace");
    }
}

/// The next of the four players.
fn other(player: PlayerId) -> PlayerId {
    PlayerId((player.0 + 1) % 4)
}
