//! A party whose players lose each other for a while, each a process at a host of its own, and
//! signaling in another: some are cut off from the others, nothing arrives at all, or not every
//! way.
//!
//! The bars are those of a quiet machine. What is asserted leaves a busy one a second more.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use lockstone_sim::PlayerId;

use super::network::{Network, Way, between};
use super::peers::until;
use super::process::{Process, Word};

/// The host of the signaling server.
const SERVER: u8 = 0;
const SECOND: Duration = Duration::from_secs(1);
/// Within 2 s, and what a machine that does other things is late.
const SOON: Duration = Duration::from_secs(2 + 1);
/// Within 5 s, likewise.
const WHOLE_WITHIN: Duration = Duration::from_secs(5 + 1);

/// Players who play: player 0 at host 1, and so on.
struct Party {
    network: Network,
    players: Vec<Player>,
    _server: Process,
    /// When all had come together.
    begun: Instant,
}

struct Player {
    _process: Process,
    words: Receiver<(Instant, Word)>,
    told: Vec<(Instant, Word)>,
}

impl Player {
    fn newest(&self) -> Option<&Word> {
        self.told.last().map(|(_, word)| word)
    }

    /// For how long its world stood still at most since a moment.
    fn stall(&self, since: Instant) -> Duration {
        let times = self.told.iter().map(|(at, _)| *at);
        let gaps = times.clone().zip(times.skip(1)).filter(|(_, next)| *next > since);
        gaps.map(|(at, next)| next - at).max().unwrap_or_default()
    }
}

impl Party {
    /// Of so many players, where the test may have a network.
    fn of_test(name: &str, players: u8) -> Option<Party> {
        let network = Network::of_test(name, players + 1)?;
        let addr = SocketAddr::from((network.address(SERVER), 3536));
        let _server = Process::serve_by(network.program(SERVER), addr);
        let mut party = Party { network, players: Vec::new(), _server, begun: Instant::now() };
        for host in 1..=players {
            let (_process, words) = Process::play_by(party.network.program(host), addr, "party", host);
            party.players.push(Player { _process, words, told: Vec::new() });
            party.until_whole();
        }
        party.begun = Instant::now();
        party.pass(SECOND);
        Some(party)
    }

    /// Listens until something is so. Returns how long that took.
    fn until(&mut self, what: &str, is: impl Fn(&[Player]) -> bool) -> Duration {
        let begun = Instant::now();
        until(what, || {
            self.players.iter_mut().for_each(|player| player.told.extend(player.words.try_iter()));
            is(&self.players).then_some(())
        });
        begun.elapsed()
    }

    fn pass(&mut self, time: Duration) {
        let begun = Instant::now();
        self.until("time to pass", |_| begun.elapsed() >= time);
    }

    /// Until all play on beyond what anyone has played, each its own hero, nobody being away, and
    /// one leads.
    fn until_whole(&mut self) -> Duration {
        let ids: Vec<_> = (0..self.players.len() as u16).map(PlayerId).collect();
        let played = self.players.iter().filter_map(Player::newest).map(|word| word.tick).max();
        self.until("all to play on", |players| {
            let leader = players[0].newest().and_then(|word| word.leader);
            let plays_on = |player: &Player, id| {
                let Some(word) = player.newest() else { return false };
                let is_here = word.player == id && word.players == ids && word.away.is_empty();
                is_here && word.leader.is_some() && word.leader == leader && Some(word.tick) > played
            };
            players.iter().zip(&ids).all(|(player, id)| plays_on(player, *id))
        })
    }

    /// The host whose player leads.
    fn leader(&self) -> u8 {
        let leader = self.players[0].newest().and_then(|word| word.leader);
        leader.expect("the party is whole").0 as u8 + 1
    }

    /// What was lost on these ways arrives again: all play one world again.
    fn is_whole_again(&mut self, ways: &[Way]) {
        self.network.mend(ways);
        let takes = self.until_whole();
        println!("all are together again after {takes:?}");
        assert!(takes < WHOLE_WITHIN, "{takes:?}");
        let whole = Instant::now();
        self.pass(2 * SECOND);
        assert_one_world(&self.players, whole);
    }

