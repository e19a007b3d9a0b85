//! A relay is lost, and its standby leads on: with the same world, and with nothing lost that
//! anyone has seen. Never do both lead.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockstone_net::link::{Channel, Link};
use lockstone_net::memory::Weather;
use lockstone_net::relay::Relay;
use lockstone_net::session::{EndReason, Phase, Session};
use lockstone_net::wire::{self, *};
use lockstone_net::{PeerId, PlayerKey};
use lockstone_sim::{PlayerId, Simulation, Tick};
use testkit::relay::*;
use testkit::seeds;
use testkit::sessions::log::Log;
use testkit::sessions::*;
use testkit::storm::{Storm, StormWorld};

use super::leaks::assert_all_concerned;
use super::resume::{Given, play, played, players, settings, until_all_play};

/// A relay with a standby, and players with keys, who play.
fn scene(seed: u64, replicas: usize) -> Scene {
    scene_of(seed, replicas, |relay| relay)
}

fn scene_of(seed: u64, replicas: usize, special: impl FnOnce(Relay<Storm>) -> Relay<Storm>) -> Scene {
    let line = Weather { jitter: ms(10), loss_permille: 20, ..Weather::clear(ms(50)) };
    let mut scene = Scene::with_standby_of(seed, STORM, settings(), line, special);
    scene.keyed = true;
    scene.enter_many(replicas);
    scene.run_until(secs(3));
    assert_eq!(scene.playing(), replicas);
    scene
}

fn run(scene: &mut Scene, time_ms: u64) {
    let until = scene.driver.now() + ms(time_ms);
    scene.run_until(until);
}

/// Waits for the standby to lead, whom everyone is compared with from then on. Returns how long
/// that took, and what the old relay recorded.
fn until_standby_leads(scene: &mut Scene, most_ms: u64) -> (u64, Log<StormWorld>) {
    let start = scene.driver.now();
    scene.blind = true;
    while !scene.standby_leads() {
        run(scene, 10);
        assert!(scene.driver.now() < start + ms(most_ms), "the standby does not lead");
    }
    let old = scene.follow_standby();
    ((scene.driver.now() - start).as_millis() as u64, old)
}

fn standby(scene: &Scene) -> PeerId {
    scene.driver.beside_hub().expect("it is there").peer
}

/// Cuts the ways between two sides, or mends them.
fn cut(scene: &Scene, ones: &[PeerId], others: &[PeerId], cut: bool) {
    for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (*one, *other))) {
        scene.driver.network.set_cut(one, other, cut);
    }
}

fn replicas(scene: &Scene) -> Vec<PeerId> {
    scene.seats().map(|(_, seat)| seat.peer).collect()
}

fn tick(scene: &Scene) -> Tick {
    scene.relay().confirmed().expect("it plays").tick()
}

/// Each command was played once, in the order in which it was given, and nobody was told what is
/// outside of core and halo.
fn assert_sound(scene: &Scene, given: &Given) {
    assert_eq!(&played(scene.log.turns.values()), given);
    let (checked, told) = assert_all_concerned(scene, &settings());
    assert!(checked > 300 && told >= scene.numbers().len(), "{checked} things told to {told}");
}

#[test]
fn a_relay_that_is_killed_is_followed_by_its_standby() {
    let times = seeds::each("-p lockstone-net --test virtual_time relay::standby", 40, |seed| {
        let (mut scene, mut given) = (scene(seed, 4), Given::new());
        let time_ms = 500 + scene.dice.roll(2_000);
        play(&mut scene, time_ms, &mut given);
        let before = players(&scene);
        scene.kill_relay();
        let (elected, _) = until_standby_leads(&mut scene, 3_000);
        let took = elected + until_all_play(&mut scene, 5_000);
        assert!(took < 5_000, "seed {seed}: all play after {took} ms");
        assert_eq!(players(&scene), before, "seed {seed}: the same players");
        let compared = scene.cells_compared;
        play(&mut scene, 1_500, &mut given);
        run(&mut scene, 2_000);
        assert!(scene.cells_compared > compared + 2_000, "seed {seed}");
        assert_sound(&scene, &given);
        took
    });
    println!("all play after {} ms at most", times.iter().max().expect("there were some"));
}

