//! Members with nothing but a list of turns: who leads, in every weather, and what becomes of the
//! turns.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lockstone_sim::{PlayerId, Tick};
use testkit::{Dice, seeds};

use super::electorate::Electorate;
use super::{Course, Electorates, Members};
use crate::wire::{Epoch, Known, List, Stand, Vote};

const TICK: Duration = ms(50);
/// A member that is silent for so long has no vote any more.
const GONE: Duration = ms(3_000);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A closed turn: the epoch in which it was, and whose leader closed it.
#[derive(Clone, Debug, PartialEq)]
struct Turn {
    epoch: Epoch,
    by: PlayerId,
    change: Option<Change>,
}

#[derive(Clone, Debug, PartialEq)]
enum Change {
    Electorate(Electorate),
    Settled,
}

#[derive(Clone)]
enum Message {
    Stand(Stand),
    /// All turns of a leader.
    Turns(Epoch, Vec<Turn>),
    /// So many turns of an epoch's leader are known.
    Known(Epoch, usize),
    /// Who is elected asks for all that the receiver knows.
    Fetch(Epoch),
    Fetched(Epoch, Vec<Turn>),
}

struct Member {
    members: Members,
    turns: Vec<Turn>,
    /// The epoch of the newest leader whose turns it took.
    epoch: Epoch,
    /// As a leader: what the others know of its turns.
    known: BTreeMap<PlayerId, usize>,
    /// As a leader: how many turns there were when it began.
    closed_at: Duration,
    frozen_until: Duration,
}

/// What may be left out, to see that the tests notice.
#[derive(Clone, Copy, Default)]
struct Flaws {
    /// Everyone is a quorum.
    no_quorum: bool,
    /// Who is elected leads on from what it knows itself.
    no_fetch: bool,
    /// Who has voted tells everyone that the vote was for them.
    no_promise: bool,
}

struct Cluster {
    now: Duration,
    dice: Dice,
    members: Vec<Member>,
    mail: BTreeMap<(Duration, u64), (usize, usize, Message)>,
    sent: u64,
    loss_permille: u64,
    /// Directions in which nothing arrives.
    cut: BTreeSet<(usize, usize)>,
    flaws: Flaws,
    /// Who led each epoch.
    leaders: BTreeMap<Epoch, PlayerId>,
    /// What a quorum knew: never to be lost.
    decided: Vec<Turn>,
    /// The sizes of the electorates that were settled.
    settled: BTreeSet<usize>,
}

fn id(seat: usize) -> PlayerId {
    PlayerId(seat as u16)
}

fn electorates(turns: &[Turn]) -> Electorates {
    let mut electorates = Electorates::of_founder(PlayerId(0));
    for turn in turns {
        match &turn.change {
            Some(Change::Electorate(next)) => electorates.change(next.clone()),
            Some(Change::Settled) => electorates.settle(),
            None => {}
        }
    }
    electorates
}

fn electorate(members: impl Iterator<Item = PlayerId>, senior: PlayerId) -> Electorate {
    Electorate { members: List::try_from(members.collect::<Vec<_>>()).expect("few"), senior }
}

impl Cluster {
    fn new(seed: u64, players: usize, flaws: Flaws) -> Cluster {
        let founder = Vote { epoch: Epoch(0), leader: PlayerId(0) };
        let member = |seat| Member {
            members: Members::following(id(seat), founder, ms(0)),
            turns: Vec::new(),
            epoch: Epoch(0),
            known: BTreeMap::new(),
            closed_at: ms(0),
            frozen_until: ms(0),
        };
        Cluster {
            now: ms(0),
            dice: Dice(seed),
            members: (0..players).map(member).collect(),
            mail: BTreeMap::new(),
            sent: 0,
            loss_permille: 20,
            cut: BTreeSet::new(),
            flaws,
            leaders: BTreeMap::from([(Epoch(0), PlayerId(0))]),
            decided: Vec::new(),
            settled: BTreeSet::new(),
        }
    }

