//! What a game costs. `cargo test --release -p dungeon --test measure -- --ignored --nocapture`

#![allow(clippy::disallowed_types, reason = "it measures time")]

mod play;

use dungeon::hero::Event;
use lockstone::sim::Simulation;
use play::Play;

#[test]
#[ignore = "measures; prints"]
fn ten_minutes() {
    for heroes in [1, 2, 4] {
        for seed in [1, 2, 3] {
            let mut play = Play::bots(seed, heroes);
            let (mut deaths, mut spent, mut checks) = (0, std::time::Duration::ZERO, std::time::Duration::ZERO);
            for _ in 0..12_000 {
                let inputs = play.decide();
                let start = std::time::Instant::now();
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