#[test]
fn a_relay_that_stood_still_comes_back_late_and_is_refused_everywhere() {
    seeds::each("-p lockstone-net --test virtual_time relay::standby", 10, |seed| {
        let (mut scene, mut given) = (scene(seed, 4), Given::new());
        play(&mut scene, 1_000, &mut given);
        let still = ms(2_000 + scene.dice.roll(10_000));
        let until = scene.driver.now() + still;
        scene.driver.hub_mut().freeze(until);
        let took = until_standby_leads(&mut scene, 3_000).0 + until_all_play(&mut scene, 5_000);
        assert!(took < 5_000, "seed {seed}: all play after {took} ms");
        play(&mut scene, still.as_millis() as u64 + 2_000, &mut given);
        run(&mut scene, 2_000);
        let old = &scene.driver.beside_hub().expect("it is there").session;
        assert_eq!(old.phase(), Phase::Ended(EndReason::Superseded), "seed {seed}");
        assert_sound(&scene, &given);
    });
}

#[test]
fn a_relay_that_goes_on_from_its_recording_too_late_is_refused() {
    let (mut scene, mut given) = (scene(3, 4), Given::new());
    play(&mut scene, 1_000, &mut given);
    scene.kill_relay();
    let (_, old) = until_standby_leads(&mut scene, 3_000);
    until_all_play(&mut scene, 5_000);
    scene.resume_late_relay(&old, old.end);
    // Who enters now meets both.
    let newcomer = scene.enter();
    until_all_play(&mut scene, 5_000);
    play(&mut scene, 3_000, &mut given);
    run(&mut scene, 2_000);
    let late = &scene.driver.beside_hub().expect("it is there").session;
    assert_eq!(late.phase(), Phase::Ended(EndReason::Superseded));
    let world = scene.relay().simulation().expect("it plays");
    assert!(world.players().any(|player| Some(player) == scene.seat(newcomer).session.stats().player));
    assert_sound(&scene, &given);
}

#[test]
fn a_standby_that_dies_holds_nobody_up_for_long_and_another_takes_its_place() {
    seeds::each("-p lockstone-net --test virtual_time relay::standby", 10, |seed| {
        let (mut scene, mut given) = (scene(seed, 4), Given::new());
        play(&mut scene, 1_000, &mut given);
        // Silent at first, then gone.
        let (silent, before) = (scene.dice.roll(2) == 0, tick(&scene));
        match scene.driver.beside_hub_mut() {
            Some(standby) if silent => standby.freeze(core::time::Duration::MAX),
            place => *place = None,
        }
        play(&mut scene, 2_000, &mut given);
        assert!(tick(&scene) >= before.plus(40 - 30), "seed {seed}: {before}, {}", tick(&scene));
        play(&mut scene, 1_000, &mut given);
        scene.enter_standby();
        play(&mut scene, 3_000, &mut given);
        scene.kill_relay();
        let took = until_standby_leads(&mut scene, 3_000).0 + until_all_play(&mut scene, 5_000);
        assert!(took < 5_000, "seed {seed}: all play after {took} ms");
        run(&mut scene, 1_000);
        assert_eq!(scene.playing(), 4);
    });
}

#[test]
fn a_standby_that_alone_is_cut_off_disturbs_nobody_and_comes_back() {
    seeds::each("-p lockstone-net --test virtual_time relay::standby", 10, |seed| {
        let (mut scene, mut given) = (scene(seed, 4), Given::new());
        play(&mut scene, 1_000, &mut given);
        let (relay, other) = (scene.peer(0), standby(&scene));
        let before = tick(&scene);
        cut(&scene, &[relay], &[other], true);
        play(&mut scene, 2_000, &mut given);
        assert!(tick(&scene) >= before.plus(10), "seed {seed}: the relay goes on");
        let time_ms = scene.dice.roll(15_000);
        play(&mut scene, time_ms, &mut given);
        assert!(!scene.standby_leads(), "seed {seed}");
        cut(&scene, &[relay], &[other], false);
        play(&mut scene, 6_000, &mut given);
        assert!(!scene.standby_leads() && scene.playing() == 4, "seed {seed}");
        scene.kill_relay();
        until_standby_leads(&mut scene, 3_000);
        until_all_play(&mut scene, 5_000);
    });
}