    fn electorates(&self, seat: usize) -> Electorates {
        if self.flaws.no_quorum {
            return Electorates::of_founder(id(seat));
        }
        electorates(&self.members[seat].turns)
    }

    fn send(&mut self, from: usize, to: usize, message: Message) {
        if !self.cut.contains(&(from, to)) && self.dice.roll(1_000) >= self.loss_permille {
            let at = self.now + ms(30 + self.dice.roll(40));
            self.mail.insert((at, self.sent), (from, to, message));
            self.sent += 1;
        }
    }

    fn send_all(&mut self, from: usize, message: &Message) {
        for to in (0..self.members.len()).filter(|to| *to != from) {
            self.send(from, to, message.clone());
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += ms(10);
            for seat in 0..self.members.len() {
                if self.members[seat].frozen_until > self.now {
                    continue;
                }
                let arrived = self.mail.range(..=(self.now, u64::MAX)).filter(|(_, (_, to, _))| *to == seat);
                let due: Vec<_> = arrived.map(|(key, _)| *key).collect();
                let wakes = !due.is_empty() || self.members[seat].members.wake_at() <= self.now;
                for key in due {
                    let (from, to, message) = self.mail.remove(&key).expect("it is there");
                    self.take(to, from, message);
                }
                if wakes {
                    self.elect(seat);
                }
                self.close(seat);
            }
        }
    }

    fn known(&self, seat: usize) -> Known {
        Known { epoch: self.members[seat].epoch, end: Tick(self.members[seat].turns.len() as u32), ..Known::default() }
    }

    fn take(&mut self, to: usize, from: usize, message: Message) {
        let (now, known, electorates) = (self.now, self.known(to), self.electorates(to));
        let member = &mut self.members[to];
        match message {
            Message::Stand(stand) => {
                if member.members.take(id(from), stand, true, now) {
                    let answer = member.members.stand(known);
                    self.send(to, from, Message::Stand(answer));
                }
            }
            Message::Turns(epoch, turns) => {
                let led = Vote { epoch, leader: id(from) };
                let follows = member.members.leader() == Some(led) || member.members.led(led, &electorates, now);
                if !follows {
                    if member.members.has_left(epoch) {
                        let answer = member.members.stand(known);
                        self.send(to, from, Message::Stand(answer));
                    }
                    return;
                }
                member.members.heard(id(from), now);
                if epoch > member.epoch || turns.len() > member.turns.len() {
                    (member.turns, member.epoch) = (turns, epoch);
                }
                let known = member.turns.len();
                self.send(to, from, Message::Known(epoch, known));
            }
            Message::Known(epoch, known) => {
                member.members.heard(id(from), now);
                if member.epoch == epoch {
                    let most = member.known.entry(id(from)).or_default();
                    *most = known.max(*most);
                }
            }
            Message::Fetch(epoch) => {
                if member.members.promised() == epoch {
                    let turns = member.turns.clone();
                    let lineage = member.epoch;
                    self.send(to, from, Message::Fetched(lineage, turns));
                }
            }
            Message::Fetched(epoch, turns) => {
                let theirs = Known { epoch, end: Tick(turns.len() as u32), ..Known::default() };
                if member.members.leader().is_none() && theirs > known {
                    assert_eq!(turns[..member.turns.len()], member.turns, "they do not go on from the same");
                    (member.turns, member.epoch) = (turns, epoch);
                }
            }
        }
    }

    fn elect(&mut self, seat: usize) {
        let (now, known, electorates) = (self.now, self.known(seat), self.electorates(seat));
        if let Some(stand) = self.members[seat].members.advance(known, &electorates, now) {
            for to in (0..self.members.len()).filter(|to| *to != seat) {
                let breaks = self.flaws.no_promise && self.members[seat].members.course == Course::Voted;
                let vote = if breaks { Vote { leader: id(to), ..stand.vote } } else { stand.vote };
                self.send(seat, to, Message::Stand(Stand { vote, ..stand.clone() }));
            }
        }
        if let Some(voters) = self.members[seat].members.elected(&electorates, now) {
            let newest = voters.iter().max_by_key(|(_, known)| **known).filter(|(_, theirs)| **theirs > known);
            match newest {
                Some((_, theirs)) if theirs.epoch > known.epoch => self.members[seat].members.decline(),
                Some((player, _)) if !self.flaws.no_fetch => {
                    let (to, epoch) = (usize::from(player.0), self.members[seat].members.promised());
                    self.send(seat, to, Message::Fetch(epoch));
                }
                _ => self.lead(seat),
            }
        }
    }

