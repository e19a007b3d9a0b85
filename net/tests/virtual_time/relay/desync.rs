//! Cores that are found to differ: told to both sides, repaired, and put out if that is of no use.
//! The others notice nothing.

use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{EndReason, Event, Session};
use lockstone_net::wire::{LeaveReason, Message};
use lockstone_sim::{Checksum, PlayerId, Simulation};
use testkit::relay::*;
use testkit::sessions::tap::{altering, each_frame};
use testkit::sessions::*;
use testkit::storm::StormWorld;

fn scene(seed: u64, replicas: usize) -> Scene {
    // A fight, with halos in which much happens.
    let storm = testkit::storm::Weather { cells: 24, ..STORM };
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let mut scene = Scene::new(seed, storm, settings, Weather::clear(ms(30)));
    scene.enter_many(replicas);
    scene.run_until(secs(3));
    scene
}

fn desyncs<'a>(events: impl IntoIterator<Item = &'a Event<StormWorld>>) -> Vec<PlayerId> {
    let desync = |event: &Event<StormWorld>| match event {
        Event::Desync { player, .. } => Some(*player),
        _ => None,
    };
    events.into_iter().filter_map(desync).collect()
}

#[test]
fn a_core_that_went_wrong_is_found_and_repaired() {
    let mut scene = scene(21, 8);
    scene.odd = Some(3);
    let (peer, player) = (scene.peer(3), scene.seat(3).session.stats().player.expect("let in"));
    let mut packets = 0;
    // Some of what changed in the halo does not arrive.
    scene.meddle(
        0,
        altering(move |to, message| {
            if to == peer && packets < 60 {
                packets += 1;
                each_frame(message, |_, frame| {
                    let areas = frame.given.iter().filter(|given| given.cell().is_none()).cloned();
                    frame.given = list(areas.collect());
                });
            }
        }),
    );
    scene.play(secs(12), 30);
    assert_eq!(desyncs(&scene.told), [player], "the relay tells it once");
    assert_eq!(desyncs(&scene.seat(3).events), [PlayerId(0)], "and so does the replica");
    let wanted = |event: &Event<StormWorld>| matches!(event, Event::EvidenceWanted { .. });
    assert!(scene.told.iter().any(wanted) && scene.seat(3).events.iter().any(wanted));
    for seat in [1, 2, 4, 5, 6, 7, 8] {
        assert!(desyncs(&scene.seat(seat).events).is_empty(), "seat {seat} noticed");
        assert!(!scene.seat(seat).events.iter().any(wanted), "seat {seat} was asked for evidence");
    }
    // Exact again.
    scene.odd = None;
    scene.play(secs(10), 30);
    assert_eq!(scene.playing(), 8);
    let last = |scene: &Scene| {
        let stats = scene.stats();
        let of = stats.players.iter().find(|row| row.player == player).and_then(|row| row.exchange.clone());
        of.and_then(|exchange| exchange.last_check).expect("it was compared")
    };
    assert!(last(&scene).equal, "{:?}", last(&scene));
}

#[test]
fn who_tells_false_checksums_of_a_right_core_is_named_and_put_out() {
    let mut scene = scene(22, 4);
    scene.odd = Some(2);
    scene.meddle(
        2,
        altering(|_, message| {
            if let Message::Report(report) = message {
                let lies = report.checksums.iter().map(|(tick, sum)| (*tick, Checksum(sum.0 ^ 1)));
                report.checksums = list(lies.collect());
            }
        }),
    );
    scene.play(secs(20), 30);
    let ended = ended(&scene.seat(2).session);
    assert_eq!(ended, Some(EndReason::Removed(LeaveReason::Lied)));
    assert_eq!(scene.playing(), 3);
    let named = scene.told.iter().filter(|event| matches!(event, Event::Liar { .. })).count();
    assert_eq!((named, scene.stats().desyncs, desyncs(&scene.told).len()), (1, 0, 0), "a lie is no difference");
    for seat in [1, 3, 4] {
        assert!(desyncs(&scene.seat(seat).events).is_empty());
    }
}

/// Who stands by its lie cannot be told from whose world errs. But a replay tells that the relay's
/// did not.
#[test]
fn a_relay_that_is_lied_to_is_cleared_by_a_replay_of_its_recording() {
    for replays_right in [true, false] {
        let mut scene = scene(23, 4);
        scene.odd = Some(2);
        let lie = |sum: Checksum| Checksum(sum.0 ^ 1);
        scene.meddle(
            2,
            altering(move |_, message| match message {
                Message::Report(report) => {
                    report.checksums = list(report.checksums.iter().map(|(tick, sum)| (*tick, lie(*sum))).collect());
                }
                Message::CoreTree(tree) => tree.disputed = tree.disputed.map(lie),
                _ => {}
            }),
        );
        let mut answered = 0;
        for _ in 0..100 {
            scene.play(ms(200), 30);
            let wanted = scene.told.iter().filter_map(|event| match event {
                Event::ReferenceWanted { tick, agreed } => {
                    assert!(agreed.is_none_or(|agreed| agreed < *tick));
                    Some(*tick)
                }
                _ => None,
            });
            for tick in wanted.skip(answered).collect::<Vec<_>>() {
                let weather = scene.weather;
                let replayed = scene.log.world(tick, |_| weather.world()).checksum();
                let told = if replays_right { replayed } else { lie(replayed) };
                scene.driver.hub_mut().session.give_reference(tick, Some(told));
                answered += 1;
            }
        }
        let (stats, playing) = (scene.stats(), scene.playing());
        assert!(answered > 0 && playing == 3 && stats.desyncs > 0, "{answered} {playing} {stats:?}");
        assert_eq!(stats.acquitted, if replays_right { stats.desyncs } else { 0 });
    }
}
