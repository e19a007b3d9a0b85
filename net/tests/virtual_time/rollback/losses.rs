//! What happened to rollback sessions when players were lost, each found once: by
//! `rollback/chaos.rs`, or by reading.

use lockstone_net::memory::{Driver, Weather};
use lockstone_net::session::{EndReason, Phase, Session};
use lockstone_net::wire::{self, Epoch, Known, LeaveReason, Message, Regroup, Stand, Vote};
use lockstone_net::{Channel, LinkEvent, Rollback};
use lockstone_sim::{PlayerId, Tick};
use testkit::sessions::rollback::*;
use testkit::sessions::*;

type Room = Driver<Rollback<Mixer>>;

fn clear_room(seed: u64, peers: usize) -> Room {
    let mut driver = room(seed, peers, Weather::clear(ms(40)), &settings(seed));
    play(&mut driver, &mut Dice(seed), secs(2));
    driver
}

/// A seat hears a message as if another had sent it.
fn hear(driver: &mut Room, seat: usize, from: usize, epoch: u32, message: Message) {
    let bytes = wire::encode(Epoch(epoch), &message);
    let packet = LinkEvent::Packet { from: driver.peer(from), channel: Channel::Reliable, bytes };
    let now = driver.now();
    driver.seats[seat].session.handle(packet, now);
}

/// Who says that it has lost players, and knows the turns up to a tick of the first epoch.
fn stand(lost: &[u16], end: Tick) -> Message {
    let lost: Vec<_> = lost.iter().map(|player| (PlayerId(*player), LeaveReason::Silent)).collect();
    let vote = Vote { epoch: Epoch(0), leader: PlayerId(0) };
    let stand = Stand { doubts: Some(Epoch(1)), ..Stand::of(vote, Known { epoch: Epoch(0), end, ..Known::default() }) };
    Message::Regroup(Regroup::of(list(lost), stand))
}

fn regroupings(driver: &Room, seat: usize) -> u32 {
    driver.seats[seat].session.stats().rollback.expect("it predicts").regroupings
}

fn pass(driver: &mut Room, time_ms: u64) {
    driver.run_until(driver.now() + ms(time_ms));
}

#[test]
fn a_stand_that_is_held_up_holds_up_none_after_it() {
    // On the reliable channel all stands waited behind the first one, and both players with them.
    let mut driver = clear_room(1, 3);
    let (a, b) = (driver.peer(0), driver.peer(1));
    kill(&mut driver, 2, true);
    pass(&mut driver, 1_300);
    driver.network.set_direction(a, b, Some(Weather::clear(secs(30))));
    pass(&mut driver, 600);
    driver.network.set_direction(a, b, None);
    pass(&mut driver, 1_100);
    assert!((0..2).all(|seat| driver.seats[seat].session.phase() == Phase::Playing && regroupings(&driver, seat) == 1));
    play(&mut driver, &mut Dice(2), secs(3));
    assert!(in_step(&driver, 1) > 0);
}

#[test]
fn who_stood_still_notices_a_silence_as_soon_as_others_do() {
    // The time in which it stood still was given to others whom it had just heard, too.
    let mut driver = clear_room(2, 2);
    let (asleep, peer) = (driver.seats.remove(0), driver.peer(0));
    pass(&mut driver, 1_200);
    driver.network.set_cut(asleep.peer, peer, true);
    pass(&mut driver, 100);
    kill(&mut driver, 0, true);
    driver.seats.push(asleep);
    pass(&mut driver, 1_600);
    assert_eq!(regroupings(&driver, 0), 1);
}

#[test]
fn who_speaks_but_never_agrees_is_not_waited_for() {
    // Whatever a player said, it was not silent: the other stood still as long as it went on.
    let mut driver = clear_room(3, 4);
    kill(&mut driver, 1, false);
    let silenced = driver.peer(1);
    for other in [0, 2] {
        driver.network.set_cut(driver.peer(other), silenced, true);
    }
    for _ in 0..100 {
        pass(&mut driver, 100);
        for other in [0, 2] {
            hear(&mut driver, other, 1, 0, Message::Ready);
        }
    }
    for other in [0, 2] {
        assert_eq!(driver.seats[other].session.phase(), Phase::Playing);
        assert_eq!(driver.seats[other].session.simulation().expect("it plays").state.heroes.len(), 2);
    }
}

#[test]
fn an_epoch_is_not_given_up_for_a_stand_that_makes_no_sense() {
    // The epoch was given up first, and began a second time with other inputs, or never.
    for confirmed in [Tick(0), Tick(50)] {
        let mut driver = clear_room(4, 4);
        kill(&mut driver, 3, false);
        let until = driver.now() + secs(1);
        assert!(driver.run_while(until, |driver| regroupings(driver, 0) == 0), "it does not go on");
        let named: &[u16] = if confirmed == Tick(0) { &[2, 3] } else { &[3, 9] };
        hear(&mut driver, 0, 1, 0, stand(named, confirmed));
        play(&mut driver, &mut Dice(5), secs(3));
        assert!((0..3).all(|seat| driver.seats[seat].session.phase() == Phase::Playing));
        assert!((0..3).all(|seat| regroupings(&driver, seat) == 1), "{confirmed}");
        assert!(in_step(&driver, 4) > 0);
    }
}

#[test]
fn of_two_whose_connection_breaks_one_is_told_by_the_third() {
    // It was told only if it had been silent, and went on alone in a world of its own.
    let mut driver = clear_room(5, 3);
    let (a, b, now) = (driver.peer(0), driver.peer(1), driver.now());
    driver.network.set_cut(a, b, true);
    driver.seats[0].session.handle(LinkEvent::Disconnected(b), now);
    driver.seats[1].session.handle(LinkEvent::Disconnected(a), now);
    pass(&mut driver, 500);
    let out: Vec<_> = driver.seats.iter().filter_map(|seat| ended(&seat.session)).collect();
    assert_eq!(out, [EndReason::Removed(LeaveReason::Lost)]);
    driver.seats.retain(|seat| ended(&seat.session).is_none());
    play(&mut driver, &mut Dice(6), secs(2));
    assert!(in_step(&driver, 5) > 0);
}

#[test]
fn a_goodbye_of_the_epoch_before_counts() {
    // It was dropped as stale, and who had said it was waited for.
    let mut driver = clear_room(6, 3);
    kill(&mut driver, 2, false);
    play(&mut driver, &mut Dice(7), secs(2));
    hear(&mut driver, 0, 1, 0, Message::Bye(LeaveReason::Left));
    pass(&mut driver, 1);
    assert_eq!(regroupings(&driver, 0), 2);
}

#[test]
fn who_is_gone_has_no_say_in_who_else_is() {
    // Both of two that lost each other ended, if each could still be heard.
    let mut driver = clear_room(7, 3);
    let (a, b) = (driver.peer(0), driver.peer(1));
    driver.network.set_cut(a, b, true);
    let until = driver.now() + secs(2);
    let stopped = |driver: &Room, seat: usize| driver.seats[seat].session.phase() == Phase::Regrouping;
    assert!(driver.run_while(until, |driver| !stopped(driver, 0) && !stopped(driver, 1)), "nobody is missed");
    let [first, other] = if stopped(&driver, 0) { [0, 1] } else { [1, 0] };
    hear(&mut driver, first, other, 0, Message::Removed(LeaveReason::Silent));
    play(&mut driver, &mut Dice(8), secs(3));
    assert_eq!(driver.seats.iter().filter(|seat| ended(&seat.session).is_none()).count(), 2);
}
