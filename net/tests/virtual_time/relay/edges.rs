//! The edge of the world and of the settings: corners, worlds smaller than an area, tiny budgets,
//! everything at its limit.

use lockstone_net::memory::Weather;
use lockstone_net::relay::{RelayConfig, RelaySettings};
use lockstone_net::session::{RelayStats, Session};
use lockstone_sim::CellId;
use testkit::relay::*;
use testkit::sessions::*;
use testkit::storm;

const LINE: Weather = Weather {
    delay: ms(40),
    jitter: ms(20),
    loss_permille: 50,
    duplicate_permille: 0,
    reorder_permille: 0,
    line_bytes_per_s: None,
};

/// Plays, and all who came play at the end, exact all the time.
fn all_play(mut scene: Scene, replicas: usize) -> RelayStats {
    scene.enter_many(replicas);
    scene.run_until(secs(6));
    scene.play(secs(15), 50);
    let stats = scene.stats();
    assert_eq!((scene.playing(), stats.desyncs), (replicas, 0));
    assert!(scene.cells_compared > 0);
    println!("{} ticks of replicas, {} cell-ticks compared", scene.ticks_compared, scene.cells_compared);
    stats.relay.expect("a relay")
}

#[test]
fn heroes_stand_in_all_corners_and_run_along_the_edges() {
    let mut scene = Scene::new(81, STORM, RelaySettings { core_actors_max: 0, ..RelaySettings::default() }, LINE);
    scene.enter_many(8);
    scene.run_until(secs(3));
    let last = (STORM.cells << STORM.cell_log2) - 1;
    let corners = [(0, 0), (last, 0), (last, last), (0, last)];
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..6 {
        for seat in 1..9 {
            let (x, y) = corners[(seat + round) % 4];
            // There through a portal every other time, and on foot along the edge.
            let x = if round % 2 == 0 { x | storm::PORTAL } else { x };
            let _ = scene.seat_mut(seat).session.command((x, y));
        }
        scene.play(secs(4), 0);
        for seat in 1..9 {
            let session = &scene.seat(seat).session;
            let (player, world) = (session.stats().player.expect("let in"), session.simulation().expect("it plays"));
            seen.extend(world.hero(player).map(|hero| world.grid().cell_of(hero.pos)));
        }
    }
    let end = STORM.cells - 1;
    for corner in [(0, 0), (end, 0), (end, end), (0, end)] {
        assert!(seen.contains(&CellId::new(corner.0, corner.1)), "nobody came to {corner:?}");
    }
    assert_eq!((scene.playing(), scene.stats().desyncs), (8, 0));
    println!("{} cell-ticks compared", scene.cells_compared);
}

#[test]
fn a_world_smaller_than_one_area_is_one_area() {
    for cells in [1, 2, 3, 5] {
        let storm = storm::Weather { cells, ..STORM };
        all_play(Scene::new(82, storm, RelaySettings::default(), LINE), 4);
    }
}

/// Frames cannot wait; loads do.
#[test]
fn a_tiny_budget_is_exact_and_told() {
    for core_actors_max in [0, 2_000] {
        let settings = RelaySettings { budget_bytes_per_s: 4_096, core_actors_max, ..RelaySettings::default() };
        let stats = all_play(Scene::new(83, STORM, settings, LINE), 6);
        println!("4 KiB/s: {stats:?}");
        assert!(stats.loads.cut_bytes > 0, "what waits is counted");
    }
}

#[test]
fn settings_at_their_limits_are_exact() {
    let defaults = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let small = storm::Weather { cells: 30, ..STORM };
    for settings in [
        RelaySettings { enter_rings: 1, leave_rings: 1, ahead_rings: 1, ..defaults.clone() },
        RelaySettings { enter_rings: 64, leave_rings: 64, ahead_rings: 16, ..defaults.clone() },
        RelaySettings { packet_interval_ticks: 1, checksum_interval_ticks: 1, ..defaults.clone() },
        RelaySettings { packet_interval_ticks: 20, checksum_interval_ticks: 1_000, ..defaults.clone() },
        RelaySettings { ticks_per_s: 100, ..defaults.clone() },
        RelaySettings { ticks_per_s: 1, packet_interval_ticks: 1, load_timeout: secs(60), ..defaults.clone() },
        RelaySettings { core_actors_max: 1_000_000, ..defaults.clone() },
        RelaySettings { repairs_max: 0, commands_per_s_max: 1, packets_per_s_max: 4, ..defaults },
    ] {
        println!("{settings:?}");
        all_play(Scene::new(84, small, settings, LINE), 4);
    }
}

#[test]
fn each_setting_is_held_against_its_range() {
    let defaults = RelaySettings::default;
    let of_the_range: Vec<(RelaySettings, &str)> = vec![
        (RelaySettings { ticks_per_s: 0, ..defaults() }, "ticks_per_s"),
        (RelaySettings { ticks_per_s: 101, ..defaults() }, "ticks_per_s"),
        (RelaySettings { packet_interval_ticks: 0, ..defaults() }, "packet_interval_ticks"),
        (RelaySettings { checksum_interval_ticks: 0, ..defaults() }, "checksum_interval_ticks"),
        (RelaySettings { players_max: 10_001, ..defaults() }, "players_max"),
        (RelaySettings { enter_rings: 0, ..defaults() }, "enter_rings"),
        (RelaySettings { leave_rings: 65, ..defaults() }, "leave_rings"),
        (RelaySettings { ahead_rings: 0, ..defaults() }, "ahead_rings"),
        (RelaySettings { budget_bytes_per_s: 4_095, ..defaults() }, "budget_bytes_per_s"),
        (RelaySettings { packets_per_s_max: 3, ..defaults() }, "packets_per_s_max"),
        (RelaySettings { silence_timeout: secs(1), ..defaults() }, "silence_timeout"),
    ];
    for (settings, name) in of_the_range {
        assert_eq!(RelayConfig::new(settings).expect_err(name).setting, name);
    }
}
