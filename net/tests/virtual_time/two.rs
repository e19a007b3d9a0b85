//! A party of two: one is killed, or they lose each other. Who goes on, when, and how they become
//! one session again.

use core::time::Duration;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_net::PlayerKey;
use lockstone_net::link::PeerId;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{EndReason, Event, Phase, Session};
use lockstone_net::wire::{self, Epoch, Message};
use lockstone_sim::{PlayerId, Tick};
use testkit::seeds::{self, spread};
use testkit::sessions::rollback::play;
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time two::";
const DELAY: Duration = ms(50);
/// Who is told goes on within that; who is not waits for as long as anyone may be silent.
const GOES_ON_WITHIN: Duration = secs(2);
const WAITS: Duration = secs(10);
const TOGETHER_WITHIN: Duration = secs(5);
/// Once their connection is made again.
const MEET_WITHIN: Duration = secs(2);

type Room = Driver<Party<Mixer>, Tap>;
/// Who closed ticks in an epoch: whose packets held turns of it.
type Leaders = Rc<RefCell<BTreeMap<Epoch, BTreeSet<PeerId>>>>;

fn player_of(key: u8, away_ticks: u32) -> Party<Mixer> {
    let build = move |seed| Mixer::new(seed, 64).keeping(away_ticks);
    let settings = PartySettings { players_at_start: 2, ..PartySettings::default() };
    party_of(settings, IDENTITY, &format!("player {key}"), build).with_key(PlayerKey::from_bytes([key; 32]))
}

/// Two who play, and who closes ticks in which epoch.
fn room(seed: u64, away_ticks: u32) -> (Room, Leaders) {
    let leaders = Leaders::default();
    let parties = (0..2).map(|n| player_of(n, away_ticks));
    let room = gather(seed, Weather::clear(DELAY), parties, |_, link| {
        let (leaders, me) = (leaders.clone(), link.peer());
        Tap::new(link, move |packet| {
            if let Ok((epoch, Message::Turns(_))) = wire::decode(&packet.bytes) {
                leaders.borrow_mut().entry(epoch).or_default().insert(me);
            }
            Some(packet)
        })
    });
    (room, leaders)
}

fn known(room: &Room, seat: usize) -> Tick {
    room.seats[seat].session.stats().known
}

/// How long until a seat closes or knows another tick.
fn until_it_goes_on(room: &mut Room, seat: usize, at_most: Duration) -> Option<Duration> {
    let (at, before) = (room.now(), known(room, seat));
    room.run_while(at + at_most, |room| known(room, seat) <= before).then(|| room.now() - at)
}

/// Nobody's epoch was another's too.
fn assert_one_leader_an_epoch(leaders: &Leaders, seed: u64) {
    let leaders = leaders.borrow();
    assert!(leaders.values().all(|leaders| leaders.len() == 1), "seed {seed}: {leaders:?}");
}

/// Both play on in one session again, each with the hero that it had.
fn assert_together(room: &mut Room, dice: &mut Dice, seed: u64) {
    play(room, dice, secs(2));
    let until = room.now() + secs(1);
    room.run_until(until);
    let led_by = |seat: usize| {
        let stats = room.seats[seat].session.stats();
        (stats.epoch, stats.sequencer())
    };
    assert_eq!(led_by(0), led_by(1), "seed {seed}");
    for (n, seat) in room.seats.iter().enumerate() {
        let (stats, world) = (seat.session.stats(), seat.session.simulation().expect("it plays"));
        assert!(playing(&seat.session) && !world.nonsense, "seed {seed}: seat {n}, {:?}", seat.session.phase());
        assert_eq!(stats.player, Some(PlayerId(n as u16)), "seed {seed}: the same player");
        assert_eq!((stats.players.len(), world.state.heroes.len()), (2, 2), "seed {seed}: seat {n}");
        assert!(world.state.away.is_empty(), "seed {seed}: seat {n}");
    }
    let [a, b] = [0, 1].map(|seat| Played::of(&room.seats[seat].events));
    assert!(assert_same(&a, &b, &format!("seed {seed}")) > 2, "seed {seed}");
}

