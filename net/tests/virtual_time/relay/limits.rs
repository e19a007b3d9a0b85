//! What exceeds its limit is dropped, counted and answered, and costs the others nothing; what can
//! wait, waits for the budget.

use lockstone_net::link::{Channel, Link};
use lockstone_net::memory::Weather;
use lockstone_net::relay::{RelayConfig, RelaySettings};
use lockstone_net::session::DropReason;
use lockstone_net::wire::{self, CoreTree, Epoch, Message};
use lockstone_sim::{CellId, Checksum, Tick};
use testkit::relay::*;
use testkit::sessions::*;
use testkit::storm;

fn scene(seed: u64, settings: RelaySettings, replicas: usize) -> Scene {
    let mut scene = Scene::new(seed, STORM, settings, Weather::clear(ms(30)));
    scene.enter_many(replicas);
    scene.run_until(secs(3));
    scene
}

#[test]
fn settings_out_of_range_are_named() {
    let defaults = RelaySettings::default;
    for (settings, name) in [
        (RelaySettings { budget_bytes_per_s: 0, ..defaults() }, "budget_bytes_per_s"),
        (RelaySettings { players_max: 0, ..defaults() }, "players_max"),
        (RelaySettings { leave_rings: 1, enter_rings: 2, ..defaults() }, "leave_rings"),
        (RelaySettings { commands_per_s_max: 0, ..defaults() }, "commands_per_s_max"),
    ] {
        let error = RelayConfig::new(settings).expect_err(name);
        assert_eq!(error.setting, name, "{error}");
    }
}

#[test]
fn a_flood_of_commands_is_held_back_and_the_others_play_on() {
    let settings = RelaySettings { commands_per_s_max: 5, ..RelaySettings::default() };
    let mut scene = scene(31, settings, 4);
    let mut refused = 0;
    for n in 0..400 {
        refused += usize::from(scene.seat_mut(1).session.command((n, n)).is_err());
        let until = scene.driver.now() + ms(10);
        scene.run_until(until);
    }
    let stats = scene.stats();
    assert!(stats.drops.of(DropReason::CommandFlood) > 0, "{:?}", stats.drops);
    assert!(refused > 250, "{refused} of 400 were refused to the player");
    let until = scene.driver.now() + secs(1);
    scene.run_until(until);
    assert_eq!(scene.playing(), 4);
}

#[test]
fn a_flood_of_packets_is_dropped_and_counted() {
    let mut scene = scene(32, RelaySettings::default(), 3);
    let relay = scene.peer(0);
    let tree = |n: u32| {
        let cells = list(vec![(CellId::new(n as u16, 1), Checksum(1))]);
        wire::encode(Epoch::default(), &Message::CoreTree(CoreTree { tick: Tick(n), disputed: None, cells }))
    };
    for n in 0..2_000 {
        scene.seat_mut(2).link.send(relay, Channel::Reliable, tree(n));
    }
    scene.play(secs(5), 30);
    let drops = scene.stats().drops;
    assert!(drops.of(DropReason::OverRate) > 1_500 && drops.of(DropReason::Unexpected) > 100, "{drops:?}");
    assert_eq!(scene.playing(), 3, "nobody is put out for it, and nobody suffers");
}

#[test]
fn a_small_budget_makes_loads_wait_and_says_so() {
    let run = |budget_bytes_per_s| {
        let settings = RelaySettings { budget_bytes_per_s, core_actors_max: 0, ..RelaySettings::default() };
        let mut scene = scene(33, settings, 6);
        scene.play(secs(20), 30);
        assert_eq!(scene.playing(), 6);
        scene.stats().relay.expect("a relay")
    };
    let (small, large) = (run(6_000), run(1_000_000));
    println!("small budget {small:?}\nlarge budget {large:?}");
    assert!(small.loads.cut_bytes > 0 && large.loads.cut_bytes == 0);
    assert!(small.turns.packets.abs_diff(large.turns.packets) < large.turns.packets / 10, "frames are not cut");
}

/// A line that carries less than the budget is found out while the session goes on, and once it
/// carries more, that is used again.
#[test]
fn a_line_that_grows_narrow_in_play_is_measured() {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let mut scene = scene(34, settings, 4);
    let (relay, narrow) = (scene.peer(0), scene.peer(1));
    let mut dice = Dice(34);
    // A hero that portals move all the time is loaded anew each time.
    let mut travel = |scene: &mut Scene, seconds: u64| {
        let stats = |scene: &Scene| scene.stats().relay.expect("a relay").loads;
        let (before, mut rtt) = (stats(scene), Vec::new());
        for _ in 0..seconds * 4 {
            let tile = |dice: &mut Dice| dice.roll(150) as u16;
            let _ = scene.seat_mut(1).session.command((storm::PORTAL | tile(&mut dice), tile(&mut dice)));
            let until = scene.driver.now() + ms(250);
            scene.run_until(until);
            let players = scene.stats().players;
            let exchanges = players.iter().filter_map(|player| player.exchange.as_ref());
            rtt.extend(exchanges.filter(|exchange| exchange.peer == narrow).filter_map(|exchange| exchange.rtt()));
        }
        rtt.sort();
        let after = stats(scene);
        (rtt[rtt.len() * 9 / 10], after.bytes - before.bytes, after.cut_bytes - before.cut_bytes)
    };
    let wide = travel(&mut scene, 20);
    let line = Weather { line_bytes_per_s: Some(12_000), ..Weather::clear(ms(30)) };
    scene.driver.network.set_direction(relay, narrow, Some(line));
    let narrowed = travel(&mut scene, 40);
    scene.driver.network.set_direction(relay, narrow, None);
    let _recovers = travel(&mut scene, 30);
    let again = travel(&mut scene, 20);
    println!("wide {wide:?}, narrow {narrowed:?}, wide again {again:?}: round trip, loaded, and what waited");
    assert_eq!(scene.playing(), 4, "nobody is put out");
    assert!(wide.2 == 0 && narrowed.2 > 0 && again.2 == 0, "what waited: {wide:?} {narrowed:?} {again:?}");
    assert!(narrowed.0 < ms(600), "packets of frames do not stand behind loads for long");
    assert!(again.0 < wide.0 + ms(50));
}
