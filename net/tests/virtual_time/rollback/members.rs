//! Who is left of a rollback session, and that nobody else is: sides that are cut off from each
//! other, leaders that die, players that die together or while others agree, members that lie.
//!
//! On virtual time. `SEED=17 cargo test -p lockstone-net --test virtual_time
//! rollback::members -- --nocapture` repeats a seed, `SEEDS=5000` tries more of them.

use core::time::Duration;

use lockstone_net::memory::Weather;
use lockstone_net::session::{EndReason, Phase, Session};
use lockstone_net::wire::{self, Epoch, Known, LeaveReason, Message, Regroup, Stand, Vote};
use lockstone_sim::{PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::hostile::{hear, same_story};
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Groups, Room, Tap, altering};
use testkit::sessions::*;

const TIMEOUT: Duration = Duration::from_millis(1_500);

/// Players in ordinary weather, who have played for a while.
fn playing_room(seed: u64, peers: usize) -> (Room, Groups, Dice) {
    let (mut dice, groups) = (Dice(seed ^ 0x3e3be5), Groups::default());
    let weather = Weather {
        jitter: ms(dice.roll(40)),
        loss_permille: dice.roll(50) as u16,
        ..Weather::clear(ms(10 + dice.roll(80)))
    };
    let mut room = room_by(seed, peers, weather, &settings(seed), |_, link| {
        let hand = groups.noting(link.peer());
        Tap::new(link, hand)
    });
    let before = ms(500 + dice.roll(3_000));
    play(&mut room, &mut dice, before);
    (room, groups, dice)
}

/// Sides hear each other no more, or again.
fn cut(room: &Room, sides: [&[usize]; 2], cut: bool) {
    for a in sides[0] {
        for b in sides[1] {
            room.network.set_cut(room.peer(*a), room.peer(*b), cut);
        }
    }
}

fn settled(room: &Room, seat: usize) -> Tick {
    room.seats[seat].session.stats().settled
}

fn heroes(room: &Room, seat: usize) -> usize {
    room.seats[seat].session.simulation().expect("it plays").state.heroes.len()
}

/// Those seats play on without the others, in step with each other.
fn play_on(room: &mut Room, dice: &mut Dice, seats: &[usize], context: &str) {
    let before: Vec<_> = seats.iter().map(|seat| settled(room, *seat)).collect();
    play(room, dice, secs(3));
    for (seat, before) in seats.iter().zip(before) {
        assert_eq!(room.seats[*seat].session.phase(), Phase::Playing, "{context}: seat {seat}");
        let played = settled(room, *seat).since(before);
        assert!(played >= 50, "{context}: seat {seat} played {played} ticks in 3 s");
        assert_eq!(heroes(room, *seat), seats.len(), "{context}: seat {seat}");
        assert_eq!(room.seats[*seat].session.stats().desyncs, 0, "{context}: seat {seat}");
    }
    for seats in seats.windows(2) {
        same_story(room, [seats[0], seats[1]]);
    }
}

/// One side of a cut goes on, the other waits and ends.
fn one_side_goes_on(seed: u64, on: &[usize], off: &[usize]) {
    let (mut room, groups, mut dice) = playing_room(seed, on.len() + off.len());
    let context = format!("seed {seed}: {on:?} and {off:?}");
    cut(&room, [on, off], true);
    // Once they have lost each other, it does not matter whether they hear each other again.
    let (lost, wait) = (TIMEOUT + ms(400), TIMEOUT + ms(400));
    play(&mut room, &mut dice, lost);
    assert!(off.iter().all(|seat| room.seats[*seat].session.phase() == Phase::Regrouping), "{context}");
    if dice.roll(2) == 0 {
        cut(&room, [on, off], false);
    }
    play(&mut room, &mut dice, wait);
    for seat in off {
        let end = ended(&room.seats[*seat].session);
        let ends = [EndReason::NoQuorum, EndReason::Removed(LeaveReason::Silent)];
        assert!(end.is_some_and(|end| ends.contains(&end)), "{context}: {:?}", room.seats[*seat].session.phase());
    }
    play_on(&mut room, &mut dice, on, &context);
    assert_eq!(groups.fork(), None, "{context}");
}

#[test]
fn of_two_halves_the_one_with_the_first_player_goes_on() {
    seeds::each("-p lockstone-net --test virtual_time rollback::members", 200, |seed| {
        let friend = 1 + seed as usize % 3;
        let off: Vec<_> = (1..4).filter(|seat| *seat != friend).collect();
        one_side_goes_on(seed, &[0, friend], &off);
    });
}

#[test]
fn of_three_the_two_that_hear_each_other_go_on() {
    seeds::each("-p lockstone-net --test virtual_time rollback::members", 60, |seed| {
        let alone = seed as usize % 3;
        let on: Vec<_> = (0..3).filter(|seat| *seat != alone).collect();
        one_side_goes_on(seed, &on, &[alone]);
    });
}

#[test]
fn without_a_quorum_both_halves_go_on_and_that_is_found() {
    // A goodbye takes its player out of those who decide. With goodbyes of the first half, which
    // nobody said, the second one decides alone: as if no quorum were needed.
    let (mut room, groups, mut dice) = playing_room(1, 4);
    cut(&room, [&[0, 1], &[2, 3]], true);
    play(&mut room, &mut dice, TIMEOUT + ms(400));
    for seat in [2, 3] {
        for gone in [0, 1].map(|gone| room.peer(gone)) {
            hear(&mut room, seat, gone, wire::encode(Epoch(0), &Message::Bye(LeaveReason::Left)));
        }
    }
    play(&mut room, &mut dice, secs(2));
    assert!((0..4).all(|seat| room.seats[seat].session.phase() == Phase::Playing && heroes(&room, seat) == 2));
    assert!(groups.fork() > Some(Epoch(0)), "{:?}", groups.fork());
}

