//! Of a party's members the one that keeps time best leads: a page of a browser only where nobody
//! else can, and a page that is hidden last.

use core::time::Duration;

use lockstone_net::party::PartySettings;
use lockstone_net::session::Session;
use lockstone_net::wire::Fitness;
use lockstone_sim::PlayerId;
use testkit::seeds;
use testkit::sessions::*;

use crate::takeover::{Room, assert_one_history, leader, newest, play};

const DELAY_MS: u64 = 50;
/// A handover may cost those who are there so many ticks.
const TICKS_LOST_MAX: u32 = 4;

/// Seats are players, and as fit as that.
fn room(fitness: &[Fitness]) -> Room {
    let mut room = session(fitness.len(), &PartySettings::default(), ms(DELAY_MS));
    for (seat, fitness) in fitness.iter().enumerate() {
        room.seats[seat].session.set_fitness(*fitness);
    }
    room
}

fn all(room: &Room) -> Vec<usize> {
    (0..room.seats.len()).collect()
}

/// Plays for 4 s, in which nobody misses more ticks than a handover costs. Returns who leads then.
fn played(room: &mut Room, seed: u64) -> Option<u16> {
    let (seats, before) = (all(room), newest(room, &all(room)));
    play(room, &mut Dice(seed), 4_000, &seats);
    let ticks = newest(room, &seats).since(before);
    assert!((80 - TICKS_LOST_MAX..=82).contains(&ticks), "seed {seed}: {ticks} ticks in 4 s");
    assert!(room.seats.iter().all(|seat| playing(&seat.session)), "seed {seed}");
    assert_one_history(room, &seats, seed);
    leader(room, &seats).map(|player| player.0)
}

fn each(test: impl Fn(u64) + Sync + Send + core::panic::RefUnwindSafe) {
    seeds::each("-p lockstone-net --test virtual_time fitness::", 20, test);
}

#[test]
fn a_page_that_leads_hands_over_to_one_that_keeps_time() {
    each(|seed| {
        let mut room = room(&[Fitness::Page, Fitness::Page, Fitness::Steady]);
        assert_eq!(played(&mut room, seed), Some(2), "seed {seed}");
        assert_eq!(room.seats[0].session.stats().epoch.0, 1, "seed {seed}: once");
    });
}

#[test]
fn a_newcomer_that_keeps_time_takes_over_from_a_page() {
    each(|seed| {
        let mut room = room(&[Fitness::Page, Fitness::Page]);
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}: nobody is better");
        room.enter(party(PartySettings::default(), "native"));
        let until = room.now() + secs(4);
        room.run_until(until);
        assert_eq!(played(&mut room, seed), Some(2), "seed {seed}");
    });
}

#[test]
fn a_hidden_page_that_leads_hands_over_and_does_not_lead_again_when_it_is_seen() {
    each(|seed| {
        let mut room = room(&[Fitness::Page, Fitness::Page, Fitness::Page]);
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
        room.seats[0].session.set_fitness(Fitness::Slow);
        assert_eq!(played(&mut room, seed), Some(1), "seed {seed}");
        room.seats[0].session.set_fitness(Fitness::Page);
        assert_eq!(played(&mut room, seed), Some(1), "seed {seed}");
        assert_eq!(room.seats[2].session.stats().epoch.0, 1, "seed {seed}: once");
    });
}

#[test]
fn a_page_leads_that_is_alone_and_two_that_are_hidden_do_not_pass_it_on() {
    each(|seed| {
        let mut room = room(&[Fitness::Slow]);
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
        let other = room.enter(party(PartySettings::default(), "other"));
        room.seats[other].session.set_fitness(Fitness::Slow);
        let until = room.now() + secs(4);
        room.run_until(until);
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
        assert_eq!(room.seats[other].session.stats().epoch.0, 0, "seed {seed}");
    });
}

#[test]
fn who_leads_after_a_loss_is_the_one_that_keeps_time() {
    each(|seed| {
        let mut room = room(&[Fitness::Steady, Fitness::Slow, Fitness::Page, Fitness::Steady]);
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
        room.seats[0].freeze(Duration::MAX);
        let until = room.now() + secs(4);
        room.run_until(until);
        let left = [1, 2, 3];
        assert_eq!(leader(&room, &left), Some(PlayerId(3)), "seed {seed}");
        assert_one_history(&room, &left, seed);
    });
}

/// Who is told so before it knows that the sender is a member is told again by whom it follows.
#[test]
fn a_page_whose_leader_is_lost_is_known_as_one_by_the_next() {
    each(|seed| {
        let mut room = room(&[Fitness::Steady, Fitness::Page, Fitness::Slow]);
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
        room.seats[0].freeze(Duration::MAX);
        let until = room.now() + secs(4);
        room.run_until(until);
        assert_eq!(leader(&room, &[1, 2]), Some(PlayerId(1)), "seed {seed}");
        room.seats[2].session.set_fitness(Fitness::Steady);
        let until = room.now() + secs(4);
        room.run_until(until);
        assert_eq!(leader(&room, &[1, 2]), Some(PlayerId(2)), "seed {seed}");
    });
}

/// The leader that it would be reaches only some of those whom the present one reaches.
#[test]
fn nobody_is_handed_over_to_who_would_lose_another() {
    each(|seed| {
        let mut room = room(&[Fitness::Page, Fitness::Page, Fitness::Steady]);
        room.network.disconnect(room.peer(1), room.peer(2));
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
        assert_eq!(played(&mut room, seed), Some(0), "seed {seed}");
    });
}
