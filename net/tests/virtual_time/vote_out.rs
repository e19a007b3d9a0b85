//! The members of a party put one of them out, whoever leads, and it does not come back by the same
//! key.

use lockstone_net::PlayerKey;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{EndReason, Event, Session, VoteError};
use lockstone_net::wire::{LeaveReason, Refusal};
use lockstone_sim::{PlayerId, Tick};
use testkit::sessions::*;

const SEATS: u16 = 4;

type Room = Driver<Party<Mixer>>;

fn player(seat: u16) -> Party<Mixer> {
    let settings = PartySettings { players_at_start: SEATS.into(), ..PartySettings::default() };
    party(settings, &format!("player {seat}")).with_key(PlayerKey::from_bytes([seat as u8 + 1; 32]))
}

/// Seats are players, and the first leads.
fn room() -> Room {
    let room: Room = gather(1, Weather::clear(ms(50)), (0..SEATS).map(player), |_, link| link);
    let players: Vec<_> = room.seats.iter().map(|seat| seat.session.stats().player).collect();
    assert_eq!(players, [0, 1, 2, 3].map(|n| Some(PlayerId(n))));
    room
}

fn wait(room: &mut Room, time: core::time::Duration) {
    let until = room.now() + time;
    room.run_until(until);
}

fn vote(room: &mut Room, by: &[usize], player: u16) {
    for seat in by {
        room.seats[*seat].session.vote_out(PlayerId(player)).expect("both are members");
    }
    wait(room, secs(3));
}

/// Which votes a seat heard of: by whom, whom, and the how manieth.
fn heard(room: &Room, seat: usize) -> Vec<(u16, u16, usize)> {
    let of = |event: &Event<Mixer>| match event {
        Event::VoteOut { by, player, votes, members: 4 } => Some((by.0, player.0, *votes)),
        _ => None,
    };
    room.seats[seat].events.iter().filter_map(of).collect()
}

/// Each of these seats saw that player voted out, and plays.
fn saw_out(room: &Room, seats: &[usize], player: u16) {
    let went = |event: &&Event<Mixer>| match event {
        Event::PlayerLeft { player: who, reason } => (who.0, *reason) == (player, LeaveReason::VotedOut),
        _ => false,
    };
    for seat in seats.iter().map(|seat| &room.seats[*seat]) {
        assert_eq!(seat.events.iter().filter(went).count(), 1);
        assert!(playing(&seat.session));
    }
}

fn was_put_out(room: &Room, seat: usize) {
    assert_eq!(ended(&room.seats[seat].session), Some(EndReason::Removed(LeaveReason::VotedOut)));
}

#[test]
fn who_a_quorum_wants_out_goes_and_one_vote_harms_nobody() {
    let mut room = room();
    vote(&mut room, &[1, 2], 3);
    assert!(room.seats.iter().all(|seat| playing(&seat.session)), "two of four, and not the senior");
    vote(&mut room, &[2], 3);
    assert!(room.seats.iter().all(|seat| playing(&seat.session)), "the same vote twice");
    vote(&mut room, &[0], 3);
    saw_out(&room, &[0, 1, 2], 3);
    was_put_out(&room, 3);
    for seat in 0..4 {
        let votes = heard(&room, seat);
        assert_eq!(votes.len(), 3, "seat {seat}: {votes:?}");
        assert_eq!(votes.last(), Some(&(0, 3, 3)));
    }
}

#[test]
fn a_leader_that_a_quorum_wants_out_goes_and_another_leads() {
    let mut room = room();
    let before = room.seats[1].session.stats().tick;
    vote(&mut room, &[1, 2, 3], 0);
    saw_out(&room, &[1, 2, 3], 0);
    was_put_out(&room, 0);
    let stats = room.seats[3].session.stats();
    assert_eq!((stats.sequencer(), stats.epoch.0), (Some(PlayerId(1)), 1));
    assert!(stats.tick > before.plus(20 * 2), "the others lose less than a second");
}

#[test]
fn votes_that_were_given_a_minute_ago_count_no_more() {
    let mut room = room();
    vote(&mut room, &[1, 2], 3);
    wait(&mut room, secs(60));
    vote(&mut room, &[0], 3);
    assert!(room.seats.iter().all(|seat| playing(&seat.session)));
}

#[test]
fn who_was_voted_out_is_refused_by_every_leader_that_saw_it() {
    let mut room = room();
    vote(&mut room, &[0, 1, 2], 3);
    let refused = Some(EndReason::Refused(Refusal::PutOut));
    let again = room.enter(player(3));
    wait(&mut room, secs(2));
    assert_eq!(ended(&room.seats[again].session), refused);
    let now = room.now();
    room.seats[0].session.leave(now);
    wait(&mut room, secs(3));
    assert_eq!(room.seats[1].session.stats().sequencer(), Some(PlayerId(1)));
    let again = room.enter(player(3));
    wait(&mut room, secs(5));
    assert_eq!(ended(&room.seats[again].session), refused);
    // Another player may come.
    let other = room.enter(player(7));
    wait(&mut room, secs(6));
    assert!(playing(&room.seats[other].session));
}

#[test]
fn who_was_voted_out_is_refused_by_a_leader_that_came_later() {
    let mut room = room();
    vote(&mut room, &[0, 1, 2], 3);
    let late = room.enter(player(7));
    wait(&mut room, secs(6));
    assert!(playing(&room.seats[late].session));
    for seat in [0, 1, 2] {
        let now = room.now();
        room.seats[seat].session.leave(now);
        wait(&mut room, secs(4));
    }
    let stats = room.seats[late].session.stats();
    assert_eq!(stats.sequencer(), stats.player);
    let again = room.enter(player(3));
    let other = room.enter(player(8));
    wait(&mut room, secs(6));
    assert_eq!(ended(&room.seats[again].session), Some(EndReason::Refused(Refusal::PutOut)));
    assert!(playing(&room.seats[other].session));
}

#[test]
fn nobody_is_voted_out_who_is_no_other_member() {
    let mut room = room();
    for nobody in [PlayerId(0), PlayerId(9)] {
        assert_eq!(room.seats[0].session.vote_out(nobody), Err(VoteError));
        assert!(room.seats[0].session.stats().tick > Tick(0));
    }
    wait(&mut room, secs(1));
    assert!((0..4).all(|seat| heard(&room, seat).is_empty()));
}