    fn lead(&mut self, seat: usize) {
        let member = &mut self.members[seat];
        member.members.lead();
        let epoch = member.members.promised();
        (member.epoch, member.known) = (epoch, BTreeMap::new());
        let turns = member.turns.clone();
        let other = self.leaders.insert(epoch, id(seat));
        assert!(other.is_none_or(|other| other == id(seat)), "{other:?} and {seat} lead in {epoch:?}");
        let kept = turns.get(..self.decided.len()).is_some_and(|turns| turns == self.decided);
        assert!(kept, "{seat} leads in {epoch:?} without turns that a quorum knew");
    }

    /// A leader closes a turn, if it hears a quorum, and changes the electorate as it hears others.
    fn close(&mut self, seat: usize) {
        let (now, electorates) = (self.now, self.electorates(seat));
        let member = &mut self.members[seat];
        let leads = member.members.leader() == Some(Vote { epoch: member.epoch, leader: id(seat) });
        if !leads || now < member.closed_at + TICK {
            return;
        }
        member.closed_at = now;
        let (own, epoch) = (member.turns.len(), member.epoch);
        let decided = |len: usize| {
            let knows = |player| player == id(seat) || member.known.get(&player).copied().unwrap_or(0) >= len;
            electorates.is_quorum(knows)
        };
        let newest = (0..=own).rev().find(|len| decided(*len)).expect("none at least");
        let changed = member.turns.iter().rposition(|turn| turn.change.is_some()).map_or(0, |at| at + 1);
        if newest > self.decided.len() {
            let turns = member.turns[..newest].to_vec();
            assert_eq!(turns[..self.decided.len()], self.decided, "history was changed");
            self.decided = turns;
        }
        if electorates.is_quorum(|player| player == id(seat) || member.members.hears(player, now)) {
            let change = match electorates.settled() {
                None if decided(changed) => Some(Change::Settled),
                Some(settled) if self.dice.roll(5) == 0 => {
                    let members = &self.members[seat].members;
                    let counts = |player: &PlayerId| {
                        *player == id(seat)
                            || members.hears(*player, now)
                            || settled.members.contains(player) && now < members.silent_since(*player) + GONE
                    };
                    let next = electorate((0..self.members.len()).map(id).filter(counts), id(seat));
                    (next != *settled).then_some(Change::Electorate(next))
                }
                _ => None,
            };
            if change == Some(Change::Settled) {
                self.settled.insert(electorates.iter().count());
            }
            self.members[seat].turns.push(Turn { epoch, by: id(seat), change });
        }
        let turns = self.members[seat].turns.clone();
        self.send_all(seat, &Message::Turns(epoch, turns));
    }

    /// The newest leader that a quorum follows, if there is one, and how many turns it has closed.
    /// Who promised to follow another, alone, may be left out.
    fn leader(&self) -> Option<(Vote, usize)> {
        let running = || self.members.iter().enumerate().filter(|(_, member)| member.frozen_until <= self.now);
        let newest = running().filter_map(|(_, member)| member.members.leader()).max_by_key(|vote| vote.epoch)?;
        let leads = usize::from(newest.leader.0);
        let follows = |player: PlayerId| self.members[usize::from(player.0)].members.leader() == Some(newest);
        let runs = |player: PlayerId| self.members[usize::from(player.0)].frozen_until <= self.now;
        let backed = self.electorates(leads).is_quorum(|player| runs(player) && follows(player));
        backed.then_some((newest, self.members[leads].turns.len()))
    }
}

