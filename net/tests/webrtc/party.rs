//! Players of a party, each in a process of its own, and signaling in another: what they tell, and
//! what must hold among them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use lockstone_sim::PlayerId;

use super::peers::until;
use super::process::{Process, Word};

pub const SECOND: Duration = Duration::from_secs(1);
/// Within 2 s, and what a machine that does other things is late.
pub const SOON: Duration = Duration::from_secs(2 + 1);
/// A sequencer closes no more ticks ahead for players who are so near.
const CLOSED_AHEAD_MAX: u32 = 3;

/// Players who play.
pub struct Party {
    pub players: Vec<Player>,
    /// Those whose processes were killed.
    pub dead: Vec<Player>,
    /// When all had come together.
    pub begun: Instant,
}

pub struct Player {
    pub id: PlayerId,
    process: Option<Process>,
    words: Receiver<(Instant, Word)>,
    pub told: Vec<(Instant, Word)>,
}

impl Player {
    pub fn newest(&self) -> Option<&Word> {
        self.told.last().map(|(_, word)| word)
    }

    /// A bit of its world turns over.
    pub fn err(&mut self) {
        self.process.iter_mut().for_each(Process::err);
    }

    /// For how long its world stood still at most since a moment.
    pub fn stall(&self, since: Instant) -> Duration {
        let times = self.told.iter().map(|(at, _)| *at);
        let gaps = times.clone().zip(times.skip(1)).filter(|(_, next)| *next > since);
        gaps.map(|(at, next)| next - at).max().unwrap_or_default()
    }
}

impl Party {
    /// Of players who are run by these programs, and find each other at a server. The first one is
    /// player 0.
    pub fn gather(server: SocketAddr, programs: impl IntoIterator<Item = Command>) -> Party {
        let mut party = Party { players: Vec::new(), dead: Vec::new(), begun: Instant::now() };
        for (id, program) in (0..).zip(programs) {
            let (process, words) = Process::play_by(program, server, "party", id as u8);
            let process = Some(process);
            party.players.push(Player { id: PlayerId(id), process, words, told: Vec::new() });
            party.until_whole();
        }
        party.begun = Instant::now();
        party.pass(SECOND);
        party
    }

    /// Listens until something is so. Returns how long that took.
    pub fn until(&mut self, what: &str, is: impl Fn(&[Player]) -> bool) -> Duration {
        let begun = Instant::now();
        until(what, || {
            let all = self.players.iter_mut().chain(&mut self.dead);
            all.for_each(|player| player.told.extend(player.words.try_iter()));
            is(&self.players).then_some(())
        });
        begun.elapsed()
    }

    pub fn pass(&mut self, time: Duration) {
        let begun = Instant::now();
        self.until("time to pass", |_| begun.elapsed() >= time);
    }

    /// Until all play on beyond what anyone has played, each its own hero, nobody being away, and
    /// one leads.
    pub fn until_whole(&mut self) -> Duration {
        let ids: Vec<_> = self.players.iter().map(|player| player.id).collect();
        let played = self.players.iter().filter_map(Player::newest).map(|word| word.tick).max();
        self.until("all to play on", |players| {
            let leader = players[0].newest().and_then(|word| word.leader);
            players.iter().all(|player| {
                let Some(word) = player.newest() else { return false };
                let is_here = word.player == player.id && word.players == ids && word.away.is_empty();
                is_here && word.leader.is_some() && word.leader == leader && Some(word.tick) > played
            })
        })
    }

    /// Kills the processes of the first players. Returns how long it takes until the others go on.
    pub fn kill_first(&mut self, count: usize) -> Duration {
        let rest = self.players.split_off(count);
        self.dead.extend(core::mem::replace(&mut self.players, rest));
        self.dead.iter_mut().for_each(|player| player.process = None);
        self.until_led_on(0)
    }

    /// Until one of the players from an index on leads all of them, in a turn that was not closed
    /// yet.
    pub fn until_led_on(&mut self, first: usize) -> Duration {
        let played = self.players[first..].iter().filter_map(Player::newest).map(|word| word.tick).max();
        let closed = played.unwrap_or(0) + CLOSED_AHEAD_MAX;
        self.until("one of them to lead on", |players| {
            let players = &players[first..];
            let leader = players[0].newest().and_then(|word| word.leader);
            let mut words = players.iter().filter_map(Player::newest);
            players.iter().any(|player| Some(player.id) == leader)
                && words.all(|word| word.leader == leader && word.tick > closed)
        })
    }

    pub fn leader(&self) -> PlayerId {
        self.players[0].newest().and_then(|word| word.leader).expect("the party is whole")
    }
}

/// Of each tick that was played from a moment on, more than `few` players saw one world alone: what
/// fewer saw may be discarded, as most knew nothing of it.
pub fn assert_one_world<'a>(players: impl IntoIterator<Item = &'a Player>, since: Instant, few: usize) {
    let mut ticks: BTreeMap<u32, BTreeMap<u64, BTreeSet<PlayerId>>> = BTreeMap::new();
    for player in players {
        for (_, word) in player.told.iter().filter(|(at, _)| *at >= since) {
            ticks.entry(word.tick).or_default().entry(word.checksum).or_default().insert(player.id);
        }
    }
    let compared = ticks.values().filter(|worlds| worlds.values().any(|players| players.len() > 1));
    assert!(compared.count() > 10, "players tell of the same ticks");
    let forked = |worlds: &BTreeMap<_, BTreeSet<_>>| worlds.values().filter(|players| players.len() > few).count() > 1;
    assert_eq!(ticks.iter().find(|(_, worlds)| forked(worlds)), None);
}