#[test]
fn one_is_killed_and_the_other_goes_on() {
    let took = seeds::each(TEST, 40, |seed| {
        let (mut dice, (mut room, leaders)) = (Dice(seed), room(seed, 1_200));
        let time = ms(500 + dice.roll(2_000));
        play(&mut room, &mut dice, time);
        let killed = dice.roll(2) as usize;
        let (peer, left) = (room.peer(killed), 1 - killed);
        room.seats[killed].freeze(Duration::MAX);
        room.network.drop_peer(peer);
        // What it had sent still arrives.
        let at = room.now();
        room.run_until(at + 2 * DELAY);
        let took = until_it_goes_on(&mut room, left, WAITS).expect("it goes on") + 2 * DELAY;
        assert!(took < GOES_ON_WITHIN, "seed {seed}: {took:?}");
        let (until, before) = (room.now() + secs(3), known(&room, left));
        room.run_until(until);
        assert!(known(&room, left).since(before) >= 58, "seed {seed}: it plays on at its pace");
        assert_eq!(room.seats[left].session.stats().sequencer(), Some(PlayerId(left as u16)));
        assert_one_leader_an_epoch(&leaders, seed);
        (killed, took)
    });
    for (what, killed) in [("the sequencer", 0), ("the other", 1)] {
        let took = took.iter().filter(|took| took.0 == killed).map(|took| took.1);
        println!("{what} is killed: the next turn after {}", spread(took.collect()));
    }
}

/// Nobody is told: the sequencer alone goes on, and the other waits, however long.
#[test]
fn of_two_who_do_not_hear_each_other_one_goes_on() {
    let took = seeds::each(TEST, 40, |seed| {
        let (mut dice, (mut room, leaders)) = (Dice(seed), room(seed, 24_000));
        let time = ms(500 + dice.roll(2_000));
        play(&mut room, &mut dice, time);
        room.network.set_cut(room.peer(0), room.peer(1), true);
        let at = room.now();
        let cut = ms(1_000 + dice.roll(30_000));
        let (first, until) = (known(&room, 0), at + cut);
        room.run_until(until);
        let closed = known(&room, 0).since(first);
        let expected = (cut.as_millis() / 50) as u32;
        assert!(closed + 3 >= expected, "seed {seed}: the sequencer closed {closed} of {expected} ticks");
        let behind = known(&room, 1).since(first);
        assert!(behind <= 4, "seed {seed}: the other went on for {behind} ticks");
        let waits = matches!(room.seats[1].session.phase(), Phase::Playing | Phase::Returning);
        assert!(waits, "seed {seed}: {:?}", room.seats[1].session.phase());

        room.network.set_cut(room.peer(0), room.peer(1), false);
        let healed = room.now();
        let apart = |room: &Room| !playing(&room.seats[1].session) || known(room, 0).since(known(room, 1)) > 8;
        let apart = |room: &Room| apart(room) || room.seats[0].session.stats().players.len() < 2;
        room.run_while(healed + 3 * TOGETHER_WITHIN, |room| apart(room));
        let took = room.now() - healed;
        assert!(took < TOGETHER_WITHIN, "seed {seed}: together after {took:?}, cut for {cut:?}");
        assert_together(&mut room, &mut dice, seed);
        assert_one_leader_an_epoch(&leaders, seed);
        took
    });
    println!("together again: {}", spread(took));
}

/// Each is told that the other is gone, though both live: both go on, in epochs of their own, and
/// become one session when they meet.
#[test]
fn two_whose_connection_breaks_become_one_session_again() {
    let took = seeds::each(TEST, 40, |seed| {
        let (mut dice, (mut room, leaders)) = (Dice(seed), room(seed, 24_000));
        let time = ms(500 + dice.roll(2_000));
        play(&mut room, &mut dice, time);
        room.network.disconnect(room.peer(0), room.peer(1));
        let at = room.now();
        room.run_until(at + GOES_ON_WITHIN);
        let before = [0, 1].map(|seat| known(&room, seat));
        let apart = ms(1_000 + dice.roll(20_000));
        play(&mut room, &mut dice, apart);
        for (seat, before) in before.into_iter().enumerate() {
            let ticks = known(&room, seat).since(before);
            let expected = (apart.as_millis() / 50) as u32;
            assert!(ticks + 3 >= expected, "seed {seed}: seat {seat} played {ticks} of {expected} ticks");
        }
        assert_one_leader_an_epoch(&leaders, seed);

        room.network.come_back(room.peer(1));
        let healed = room.now();
        let led_by = |room: &Room, seat: usize| {
            let stats = room.seats[seat].session.stats();
            (stats.epoch, stats.sequencer(), stats.players.len())
        };
        let apart = |room: &Room| {
            led_by(room, 0) != led_by(room, 1)
                || led_by(room, 0).2 < 2
                || !(0..2).all(|n| playing(&room.seats[n].session))
        };
        room.run_while(healed + 3 * TOGETHER_WITHIN, |room| apart(room));
        let took = room.now() - healed;
        assert!(took < MEET_WITHIN, "seed {seed}: together after {took:?}");
        assert_together(&mut room, &mut dice, seed);
        took
    });
    println!("together again: {}", spread(took));
}