/// Freezes, cuts and losses, from a seed, for so long; then all is well again. Returns the cluster.
fn storm(seed: u64, players: usize, flaws: Flaws) -> Cluster {
    let mut cluster = Cluster::new(seed, players, flaws);
    cluster.run(ms(1_000));
    for _ in 0..12 {
        let (a, b) = (cluster.roll(players), cluster.roll(players));
        match cluster.roll(6) {
            0 => cluster.members[a].frozen_until = cluster.now + ms(200 + cluster.roll(4_000) as u64),
            1 => drop(cluster.cut.insert((a, b))),
            2 => cluster.cut.extend([(a, b), (b, a)]),
            3 => {
                let side = cluster.roll(1 << players);
                let on = |seat: usize| side >> seat & 1;
                let pairs = (0..players).flat_map(|a| (0..players).map(move |b| (a, b)));
                cluster.cut.extend(pairs.filter(|(a, b)| on(*a) != on(*b)));
            }
            4 => cluster.cut.clear(),
            _ => cluster.loss_permille = cluster.roll(400) as u64,
        }
        let time = ms(100 + cluster.roll(2_500) as u64);
        cluster.run(time);
    }
    cluster
}

impl Cluster {
    fn roll(&mut self, sides: usize) -> usize {
        self.dice.roll(sides as u64) as usize
    }

    fn clear(&mut self) {
        self.cut.clear();
        self.loss_permille = 20;
        self.members.iter_mut().for_each(|member| member.frozen_until = ms(0));
    }
}

#[test]
fn in_no_weather_do_two_lead_or_is_a_turn_lost_that_a_quorum_knew() {
    let epochs = seeds::each("-p lockstone-net members", 200, |seed| {
        let mut cluster = storm(seed, 2 + seed as usize % 5, Flaws::default());
        cluster.clear();
        cluster.run(ms(3_000));
        let (leader, turns) = cluster.leader().unwrap_or_else(|| panic!("seed {seed}: nobody leads"));
        cluster.run(ms(1_000));
        let later = cluster.leader().expect("it still leads");
        assert!(later.0 == leader && later.1 > turns + 10, "seed {seed}: {leader:?} {turns}, then {later:?}");
        cluster.leaders.len()
    });
    println!("epochs: {epochs:?}");
    assert!(epochs.iter().any(|epochs| *epochs > 3));
}

#[test]
fn without_quorum_promise_or_fetch_history_forks() {
    let forks = |flaws: Flaws| {
        let run = |seed| storm(seed, 2 + seed as usize % 5, flaws).now;
        (0..200).any(|seed| catch_unwind(AssertUnwindSafe(|| run(seed))).is_err())
    };
    assert!(forks(Flaws { no_quorum: true, ..Flaws::default() }), "everyone is a quorum");
    assert!(forks(Flaws { no_fetch: true, ..Flaws::default() }), "what others know is not fetched");
    assert!(forks(Flaws { no_promise: true, ..Flaws::default() }), "votes do not bind");
}

#[test]
fn the_next_leader_closes_within_two_seconds_of_the_first_one_s_end() {
    seeds::each("-p lockstone-net members", 200, |seed| {
        let players = 3 + seed as usize % 4;
        let mut cluster = Cluster::new(seed, players, Flaws::default());
        cluster.loss_permille = 50;
        let votes = |electorate: &Electorate| electorate.members.len() == players;
        while !(0..players).all(|seat| cluster.electorates(seat).settled().is_some_and(votes)) {
            cluster.run(ms(50));
        }
        let time = ms(1_000 + cluster.roll(1_000) as u64);
        cluster.run(time);
        cluster.members[0].frozen_until = Duration::MAX;
        let before = cluster.members[0].turns.len();
        cluster.run(ms(2_000));
        let (leader, turns) = cluster.leader().unwrap_or_else(|| panic!("seed {seed}: nobody leads"));
        assert!(leader.epoch == Epoch(1) && turns > before, "seed {seed}: {leader:?} {turns}, {before} before");
    });
}

