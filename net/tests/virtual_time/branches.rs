//! A party falls apart: the majority is the session, a minority waits, and goes on as a branch if
//! one of its players wants that. When they meet again, they become one session.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::PlayerKey;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{BranchError, Event, Phase, Session};
use lockstone_net::wire::Branch;
use lockstone_sim::{Checksum, Input, PlayerId, Tick};
use testkit::seeds::{self, spread};
use testkit::sessions::log::Log;
use testkit::sessions::rollback::play;
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time branches::";
const DELAY: Duration = ms(50);
/// After a cut nobody but a majority closes ticks for longer.
const STOPS_WITHIN: Duration = secs(2);
/// So long a minority waits before it may go on, since it played a turn.
const WAITS: Duration = secs(10);
/// A sequencer closes ticks for 1.5 s without a quorum, and turns play later than they are closed.
const LEASE: Duration = ms(2_500);
/// Who is in one minority plays together within that, once one of it wants to.
const BRANCHES_WITHIN: Duration = secs(4);
const TOGETHER_WITHIN: Duration = secs(5);
/// What a sequencer closes before it learns that it hears no quorum, is discarded by the others.
const DISCARDED_TICKS_MAX: u32 = 40;

type Room = Driver<Party<Mixer>>;

fn room(seed: u64, players: u8) -> Room {
    let settings = PartySettings { players_at_start: players.into(), ..PartySettings::default() };
    let player = |n: u8| {
        let build = |seed| Mixer::new(seed, 64).keeping(24_000);
        let party = party_of(settings.clone(), IDENTITY, &format!("player {n}"), build);
        party.with_key(PlayerKey::from_bytes([n; 32]))
    };
    gather(seed, Weather::clear(DELAY), (0..players).map(player), |_, link| link)
}

fn run(room: &mut Room, time: Duration) {
    let until = room.now() + time;
    room.run_until(until);
}

/// Nobody of one side hears anyone of another.
fn part(room: &Room, sides: &[&[usize]]) {
    let side = |seat: usize| sides.iter().position(|side| side.contains(&seat));
    for a in 0..room.seats.len() {
        for b in a + 1..room.seats.len() {
            room.network.set_cut(room.peer(a), room.peer(b), side(a) != side(b));
        }
    }
}

fn heal(room: &Room) {
    let all: Vec<_> = (0..room.seats.len()).collect();
    part(room, &[&all]);
}

fn known(room: &Room, seats: &[usize]) -> Tick {
    seats.iter().map(|seat| room.seats[*seat].session.stats().known).max().expect("there are seats")
}

fn branch(room: &Room, seat: usize) -> Branch {
    room.seats[seat].session.stats().branch
}

/// What a seat was told of being in a minority.
fn told(room: &Room, seat: usize) -> Vec<(usize, usize, bool)> {
    let minority = |event: &Event<Mixer>| match event {
        Event::Minority { reached, members, may_branch } => Some((*reached, *members, *may_branch)),
        _ => None,
    };
    room.seats[seat].events.iter().filter_map(minority).collect()
}

fn yielded(room: &Room, seat: usize) -> bool {
    room.seats[seat].events.iter().any(|event| matches!(event, Event::Yielded))
}

/// Whether seats play one history, each with all of them.
fn are_together(room: &Room, seats: &[usize]) -> bool {
    let of = |seat: usize| {
        let stats = room.seats[seat].session.stats();
        (stats.branch, stats.epoch, stats.sequencer(), stats.players.len())
    };
    let (first, newest) = (of(seats[0]), known(room, seats));
    let level = |seat: usize| newest.since(known(room, &[seat])) <= 8;
    first.3 == seats.len()
        && seats.iter().all(|seat| of(*seat) == first && playing(&room.seats[*seat].session) && level(*seat))
}

/// How long until they are.
fn until_together(room: &mut Room, seats: &[usize], at_most: Duration) -> Option<Duration> {
    let at = room.now();
    room.run_while(at + at_most, |room| !are_together(room, seats)).then(|| room.now() - at)
}

/// Everyone is who they were, in worlds that make sense.
fn assert_same_players(room: &Room, seed: u64) {
    for (n, seat) in room.seats.iter().enumerate() {
        let (stats, world) = (seat.session.stats(), seat.session.simulation().expect("it plays"));
        assert!(!world.nonsense, "seed {seed}: seat {n}");
        assert_eq!(stats.player, Some(PlayerId(n as u16)), "seed {seed}: the same player");
        assert_eq!(world.state.heroes.len(), room.seats.len(), "seed {seed}: seat {n}");
        assert!(world.state.away.is_empty(), "seed {seed}: seat {n}");
    }
    let played: Vec<_> = room.seats.iter().map(|seat| Played::of(&seat.events)).collect();
    for other in &played[1..] {
        assert!(assert_same(&played[0], other, &format!("seed {seed}")) > 2, "seed {seed}: nothing compared");
    }
}

