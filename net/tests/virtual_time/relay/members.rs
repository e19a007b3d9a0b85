//! Replicas that come, leave, break away, fall silent or find no place.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::memory::Weather;
use lockstone_net::relay::{RelayConfig, RelaySettings, Replica};
use lockstone_net::session::{EndReason, Event, Phase, Session};
use lockstone_net::wire::{LeaveReason, Refusal};
use lockstone_net::{LinkEvent, PeerId};
use lockstone_sim::{Input, PlayerId};
use testkit::relay::*;
use testkit::sessions::tap::losing_hellos;
use testkit::sessions::*;

fn scene(seed: u64, settings: RelaySettings, replicas: usize) -> Scene {
    let mut scene = Scene::new(seed, STORM, settings, Weather::clear(ms(30)));
    scene.enter_many(replicas);
    scene.run_until(secs(3));
    scene
}

#[test]
fn replicas_come_and_go_and_the_others_go_on() {
    let mut scene = scene(11, RelaySettings::default(), 6);
    let mut left = 0;
    for round in 0..40 {
        scene.play(ms(500), 40);
        match round % 4 {
            0 => {
                scene.enter();
            }
            1 if scene.numbers().len() > 2 => {
                let now = scene.driver.now();
                let last = *scene.numbers().last().expect("some are there");
                scene.seat_mut(last).session.leave(now);
                let until = now + ms(50);
                scene.run_until(until);
                scene.remove(last);
                left += 1;
            }
            2 if scene.numbers().len() > 2 => {
                // Breaks away.
                scene.remove(scene.numbers()[0]);
                left += 1;
            }
            _ => {}
        }
    }
    let until = scene.driver.now() + secs(3);
    scene.run_until(until);
    assert!(left >= 10);
    assert_eq!(scene.playing(), scene.numbers().len(), "everyone who is there plays");
    let world = scene.relay().simulation().expect("it plays");
    assert_eq!(world.players().count(), scene.playing(), "the heroes of those who left are gone");
    // So no turn holds a leave, which those do not get who only see the hero, and a join of the
    // same player.
    let inputs = scene.log.turns.values().flat_map(|turn| &turn.inputs);
    let joined: Vec<_> =
        inputs.filter_map(|input| if let Input::Join(player, _) = input { Some(player) } else { None }).collect();
    assert_eq!(joined.len(), 6 + 10, "{joined:?}");
    assert_eq!(BTreeSet::from_iter(&joined).len(), joined.len(), "nobody has the number of one who left: {joined:?}");
}

#[test]
fn a_lost_hello_is_said_again() {
    let mut scene = Scene::new(16, STORM, RelaySettings::default(), Weather::clear(ms(30)));
    for _ in 0..4 {
        let seat = scene.enter();
        scene.meddle(seat, losing_hellos());
    }
    scene.run_until(ms(900));
    assert_eq!(scene.playing(), 0, "nobody has heard of them");
    scene.run_until(secs(4));
    assert_eq!(scene.playing(), 4);
    assert_eq!(scene.stats().drops.total(), 0);
}

#[test]
fn a_hello_said_twice_makes_one_player() {
    // So far away that hello is said again before the answer is there.
    let mut scene = Scene::new(17, STORM, RelaySettings::default(), Weather::clear(ms(700)));
    scene.enter_many(3);
    scene.run_until(secs(10));
    assert_eq!(scene.playing(), 3);
    let relay = scene.relay();
    assert_eq!(relay.simulation().expect("it plays").players().count(), 3);
    assert_eq!(relay.stats().drops.total(), 0);
    let refused = |event: &Event<_>| matches!(event, Event::Refused { .. });
    assert!(!scene.told.iter().any(refused));
}

#[test]
fn a_full_room_says_so() {
    let settings = RelaySettings { players_max: 3, ..RelaySettings::default() };
    let mut scene = scene(12, settings, 4);
    assert_eq!(scene.playing(), 3);
    let refused = scene.seats().filter_map(|(_, seat)| ended(&seat.session)).collect::<Vec<_>>();
    assert_eq!(refused, [EndReason::Refused(Refusal::Full { players_max: 3 })]);
    // A place becomes free.
    let now = scene.driver.now();
    scene.seat_mut(1).session.leave(now);
    scene.run_until(now + secs(1));
    let seat = scene.enter();
    scene.run_until(now + secs(4));
    assert!(playing(&scene.seat(seat).session));
}