/// All ways in which some of a few members never vote again, of which two sides know each a part.
#[cfg(feature = "rollback")]
#[test]
fn two_sides_are_no_quorums_both_whatever_each_knows_of_who_resigned() {
    let mut quorums = 0;
    for (members, ways) in [(2, 49), (3, 343), (4, 2_401), (5, 16_807)] {
        for way in 0..ways {
            // Votes with the first side, with the second, not at all; or resigned, and both, the
            // first, the second or none know it.
            let does = |player: PlayerId| way / 7_usize.pow(player.0.into()) % 7;
            let is_quorum = |votes: usize, knows: [usize; 2]| {
                let mut electorates = Electorates::of(Electorate::of((0..members).map(PlayerId)));
                let resigned = (0..members).map(PlayerId).filter(|player| knows.contains(&does(*player)));
                resigned.for_each(|player| electorates.resign(player));
                electorates.is_quorum(|player| does(player) == votes)
            };
            let sides = [is_quorum(0, [3, 4]), is_quorum(1, [3, 5])];
            assert_ne!(sides, [true, true], "{members} members: {way}");
            quorums += usize::from(sides != [false, false]);
        }
    }
    assert!(quorums > 1_000, "{quorums}");
}

/// Three members are left, and two of them do not hear each other: only the third can lead them.
#[test]
fn who_hears_all_others_leads_those_who_do_not_hear_each_other() {
    seeds::each("-p lockstone-net members", 200, |seed| {
        let players = 4 + seed as usize % 2;
        let mut cluster = Cluster::new(seed, players, Flaws::default());
        let votes = |electorate: &Electorate| electorate.members.len() == players;
        while !(0..players).all(|seat| cluster.electorates(seat).settled().is_some_and(votes)) {
            cluster.run(ms(50));
        }
        let (gone, left) = (players - 3, 3);
        let hub = gone + cluster.roll(left);
        let others: Vec<_> = (gone..players).filter(|seat| *seat != hub).collect();
        cluster.cut.extend([(others[0], others[1]), (others[1], others[0])]);
        let time = ms(1_000 + cluster.roll(1_000) as u64);
        cluster.run(time);
        cluster.members[..gone].iter_mut().for_each(|member| member.frozen_until = Duration::MAX);
        let before = cluster.members[hub].turns.len();
        cluster.run(ms(4_000));
        let (leader, turns) = cluster.leader().unwrap_or_else(|| panic!("seed {seed}: nobody leads"));
        assert!(leader.leader == id(hub) && turns > before + 20, "seed {seed}: {leader:?} {turns}, {before} before");
        let follow = (gone..players).all(|seat| cluster.members[seat].members.leader() == Some(leader));
        assert!(follow, "seed {seed}: all follow");
    });
}

#[test]
fn a_member_that_hears_the_leader_no_more_disturbs_nobody() {
    let mut cluster = Cluster::new(1, 3, Flaws::default());
    cluster.run(ms(1_000));
    cluster.cut.insert((0, 2));
    cluster.run(ms(20_000));
    assert_eq!(cluster.leaders.len(), 1);
    cluster.cut.clear();
    cluster.run(ms(500));
    assert_eq!(cluster.leader().map(|(vote, _)| vote.epoch), Some(Epoch(0)));
}

#[test]
fn half_of_the_members_go_on_with_the_senior_and_not_without() {
    for (side, goes_on) in [([0, 1], true), ([2, 3], false)] {
        let mut cluster = Cluster::new(7, 4, Flaws::default());
        cluster.run(ms(1_000));
        for other in (0..4).filter(|seat| !side.contains(seat)) {
            cluster.members[other].frozen_until = Duration::MAX;
        }
        cluster.run(ms(2_000));
        let before = cluster.decided.len();
        cluster.run(ms(5_000));
        assert_eq!(cluster.decided.len() > before + 50, goes_on, "{side:?}");
    }
}
