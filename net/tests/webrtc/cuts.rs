//! A party whose players lose each other for a while, each a process at a host of its own, and
//! signaling in another: some are cut off from the others, nothing arrives at all, or not every
//! way.
//!
//! The bars are those of a quiet machine. What is asserted leaves a busy one some seconds more.

use std::thread;
use std::time::{Duration, Instant};

use super::apart::{Apart, Site};
use super::hall;
use super::network::Way;
use super::party::{SECOND, SOON, YIELDED, assert_one_world};
use super::two;

impl Apart<'_> {
    /// Nothing arrives on these ways for 3 s. Returns for how long each player's world stood still.
    fn endures(&mut self, what: &str, ways: &[Way]) -> Vec<Duration> {
        let lost = Instant::now();
        self.site.network.lose(ways);
        self.party.pass(3 * SECOND);
        self.site.network.mend(ways);
        let whole = self.party.until_whole();
        let stalls: Vec<_> = self.party.players.iter().map(|player| player.stall(lost)).collect();
        println!("{what}: in step again after {whole:?}; the worlds stood still for {stalls:?}");
        assert!(whole < SOON, "{whole:?}");
        let whole = Instant::now();
        self.party.pass(SECOND);
        assert_one_world(&self.party.players, whole, 0);
        stalls
    }
}

/// All at once, each party with hosts of its own, as they do little but wait.
#[test]
fn players_who_lose_each_other_are_one_session_again() {
    let name = "cuts::players_who_lose_each_other_are_one_session_again";
    let [twos, halls] = [13, 13 + two::HOSTS];
    let Some(site) = Site::of_test(name, halls + hall::HOSTS) else { return };
    thread::scope(|scope| {
        scope.spawn(|| hall::a_player_loses_its_relay(site.hall(halls..halls + hall::HOSTS)));
        scope.spawn(|| three_of_five_go_on_and_are_found_again_by_the_two(site.party(0..5)));
        scope.spawn(|| two_of_five_reach_nobody_for_longer_than_connections_live(site.party(5..10)));
        scope.spawn(|| one_of_three_reaches_signaling_alone(site.party(10..13)));
        two::lose_each_other(scope, &site, twos);
    });
}

/// The sequencer is one of the two.
fn three_of_five_go_on_and_are_found_again_by_the_two(mut apart: Apart<'_>) {
    assert_eq!(apart.leader(), 0);
    let ways = apart.between(&[0, 1], &[2, 3, 4]);
    apart.site.network.lose(&ways);
    let cut = Instant::now();
    let takes = apart.party.until_led_on(2..5);
    println!("the three go on after {takes:?}");
    assert!(takes < SOON, "{takes:?}");
    apart.party.pass(8 * SECOND - takes);
    let (two, three) = apart.party.players.split_at(2);
    for player in two {
        let last = player.told.last().unwrap().0 - cut;
        println!("the last turn of the two comes after {last:?}");
        assert!(last < SOON, "{last:?}");
    }
    assert_one_world(three, apart.party.begun, 0);
    apart.is_whole_again("3 and 2, for 8 s", &ways);

    // Now for longer than the others wait for them, and than SCTP tries often.
    assert!(apart.leader() >= 2);
    apart.site.network.lose(&ways);
    let cut = Instant::now();
    apart.party.go_on_as_branch(0..2, cut);
    apart.party.pass(20 * SECOND - cut.elapsed());
    let [of_two, of_three] = [0, 2].map(|player| apart.party.players[player].branch());
    assert!(of_two != of_three, "a branch has a name of its own");
    apart.is_whole_again("3 and 2, who went on as a branch, for 20 s", &ways);
    assert!(apart.party.players.iter().all(|player| player.branch() == of_three), "the session is that of the three");
    let yielded = apart.party.players.iter().filter(|player| !player.heard(cut, YIELDED).is_empty());
    assert_eq!(yielded.map(|player| player.id.0).collect::<Vec<_>>(), [0, 1]);
    // The three discard nothing, and the two nothing that their branch played.
    assert_one_world(&apart.party.players, cut + SOON, 0);
}

/// ICE gives up a connection by which nothing comes for half a minute. It is made anew.
fn two_of_five_reach_nobody_for_longer_than_connections_live(mut apart: Apart<'_>) {
    let mut ways = apart.between(&[0, 1], &[2, 3, 4]);
    ways.extend([0, 1].map(|player| apart.to_server(player)).concat());
    apart.site.network.lose(&ways);
    let cut = Instant::now();
    apart.party.pass(45 * SECOND);
    let [two, three] = [0, 2].map(|player| apart.party.players[player].told.last().unwrap().0);
    assert!(two - cut < SOON && three.elapsed() < SOON, "the two wait, and the three play");
    apart.is_whole_again("3 and 2, who do not reach signaling, for 45 s", &ways);
    assert_one_world(&apart.party.players, cut + SOON, 0);
}

/// The server tells nobody that it is gone, nor that it is back.
fn one_of_three_reaches_signaling_alone(mut apart: Apart<'_>) {
    let ways = apart.between(&[2], &[0, 1]);
    apart.site.network.lose(&ways);
    let cut = Instant::now();
    apart.party.pass(45 * SECOND);
    let [two, one] = [0, 2].map(|player| apart.party.players[player].told.last().unwrap().0);
    assert!(one - cut < SOON && two.elapsed() < SOON, "the one waits, and the two play");
    apart.is_whole_again("2 and 1, who reaches signaling, for 45 s", &ways);
    assert_one_world(&apart.party.players, cut + SOON, 0);
}

#[test]
fn a_party_endures_that_packets_are_lost_on_some_ways_or_all() {
    let name = "cuts::a_party_endures_that_packets_are_lost_on_some_ways_or_all";
    let Some(site) = Site::of_test(name, 3) else { return };
    let mut apart = site.party(0..3);
    let from = |leader| (0..3).filter(move |to| *to != leader).map(move |to| (leader, to));

    let hosts = [0, 1, 2, 3];
    let stalls = apart.endures("nothing arrives", &apart.between(&hosts, &hosts));
    assert!(stalls.iter().all(|stall| *stall > SECOND), "nobody may close turns alone");

    let leader = apart.leader();
    apart.endures("the leader is not heard", &from(leader).collect::<Vec<_>>());
    assert_ne!(apart.leader(), leader);

    let leader = apart.leader();
    apart.endures("the leader hears nobody", &from(leader).map(|(one, other)| (other, one)).collect::<Vec<_>>());
    assert_ne!(apart.leader(), leader);

    // The third is heard by both, and knows what they lack.
    let leader = apart.leader();
    let other = (leader + 1) % 3;
    for (what, ways) in [
        ("one does not hear the leader", vec![(leader, other)]),
        // SCTP may be about to try again just when it can, or seconds later.
        ("the leader does not hear one", vec![(other, leader)]),
        ("the leader does not hear one again", vec![(other, leader)]),
        ("the leader does not hear one once more", vec![(other, leader)]),
        ("the leader and one do not hear each other", apart.between(&[leader], &[other])),
    ] {
        let stalls = apart.endures(what, &ways);
        assert!(stalls.iter().all(|stall| *stall < SOON), "all play on meanwhile");
        assert_eq!(apart.leader(), leader);
    }
    let party = &apart.party;
    assert_one_world(&party.players, party.begun, 1);
    let told = party.players.iter().flat_map(|player| &player.told).filter(|(at, _)| *at > party.begun);
    let missed = told.clone().find(|(_, word)| word.players.len() < 3 || !word.away.is_empty());
    assert_eq!(missed, None, "since {:?} nobody was away or gone", party.begun);
}