#[test]
fn who_falls_silent_is_away_and_comes_back() {
    let mut scene = scene(13, RelaySettings::default(), 3);
    let (relay, silent) = (scene.peer(0), scene.peer(2));
    scene.driver.network.set_cut(relay, silent, true);
    let until = scene.driver.now() + secs(12);
    scene.run_until(until);
    assert_eq!(scene.seat(2).session.phase(), Phase::Returning);
    assert_eq!(scene.playing(), 2);
    let world = scene.relay().simulation().expect("it plays");
    assert_eq!(world.players().count(), 3, "its hero waits");
    let gone = |event: &Event<_>| matches!(event, Event::PlayerAway { reason: LeaveReason::Silent, .. });
    assert!(scene.told.iter().any(gone));
    scene.driver.network.set_cut(relay, silent, false);
    scene.play(secs(4), 30);
    // It has no key, but is there on the connection on which it was lost.
    assert_eq!(scene.seat(2).session.stats().player, Some(PlayerId(2)));
    assert_eq!((scene.playing(), scene.relay().simulation().expect("it plays").players().count()), (3, 3));
}

#[test]
fn a_replica_that_stood_still_catches_up() {
    let mut scene =
        scene(14, RelaySettings { silence_timeout: secs(60), load_timeout: secs(60), ..RelaySettings::default() }, 4);
    let until = scene.driver.now() + secs(30);
    scene.seat_mut(2).freeze(until);
    scene.play(secs(35), 30);
    assert_eq!(scene.playing(), 4);
    let (tick, mut ticks) = (scene.stats().tick, scene.seats().map(|(_, seat)| seat.session.stats().tick));
    assert!(ticks.all(|replica| tick.since(replica) < 8), "{tick}");
}

#[test]
fn an_ending_relay_says_so() {
    let mut scene = scene(15, RelaySettings::default(), 2);
    let now = scene.driver.now();
    scene.driver.hub_mut().session.leave(now);
    scene.driver.run_until(now + secs(1));
    for (_, seat) in scene.seats() {
        assert_eq!(ended(&seat.session), Some(EndReason::SequencerLeft));
    }
}

#[test]
fn who_connects_slowly_is_not_told_that_there_is_no_session() {
    let settings = RelaySettings::default();
    let (timeout, config) = (settings.handshake_timeout, RelayConfig::new(settings).expect("in range"));
    let mut replica = Replica::new(config, IDENTITY, "slow", (), |_| STORM.world()).expect("the name is fine");
    let steps = [LinkEvent::Entered(PeerId(2 << 64)), LinkEvent::Connected(PeerId(1 << 64))];
    let mut now = ms(0);
    // It is driven all the while: a standstill of its own would be no reason to give up.
    let wait = |replica: &mut Replica<_>, now: &mut Duration| {
        (0..timeout.as_millis() - 1).for_each(|_| {
            *now += ms(1);
            replica.advance(*now);
        });
    };
    replica.advance(now);
    for step in steps {
        wait(&mut replica, &mut now);
        assert_eq!(replica.phase(), Phase::Connecting);
        replica.handle(step, now);
    }
    wait(&mut replica, &mut now);
    assert_eq!(replica.phase(), Phase::Connecting);
    replica.advance(now + ms(1));
    assert_eq!(replica.phase(), Phase::Ended(EndReason::NoSession));
}

/// The other players that a replica has names of.
fn named(scene: &Scene, seat: usize) -> BTreeMap<PlayerId, String> {
    let players = scene.seat(seat).session.stats().players.into_iter().filter(|player| !player.own);
    players.map(|player| (player.player, player.name)).collect()
}

/// The other players whose heroes are in what a replica knows, as the relay calls them.
fn near(scene: &Scene, seat: usize) -> BTreeMap<PlayerId, String> {
    let session = &scene.seat(seat).session;
    let known = session.simulation().and_then(|world| world.area().extent()).expect("a part").halo;
    let own = session.stats().player;
    let whole = scene.relay().simulation().expect("it plays");
    let near =
        |player: &PlayerId| whole.hero(*player).is_some_and(|hero| known.contains(whole.grid().cell_of(hero.pos)));
    let players = scene.stats().players.into_iter().map(|player| (player.player, player.name));
    players.filter(|(player, _)| Some(*player) != own && near(player)).collect()
}

/// Names of those who left far away were kept, and those who had come elsewhere had none.
#[test]
fn a_replica_names_those_who_are_near_and_nobody_else() {
    let mut scene = scene(21, RelaySettings::default(), 12);
    let (mut known, mut unknown) = (0, 0);
    for round in 0..6 {
        scene.play(secs(3), 60);
        if round % 2 == 0 {
            scene.remove(scene.numbers()[0]);
            scene.enter();
        }
        let end = scene.driver.now() + secs(10);
        while scene.numbers().iter().any(|seat| named(&scene, *seat) != near(&scene, *seat)) {
            assert!(scene.driver.now() < end, "the names of round {round} never come to be right");
            let until = scene.driver.now() + ms(50);
            scene.run_until(until);
        }
        let others = scene.playing() - 1;
        for seat in scene.numbers() {
            let named = named(&scene, seat).len();
            (known, unknown) = (known + named, unknown + others - named.min(others));
        }
    }
    assert!(known > 0 && unknown > 0, "{known} known, {unknown} not: there must be of both");
}
