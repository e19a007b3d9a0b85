//! A bit of one process's world turns over, and the party puts it right over WebRTC.

use std::collections::BTreeMap;
use std::time::Instant;

use lockstone_sim::PlayerId;

use super::party::{Party, SECOND, SOON};
use super::peers::any_port;
use super::process::{Process, here};

/// A bit of a player's world turns over. Nobody else's differs, and soon that one does no more.
fn is_put_right(party: &mut Party, odd: PlayerId) {
    let (odd, sound) = (usize::from(odd.0), usize::from(other(odd).0));
    let erred = Instant::now();
    party.players[odd].err();
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
    let (_server, addr) = Process::serve_by(here(), any_port());
    let mut party = Party::gather(addr, (0..4).map(|_| here()));
    let replica = other(party.leader());
    is_put_right(&mut party, replica);
    let leader = party.leader();
    is_put_right(&mut party, leader);
    assert_ne!(party.leader(), leader, "it hands over before it is repaired");
}

/// The next of the four players.
fn other(player: PlayerId) -> PlayerId {
    PlayerId((player.0 + 1) % 4)
}
