//! Players of a party, each in a process of its own, and signaling in another: what they tell, and
//! what must hold among them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::ops::Range;
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::wire::Branch;
use lockstone_sim::PlayerId;

use super::process::{Order, Process, Told, Word, here};

pub const SECOND: Duration = Duration::from_secs(1);
/// Within 2 s, and what a machine that does other things is late.
pub const SOON: Duration = Duration::from_secs(2 + 1);
/// A loaded machine may lose a handshake or two.
const PATIENCE: Duration = Duration::from_secs(60);
/// After 600 ms, as a quiet machine measures it.
const DOUBTED_AFTER: Duration = Duration::from_millis(400);
/// Who is no farther behind the others plays with them.
const ABREAST_TICKS: u32 = 8;
/// So long players wait who cannot reach the others.
const WAITS: Duration = Duration::from_secs(10);
/// Who is in one branch plays together within that, once one of them wants to.
const BRANCHES_WITHIN: Duration = Duration::from_secs(4);
/// What a player is told who may go on as a branch, and whose branch yields.
const OFFERED: &str = "and may go on";
pub const YIELDED: &str = "another branch is the session";
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
    tells: Receiver<(Instant, Told)>,
    pub told: Vec<(Instant, Word)>,
    pub news: Vec<(Instant, String)>,
}

impl Player {
    pub fn newest(&self) -> Option<&Word> {
        self.told.last().map(|(_, word)| word)
    }

    pub fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("it lives")
    }

    pub fn order(&mut self, order: Order) {
        self.process().order(order);
    }

    /// What it was told since a moment that holds these words.
    pub fn heard(&self, since: Instant, words: &str) -> Vec<&(Instant, String)> {
        self.news.iter().filter(|(at, news)| *at >= since && news.contains(words)).collect()
    }

    fn listen(&mut self) {
        for (at, told) in self.tells.try_iter() {
            match told {
                Told::Word(word) => self.told.push((at, word)),
                Told::News(news) => self.news.push((at, news)),
            }
        }
    }

    /// The name of the history that it plays.
    pub fn branch(&self) -> Branch {
        self.newest().expect("it plays").branch
    }

    /// For how long its world stood still at most since a moment.
    pub fn stall(&self, since: Instant) -> Duration {
        let times = self.told.iter().map(|(at, _)| *at);
        let gaps = times.clone().zip(times.skip(1)).filter(|(_, next)| *next > since);
        gaps.map(|(at, next)| next - at).max().unwrap_or_default()
    }
}

impl Party {
    /// Of so many players.
    pub fn here(server: SocketAddr, room: &str, players: usize) -> Party {
        Party::gather(room, (0..players).map(|_| (server, here())))
    }

    /// Of players who find signaling there, and are run by these programs. The first one is player
    /// 0.
    pub fn gather(room: &str, players: impl IntoIterator<Item = (SocketAddr, Command)>) -> Party {
        let mut party = Party { players: Vec::new(), dead: Vec::new(), begun: Instant::now() };
        for (server, program) in players {
            party.enter(server, room, program);
            party.until_whole();
        }
        party.begun = Instant::now();
        party.until_calm();
        party
    }

    /// Another begins to join.
    pub fn enter(&mut self, server: SocketAddr, room: &str, program: Command) {
        let id = (self.players.len() + self.dead.len()) as u16;
        let (process, tells) = Process::play_by(program, server, room, id as u8);
        let (process, told, news) = (Some(process), Vec::new(), Vec::new());
        self.players.push(Player { id: PlayerId(id), process, tells, told, news });
    }

    /// Listens until something is so. Returns how long that took. In vain, it says what the players
    /// told last.
    pub fn until(&mut self, what: &str, is: impl Fn(&[Player]) -> bool) -> Duration {
        let begun = Instant::now();
        loop {
            self.listen();
            if is(&self.players) {
                return begun.elapsed();
            }
            assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}\n{}", self.told());
            thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// What each player told last, and how long ago.
    pub fn told(&self) -> String {
        let of_player = |player: &Player| {
            let news = player.news.iter().rev().take(12).rev();
            let news = news.map(|(at, news)| format!("\n    {:?}: {news}", at.elapsed()));
            let word = player.told.last().map(|(at, word)| (at.elapsed(), word));
            format!("{}: {word:?}{}\n", player.id, news.collect::<String>())
        };
        self.players.iter().map(of_player).collect()
    }

    fn listen(&mut self) {
        self.players.iter_mut().chain(&mut self.dead).for_each(Player::listen);
    }

    pub fn pass(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let moment = (end - Instant::now()).min(SECOND);
            let begun = Instant::now();
            self.until("time to pass", |_| begun.elapsed() >= moment);
        }
    }

