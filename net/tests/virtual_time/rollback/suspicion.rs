//! What is known against a player of a rollback session outlives the epoch: who has all regroup
//! over and over is found for whatever else it does, and gains no time by it.

use core::time::Duration;
use std::cell::Cell;
use std::rc::Rc;

use lockstone_net::limits::ROLLBACK_ATTESTED_TICKS;
use lockstone_net::memory::Weather;
use lockstone_net::session::{EndReason, Event, Session, Stats, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Tick};
use testkit::sessions::hostile::*;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Room, Tap};
use testkit::sessions::*;

const SPAN: u32 = ROLLBACK_ATTESTED_TICKS;

fn stats(room: &Room, seat: usize) -> Stats {
    room.seats[seat].session.stats()
}

fn regroupings(room: &Room, seat: usize) -> u64 {
    stats(room, seat).rollback.expect("it predicts").regroupings.into()
}

/// In the liar's name: it has lost nobody, and wants another to lead.
fn stop(room: &mut Room) {
    let Stats { epoch, known, .. } = stats(room, LIAR);
    let known = Known { epoch, end: known, ..Known::default() };
    let stand = Stand { doubts: Some(Epoch(epoch.0 + 1)), ..Stand::of(Vote { epoch, leader: PlayerId(0) }, known) };
    for other in (0..room.seats.len()).filter(|seat| *seat != LIAR) {
        say(room, LIAR, other, Message::Regroup(Regroup::of(list(vec![]), stand.clone())));
    }
}

/// Everyone gives commands all the time until a tick is settled.
fn press_until(room: &mut Room, tick: Tick) {
    let (mut dice, patience) = (Dice(u64::from(tick.0)), room.now() + secs(60));
    while stats(room, FIRST).settled < tick {
        for seat in &mut room.seats {
            let _ = seat.session.command(dice.roll(1 << 40));
        }
        pause(room, 50);
        assert!(room.now() < patience, "{tick} is never settled");
    }
}

fn why_gone(room: &Room, seat: usize, player: usize) -> Option<LeaveReason> {
    let of = |event: &Event<Mixer>| match event {
        Event::PlayerLeft { player: left, reason } if left.0 == player as u16 => Some(*reason),
        _ => None,
    };
    room.seats[seat].events.iter().find_map(of)
}

#[test]
fn who_stops_for_nobody_over_and_over_costs_the_others_a_moment_three_times_a_minute() {
    let mut room = keyed_room(1, 3, None);
    let before = stats(&room, FIRST).settled;
    for second in 0..60 {
        play(&mut room, &mut Dice(second), secs(1));
        stop(&mut room);
    }
    let (times, played) = (regroupings(&room, FIRST), stats(&room, FIRST).settled.since(before));
    println!("{times} times, {played} ticks in a minute");
    assert!((1..=4).contains(&times), "{times} times");
    assert!(played >= 1_150, "{played} ticks in a minute");
    go_on(&mut room, &[0, 1, 2]);
    assert!(in_step(&room, 1) > 0);
}

/// It talks on without inputs for a time, stops as soon as it is heeded, plays on for a moment, and
/// begins anew: so it was never waited for in one epoch for as long as it takes to lose it.
#[test]
fn who_holds_all_up_and_has_them_regroup_each_time_is_out() {
    for hold in [ms(700), ms(2_300)] {
        let mut room = keyed_room(2, 3, None);
        let holds = Rc::new(Cell::new(false));
        let switch = holds.clone();
        room.seats[LIAR].link.set(move |packet| {
            let (epoch, message) = wire::decode(&packet.bytes).expect("our own bytes");
            let holds = switch.get() && matches!(message, Message::Inputs(_));
            Some(if holds { Transmit { bytes: wire::encode(epoch, &Message::Ready), ..packet } } else { packet })
        });
        play(&mut room, &mut Dice(2), secs(2));
        let end = room.now() + secs(60);
        while room.now() < end && ended(&room.seats[LIAR].session).is_none() {
            holds.set(true);
            play(&mut room, &mut Dice(3), hold);
            let (before, patience) = (stats(&room, FIRST).epoch, room.now() + secs(2));
            while stats(&room, FIRST).epoch == before && room.now() < patience {
                stop(&mut room);
                pause(&mut room, 100);
            }
            holds.set(false);
            play(&mut room, &mut Dice(4), ms(300));
        }
        println!("held up by {hold:?}: {} epochs until {:?}", stats(&room, FIRST).epoch.0, room.now());
        let out = Some(EndReason::Removed(LeaveReason::TooSlow));
        assert_eq!(ended(&room.seats[LIAR].session), out, "held up by {hold:?}");
        go_on(&mut room, &[FIRST, SECOND]);
        same_story(&room, [FIRST, SECOND]);
    }
}

