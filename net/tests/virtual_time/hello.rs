//! Hellos that are lost, and hellos that are said again, in a party and before a rollback session.
//! Relay sessions: `relay/members.rs`.

use std::cell::RefCell;
use std::rc::Rc;

use lockstone_net::link::Link;
use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{EndReason, Event, Session, Transmit};
use lockstone_net::{Rollback, RollbackSettings};
use testkit::sessions::hostile::hear;
use testkit::sessions::rollback::{rollback, settings};
use testkit::sessions::tap::{Tap, is_hello, losing_hellos};
use testkit::sessions::*;

/// So far away that a joiner says hello again before the answer is there.
const FAR: u64 = 700;

fn member(n: usize) -> Party<Mixer> {
    party(PartySettings::default(), &format!("player {n}"))
}

fn player(n: usize, players: usize) -> Rollback<Mixer> {
    let settings = RollbackSettings { players, ..settings(5) };
    rollback(settings, &format!("player {n}"), |seed| Mixer::new(seed, 64))
}

fn room<T: Session, L: Link>(
    delay_ms: u64,
    sessions: impl Iterator<Item = T>,
    wrap: impl Fn(MemoryLink) -> L,
) -> Driver<T, L> {
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(delay_ms))));
    sessions.for_each(|session| _ = driver.enter_by(session, &wrap));
    driver
}

fn losing(link: MemoryLink) -> Tap {
    Tap::new(link, losing_hellos())
}

fn sound(link: MemoryLink) -> MemoryLink {
    link
}

/// All play the same game, of so many heroes, and nobody was refused or said a word too much.
fn assert_all_play(driver: &Driver<impl Session<Sim = Mixer>, impl Link>) {
    let peers = driver.seats.len();
    for seat in &driver.seats {
        assert!(playing(&seat.session), "{:?}", seat.session.phase());
        let world = seat.session.simulation().expect("it plays");
        assert_eq!((world.state.heroes.len(), world.nonsense), (peers, false));
        let stats = seat.session.stats();
        assert_eq!((stats.players.len(), stats.desyncs, stats.drops.total()), (peers, 0, 0), "{:?}", stats.drops);
        assert!(seat.events.iter().all(|event| !matches!(event, Event::Refused { .. })));
        assert_same(&Played::of(&driver.seats[0].events), &Played::of(&seat.events), "a hello");
    }
}

#[test]
fn a_lost_hello_is_said_again_in_a_party() {
    let mut driver = room(20, (0..4).map(member), losing);
    driver.run_until(ms(900));
    assert_eq!(driver.seats[0].session.stats().players.len(), 1, "nobody has heard of the others");
    driver.run_until(secs(4));
    assert_all_play(&driver);
}

#[test]
fn a_lost_hello_is_said_again_before_a_rollback_session() {
    for players in 2..=4 {
        let mut driver = room(20, (0..players).map(|n| player(n, players)), losing);
        driver.run_until(ms(900));
        assert!(driver.seats.iter().all(|seat| !playing(&seat.session)), "nobody has heard of the others");
        driver.run_until(secs(4));
        assert_all_play(&driver);
    }
}

#[test]
fn a_hello_said_twice_makes_one_member_of_a_party() {
    let mut driver = room(FAR, (0..4).map(member), sound);
    driver.run_until(secs(12));
    assert_all_play(&driver);
}

#[test]
fn a_hello_said_twice_makes_one_player_of_a_rollback_session() {
    for players in 2..=4 {
        let mut driver = room(FAR, (0..players).map(|n| player(n, players)), sound);
        driver.run_until(secs(4));
        assert_all_play(&driver);
    }
}

/// What was said in an outage may arrive when its sender has long found the sequencer, and reports.
#[test]
fn hellos_that_come_late_put_no_member_out() {
    let said: Rc<RefCell<Vec<Transmit>>> = Rc::default();
    let mut driver = room(20, (0..4).map(member), |link| {
        let said = said.clone();
        Tap::new(link, move |packet| {
            said.borrow_mut().extend(is_hello(&packet).then(|| packet.clone()));
            Some(packet)
        })
    });
    driver.run_until(secs(3));
    assert_all_play(&driver);
    let founder = driver.peer(0);
    let late: Vec<_> = said.take().into_iter().filter(|hello| hello.to == founder).collect();
    assert_eq!(late.len(), 3);
    for (n, hello) in late.into_iter().enumerate() {
        let from = driver.peer(n + 1);
        hear(&mut driver, 0, from, hello.bytes);
    }
    driver.run_until(secs(40));
    assert_all_play(&driver);
}

#[test]
fn a_refusal_comes_once_however_often_hello_was_said() {
    let settings = PartySettings { players_max: 1, ..PartySettings::default() };
    let mut driver = room(FAR, (0..2).map(|n| party(settings.clone(), &format!("player {n}"))), sound);
    driver.run_until(secs(6));
    for seat in &driver.seats {
        assert_eq!(seat.events.iter().filter(|event| matches!(event, Event::Refused { .. })).count(), 1);
    }
    assert!(matches!(ended(&driver.seats[1].session), Some(EndReason::Refused(_))));
}

#[test]
fn whom_nobody_answers_says_hello_once_a_second_and_gives_up() {
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(20))));
    // It holds the room, and says nothing.
    let _mute = driver.network.enter();
    driver.enter(member(1));
    driver.run_until(secs(60));
    let session = &driver.seats[0].session;
    assert_eq!(ended(session), Some(EndReason::NoSession));
    assert!((14..=16).contains(&session.stats().traffic.packets_out), "{:?}", session.stats().traffic);
}