/// Where two seats played otherwise what has one name, but for the last moments before a cut.
fn fork(room: &Room, cut_at: Tick, name: impl Fn(Branch) -> Branch) -> Option<String> {
    let mut histories: BTreeMap<(Branch, Tick), (usize, Checksum)> = BTreeMap::new();
    for (n, seat) in room.seats.iter().enumerate() {
        let mut now = Branch::default();
        for event in &seat.events {
            match event {
                Event::Branch { branch, .. } => now = name(*branch),
                Event::Checksum { tick, checksum, .. } => {
                    let (other, theirs) = *histories.entry((now, *tick)).or_insert((n, *checksum));
                    if theirs != *checksum && *tick > cut_at.plus(DISCARDED_TICKS_MAX) {
                        return Some(format!("seats {other} and {n} part at tick {tick} of {now}, cut at {cut_at}"));
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// They play on, everyone as who they were, and no name was ever that of two histories.
fn assert_one_session(room: &mut Room, dice: &mut Dice, cut_at: Tick, seed: u64) {
    play(room, dice, secs(2));
    run(room, secs(1));
    assert_same_players(room, seed);
    assert_eq!(fork(room, cut_at, |branch| branch), None, "seed {seed}");
}

/// Two are cut off from three: the sequencer is on either side.
fn cut(seed: u64) -> (Dice, Room, [usize; 2], [usize; 3], Tick) {
    let (mut dice, mut room) = (Dice(seed), room(seed, 5));
    let time = ms(1_000 + dice.roll(2_000));
    play(&mut room, &mut dice, time);
    let (few, many) = if seed.is_multiple_of(2) { ([0, 1], [2, 3, 4]) } else { ([3, 4], [0, 1, 2]) };
    part(&room, &[&few, &many]);
    let tick = known(&room, &[0, 1, 2, 3, 4]);
    (dice, room, few, many, tick)
}

#[test]
fn two_of_five_go_on_as_a_branch_and_come_back() {
    let took = seeds::each(TEST, 12, |seed| {
        let (mut dice, mut room, few, many, tick) = cut(seed);
        let (at, trunk) = (room.now(), branch(&room, 2));
        room.run_until(at + STOPS_WITHIN);
        let stopped = known(&room, &few);
        room.run_until(at + WAITS - ms(500));
        assert_eq!(known(&room, &few), stopped, "seed {seed}: the few go on");
        assert!(known(&room, &many).since(stopped) > 120, "seed {seed}: the many do not");
        for seat in few {
            assert_eq!(told(&room, seat), [(2, 5, false)], "seed {seed}: seat {seat} waits");
            assert_eq!(room.seats[seat].session.go_on_as_branch(), Err(BranchError), "seed {seed}: not yet");
        }
        room.run_until(at + WAITS + LEASE + ms(500));
        for seat in few {
            assert_eq!(told(&room, seat), [(2, 5, false), (2, 5, true)], "seed {seed}: seat {seat}");
        }
        assert!(many.iter().all(|seat| told(&room, *seat).is_empty()), "seed {seed}: the many are none");

        // One of them, or both at once.
        let takers = [&few[..1], &few[1..], &few[..]][(seed / 2 % 3) as usize];
        for seat in takers {
            room.seats[*seat].session.go_on_as_branch().expect("it is offered");
        }
        let branched = until_together(&mut room, &few, BRANCHES_WITHIN);
        assert!(branched.is_some(), "seed {seed}: the few are not together");
        let (ours, before) = (branch(&room, few[0]), known(&room, &few));
        assert!(ours != trunk && branch(&room, many[0]) == trunk, "seed {seed}: a branch has an id of its own");
        let apart = ms(1_000 + dice.roll(20_000));
        play(&mut room, &mut dice, apart);
        assert!(known(&room, &few).since(before) + 8 >= (apart.as_millis() / 50) as u32, "seed {seed}: they play");
        assert_eq!(branch(&room, few[1]), ours, "seed {seed}");
        for seat in few {
            let commanded = room.seats[seat].events.iter().rev().find_map(|event| match event {
                Event::Turn { turn, .. } => turn.inputs.iter().find_map(|input| match input {
                    Input::Command(player, _) => Some(*player),
                    _ => None,
                }),
                _ => None,
            });
            assert!(commanded.is_some_and(|player| few.contains(&player.0.into())), "seed {seed}: seat {seat}");
        }

        heal(&room);
        let took = until_together(&mut room, &[0, 1, 2, 3, 4], 3 * TOGETHER_WITHIN);
        let took = took.unwrap_or_else(|| {
            let seats = room.seats.iter().map(|seat| (seat.session.phase(), seat.session.stats().branch));
            panic!("seed {seed}: {:?}", seats.collect::<Vec<_>>())
        });
        assert!(took < TOGETHER_WITHIN, "seed {seed}: together after {took:?}");
        assert_eq!(branch(&room, few[0]), trunk, "seed {seed}: the session goes on, not the branch");
        assert!(few.iter().all(|seat| yielded(&room, *seat)), "seed {seed}: and is told so");
        assert_one_session(&mut room, &mut dice, tick, seed);
        assert!(fork(&room, tick, |_| trunk).is_some(), "seed {seed}: the control, without names");
        (branched.unwrap_or_default(), took)
    });
    let (branched, took): (Vec<_>, Vec<_>) = took.into_iter().unzip();
    println!("the few play together: {}", spread(branched));
    println!("one session again: {}", spread(took));
}

/// The control: nothing is closed by who does not take the offer, and nothing is discarded.
#[test]
fn who_does_not_want_a_branch_waits() {
    let took = seeds::each(TEST, 6, |seed| {
        let (mut dice, mut room, few, _, tick) = cut(seed);
        let at = room.now();
        room.run_until(at + STOPS_WITHIN);
        let stopped = known(&room, &few);
        play(&mut room, &mut dice, secs(58));
        assert_eq!(known(&room, &few), stopped, "seed {seed}: the few go on");
        heal(&room);
        let took = until_together(&mut room, &[0, 1, 2, 3, 4], 3 * TOGETHER_WITHIN).expect("one session");
        assert!(took < TOGETHER_WITHIN, "seed {seed}: together after {took:?}");
        assert!((0..5).all(|seat| !yielded(&room, seat)), "seed {seed}");
        assert_one_session(&mut room, &mut dice, tick, seed);
        took
    });
    println!("one session again: {}", spread(took));
}

/// Nobody is a majority, and nobody wants a branch: as soon as there is one, it leads on.
#[test]
fn a_majority_that_meets_after_long_goes_on_with_the_session() {
    seeds::each(TEST, 6, |seed| {
        let (mut dice, mut room) = (Dice(seed), room(seed, 5));
        play(&mut room, &mut dice, secs(2));
        part(&room, &[&[0, 1], &[2, 3], &[4]]);
        let (tick, trunk) = (known(&room, &[0]), branch(&room, 0));
        let time = ms(3_000 + dice.roll(40_000));
        play(&mut room, &mut dice, time);
        assert!(known(&room, &[0, 1, 2, 3, 4]).since(tick) <= DISCARDED_TICKS_MAX, "seed {seed}: somebody goes on");
        part(&room, &[&[0, 1, 2, 3], &[4]]);
        let took = until_goes_on(&mut room, &[0, 1, 2, 3]);
        assert!(took < TOGETHER_WITHIN, "seed {seed}: after {took:?}");
        heal(&room);
        let all = until_together(&mut room, &[0, 1, 2, 3, 4], 3 * TOGETHER_WITHIN);
        assert!(all.is_some_and(|took| took < TOGETHER_WITHIN), "seed {seed}: {all:?}");
        assert_eq!(branch(&room, 4), trunk, "seed {seed}: the same session");
        assert_one_session(&mut room, &mut dice, tick, seed);
    });
}

fn until_goes_on(room: &mut Room, seats: &[usize]) -> Duration {
    let (at, before) = (room.now(), known(room, seats));
    room.run_while(at + 3 * TOGETHER_WITHIN, |room| known(room, seats) <= before);
    room.now() - at
}

/// Three branches of one member each, and none of another: they become one session all the same.
#[test]
fn branches_that_meet_become_one() {
    let took = seeds::each(TEST, 6, |seed| {
        let (mut dice, mut room) = (Dice(seed), room(seed, 3));
        play(&mut room, &mut dice, secs(2));
        part(&room, &[&[0], &[1], &[2]]);
        let (tick, trunk) = (known(&room, &[0]), branch(&room, 0));
        run(&mut room, WAITS + LEASE + ms(500));
        for seat in 0..3 {
            let later = ms(dice.roll(3_000));
            run(&mut room, later);
            room.seats[seat].session.go_on_as_branch().expect("it is offered");
        }
        let time = ms(1_000 + dice.roll(20_000));
        play(&mut room, &mut dice, time);
        let ids: BTreeSet<_> = (0..3).map(|seat| branch(&room, seat)).chain([trunk]).collect();
        assert_eq!(ids.len(), 4, "seed {seed}: each has an id of its own");
        heal(&room);
        let took = until_together(&mut room, &[0, 1, 2], 4 * TOGETHER_WITHIN).expect("one session");
        assert_eq!((0..3).filter(|seat| yielded(&room, *seat)).count(), 2, "seed {seed}: two yield");
        assert!(ids.contains(&branch(&room, 0)), "seed {seed}: to the third");
        assert_one_session(&mut room, &mut dice, tick, seed);
        took
    });
    println!("one session again: {}", spread(took));
}

/// Of two the sequencer is the session. The other goes on as a branch, be it that it is told that
/// the sequencer is gone, or that it waited in vain and wants to.
#[test]
fn of_two_only_one_is_the_session() {
    for is_told in [true, false] {
        seeds::each(TEST, 6, |seed| {
            let (mut dice, mut room) = (Dice(seed), room(seed, 2));
            play(&mut room, &mut dice, secs(2));
            let (tick, trunk) = (known(&room, &[0]), branch(&room, 0));
            if is_told {
                room.network.disconnect(room.peer(0), room.peer(1));
            } else {
                part(&room, &[&[0], &[1]]);
                run(&mut room, WAITS + LEASE + ms(500));
                assert_eq!(told(&room, 1), [(1, 2, false), (1, 2, true)], "seed {seed}");
                room.seats[1].session.go_on_as_branch().expect("it is offered");
            }
            run(&mut room, secs(2));
            let before = [0, 1].map(|seat| known(&room, &[seat]));
            play(&mut room, &mut dice, secs(3));
            assert!((0..2).all(|seat| known(&room, &[seat]).since(before[seat]) > 55), "seed {seed}: both go on");
            assert!(branch(&room, 0) == trunk && branch(&room, 1) != trunk, "seed {seed}: never two of one id");
            if is_told {
                room.network.come_back(room.peer(1));
            } else {
                heal(&room);
            }
            let took = until_together(&mut room, &[0, 1], 3 * TOGETHER_WITHIN);
            assert!(took.is_some_and(|took| took < TOGETHER_WITHIN), "seed {seed}: {took:?}");
            assert_eq!((0..2).filter(|seat| yielded(&room, *seat)).count(), 1, "seed {seed}: one yields");
            assert_one_session(&mut room, &mut dice, tick, seed);
        });
    }
}

/// Who takes the offer later than another comes along, and one that was never asked does too.
#[test]
fn who_waits_comes_along_with_a_branch_that_it_meets() {
    seeds::each(TEST, 6, |seed| {
        let (mut dice, mut room) = (Dice(seed), room(seed, 5));
        play(&mut room, &mut dice, secs(2));
        part(&room, &[&[0, 1], &[2, 3], &[4]]);
        let tick = known(&room, &[0]);
        run(&mut room, WAITS + LEASE + ms(500));
        room.seats[2].session.go_on_as_branch().expect("it is offered");
        run(&mut room, BRANCHES_WITHIN);
        assert!(are_together(&room, &[2, 3]), "seed {seed}");
        assert_eq!(room.seats[2].session.go_on_as_branch(), Err(BranchError), "seed {seed}: it leads");
        // Those who wait meet them: four of five, of whom two have left the session.
        part(&room, &[&[0, 1, 2, 3], &[4]]);
        let took = until_together(&mut room, &[0, 1, 2, 3], 3 * TOGETHER_WITHIN);
        assert!(took.is_some_and(|took| took < TOGETHER_WITHIN), "seed {seed}: {took:?}");
        assert!(room.seats[4].session.phase() != Phase::Playing || known(&room, &[4]) <= tick.plus(8));
        heal(&room);
        let took = until_together(&mut room, &[0, 1, 2, 3, 4], 3 * TOGETHER_WITHIN);
        assert!(took.is_some_and(|took| took < TOGETHER_WITHIN), "seed {seed}: {took:?}");
        assert_one_session(&mut room, &mut dice, tick, seed);
    });
}

/// A recording is gone on with in two rooms: these are two sessions, and neither is the recorded
/// one.
#[test]
fn who_goes_on_from_a_recording_founds_a_branch() {
    let (mut dice, mut room) = (Dice(1), room(1, 2));
    play(&mut room, &mut dice, secs(3));
    let log = Log::of(&room.seats[0].events);
    let build = |seed| Mixer::new(seed, 64).keeping(24_000);
    let founded = [2, 3].map(|seed| {
        let party = party_of(PartySettings::default(), IDENTITY, "player 0", build);
        let party = party.with_key(PlayerKey::from_bytes([0; 32])).continuing(log.at(log.end, build));
        let room = gather(seed, Weather::clear(DELAY), [party].into_iter(), |_, link| link);
        branch(&room, 0)
    });
    let ids = BTreeSet::from([branch(&room, 0), founded[0], founded[1]]);
    assert_eq!(ids.len(), 3);
}