#[test]
fn when_the_leader_is_lost_another_leads_and_so_on() {
    seeds::each("-p lockstone-net --test virtual_time rollback::members", 60, |seed| {
        let (mut room, groups, mut dice) = playing_room(seed, 4);
        for left in [3, 2] {
            // The first player of those who are left leads, as far as nobody else had to.
            kill(&mut room, 0, dice.roll(2) == 0);
            play(&mut room, &mut dice, TIMEOUT + secs(1));
            play_on(&mut room, &mut dice, &(0..left).collect::<Vec<_>>(), &format!("seed {seed}: {left} are left"));
        }
        assert_eq!((groups.fork(), groups.epochs()), (None, 3), "seed {seed}");
    });
}

#[test]
fn when_two_of_four_are_lost_at_once_the_others_go_on_if_they_can_know_that_they_may() {
    seeds::each("-p lockstone-net --test virtual_time rollback::members", 60, |seed| {
        for (lost, says_goodbye, goes_on) in [([2, 3], false, true), ([0, 1], true, true), ([0, 1], false, false)] {
            let (mut room, groups, mut dice) = playing_room(seed, 4);
            let context = format!("seed {seed}: {lost:?} are lost");
            let now = room.now();
            if says_goodbye {
                lost.iter().for_each(|seat| room.seats[*seat].session.leave(now));
                room.run_until(now + ms(1));
            }
            for seat in lost.into_iter().rev() {
                let silently = dice.roll(2) == 0 && !says_goodbye;
                kill(&mut room, seat, silently);
            }
            play(&mut room, &mut dice, 3 * TIMEOUT);
            if goes_on {
                play_on(&mut room, &mut dice, &[0, 1], &context);
            } else {
                let ends = room.seats.iter().all(|seat| ended(&seat.session) == Some(EndReason::NoQuorum));
                assert!(ends, "{context}");
            }
            assert_eq!(groups.fork(), None, "{context}");
        }
    });
}

#[test]
fn one_that_is_lost_while_others_agree_is_left_out_too() {
    let went_on = seeds::each("-p lockstone-net --test virtual_time rollback::members", 200, |seed| {
        let (mut room, groups, mut dice) = playing_room(seed, 4);
        let goodbye = dice.roll(2) == 0;
        let first = 1 + dice.roll(3) as usize;
        if goodbye {
            let now = room.now();
            room.seats[first].session.leave(now);
            room.run_until(now + ms(1));
        }
        kill(&mut room, first, !goodbye);
        // All stop, doubt and vote within these moments.
        let until_stopped = if goodbye { ms(0) } else { TIMEOUT - ms(100) };
        let then = until_stopped + ms(dice.roll(500));
        play(&mut room, &mut dice, then);
        let (second, silently) = (1 + dice.roll(2) as usize, dice.roll(2) == 0);
        kill(&mut room, second, silently);
        play(&mut room, &mut dice, 4 * TIMEOUT);
        play_on(&mut room, &mut dice, &[0, 1], &format!("seed {seed}"));
        assert_eq!(groups.fork(), None, "seed {seed}");
        room.seats[0].session.stats().rollback.expect("it predicts").regroupings
    });
    // Some were agreed upon together, some one after the other.
    assert!(went_on.len() < 200 || went_on.contains(&1) && went_on.contains(&2), "{went_on:?}");
}

const LIAR: usize = 3;

/// A doubt in the liar's name.
fn doubt(end: Tick, accused: u16) -> Message {
    let lost = list(vec![(PlayerId(accused), LeaveReason::Silent)]);
    let (vote, known) =
        (Vote { epoch: Epoch(0), leader: PlayerId(0) }, Known { epoch: Epoch(0), end, ..Known::default() });
    Message::Regroup(Regroup::of(lost, Stand { doubts: Some(Epoch(1)), ..Stand::of(vote, known) }))
}

/// What a liar does to its own stands: it goes on to accuse another, and votes for itself alone.
fn lie(message: &mut Message, accused: u16) {
    if let Message::Regroup(Regroup { lost, stand, .. }) = message {
        *lost = list(vec![(PlayerId(accused), LeaveReason::Silent)]);
        if stand.vote.epoch > Epoch(0) {
            stand.vote.leader = PlayerId(LIAR as u16);
        }
    }
}

#[test]
fn forged_stands_of_one_put_no_other_out() {
    seeds::each("-p lockstone-net --test virtual_time rollback::members", 100, |seed| {
        let (mut room, groups, mut dice) = playing_room(seed, 4);
        let (liar, accused) = (room.peer(LIAR), dice.roll(3) as u16);
        if seed % 2 == 0 {
            room.seats[LIAR].link.set(altering(move |_, message| lie(message, accused)));
        }
        for _ in 0..1 + dice.roll(20) {
            let message = doubt(settled(&room, 0).plus(dice.roll(6) as u32), accused);
            for hearer in 0..LIAR {
                if dice.roll(2) == 0 {
                    hear(&mut room, hearer, liar, wire::encode(Epoch(0), &message));
                }
            }
            let pause = ms(dice.roll(100));
            play(&mut room, &mut dice, pause);
        }
        play(&mut room, &mut dice, 5 * TIMEOUT);
        let left: Vec<_> = (0..4).filter(|seat| ended(&room.seats[*seat].session).is_none()).collect();
        assert!(left.starts_with(&[0, 1, 2]), "seed {seed}: {left:?} are left, {accused} was accused");
        play_on(&mut room, &mut dice, &left, &format!("seed {seed}"));
        assert_eq!(groups.fork(), None, "seed {seed}");
    });
}
