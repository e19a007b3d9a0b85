//! The peer that closes a party's ticks is gone, and another leads on.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::memory::Driver;
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Phase, Session};
use lockstone_sim::{Input, PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::*;

const DELAY_MS: u64 = 50;

pub(crate) type Room = Driver<Party<Mixer>>;

/// Plays for a while, everyone who is among `seats` giving commands.
pub(crate) fn play(room: &mut Room, dice: &mut Dice, time_ms: u64, seats: &[usize]) -> u64 {
    let (end, mut given) = (room.now() + ms(time_ms), 0);
    while room.now() < end {
        let until = (room.now() + ms(10 + dice.roll(90))).min(end);
        room.run_until(until);
        let seat = seats[dice.roll(seats.len() as u64) as usize];
        given += u64::from(room.seats[seat].session.command(dice.roll(1 << 40)).is_ok());
    }
    given
}

pub(crate) fn newest(room: &Room, seats: &[usize]) -> Tick {
    seats.iter().map(|seat| room.seats[*seat].session.stats().known).max().expect("there are seats")
}

/// Who leads, if all say the same.
pub(crate) fn leader(room: &Room, seats: &[usize]) -> Option<PlayerId> {
    let of = |seat: &usize| room.seats[*seat].session.stats().sequencer();
    let first = of(&seats[0])?;
    seats.iter().all(|seat| of(seat) == Some(first)).then_some(first)
}

/// The same turns at the same ticks, everywhere.
pub(crate) fn assert_one_history(room: &Room, seats: &[usize], seed: u64) {
    let played: Vec<_> = seats.iter().map(|seat| Played::of(&room.seats[*seat].events)).collect();
    for other in &played[1..] {
        assert!(assert_same(&played[0], other, &format!("seed {seed}")) > 2);
    }
}

/// How many commands each player played, as one seat saw it.
fn commands(room: &Room, seat: usize) -> BTreeMap<PlayerId, u64> {
    let mut count = BTreeMap::new();
    for event in &room.seats[seat].events {
        let Event::Turn { turn, .. } = event else { continue };
        for input in &turn.inputs {
            if let Input::Command(player, _) = input {
                *count.entry(*player).or_default() += 1;
            }
        }
    }
    count
}

#[test]
fn the_sequencer_is_killed_and_the_others_play_on() {
    seeds::each("-p lockstone-net --test virtual_time takeover::", 20, |seed| {
        let mut dice = Dice(seed);
        let mut room = session(4, &PartySettings::default(), ms(DELAY_MS));
        let time_ms = 1_000 + dice.roll(1_000);
        play(&mut room, &mut dice, time_ms, &[0, 1, 2, 3]);
        let killed = room.peer(0);
        // Its process is gone at once; the carrier may take its time to say so.
        room.seats[0].freeze(Duration::MAX);
        if seed % 2 == 0 {
            room.network.drop_peer(killed);
        }
        let (at, left) = (room.now(), [1, 2, 3]);
        // What it had sent still arrives.
        room.run_until(at + ms(2 * DELAY_MS));
        let before = newest(&room, &left);
        room.run_while(at + secs(5), |room| newest(room, &left) <= before);
        println!("seed {seed}: the next turn after {:?}", room.now() - at);
        assert!(room.now() - at < secs(2), "seed {seed}: the next turn took {:?}", room.now() - at);
        play(&mut room, &mut dice, 3_000, &left);
        let until = room.now() + secs(1);
        room.run_until(until);
        assert!(leader(&room, &left).is_some_and(|leader| leader != PlayerId(0)));
        for seat in left {
            assert_eq!(room.seats[seat].session.phase(), Phase::Playing, "seed {seed}: {seat}");
        }
        assert_one_history(&room, &left, seed);
        let counts: Vec<_> = left.iter().map(|seat| commands(&room, *seat)).collect();
        for seat in left {
            let sent = room.seats[seat].session.stats().commands_sent;
            let player = room.seats[seat].session.stats().player.expect("it plays");
            for count in &counts {
                assert_eq!(count.get(&player), Some(&sent), "seed {seed}: {player} gave {sent}");
            }
        }
    });
}

/// Two of the others have no connection: one leads who reaches both. Three others are no more than
/// a quorum, so each of the two needs the other's vote. If the carrier knows nothing of it, more
/// than three may not find out in time. If one of the two leads then, the other waits until they
/// have a connection.
#[test]
fn the_sequencer_is_killed_and_two_of_the_others_do_not_reach_each_other() {
    seeds::each("-p lockstone-net --test virtual_time takeover::", 20, |seed| {
        let mut dice = Dice(seed);
        let peers = 4 + dice.roll(3) as usize;
        let mut room = session(peers, &PartySettings::default(), ms(DELAY_MS));
        let (all, left): (Vec<_>, Vec<_>) = ((0..peers).collect(), (1..peers).collect());
        let one = 1 + dice.roll(left.len() as u64 - 1) as usize;
        let other = one + 1 + dice.roll((peers - one - 1) as u64) as usize;
        let is_told = dice.roll(2) == 0;
        match is_told {
            true => room.network.disconnect(room.peer(one), room.peer(other)),
            false => room.network.set_cut(room.peer(one), room.peer(other), true),
        }
        let time_ms = 1_000 + dice.roll(1_000);
        play(&mut room, &mut dice, time_ms, &all);
        let (at, killed) = (room.now(), room.peer(0));
        room.seats[0].freeze(Duration::MAX);
        if seed % 2 == 0 {
            room.network.drop_peer(killed);
        }
        room.run_until(at + ms(2 * DELAY_MS));
        let before = newest(&room, &left);
        room.run_while(at + secs(5), |room| newest(room, &left) <= before);
        println!("seed {seed}: the next turn after {:?}", room.now() - at);
        assert!(room.now() - at < secs(2), "seed {seed}: the next turn took {:?}", room.now() - at);
        let assert_abreast = |room: &Room, seats: &[usize]| {
            assert!(leader(room, seats).is_some_and(|leader| leader != PlayerId(0)), "seed {seed}");
            let behind = |seat: &usize| newest(room, seats).since(room.seats[*seat].session.settled());
            assert!(seats.iter().all(|seat| playing(&room.seats[*seat].session) && behind(seat) <= 8), "seed {seed}");
        };
        play(&mut room, &mut dice, 3_000, &left);
        let leads = leader(&room, &left[..1]).map_or(0, |player| usize::from(player.0));
        let waits = [(one, other), (other, one)].into_iter().find(|(of, _)| *of == leads).map(|(_, waits)| waits);
        assert!(waits.is_none() || !is_told && peers > 4, "seed {seed}: {waits:?} does not reach {leads}");
        let reached: Vec<_> = left.iter().copied().filter(|seat| Some(*seat) != waits).collect();
        assert_abreast(&room, &reached);
        room.network.set_cut(room.peer(one), room.peer(other), false);
        play(&mut room, &mut dice, 3_000, &left);
        assert_abreast(&room, &left);
        assert_one_history(&room, &left, seed);
    });
}

#[test]
fn the_sequencer_and_its_successor_are_killed() {
    seeds::each("-p lockstone-net --test virtual_time takeover::", 20, |seed| {
        let mut dice = Dice(seed);
        let mut room = session(5, &PartySettings::default(), ms(DELAY_MS));
        let time_ms = 1_000 + dice.roll(1_000);
        play(&mut room, &mut dice, time_ms, &[0, 1, 2, 3, 4]);
        room.seats[0].freeze(Duration::MAX);
        let meanwhile = room.now() + ms(dice.roll(1_500));
        room.run_until(meanwhile);
        room.seats[1].freeze(Duration::MAX);
        let (at, left) = (room.now(), [2, 3, 4]);
        room.run_until(at + ms(2 * DELAY_MS));
        let before = newest(&room, &left);
        room.run_while(at + secs(6), |room| newest(room, &left) <= before);
        println!("seed {seed}: the next turn after {:?}", room.now() - at);
        assert!(room.now() - at < secs(3), "seed {seed}: the next turn took {:?}", room.now() - at);
        play(&mut room, &mut dice, 3_000, &left);
        let until = room.now() + secs(1);
        room.run_until(until);
        assert_eq!(leader(&room, &left), Some(PlayerId(2)), "seed {seed}");
        assert_one_history(&room, &left, seed);
    });
}

#[test]
fn of_two_sides_the_larger_goes_on_and_the_other_comes_back() {
    seeds::each("-p lockstone-net --test virtual_time takeover::", 20, cut_in_two);
}

/// It is sent the world as the member that it is, says hello before that has come, and is sent it
/// again.
#[test]
fn a_member_that_asks_for_the_world_twice_keeps_its_hero() {
    cut_in_two(89);
}

fn cut_in_two(seed: u64) {
    let mut dice = Dice(seed);
    let mut room = session(5, &PartySettings::default(), ms(DELAY_MS));
    let time_ms = 1_000 + dice.roll(1_000);
    play(&mut room, &mut dice, time_ms, &[0, 1, 2, 3, 4]);
    let (few, many) = ([0, 1], [2, 3, 4]);
    let cut = |room: &Room, cut: bool| {
        for (a, b) in few.iter().flat_map(|a| many.iter().map(move |b| (*a, *b))) {
            room.network.set_cut(room.peer(a), room.peer(b), cut);
        }
    };
    cut(&room, true);
    let (before, at) = (newest(&room, &many), room.now());
    room.run_while(at + secs(5), |room| newest(room, &many) <= before);
    assert!(room.now() - at < secs(2), "seed {seed}: the next turn took {:?}", room.now() - at);
    room.run_until(at + secs(2));
    let stopped = newest(&room, &few);
    room.run_until(at + secs(4));
    assert_eq!(newest(&room, &few), stopped, "seed {seed}: the few go on");
    cut(&room, false);
    room.run_until(at + secs(9));
    let all = [0, 1, 2, 3, 4];
    for seat in all {
        let session = &room.seats[seat].session;
        assert_eq!(session.phase(), Phase::Playing, "seed {seed}: {seat}");
        assert_eq!(session.stats().player, Some(PlayerId(seat as u16)), "seed {seed}: the same player");
        assert_eq!(session.stats().players.len(), 5, "seed {seed}: {seat}");
    }
    assert!(leader(&room, &all).is_some_and(|leader| leader.0 >= 2), "seed {seed}");
    let played = |room: &Room| commands(room, 2).values().sum::<u64>();
    let before = played(&room);
    let given = play(&mut room, &mut dice, 2_000, &all);
    let until = room.now() + secs(1);
    room.run_until(until);
    assert_eq!(played(&room) - before, given, "seed {seed}: commands are played once, of those too who came back");
    assert_one_history(&room, &many, seed);
}

/// Its packets of the old epoch are answered by the one member that follows the new sequencer, and
/// by the new sequencer itself: both are needed for a quorum of three.
#[test]
fn a_sequencer_that_was_cut_off_from_two_learns_from_both_who_leads() {
    seeds::each("-p lockstone-net --test virtual_time takeover::", 20, |seed| {
        let mut dice = Dice(seed);
        let mut room = session(3, &PartySettings::default(), ms(DELAY_MS));
        let time_ms = 1_000 + dice.roll(1_000);
        play(&mut room, &mut dice, time_ms, &[0, 1, 2]);
        let cut = |room: &Room, cut: bool| {
            [1, 2].into_iter().for_each(|other| room.network.set_cut(room.peer(0), room.peer(other), cut));
        };
        cut(&room, true);
        let until = room.now() + ms(1_500 + dice.roll(3_000));
        room.run_until(until);
        cut(&room, false);
        room.run_until(until + secs(5));
        let all = [0, 1, 2];
        assert_eq!(leader(&room, &all), Some(PlayerId(1)), "seed {seed}");
        assert!(all.iter().all(|seat| playing(&room.seats[*seat].session)), "seed {seed}");
        play(&mut room, &mut dice, 2_000, &all);
        let until = room.now() + secs(1);
        room.run_until(until);
        assert_one_history(&room, &[1, 2], seed);
        // It has loaded the world, and its hero was in it: nobody waits for more of it.
        let until = room.now() + PartySettings::default().load_timeout + secs(1);
        room.run_until(until);
        assert!(all.iter().all(|seat| playing(&room.seats[*seat].session)), "seed {seed}: put out later");
    });
}

/// Whoever is on its way in when the only member leaves has no hero in any closed turn, and so no
/// number of its own: it must not lead.
#[test]
fn no_two_have_one_number_when_the_only_member_leaves_while_another_enters() {
    seeds::each("-p lockstone-net --test virtual_time takeover::", 60, |seed| {
        let mut room = session(1, &PartySettings::default(), ms(10));
        let joiner = room.enter(party(PartySettings::default(), "joiner"));
        let until = room.now() + ms(3 * seed);
        room.run_until(until);
        let (now, founder) = (room.now(), room.peer(0));
        room.seats[0].session.leave(now);
        room.run_until(now + ms(1));
        room.network.drop_peer(founder);
        room.run_until(now + secs(5));
        let third = room.enter(party(PartySettings::default(), "third"));
        room.run_until(now + secs(8));
        let player = |seat: usize| room.seats[seat].session.stats().players.into_iter().find(|player| player.own);
        if let (Some(one), Some(other)) = (player(joiner), player(third)) {
            assert_ne!(one.player, other.player, "seed {seed}");
        }
        let leads = |seat: usize| room.seats[seat].session.phase() == Phase::Playing;
        assert!(!leads(joiner) || player(joiner).is_some(), "seed {seed}: it leads without a hero");
    });
}