/// Those who are left are too few to know of no heir. But the heir was only away.
#[test]
fn a_relay_that_loses_its_standby_for_a_while_and_most_witnesses_for_good_goes_on() {
    seeds::each("-p lockstone-net --test virtual_time relay::standby", 10, |seed| {
        let (mut scene, mut given) = (scene(seed, 3), Given::new());
        play(&mut scene, 1_000, &mut given);
        let (relay, other, lost) = (scene.peer(0), standby(&scene), &replicas(&scene)[..2]);
        let away_ms = 1_000 + scene.dice.roll(8_000);
        cut(&scene, lost, &[relay, other], true);
        cut(&scene, &[relay], &[other], true);
        run(&mut scene, away_ms);
        let stood = tick(&scene);
        run(&mut scene, 500);
        assert_eq!(tick(&scene), stood, "seed {seed}: it cannot know who leads");
        cut(&scene, &[relay], &[other], false);
        run(&mut scene, 1_000);
        assert!(tick(&scene) >= stood.plus(10), "seed {seed}: {stood}, {}", tick(&scene));
        // The last witness decides alone once the others are given up.
        run(&mut scene, 12_000);
        scene.kill_relay();
        until_standby_leads(&mut scene, 3_000);
    });
}

#[test]
fn a_witness_whose_clock_jumps_has_nobody_replaced() {
    seeds::each("-p lockstone-net --test virtual_time relay::standby", 10, |seed| {
        let mut scene = scene(seed, 1);
        let seat = scene.numbers()[0];
        for _ in 0..10 {
            let (pause_ms, jump) = (1_000 + scene.dice.roll(500), ms(1_400 + scene.dice.roll(4_000)));
            run(&mut scene, pause_ms);
            let (now, witness) = (scene.driver.now(), scene.seat_mut(seat));
            witness.clock.jump(jump);
            witness.session.advance(witness.clock.shows(now));
            run(&mut scene, 1_000);
            assert!(!scene.standby_leads(), "seed {seed}");
        }
    });
}

#[test]
fn the_side_with_most_witnesses_goes_on_and_the_other_closes_nothing() {
    seeds::each("-p lockstone-net --test virtual_time relay::standby", 20, |seed| {
        let (mut scene, mut given) = (scene(seed, 5), Given::new());
        play(&mut scene, 1_000, &mut given);
        let (relay, other, all) = (scene.peer(0), standby(&scene), replicas(&scene));
        let with_relay = scene.dice.roll(6) as usize;
        let (ours, theirs) = all.split_at(with_relay);
        let sides = |scene: &Scene, is_cut| {
            cut(scene, &[relay], &[theirs, &[other]].concat(), is_cut);
            cut(scene, &[other], ours, is_cut);
        };
        sides(&scene, true);
        if with_relay > 2 {
            let before = tick(&scene);
            play(&mut scene, 4_000, &mut given);
            assert!(!scene.standby_leads() && tick(&scene) > before.plus(40), "seed {seed}: {with_relay} of 5");
            sides(&scene, false);
            play(&mut scene, 4_000, &mut given);
            assert!(!scene.standby_leads() && scene.playing() == 5, "seed {seed}: {with_relay} of 5");
        } else {
            until_standby_leads(&mut scene, 4_000);
            let old = |scene: &Scene| {
                scene.driver.beside_hub().and_then(|old| old.session.confirmed()).expect("it is there").tick()
            };
            let before = old(&scene);
            play(&mut scene, 6_000, &mut given);
            assert_eq!(old(&scene), before, "seed {seed}: the old relay plays on with {with_relay} of 5");
            assert!(scene.playing() >= 5 - with_relay, "seed {seed}");
            sides(&scene, false);
            play(&mut scene, 5_000, &mut given);
            assert_eq!(scene.playing(), 5, "seed {seed}: all play again");
            let old = &scene.driver.beside_hub().expect("it is there").session;
            assert_eq!(old.phase(), Phase::Ended(EndReason::Superseded), "seed {seed}");
        }
        run(&mut scene, 2_000);
        assert_eq!(played(scene.log.turns.values()), given, "seed {seed}: {with_relay} of 5");
    });
}

