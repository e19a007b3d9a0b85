//! What players of a relay say is heard by their party and by who is near, and by nobody else.

use lockstone_net::link::Channel;
use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{DropReason, Phase, SayError, Session};
use lockstone_net::wire::{self, ChatLine, Epoch, Message};
use testkit::sessions::*;

use super::distant::Scene;
use super::ramble::Command;

fn scene(replicas: usize) -> Scene {
    Scene::new(replicas, Weather::clear(ms(40)), RelaySettings::default())
}

fn say(scene: &mut Scene, seat: usize, text: &str) -> Result<(), SayError> {
    scene.driver.seats[seat].session.say(text)
}

/// Who heard a line, by seat.
fn hearers(scene: &Scene, name: &str, text: &str) -> Vec<usize> {
    let line = (name.to_owned(), text.to_owned());
    let hears = |seat: &usize| said(&scene.driver.seats[*seat].events).contains(&line);
    (0..scene.driver.seats.len()).filter(hears).collect()
}

#[test]
fn the_own_party_and_who_is_near_hear_what_is_said_and_nobody_else() {
    let mut scene = scene(8);
    say(&mut scene, 0, "anyone?").expect("it plays");
    scene.run(secs(1));
    assert_eq!(hearers(&scene, "player 0", "anyone?"), [0, 1, 2, 3], "far as they are from each other");
    // One of another party comes near, and one of the own party goes far away.
    scene.command(5, Command::Portal(110, 105));
    scene.command(3, Command::Portal(1_400, 1_400));
    scene.run(secs(3));
    say(&mut scene, 0, "who are you?").expect("it plays");
    say(&mut scene, 5, "a stranger").expect("it plays");
    scene.run(secs(1));
    assert_eq!(hearers(&scene, "player 0", "who are you?"), [0, 1, 2, 3, 5]);
    assert_eq!(hearers(&scene, "player 5", "a stranger"), [0, 4, 5, 6, 7], "its own party, and who is near");
    assert_eq!(said(&scene.driver.hub().events), [], "a relay without a hero hears nobody");
}

#[test]
fn what_is_no_line_or_too_much_is_refused_to_who_says_it() {
    let mut scene = scene(2);
    for text in ["", "  ", "two\nlines", "\u{1b}[31mred", &"x".repeat(481)] {
        assert_eq!(say(&mut scene, 0, text), Err(SayError::Text), "{text:?}");
    }
    let refused = (0..20).filter(|_| say(&mut scene, 0, "again") == Err(SayError::TooOften)).count();
    assert_eq!(refused, 17);
    scene.run(secs(2));
    assert_eq!(say(&mut scene, 0, &"x".repeat(480)), Ok(()));
    scene.run(secs(1));
    assert_eq!(said(&scene.driver.seats[1].events).len(), 4);
    scene.driver.seats[0].session.leave(secs(60));
    assert_eq!(say(&mut scene, 0, "bye"), Err(SayError::NotPlaying));
}

#[test]
fn who_floods_the_chat_is_held_back_and_counted() {
    let mut scene = scene(3);
    let relay = scene.driver.hub().peer;
    let shout = || wire::encode(Epoch::default(), &Message::Say(ChatLine::new("buy gold").expect("a line")));
    for _ in 0..100 {
        let link = &mut scene.driver.seats[2].link;
        lockstone_net::Link::send(link, relay, Channel::Reliable, shout());
    }
    scene.run(secs(1));
    let drops = scene.driver.hub().session.stats().drops;
    let heard = said(&scene.driver.seats[0].events).len();
    assert!((80..100).contains(&drops.of(DropReason::ChatFlood)), "{drops:?}");
    assert_eq!(heard as u64 + drops.of(DropReason::ChatFlood), 100);
    assert!(scene.driver.seats.iter().all(|seat| seat.session.phase() == Phase::Playing));
}
