//! What a game costs.
//! `cargo test --release -p dungeon --test game measure:: -- --ignored --nocapture`

#![allow(clippy::disallowed_types, reason = "it measures time")]

use std::time::{Duration, Instant};

use dungeon::hero::Event;
use dungeon::map::{Map, Plan};
use dungeon::{Body, DungeonGame};
use lockstone::game::{Layout, Spread, Wide};
use lockstone::sim::Simulation;
use testkit::delve::{Play, table};

#[test]
#[ignore = "measures; prints"]
fn ten_minutes() {
    for heroes in [1, 2, 4] {
        for seed in [1, 2, 3] {
            let mut play = Play::bots(seed, heroes);
            let (mut deaths, mut spent, mut checks) = (0, Duration::ZERO, Duration::ZERO);
            for _ in 0..12_000 {
                let inputs = play.decide();
                let start = Instant::now();
                play.step(inputs);
                spent += start.elapsed();
                play.world.checksum();
                checks += start.elapsed();
                for n in 0..heroes {
                    let fell = play.hero(n).fallen.is_some_and(|since| since == play.world.tick());
                    let now = play.hero(n).news.iter().flatten().filter(|news| news.tick.next() == play.world.tick());
                    deaths += usize::from(fell) + now.filter(|news| matches!(news.event, Event::Fell(_))).count();
                }
            }
            let snapshot = play.world.snapshot();
            let levels: Vec<_> =
                (0..heroes).map(|n| (play.hero(n).level, play.hero(n).gold, play.hero(n).potions)).collect();
            println!(
                "{heroes} heroes, seed {seed}: {:.0} ticks/s, with checksums {:.0}; snapshot {} B, {} cells, {} entities; {:.2} B a command, {:.2} a second; \
                 {deaths} deaths, levels {levels:?}, facts {:?}",
                12_000.0 / spent.as_secs_f64(),
                12_000.0 / checks.as_secs_f64(),
                play.world.encode(&snapshot).len(),
                play.world.cells().count(),
                play.everything().count(),
                play.command_bytes as f64 / play.commands as f64,
                play.commands as f64 / 600.0 / f64::from(heroes),
                play.world.facts(),
            );
        }
    }
}

#[test]
#[ignore = "measures; prints"]
fn grounds() {
    let layouts = [Layout::of(Spread::Hotspot, 300), parties(1000), parties(2000)];
    let ordinary = time(|| Map::of(&Plan::ORDINARY, 1, &table()));
    println!("192: {:?}, most memory so far {} MB", ordinary.1, memory_mb());
    for layout in layouts {
        let (rules, spent) = time(|| DungeonGame::lay_out(&layout, 1, &table()).expect("it can be"));
        let map = rules.map();
        let open = map.tiles().open_tiles().count();
        println!(
            "{}: {spent:?}, {open} open tiles, {} rooms, most memory so far {} MB",
            map.side_tiles(),
            map.rooms().len(),
            memory_mb()
        );
    }
}

#[test]
#[ignore = "measures; prints"]
fn crowds() {
    for layout in [parties(1000), Layout::of(Spread::Uniform, 200), Layout::of(Spread::Hotspot, 300)] {
        let mut play = Play::crowd(&layout, 1);
        let (mut ticks, mut deciding, mut looks) = (Vec::new(), Duration::ZERO, 0);
        for n in 0..600 {
            let (inputs, spent) = time(|| play.decide());
            deciding += spent;
            looks += usize::from(layout.players) / 8;
            ticks.push(time(|| play.step(inputs)).1);
            if n % 200 == 199 {
                describe(&play, &layout, n);
            }
        }
        let sum = |ticks: &[Duration]| ticks.iter().sum::<Duration>() / ticks.len() as u32;
        let (mean, late) = (sum(&ticks), sum(&ticks[300..]));
        ticks.sort();
        println!(
            "{layout:?}: tick {mean:?} on average, {late:?} in the second half, p99 {:?}, most {:?}; {:?} a decision; \
             {:.2} commands a second and player, {:.2} B each; {} MB",
            ticks[594],
            ticks[599],
            deciding / looks as u32,
            play.commands as f64 / 30.0 / f64::from(layout.players),
            play.command_bytes as f64 / play.commands as f64,
            memory_mb()
        );
    }
}

fn parties(players: u16) -> Layout {
    Layout::of(Spread::Parties, players)
}

fn describe(play: &Play, layout: &Layout, n: usize) {
    let count = |is: fn(&Body) -> bool| play.everything().filter(|entity| is(&entity.body)).count();
    let heroes = (0..layout.players).map(|n| play.hero(n));
    let levels: u32 = heroes.clone().map(|hero| u32::from(hero.level)).sum();
    let lit = play.world.cells().filter(|&cell| play.world.light(cell) > 0).count();
    println!(
        "tick {n}: {} monsters, {} awake actors, {} things, {} projectiles, {} slain heroes, level {:.1}, {lit} lit of {} cells",
        count(|body| body.is_foe()),
        count(lockstone::sim::Body::is_actor),
        count(|body| matches!(body, Body::Loot(_) | Body::Chest(_))),
        count(|body| matches!(body, Body::Projectile(_))),
        heroes.filter(|hero| !hero.is_alive()).count(),
        f64::from(levels) / f64::from(layout.players),
        play.world.cells().count(),
    );
}

fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = work();
    (made, start.elapsed())
}

/// The most memory that this process ever had, where the system tells.
fn memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}