/// It wakes, and is told that the connection is gone: it cannot know that this was its own fault,
/// and goes on as well. When they meet, what the other played meanwhile is the session.
#[test]
fn who_stood_still_goes_over_to_the_one_who_played_on() {
    let took = seeds::each(TEST, 20, |seed| {
        let (mut dice, (mut room, leaders)) = (Dice(seed), room(seed, 24_000));
        let time = ms(500 + dice.roll(2_000));
        play(&mut room, &mut dice, time);
        let (at, before) = (room.now(), known(&room, 0));
        let wakes = at + secs(31) + ms(dice.roll(30_000));
        room.seats[1].freeze(wakes);
        // A process that stands still takes nothing in.
        room.network.set_cut(room.peer(0), room.peer(1), true);
        room.run_until(at + secs(30));
        room.network.disconnect(room.peer(0), room.peer(1));
        // At once, or when its branch is no longer young.
        let longest_ms = [100, 5_000][dice.roll(2) as usize];
        room.run_until(wakes + ms(dice.roll(longest_ms)));
        assert!(known(&room, 0).since(before) >= 600, "seed {seed}: the sequencer plays on");

        room.network.come_back(room.peer(1));
        let met = room.now();
        let apart = |room: &Room| {
            room.seats[0].session.stats().players.len() < 2 || !(0..2).all(|n| playing(&room.seats[n].session))
        };
        room.run_while(met + 3 * TOGETHER_WITHIN, |room| apart(room));
        let took = room.now() - met;
        assert!(took < MEET_WITHIN, "seed {seed}: together after {took:?}");
        assert_together(&mut room, &mut dice, seed);
        let yielded = |seat: usize| room.seats[seat].events.iter().any(|event| matches!(event, Event::Yielded));
        assert!(!yielded(0), "seed {seed}: who played on gave up what it played");
        assert_one_leader_an_epoch(&leaders, seed);
        (took, yielded(1))
    });
    assert!(took.iter().any(|(_, yielded)| *yielded), "who woke went on as well, now and then");
    println!("together again: {}", spread(took.into_iter().map(|(took, _)| took).collect()));
}

/// Heroes do not wait: who is not told that the other is gone may go on alone after the time that
/// it waits, and ends if it does not.
#[test]
fn who_waits_in_vain_goes_on_alone_or_ends() {
    let waits_in_vain = |goes_on: bool| {
        let (mut room, _) = room(1, 0);
        let until = room.now() + secs(1);
        room.run_until(until);
        room.seats[0].freeze(Duration::MAX);
        let at = room.now();
        room.run_until(at + WAITS - secs(1));
        assert!(room.seats[1].session.go_on_as_branch().is_err(), "too early");
        room.run_until(at + WAITS + secs(1));
        assert_eq!(ended(&room.seats[1].session), None);
        assert_eq!(goes_on && room.seats[1].session.go_on_as_branch().is_ok(), goes_on);
        room.run_until(at + 2 * WAITS + secs(1));
        room
    };
    let room = waits_in_vain(true);
    assert!(playing(&room.seats[1].session));
    assert!(room.seats[1].session.stats().tick.since(room.seats[0].session.stats().tick) > 150, "it plays on");
    let room = waits_in_vain(false);
    assert_eq!(ended(&room.seats[1].session), Some(EndReason::SequencerLost { silent: true }));
    let told = |event: &&Event<Mixer>| matches!(event, Event::Ended { .. });
    assert_eq!(room.seats[1].events.iter().filter(told).count(), 1);
}