    /// Until nobody's world stands still, in a second, long enough to doubt the sequencer.
    pub fn until_calm(&mut self) {
        let begun = Instant::now();
        loop {
            let since = Instant::now();
            self.pass(SECOND);
            if self.players.iter().all(|player| player.stall(since) < DOUBTED_AFTER) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "waited in vain: calm\n{}", self.told());
        }
    }

    /// Until all play on abreast in one history, each its own hero, nobody else being there, and
    /// one leads.
    pub fn until_whole(&mut self) -> Duration {
        let ids: Vec<_> = self.players.iter().map(|player| player.id).collect();
        let dead: Vec<_> = self.dead.iter().map(|player| player.id).collect();
        let since = Instant::now();
        self.until("all to play on", |players| {
            let played_since = |player: &Player| player.told.last().is_some_and(|(at, _)| *at > since);
            let words: Vec<_> = players.iter().filter_map(Player::newest).collect();
            let played = words.iter().map(|word| word.tick).max();
            let is_whole = |(player, word): (&Player, &&Word)| {
                let is_here = word.player == player.id && word.players == ids;
                let is_led = word.leader.is_some() && (word.leader, word.branch) == (words[0].leader, words[0].branch);
                is_here
                    && is_led
                    && word.away.iter().all(|id| dead.contains(id))
                    && Some(word.tick + ABREAST_TICKS) >= played
            };
            players.iter().all(played_since) && players.iter().zip(&words).all(is_whole)
        })
    }

    /// Kills the processes of some players.
    pub fn kill(&mut self, players: Range<usize>) {
        self.dead.extend(self.players.drain(players));
        self.dead.iter_mut().for_each(|player| player.process = None);
    }

    /// Until one of some players leads all of them, in a turn that was not closed yet.
    pub fn until_led_on(&mut self, some: Range<usize>) -> Duration {
        self.listen();
        let played = self.players[some.clone()].iter().filter_map(Player::newest).map(|word| word.tick).max();
        let closed = played.unwrap_or(0) + CLOSED_AHEAD_MAX;
        self.until("one of them to lead on", |players| {
            let players = &players[some.clone()];
            let leader = players[0].newest().and_then(|word| word.leader);
            let mut words = players.iter().filter_map(Player::newest);
            players.iter().any(|player| Some(player.id) == leader)
                && words.all(|word| word.leader == leader && word.tick > closed)
        })
    }

    /// Some players have been cut off from the others since a moment. They wait until they may go
    /// on as a branch, and the first of them wants that.
    pub fn go_on_as_branch(&mut self, some: Range<usize>, cut: Instant) {
        self.until("the offer", |players| {
            players[some.clone()].iter().all(|player| !player.heard(cut, OFFERED).is_empty())
        });
        let offered = self.players[some.clone()].iter().flat_map(|player| player.heard(cut, OFFERED));
        let offered: Vec<_> = offered.map(|(at, _)| *at - cut).collect();
        println!("they may go on as a branch after {offered:?}");
        let in_time = |waited: &Duration| (WAITS - SECOND..WAITS + SOON + SECOND).contains(waited);
        assert!(offered.iter().all(in_time), "{offered:?}");
        self.players[some.start].order(Order::Branch);
        let takes = self.until_led_on(some);
        println!("they play together after {takes:?}");
        assert!(takes < BRANCHES_WITHIN + SECOND, "{takes:?}");
    }

    pub fn leader(&self) -> PlayerId {
        self.players[0].newest().and_then(|word| word.leader).expect("the party is whole")
    }
}

/// Of each tick of a history that was played from a moment on, more than `few` players saw one
/// world alone: what fewer saw may be discarded, as most knew nothing of it.
pub fn assert_one_world<'a>(players: impl IntoIterator<Item = &'a Player>, since: Instant, few: usize) {
    let mut ticks: BTreeMap<(Branch, u32), BTreeMap<u64, BTreeSet<PlayerId>>> = BTreeMap::new();
    for player in players {
        for (_, word) in player.told.iter().filter(|(at, _)| *at >= since) {
            let worlds = ticks.entry((word.branch, word.tick)).or_default();
            worlds.entry(word.checksum).or_default().insert(player.id);
        }
    }
    let compared = ticks.values().filter(|worlds| worlds.values().any(|players| players.len() > 1));
    assert!(compared.count() > 10, "players tell of the same ticks");
    let forked = |worlds: &BTreeMap<_, BTreeSet<_>>| worlds.values().filter(|players| players.len() > few).count() > 1;
    assert_eq!(ticks.iter().find(|(_, worlds)| forked(worlds)), None);
}