#[test]
fn who_tells_two_stories_and_has_all_regroup_before_the_span_ends_is_found() {
    let mut room = keyed_room(3, 3, None);
    tell_two_stories(&mut room, SECOND, Tick(2 * SPAN + 7)..Tick(2 * SPAN + 12));
    press_until(&mut room, Tick(2 * SPAN + 20));
    stop(&mut room);
    pause(&mut room, 500);
    assert_eq!(regroupings(&room, FIRST), 1);
    play(&mut room, &mut Dice(3), secs(4));
    for seat in [FIRST, SECOND] {
        assert_eq!(distrusted(&room, seat), [(PlayerId(LIAR as u16), true)], "seat {seat}");
        assert_eq!(why_gone(&room, seat, LIAR), Some(LeaveReason::Distrusted), "seat {seat}");
    }
}

/// Who had no key did not wait for what the liar signed: whoever was told the other story was put
/// out for it, and the liar stayed.
#[test]
fn who_tells_two_stories_to_players_without_a_key_is_found() {
    for others_have in [true, false] {
        let mut room = room_of_keys(7, 3, None, |seat| seat == LIAR || others_have);
        tell_two_stories(&mut room, SECOND, Tick(2 * SPAN + 7)..Tick(2 * SPAN + 12));
        press_until(&mut room, Tick(2 * SPAN + 20));
        play(&mut room, &mut Dice(3), secs(4));
        for seat in [FIRST, SECOND] {
            assert_eq!(distrusted(&room, seat), [(PlayerId(LIAR as u16), true)], "keys {others_have}, seat {seat}");
            assert_eq!(why_gone(&room, seat, LIAR), Some(LeaveReason::Distrusted), "keys {others_have}, seat {seat}");
        }
    }
}

/// Signatures are on their way, and spans half settled, whenever all regroup.
#[test]
fn who_tells_all_the_same_is_trusted_however_often_all_regroup() {
    for end in [37, 38, 39, 40, 41, 42, 45] {
        let mut room = keyed_room(4, 3, None);
        for span in 2..5 {
            press_until(&mut room, Tick(span * SPAN + end));
            stop(&mut room);
        }
        press_until(&mut room, Tick(8 * SPAN));
        assert_eq!(regroupings(&room, FIRST), 3, "after {end} ticks");
        assert!((0..3).all(|seat| distrusted(&room, seat).is_empty()), "after {end} ticks");
        assert!(in_step(&room, 4) > 0, "after {end} ticks");
    }
}

/// A difference is told once all is signed that led to it.
#[test]
fn whose_world_is_odd_is_out_in_time_though_all_regroup_before_it_is_told() {
    let mut room = keyed_room(5, 3, Some((LIAR, Tick(SPAN + 5))));
    for tick in [2 * SPAN + 8, 3 * SPAN + 8] {
        press_until(&mut room, Tick(tick));
        stop(&mut room);
    }
    press_until(&mut room, Tick(3 * SPAN + 35));
    for seat in [FIRST, SECOND] {
        assert_eq!(why_gone(&room, seat, LIAR), Some(LeaveReason::Desync), "seat {seat}");
    }
    go_on(&mut room, &[FIRST, SECOND]);
}

/// It votes as the others do, and says that it knows turns of the epoch that is about to begin.
#[test]
fn who_claims_to_know_the_next_epoch_does_not_keep_the_others_from_going_on() {
    let settings = settings(6);
    let mut room = room_by(6, 4, Weather::clear(ms(20)), &settings, |_, link| Tap::idle(link));
    play(&mut room, &mut Dice(6), secs(2));
    room.seats[LIAR].link.set(move |packet: Transmit| {
        let (epoch, mut message) = wire::decode(&packet.bytes).expect("our own bytes");
        if let Message::Regroup(Regroup { stand, .. }) = &mut message
            && stand.doubts.is_none()
            && stand.vote.leader != PlayerId(LIAR as u16)
        {
            stand.known.epoch = stand.vote.epoch;
        }
        Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
    kill(&mut room, 3, false);
    let (from, end) = (room.now(), room.now() + secs(20));
    let regrouped = |room: &Room| stats(room, FIRST).rollback.expect("it predicts").regroupings > 0;
    assert!(room.run_while(end, |room| !regrouped(room)), "the others never go on");
    let waited: Duration = room.now() - from;
    println!("they go on after {waited:?}");
    assert!(waited < secs(4), "they go on after {waited:?}");
    go_on(&mut room, &[FIRST, SECOND]);
    same_story(&room, [FIRST, SECOND]);
}
