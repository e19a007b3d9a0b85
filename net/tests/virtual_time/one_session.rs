//! A room has one session: who founds another in it, while the members of the first were away from
//! the signaling server, gives that up for theirs.

use core::cell::Cell;
use core::time::Duration;
use std::rc::Rc;

use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Session};
use lockstone_net::wire::{self, Branch, Epoch, Meet, Message, Rank};
use lockstone_net::{Channel, LinkEvent, PeerId};
use lockstone_sim::PlayerId;
use testkit::seeds;
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

type Room = Driver<Party<Mixer>>;

fn run(room: &mut Room, time: Duration) {
    let until = room.now() + time;
    room.run_until(until);
}

/// A newcomer finds the room empty, as the signaling server has forgotten everyone.
fn found_another(room: &mut Room) -> usize {
    room.network.forget_room();
    let seat = room.enter(party(PartySettings::default(), "newcomer"));
    assert_eq!(room.peer(seat).arrival(), 0);
    assert!(room.run_while(room.now() + secs(1), |room| !playing(&room.seats[seat].session)));
    seat
}

fn come_back(room: &Room, seat: usize) {
    room.network.come_back(room.peer(seat));
}

fn player(room: &Room, seat: usize) -> Option<PlayerId> {
    let session = &room.seats[seat].session;
    playing(session).then(|| session.stats().player).flatten()
}

/// How many players a seat plays with, itself included.
fn players(room: &Room, seat: usize) -> usize {
    room.seats[seat].session.stats().players.len()
}

fn has_lost_anyone(room: &Room, seat: usize) -> bool {
    let lost = |event: &Event<Mixer>| matches!(event, Event::PlayerLeft { .. } | Event::PlayerAway { .. });
    room.seats[seat].events.iter().any(lost)
}

fn assert_same_world(room: &mut Room, seats: &[usize]) {
    run(room, secs(1));
    let played: Vec<_> = seats.iter().map(|seat| Played::of(&room.seats[*seat].events)).collect();
    for other in &played[1..] {
        assert_same(&played[0], other, "two players of the room");
        assert!(other.checksums.keys().any(|tick| played[0].checksums.contains_key(tick)), "worlds were compared");
    }
}

fn meet(room: &mut Room, seat: usize, from: PeerId) {
    let stats = room.seats[seat].session.stats();
    let ours = Rank { members: 16, age: u8::MAX, branch: Branch(9) };
    let age = Rank::SHARED + stats.tick.0.ilog2() as u8 + 1;
    let yours = Rank { members: players(room, seat) as u16, age, branch: stats.branch };
    let bytes = wire::encode(Epoch(0), &Message::Meet(Meet { ours, yours: Some(yours) }));
    let now = room.now();
    room.seats[seat].session.handle(LinkEvent::Packet { from, channel: Channel::Reliable, bytes }, now);
}

#[test]
fn who_founded_in_the_meantime_joins_the_members_when_they_are_back() {
    let took = seeds::each("-p lockstone-net --test virtual_time one_session::", 40, |seed| {
        let mut dice = Dice(seed);
        let mut room = session(3, &PartySettings::default(), ms(50));
        run(&mut room, ms(500 + dice.roll(3_000)));
        if seed % 2 == 0 {
            // Another than the first leads by then.
            drop(room.seats.remove(0));
            run(&mut room, secs(3));
        }
        let members: Vec<_> = (0..room.seats.len()).collect();
        // What they have lost until now was not lost by this.
        room.seats.iter_mut().for_each(|seat| seat.events.retain(|event| !matches!(event, Event::PlayerLeft { .. })));
        let newcomer = found_another(&mut room);
        run(&mut room, ms(dice.roll(4_000)));
        let at = room.now();
        let mut order = members.clone();
        for n in (1..order.len()).rev() {
            order.swap(n, dice.roll(n as u64 + 1) as usize);
        }
        for seat in order {
            come_back(&room, seat);
            run(&mut room, ms(dice.roll(1_000)));
        }
        let all = members.len() + 1;
        let waits = |room: &Room| player(room, newcomer).is_none() || players(room, newcomer) < all;
        assert!(room.run_while(at + secs(5), waits), "it has not joined within 5 s");
        let took = room.now() - at;
        assert_ne!(player(&room, newcomer), Some(PlayerId(0)), "it founded nothing");
        let seats: Vec<_> = members.iter().copied().chain([newcomer]).collect();
        assert_same_world(&mut room, &seats);
        for seat in members {
            assert!(playing(&room.seats[seat].session) && !has_lost_anyone(&room, seat), "seat {seat}");
            assert_eq!(players(&room, seat), all);
        }
        room.seats[newcomer].session.command(7).expect("it plays");
        took
    });
    println!("in the session {:?} after the first member was back, at the latest", took.iter().max());
}

