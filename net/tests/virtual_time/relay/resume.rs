//! A relay's process is gone, and another goes on from what it recorded. And its players: who is
//! lost comes back to the same hero.

use std::collections::BTreeMap;

use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{Phase, Session};
use lockstone_sim::{Input, PlayerId, Tick, Turn};
use testkit::relay::*;
use testkit::seeds;
use testkit::sessions::*;
use testkit::storm::StormWorld;

use super::leaks::assert_all_concerned;

pub type Given = BTreeMap<PlayerId, Vec<(u16, u16)>>;

/// A relay and players with keys, who play.
fn scene(seed: u64, replicas: usize) -> Scene {
    let line = Weather { jitter: ms(10), loss_permille: 20, ..Weather::clear(ms(50)) };
    let mut scene = Scene::new(seed, STORM, settings(), line);
    scene.keyed = true;
    scene.enter_many(replicas);
    scene.run_until(secs(3));
    assert_eq!(scene.playing(), replicas);
    scene
}

pub fn settings() -> RelaySettings {
    // Whom its core shows is told from its hero's place alone.
    RelaySettings { core_actors_max: 0, ..RelaySettings::default() }
}

/// Everyone gives commands for a while. What was taken is added to what they gave.
pub fn play(scene: &mut Scene, time_ms: u64, given: &mut Given) {
    let end = scene.driver.now() + ms(time_ms);
    while scene.driver.now() < end {
        let until = scene.driver.now() + ms(40);
        scene.run_until(until);
        for seat in scene.numbers() {
            if scene.dice.roll(10) == 0 {
                let command = (scene.dice.roll(300) as u16, scene.dice.roll(300) as u16);
                let session = &mut scene.seat_mut(seat).session;
                if session.command(command).is_ok() {
                    given.entry(session.stats().player.expect("it plays")).or_default().push(command);
                }
            }
        }
    }
}

/// The commands that each player played.
pub fn played<'t>(turns: impl Iterator<Item = &'t Turn<StormWorld>>) -> Given {
    let mut played = Given::new();
    for input in turns.flat_map(|turn| &turn.inputs) {
        if let Input::Command(player, command) = input {
            played.entry(*player).or_default().push(*command);
        }
    }
    played
}

pub fn players(scene: &Scene) -> Vec<Option<PlayerId>> {
    let player = |session: &lockstone_net::relay::Replica<_>| playing(session).then(|| session.stats().player);
    scene.seats().map(|(_, seat)| player(&seat.session).flatten()).collect()
}

pub fn until_all_play(scene: &mut Scene, most_ms: u64) -> u64 {
    let start = scene.driver.now();
    while scene.playing() < scene.numbers().len() {
        let until = scene.driver.now() + ms(50);
        scene.run_until(until);
        assert!(until < start + ms(most_ms), "{} of {} play", scene.playing(), scene.numbers().len());
    }
    (scene.driver.now() - start).as_millis() as u64
}

#[test]
fn a_relay_that_was_killed_goes_on_and_so_does_everyone() {
    let run = |seed| killed_and_resumed(seed, 12, 12_000);
    let lost: Vec<_> = seeds::each("-p lockstone-net --test virtual_time relay::resume", 6, run);
    let (runs, lost) = (lost.len(), lost.iter().map(|(_, lost)| lost).sum::<usize>());
    assert!(lost > 10 || runs == 1, "{lost} commands were in turns that are lost: nothing is shown");
}

#[test]
fn a_relay_that_is_started_again_at_once_is_soon_found() {
    let run = |seed| killed_and_resumed(seed, 4, 2_000);
    let times = seeds::each("-p lockstone-net --test virtual_time relay::resume", 30, run);
    println!("all play after {} ms at most", times.iter().map(|(took, _)| took).max().expect("some were there"));
}

/// A relay is killed, and goes on from what it recorded after a pause. Returns how long it took
/// from then on until all played, and how many commands were in turns that it had not recorded.
fn killed_and_resumed(seed: u64, replicas: usize, pause_ms: u64) -> (u64, usize) {
    let (mut scene, mut given) = (scene(seed, replicas), Given::new());
    let time_ms = 1_500 + scene.dice.roll(2_500);
    play(&mut scene, time_ms, &mut given);
    let (before, old) = (players(&scene), scene.log.end);
    scene.kill_relay();
    // By then all have missed it, and play nothing more that is lost.
    let pause = scene.driver.now() + ms(500 + scene.dice.roll(pause_ms));
    scene.driver.run_until(pause);
    assert!(scene.seats().all(|(_, seat)| seat.session.phase() != Phase::Playing || pause < secs(8)));

    // What it had not written is lost, at most a second and a half.
    let cut = Tick(old.0 - scene.dice.roll(30) as u32);
    scene.sent.borrow_mut().clear();
    let log = scene.log.turns.clone();
    let lost = scene.resume_relay(cut);
    let took = until_all_play(&mut scene, 10_000);
    assert_eq!(players(&scene), before, "seed {seed}: the same players");
    let compared = scene.cells_compared;
    play(&mut scene, 2_000, &mut given);
    let until = scene.driver.now() + secs(2);
    scene.run_until(until);
    // Each core was compared with the whole world at each tick.
    assert!(scene.cells_compared > compared + 500 * replicas as u64, "{}", scene.cells_compared - compared);
    let (checked, told) = assert_all_concerned(&scene, &settings());
    assert!(told == replicas && checked > 80 * replicas, "{checked} things told to {told}");

    // One history: each command once, and in the order in which it was given.
    let history = log.range(..cut).map(|(_, turn)| turn).chain(scene.log.turns.values());
    assert_eq!(played(history), given, "seed {seed}");
    (took, played(lost.values()).values().map(Vec::len).sum())
}

#[test]
fn a_hero_of_a_relay_s_player_waits_and_is_found_by_its_key() {
    let mut scene = scene(7, 4);
    let before = players(&scene);
    scene.remove(2);
    let until = scene.driver.now() + secs(4);
    scene.run_until(until);
    assert_eq!(scene.relay().simulation().expect("it plays").players().count(), 4, "its hero waits");
    let seat = scene.enter_again(2);
    until_all_play(&mut scene, 5_000);
    assert_eq!(scene.seat(seat).session.stats().player, before[1]);
    // Another is another player.
    let other = scene.enter();
    until_all_play(&mut scene, 5_000);
    assert_eq!(scene.seat(other).session.stats().player, Some(PlayerId(5)));
    // Who plays from elsewhere as well plays only there.
    let elsewhere = scene.enter_again(2);
    let until = scene.driver.now() + secs(4);
    scene.run_until(until);
    assert_eq!(scene.seat(elsewhere).session.stats().player, before[1]);
    assert!(ended(&scene.seat(seat).session).is_some());
    scene.remove(seat);
    scene.play(secs(3), 40);
    assert_eq!(scene.relay().simulation().expect("it plays").players().count(), 5);
    assert!(scene.cells_compared > 10_000);
}

#[test]
fn without_its_key_nobody_is_known_to_a_relay_that_goes_on() {
    let mut scene = scene(8, 3);
    let before = players(&scene);
    scene.kill_relay();
    let lost = scene.driver.now() + secs(1);
    scene.run_until(lost);
    let cut = scene.log.end;
    scene.resume_relay(cut);
    let first = scene.numbers()[0];
    scene.remove(first);
    scene.enter_again(99);
    until_all_play(&mut scene, 10_000);
    assert_eq!(players(&scene), [before[1], before[2], Some(PlayerId(4))]);
    assert_eq!(scene.relay().simulation().expect("it plays").players().count(), 4, "the first one's hero waits");
}
