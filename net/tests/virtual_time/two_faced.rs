//! A member that tells each of the others another vote, and that it knows ever more turns. Two of
//! them may lead in one epoch by that. As votes are signed, each proves to the other who did it:
//! one of both leads on, and the liar is put out.

use core::time::Duration;

use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::PlayerKey;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Session, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{Checksum, PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::hostile::hear;
use testkit::sessions::rollback::play;
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time two_faced::";

type Room = Driver<Party<Mixer>, Tap>;

fn key(seat: usize) -> PlayerKey {
    PlayerKey::from_bytes([seat as u8 + 1; 32])
}

fn room(seed: u64, players: usize) -> Room {
    room_of(seed, players, true)
}

fn room_of(seed: u64, players: usize, keyed: bool) -> Room {
    let settings = PartySettings { players_at_start: players, seed, ..PartySettings::default() };
    let player = |seat| {
        let party = party(settings.clone(), &format!("player {seat}"));
        if keyed { party.with_key(key(seat)) } else { party }
    };
    gather(seed, Weather { jitter: ms(20), ..Weather::clear(ms(40)) }, (0..players).map(player), |_, link| {
        Tap::idle(link)
    })
}

/// The last seat tells each that it votes for that one, and knows what that one has not.
fn tell_each_another(room: &mut Room) {
    let (liar, mut more) = (room.seats.len() - 1, 0);
    let (peer, key) = (room.peer(liar), key(liar));
    let peers: Vec<_> = (0..liar).map(|seat| room.peer(seat)).collect();
    room.seats[liar].link.set(move |packet: Transmit| {
        let (epoch, mut message) = wire::decode(&packet.bytes).expect("our own bytes");
        if let (Message::Stand(stand), Some(to)) = (&mut message, peers.iter().position(|peer| *peer == packet.to)) {
            more += 1;
            stand.vote.leader = PlayerId(to as u16);
            stand.doubts = None;
            stand.proof = Some(stand.vote.signed(stand.known.branch, peer, &key));
            stand.known.end = stand.known.end.plus(more * to as u32);
        }
        Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
}

/// Whom a member was told to distrust, and whether that was proven.
fn named(event: &Event<Mixer>) -> Option<(PlayerId, bool)> {
    match event {
        Event::Distrusted { player, is_proven } => Some((*player, *is_proven)),
        _ => None,
    }
}

/// All whom these are led by, as each sees it.
fn leaders(room: &Room, seats: &[usize]) -> Vec<Option<PlayerId>> {
    let mut leaders: Vec<_> = seats.iter().map(|seat| room.seats[*seat].session.stats().sequencer()).collect();
    leaders.sort();
    leaders.dedup();
    leaders
}

#[test]
fn who_tells_each_of_three_others_another_vote_has_two_lead_not_for_long_and_no_world_differ() {
    let proven = seeds::each(TEST, 12, |seed| {
        let mut proven = 0;
        for players in [5, 6] {
            let (mut room, mut dice) = (room(seed, players), Dice(seed));
            let honest: Vec<_> = (1..players - 1).collect();
            play(&mut room, &mut dice, secs(2));
            tell_each_another(&mut room);
            room.seats[0].freeze(Duration::MAX);
            let mut apart = ms(0);
            for _ in 0..200 {
                play(&mut room, &mut dice, ms(100));
                let leaders = leaders(&room, &honest);
                apart = if leaders.len() == 1 && leaders[0].is_some() { ms(0) } else { apart + ms(100) };
                assert!(apart < secs(10), "seed {seed}: {players} players: {leaders:?}");
            }
            for seat in &honest {
                let stats = room.seats[*seat].session.stats();
                assert!(playing(&room.seats[*seat].session), "seed {seed}: seat {seat} of {players}");
                assert_eq!(stats.desyncs, 0, "seed {seed}: seat {seat} of {players}");
                let liar = (PlayerId(players as u16 - 1), true);
                let named: Vec<_> = room.seats[*seat].events.iter().filter_map(named).collect();
                assert!(named.iter().all(|named| *named == liar), "seed {seed}: seat {seat}: {named:?}");
                proven += usize::from(!named.is_empty());
            }
        }
        proven
    });
    println!("told whom to distrust: {proven:?} of 7");
    assert!(proven.iter().any(|proven| *proven > 0));
}

/// A party that is cut in two for a while. Only one member is heard on both sides.
struct Split {
    room: Room,
    dice: Dice,
    liar: usize,
    sides: [Vec<usize>; 2],
    /// How often it reported to the leader of the other side.
    reports: u32,
}

impl Split {
    /// Two of three hear the third alone, or two pairs of five the fifth.
    fn of(seed: u64, players: usize, liar: usize, keyed: bool) -> Split {
        let (mut room, mut dice) = (room_of(seed, players, keyed), Dice(seed));
        play(&mut room, &mut dice, secs(3));
        let mut side: Vec<_> = (0..players).filter(|seat| *seat != liar).collect();
        let other = side.split_off(players / 2);
        Split { room, dice, liar, sides: [side, other], reports: 0 }
    }

    fn honest(&self) -> Vec<usize> {
        self.sides.concat()
    }

    fn cut(&mut self, is_cut: bool) {
        for a in &self.sides[0] {
            for b in &self.sides[1] {
                self.room.network.set_cut(self.room.peer(*a), self.room.peer(*b), is_cut);
            }
        }
    }

    /// What the liar votes by itself, nobody hears, nor that it leads, if it does.
    fn begin_to_lie(&mut self) {
        self.room.seats[self.liar].link.set(|packet| {
            let is_lost = matches!(wire::decode(&packet.bytes), Ok((_, Message::Stand(_) | Message::Turns(_))));
            (!is_lost).then_some(packet)
        });
    }

    /// It votes on each side for one of it, in the same epoch. One that leads by that is told that
    /// its turns are known.
    fn lie(&mut self) {
        let (liar, branch) = (self.room.peer(self.liar), self.room.seats[0].session.stats().branch);
        for side in self.sides.clone() {
            let vote = Vote { epoch: Epoch(1), leader: PlayerId(side[0] as u16) };
            let proof = Some(vote.signed(branch, liar, &key(self.liar)));
            let stand = Stand { proof, ..Stand::of(vote, Known { branch, ..Known::default() }) };
            for seat in side.iter().copied() {
                hear(&mut self.room, seat, liar, wire::encode(Epoch(0), &Message::Stand(stand.clone())));
            }
            let stats = self.room.seats[side[0]].session.stats();
            if stats.sequencer() == Some(vote.leader) && stats.epoch == vote.epoch {
                self.reports += 1;
                let stamp = Stamp { number: 1_000_000 + self.reports, echo: None };
                let report = Report { stamp, known: stats.known, ..Report::default() };
                hear(&mut self.room, side[0], liar, wire::encode(vote.epoch, &Message::Report(report)));
            }
        }
    }

    fn run(&mut self, time: Duration, lies: bool) {
        let end = self.room.now() + time;
        while self.room.now() < end {
            if lies {
                self.lie();
            }
            play(&mut self.room, &mut self.dice, ms(50));
        }
    }

    /// Whom and in which epoch each honest one follows.
    fn led(&self) -> BTreeSet<(Option<PlayerId>, Epoch)> {
        let of = |seat: usize| self.room.seats[seat].session.stats();
        self.honest().into_iter().map(|seat| (of(seat).sequencer(), of(seat).epoch)).collect()
    }

    /// Whom a seat was told to distrust, be it anew after it loaded the world.
    fn distrusted(&self, seat: usize) -> BTreeSet<(PlayerId, bool)> {
        self.room.seats[seat].events.iter().filter_map(named).collect()
    }

    /// Who left, as a seat saw it.
    fn put_out(&self, seat: usize) -> Vec<(PlayerId, LeaveReason)> {
        let of = |event: &Event<Mixer>| match event {
            Event::PlayerLeft { player, reason } => Some((*player, *reason)),
            _ => None,
        };
        self.room.seats[seat].events.iter().filter_map(of).collect()
    }

    /// The honest ones play in one session, and their newest worlds are the same.
    fn assert_in_step(&self, what: &str) {
        let sums = |seat: usize| -> BTreeMap<Tick, Checksum> {
            let of = |event: &Event<Mixer>| match event {
                Event::Checksum { tick, checksum, .. } => Some((*tick, *checksum)),
                _ => None,
            };
            assert!(playing(&self.room.seats[seat].session), "{what}: seat {seat}");
            self.room.seats[seat].events.iter().filter_map(of).collect()
        };
        let worlds: Vec<_> = self.honest().into_iter().map(sums).collect();
        let shared = |tick: &&Tick| worlds.iter().all(|world| world.contains_key(tick));
        let newest: Vec<_> = worlds[0].keys().rev().filter(shared).take(20).collect();
        let known = self.honest().into_iter().map(|seat| self.room.seats[seat].session.stats().known);
        let behind = known.max().expect("there are some").since(*newest[0]);
        assert!(behind < 40, "{what}: the newest shared world is {behind} ticks old");
        for tick in newest {
            assert!(worlds.iter().all(|world| world[tick] == worlds[0][tick]), "{what}: at {tick}");
        }
    }
}

/// A party of so many, which one of them splits, and for so long.
const SPLITS: [(usize, usize, Duration); 6] =
    [(3, 2, secs(2)), (5, 4, secs(2)), (3, 0, secs(2)), (5, 0, secs(2)), (3, 2, secs(6)), (5, 4, secs(6))];

/// Each side is led by its lowest, in one epoch.
fn split(seed: u64, (players, liar, time): (usize, usize, Duration), keyed: bool) -> Split {
    let mut split = Split::of(seed, players, liar, keyed);
    split.begin_to_lie();
    split.cut(true);
    split.run(time, true);
    let leaders: BTreeSet<_> = split.sides.iter().map(|side| (Some(PlayerId(side[0] as u16)), Epoch(1))).collect();
    assert_eq!(split.led(), leaders, "seed {seed}: {players} players, {liar} lies, {time:?}");
    split.cut(false);
    split
}

#[test]
fn who_votes_for_two_in_one_epoch_is_put_out_and_those_whom_it_had_lead_are_one_session() {
    seeds::each(TEST, 6, |seed| {
        for how in SPLITS {
            let (mut split, what) = (split(seed, how, true), format!("seed {seed}: {how:?}"));
            split.run(secs(10), true);
            let (led, first, liar) = (split.led(), split.sides[0][0], PlayerId(split.liar as u16));
            assert_eq!(led, BTreeSet::from([(Some(PlayerId(first as u16)), Epoch(1))]), "{what}");
            for seat in split.honest() {
                assert_eq!(split.distrusted(seat), BTreeSet::from([(liar, true)]), "{what}: seat {seat}");
                let players = split.room.seats[seat].session.stats().players;
                assert!(players.iter().all(|player| player.player != liar), "{what}: seat {seat}");
            }
            // It leads on, so this is its one history. Others have loaded the world since.
            assert_eq!(split.put_out(first), [(liar, LeaveReason::Distrusted)], "{what}");
            split.assert_in_step(&what);
        }
    });
}

/// Those who lead have put each other out by then, and do not say any more who voted for them.
#[test]
fn those_who_do_not_hear_each_other_for_long_are_one_session_after_a_while() {
    seeds::each(TEST, 6, |seed| {
        for how in [(3, 2, secs(15)), (5, 4, secs(15)), (3, 0, secs(15))] {
            let (mut split, what) = (split(seed, how, true), format!("seed {seed}: {how:?}"));
            split.run(secs(20), true);
            assert_eq!(split.led().len(), 1, "{what}: {:?}", split.led());
            let (honest, liar) = (split.honest(), PlayerId(split.liar as u16));
            let named = honest.iter().flat_map(|seat| split.distrusted(*seat));
            assert!(named.into_iter().all(|named| named == (liar, true)), "{what}");
            split.assert_in_step(&what);
        }
    });
}

/// Nobody can prove what is not signed.
#[test]
fn those_whom_one_without_a_key_had_lead_are_one_session_after_a_while() {
    seeds::each(TEST, 6, |seed| {
        for how in SPLITS {
            let (mut split, what) = (split(seed, how, false), format!("seed {seed}: {how:?}"));
            let (at, end) = (split.room.now(), split.room.now() + secs(60));
            while split.led().len() > 1 && split.room.now() < end {
                split.run(ms(100), true);
            }
            let apart = split.room.now() - at;
            println!("{what}: {apart:?}");
            assert!(apart < secs(30), "{what}: {apart:?}");
            split.run(secs(5), true);
            assert_eq!(split.led().len(), 1, "{what}: {:?}", split.led());
            assert!(split.honest().iter().all(|seat| split.distrusted(*seat).is_empty()), "{what}");
            split.assert_in_step(&what);
        }
    });
}

#[test]
fn who_is_cut_off_and_votes_once_is_not_blamed() {
    seeds::each(TEST, 6, |seed| {
        for how in SPLITS {
            let (players, hub, time) = how;
            let (mut split, what) = (Split::of(seed, players, hub, true), format!("seed {seed}: {how:?}"));
            split.cut(true);
            split.run(time, false);
            split.cut(false);
            split.run(secs(10), false);
            assert_eq!(split.led().len(), 1, "{what}: {:?}", split.led());
            assert!((0..players).all(|seat| split.distrusted(seat).is_empty()), "{what}");
            split.assert_in_step(&what);
        }
    });
}