    /// Nothing arrives on these ways for 3 s. Returns for how long each player's world stood still.
    fn endures(&mut self, what: &str, ways: &[Way]) -> Vec<Duration> {
        let lost = Instant::now();
        self.network.lose(ways);
        self.pass(3 * SECOND);
        self.network.mend(ways);
        let whole = self.until_whole();
        let stalls: Vec<_> = self.players.iter().map(|player| player.stall(lost)).collect();
        println!("{what}: in step again after {whole:?}; the worlds stood still for {stalls:?}");
        assert!(whole < SOON, "{whole:?}");
        self.pass(SECOND);
        stalls
    }
}

/// Whoever played a tick from a moment on had the same world.
fn assert_one_world<'a>(players: impl IntoIterator<Item = &'a Player>, since: Instant) {
    let mut worlds: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let told = players.into_iter().flat_map(|player| &player.told);
    for (_, word) in told.filter(|(at, _)| *at >= since) {
        worlds.entry(word.tick).or_default().push(word.checksum);
    }
    assert!(worlds.values().filter(|worlds| worlds.len() > 1).count() > 10, "the same ticks are compared");
    let differs = worlds.iter().find(|(_, worlds)| worlds.iter().any(|world| *world != worlds[0]));
    assert_eq!(differs, None);
}

/// Since they came together nobody saw anyone away, or gone.
fn assert_nobody_missed(party: &Party) {
    let told = party.players.iter().flat_map(|player| &player.told).filter(|(at, _)| *at > party.begun);
    let missed = told.clone().find(|(_, word)| word.players.len() < party.players.len() || !word.away.is_empty());
    assert_eq!(missed.map(|(at, word)| (*at - party.begun, word)), None);
}

/// The sequencer is one of the two.
#[test]
fn three_of_five_go_on_and_are_found_again_by_the_two() {
    let name = "cuts::three_of_five_go_on_and_are_found_again_by_the_two";
    let Some(mut party) = Party::of_test(name, 5) else { return };
    assert_eq!(party.leader(), 1);
    let ways = between(&[1, 2], &[3, 4, 5]);
    party.network.lose(&ways);
    let cut = Instant::now();
    let takes = party.until("the three to go on", |players| {
        players[2..].iter().filter_map(Player::newest).all(|word| word.leader >= Some(PlayerId(2)))
    });
    println!("the three go on after {takes:?}");
    assert!(takes < SOON, "{takes:?}");
    party.pass(8 * SECOND - takes);
    let (two, three) = party.players.split_at(2);
    for player in two {
        let last = player.told.last().unwrap().0 - cut;
        println!("the last turn of the two comes after {last:?}");
        assert!(last < SOON, "{last:?}");
    }
    assert_one_world(three, party.begun);
    party.is_whole_again(&ways);

    // Now for longer than the others wait for them, and than SCTP tries often.
    assert!(party.leader() > 2);
    party.network.lose(&ways);
    party.pass(20 * SECOND);
    party.is_whole_again(&ways);
}

#[test]
fn a_party_endures_that_packets_are_lost_on_some_ways_or_all() {
    let name = "cuts::a_party_endures_that_packets_are_lost_on_some_ways_or_all";
    let Some(mut party) = Party::of_test(name, 3) else { return };
    let hosts = [SERVER, 1, 2, 3];
    let from = |leader| hosts.into_iter().filter(move |to| ![SERVER, leader].contains(to)).map(move |to| (leader, to));

    let stalls = party.endures("nothing arrives", &between(&hosts, &hosts));
    assert!(stalls.iter().all(|stall| *stall > SECOND), "nobody may close turns alone");

    let leader = party.leader();
    party.endures("the leader is not heard", &from(leader).collect::<Vec<_>>());
    assert_ne!(party.leader(), leader);

    let leader = party.leader();
    party.endures("the leader hears nobody", &from(leader).map(|(one, other)| (other, one)).collect::<Vec<_>>());
    assert_ne!(party.leader(), leader);

    // The third is heard by both, and knows what they lack.
    let leader = party.leader();
    let other = if leader == 1 { 2 } else { 1 };
    for (what, ways) in [
        ("one does not hear the leader", vec![(leader, other)]),
        ("the leader does not hear one", vec![(other, leader)]),
        ("the leader and one do not hear each other", between(&[leader], &[other])),
    ] {
        let stalls = party.endures(what, &ways);
        assert!(stalls.iter().all(|stall| *stall < SOON), "all play on meanwhile");
        assert_eq!(party.leader(), leader);
    }
    assert_one_world(&party.players, party.begun);
    assert_nobody_missed(&party);
}