#[test]
fn of_two_who_were_always_alone_the_older_goes_on() {
    for (older_ms, younger_ms) in [(10_000, 0), (60_000, 5_000), (600_000, 60_000)] {
        let mut room = session(1, &PartySettings::default(), ms(50));
        run(&mut room, ms(older_ms));
        let newcomer = found_another(&mut room);
        run(&mut room, ms(younger_ms));
        let tick = room.seats[0].session.stats().tick;
        come_back(&room, 0);
        assert!(room.run_while(room.now() + secs(5), |room| player(room, newcomer) != Some(PlayerId(1))));
        assert_eq!(player(&room, 0), Some(PlayerId(0)));
        assert!(room.seats[0].session.stats().tick > tick);
        assert_same_world(&mut room, &[0, newcomer]);
    }
}

#[test]
fn the_last_of_a_session_does_not_yield_to_an_older_founder() {
    let mut room = session(1, &PartySettings::default(), ms(50));
    run(&mut room, secs(60));
    let newcomer = found_another(&mut room);
    let friend = room.enter(party(PartySettings::default(), "friend"));
    assert!(room.run_while(room.now() + secs(5), |room| player(room, friend).is_none()));
    drop(room.seats.remove(friend));
    run(&mut room, secs(3));
    assert_eq!(players(&room, newcomer), 1);
    come_back(&room, 0);
    assert!(room.run_while(room.now() + secs(5), |room| player(room, 0) != Some(PlayerId(2))), "the founder joined");
    assert_eq!(player(&room, newcomer), Some(PlayerId(0)));
    assert_same_world(&mut room, &[0, newcomer]);
}

/// The control of what is believed: the same claim moves a founder that was always alone.
#[test]
fn a_stranger_talks_nobody_out_of_a_session_that_had_a_second_member() {
    for (others, left) in [(0, 0), (1, 1), (1, 0)] {
        let mut room = session(1 + others, &PartySettings::default(), ms(50));
        room.seats.truncate(1 + left);
        run(&mut room, secs(3));
        let stranger = room.network.enter();
        run(&mut room, secs(1));
        meet(&mut room, 0, stranger.peer());
        run(&mut room, secs(1));
        let stays = player(&room, 0) == Some(PlayerId(0));
        assert_eq!(stays, others > 0, "with {others} others, {left} left");
    }
}

/// Nobody is told of ranks who asks to be let in, or is a member.
#[test]
fn joiners_and_members_hear_of_no_rank() {
    let told = Rc::new(Cell::new(0));
    let parties = (0..3).map(|n| party(PartySettings::default(), &format!("player {n}")));
    let mut room = gather(1, Weather::clear(ms(50)), parties, |_, link| {
        let told = told.clone();
        Tap::new(link, move |packet| {
            told.set(told.get() + usize::from(matches!(wire::decode(&packet.bytes), Ok((_, Message::Meet(_))))));
            Some(packet)
        })
    });
    let stranger = room.network.enter();
    let until = room.now() + secs(10);
    room.run_until(until);
    let strangers = told.get();
    assert!((9..=11).contains(&strangers), "a stranger is told of them every second: {strangers}");
    drop(stranger);
    let until = room.now() + secs(10);
    room.run_until(until);
    assert_eq!(told.get() - strangers, 0);
}