/// The relay is cut off from its standby, and killed a moment later.
fn kill_after_a_cut(scene: &mut Scene, given: &mut Given) {
    play(scene, 1_000, given);
    cut(scene, &[scene.peer(0)], &[standby(scene)], true);
    play(scene, 300, given);
    scene.kill_relay();
    until_standby_leads(scene, 4_000);
    until_all_play(scene, 5_000);
    run(scene, 3_000);
    assert_eq!(&played(scene.log.turns.values()), given);
}

#[test]
fn a_relay_that_tells_turns_which_its_standby_lacks_is_found_out() {
    let kill = |mut scene: Scene| catch_unwind(AssertUnwindSafe(|| kill_after_a_cut(&mut scene, &mut Given::new())));
    for seed in 0..4 {
        kill(scene(seed, 4)).expect("nothing is lost");
        assert!(
            kill(scene_of(seed, 4, Relay::hurrying)).is_err(),
            "seed {seed}: turns were lost, and nothing is found"
        );
    }
}

#[test]
fn replicas_that_lie_of_who_leads_change_nothing_as_long_as_they_are_few() {
    let (mut scene, mut given) = (scene(5, 5), Given::new());
    play(&mut scene, 1_000, &mut given);
    let (hosts, before) = ([scene.peer(0), standby(&scene)], tick(&scene));
    let liars: Vec<_> = scene.numbers().into_iter().take(2).collect();
    for n in 0..200_u32 {
        for liar in &liars {
            let vote = Vote { epoch: Epoch(n % 7), leader: PlayerId(n as u16 % 5) };
            let known = Known { epoch: Epoch(n % 3), end: Tick(n), ..Known::default() };
            let stand = Message::Stand(Stand { doubts: Some(Epoch(n % 11)), ..Stand::of(vote, known) });
            let lead = Message::Lead(Lead { from: known, ..Lead::default() });
            let heirs = [None, Some(hosts[1]), Some(scene.peer(*liar))];
            let heirs = heirs.map(|peer| (Epoch(0), Message::Heir(Heir { number: n % 4, peer })));
            let forged = [(Epoch(0), stand), (Epoch(n % 5), lead), (Epoch(0), Message::Fetch(Tick(n)))];
            for (epoch, message) in forged.into_iter().chain(heirs) {
                let bytes = wire::encode(epoch, &message);
                let link = &mut scene.seat_mut(*liar).link;
                hosts.iter().for_each(|host| link.send(*host, Channel::Reliable, bytes.clone()));
            }
        }
        play(&mut scene, 25, &mut given);
    }
    assert!(!scene.standby_leads());
    assert!(tick(&scene) >= before.plus(95), "{before}, {}", tick(&scene));
    let honest = scene.seats().filter(|(seat, _)| !liars.contains(seat));
    assert!(honest.map(|(_, seat)| &seat.session).all(playing));
    // The standby is none the worse.
    scene.kill_relay();
    until_standby_leads(&mut scene, 3_000);
    until_all_play(&mut scene, 5_000);
}

#[test]
fn nobody_is_a_standby_without_the_key() {
    let mut scene = scene(6, 3);
    // It takes the place of the one that was there.
    scene.enter_standby_by(PlayerKey::from_bytes([7; 32]));
    run(&mut scene, 3_000);
    // It is let in as a player, which it cannot be, and is told no cell.
    let stranger = &scene.driver.beside_hub().expect("it is there").session;
    assert!(matches!(stranger.phase(), Phase::Ended(EndReason::Snapshot(_))), "{:?}", stranger.phase());
    assert!(stranger.simulation().is_none());
    assert_all_concerned(&scene, &settings());
    assert_eq!(scene.playing(), 3);
}
