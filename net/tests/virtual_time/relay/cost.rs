//! What a relay session costs a replica, alone and in a fight.

use core::time::Duration;

use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_sim::Fx;
use testkit::relay::*;
use testkit::sessions::*;
use testkit::storm;

/// What a packet costs besides its payload, in bytes.
const OVERHEAD_BYTES: u64 = 93;

/// Bytes a second per replica, down and up, overhead included, and packets down.
fn rates(scene: &mut Scene, time: Duration, permille: u64) -> (u64, u64, f64) {
    let relay = scene.peer(0);
    let carried = |scene: &Scene| {
        let peers = scene.seats().map(|(_, seat)| seat.peer);
        peers.fold([0; 4], |[a, b, c, d], peer| {
            let network = &scene.driver.network;
            let (down, up) = (network.carried(relay, peer), network.carried(peer, relay));
            [a + down.bytes, b + down.packets, c + up.bytes, d + up.packets]
        })
    };
    let before = carried(scene);
    scene.play(time, permille);
    let after = carried(scene);
    let replicas_s = scene.numbers().len() as u64 * time.as_secs();
    let rate = |n: usize| (after[n] - before[n]) as f64 / replicas_s as f64;
    let down = (rate(0) + rate(1) * OVERHEAD_BYTES as f64) as u64;
    let up = (rate(2) + rate(3) * OVERHEAD_BYTES as f64) as u64;
    (down, up, rate(1))
}

fn scene(storm: storm::Weather, replicas: usize) -> Scene {
    let mut scene = Scene::new(1, storm, RelaySettings::default(), Weather::clear(ms(40)));
    scene.enter_many(replicas);
    scene.run_until(secs(5));
    assert_eq!(scene.playing(), replicas);
    scene
}

/// Every hero is told to stay where it is.
fn halt(scene: &mut Scene) {
    for seat in scene.numbers() {
        let seat = scene.seat_mut(seat);
        let player = seat.session.stats().player.expect("it was let in");
        let Some(hero) = seat.session.simulation().and_then(|world| world.hero(player)) else { continue };
        let tile = |along: Fx| (along.to_bits() >> 12) as u16;
        let _ = seat.session.command((tile(hero.pos.x), tile(hero.pos.y)));
    }
    let until = scene.driver.now() + secs(1);
    scene.run_until(until);
}

#[test]
fn a_replica_alone_costs_little() {
    // So far apart that hardly anyone meets.
    let storm = storm::Weather { cells: 250, ..testkit::relay::STORM };
    let mut scene = scene(storm, 8);
    halt(&mut scene);
    let (down, up, packets) = rates(&mut scene, secs(30), 0);
    println!("idle: {down} B/s down in {packets:.1} packets/s, {up} B/s up");
    let (down, up, packets) = rates(&mut scene, secs(30), 25);
    println!("walking: {down} B/s down in {packets:.1} packets/s, {up} B/s up");
}

#[test]
fn a_fight_costs_no_more_than_it_must() {
    let storm = storm::Weather { cells: 16, ..testkit::relay::STORM };
    let mut scene = scene(storm, 24);
    let (down, up, packets) = rates(&mut scene, secs(20), 25);
    println!("fight: {down} B/s down in {packets:.1} packets/s, {up} B/s up");
}

/// A core that has grown is loaded once, however soon it is there: not again and again.
#[test]
fn who_stands_still_is_sent_no_more_loads() {
    for (cells, replicas) in [(12, 6), (12, 12), (16, 24)] {
        let mut scene = scene(storm::Weather { cells, ..testkit::relay::STORM }, replicas);
        halt(&mut scene);
        scene.run_until(secs(20));
        let stats = |scene: &Scene| scene.stats().relay.expect("it is the relay");
        let before = stats(&scene);
        scene.run_until(secs(30));
        let after = stats(&scene);
        println!("{replicas} replicas: {before:?}, then {after:?}");
        assert!(after.replicas_grown > 0, "a lit region was chosen");
        assert_eq!(after.loads_begun, before.loads_begun, "{replicas} replicas");
    }
}

/// How the relay's work and a replica's bytes grow with the session, at equal density.
#[test]
#[ignore = "a measurement: run it alone, optimised"]
fn growth() {
    for replicas in [50_usize, 100, 200, 400] {
        let cells = (f64::sqrt(replicas as f64) * 12.0) as u16;
        let storm = storm::Weather { cells, ..testkit::relay::STORM };
        let mut scene = Scene::new(1, storm, RelaySettings::default(), Weather::clear(ms(40)));
        scene.enter_many(replicas);
        scene.driver.run_until(secs(10));
        let relay = scene.peer(0);
        let all = |scene: &Scene| {
            let of = |seat| scene.driver.network.carried(relay, scene.peer(seat));
            (1..=replicas).map(of).fold((0, 0), |sum, one| (sum.0 + one.bytes, sum.1 + one.packets))
        };
        let before = all(&scene);
        let begun = std::time::Instant::now();
        scene.driver.run_until(secs(20));
        let (took, after) = (begun.elapsed(), all(&scene));
        let per_s = |bytes: u64| bytes / 10 / replicas as u64;
        println!(
            "{replicas} replicas: {} B/s payload and {} packets/s down each; all of it {} ms a tick; {:?}",
            per_s(after.0 - before.0),
            per_s(after.1 - before.1),
            took.as_millis() / 200,
            scene.stats().relay
        );
    }
}
