//! The times of a picture and of a tick: four bots play the dungeon, and scenes of their way are
//! drawn one after the other, as a window (with the panel) and as a page (the world alone) draw
//! them.
//!
//! `cargo bench -p dungeon --bench picture` prints milliseconds a picture, of each the least
//! disturbed of several runs, and for each kind a digest of all its pixels: it must stay the same
//! when a change is for speed alone. Then microseconds a tick, checksum included, of the fastest
//! way. Built for `wasm32-wasip1` as pages are (`--profile page`, and the flags of
//! `xtask/src/page.rs`) and run by a node that is as new as today's browsers, it tells the times in
//! a page: node 20 takes a quarter longer than they.

#![allow(clippy::disallowed_types, reason = "it measures time")]

use std::time::{Duration, Instant};

use dungeon::{Dungeon, DungeonGame};
use lockstone::game::Game;
use lockstone::scene::Scene;
use lockstone::sim::{PlayerId, Simulation, Turn, World, mix64};
use lockstone::view::Status;
use lockstone::view::frame::Frame;
use testkit::delve::Play;

const HEROES: u16 = 4;
/// Scenes that are drawn, and the ticks from one to the next.
const SCENES: u32 = 60;
const STEP_TICKS: u32 = 15;
/// All of them are drawn so often.
const RUNS: usize = 9;
/// All ticks of the way are played again so often.
const TICK_RUNS: usize = 300;

fn main() {
    let scenes = scenes();
    let figures: usize = scenes.iter().map(|scene| scene.figures.len()).sum();
    println!("{} scenes, {:.1} figures each", scenes.len(), figures as f32 / scenes.len() as f32);
    println!("{:28} {:>10} {:>10}  digest", "", "mean ms", "most ms");
    for (width, height) in [(1280, 720), (640, 480)] {
        measure(&format!("{width} x {height}, with panel"), Frame::new(width, height), &scenes);
        measure(&format!("{width} x {height}, the world alone"), Frame::of_world(width, height), &scenes);
    }
    ticks();
}

/// The ticks of the way, played again without the bots.
fn ticks() {
    let mut play = Play::bots(1, HEROES);
    let (start, mut turns) = (play.world.snapshot(), Vec::new());
    for _ in 0..SCENES * STEP_TICKS {
        let inputs = play.decide();
        turns.push(play.turn(inputs));
    }
    let (mut least, mut digest) = (Duration::MAX, 0);
    for _ in 0..TICK_RUNS {
        play.world.restore(&start);
        let start = Instant::now();
        digest = replay(&mut play.world, &turns);
        least = start.elapsed().min(least);
    }
    let mean = least.as_secs_f64() * 1e6 / turns.len() as f64;
    println!("{:28} {mean:>10.2} {:>10}  {digest:016x}", format!("a tick of {HEROES} heroes, in µs"), "");
}

/// Lets a world take turns, and gives its last checksum. A function of its own: a browser exchanges
/// what it compiled in haste for what it compiled with care only from one call to the next.
#[inline(never)]
fn replay(world: &mut World<Dungeon>, turns: &[Turn<World<Dungeon>>]) -> u64 {
    turns.iter().fold(0, |_, turn| {
        world.step(turn);
        world.checksum().0
    })
}

/// Each hero's view in turn.
fn scenes() -> Vec<Scene> {
    let mut play = Play::bots(1, HEROES);
    let scene = |n: u32| {
        (0..STEP_TICKS).for_each(|_| play.tick());
        DungeonGame::scene(&play.world, PlayerId(n as u16 % HEROES))
    };
    (0..SCENES).map(scene).collect()
}

fn measure(name: &str, mut frame: Frame, scenes: &[Scene]) {
    let status = Status {
        game: DungeonGame::NAME,
        keys: DungeonGame::KEYS,
        room: "cellar".to_owned(),
        phase: "playing".to_owned(),
        news: ["Bob joined.", "Cleo was away and is back."].map(str::to_owned).to_vec(),
        ..Status::default()
    };
    let (mut least, mut digest) = (vec![Duration::MAX; scenes.len()], 0);
    for _ in 0..RUNS {
        digest = 0;
        for (n, scene) in scenes.iter().enumerate() {
            let start = Instant::now();
            frame.draw(Some(scene), &status, n as f32 * 0.37);
            least[n] = least[n].min(start.elapsed());
            digest = frame.pixels().fold(digest, |sum, pixel| mix64(sum ^ u64::from(pixel)));
        }
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let mean = ms(least.iter().sum()) / scenes.len() as f64;
    let most = least.iter().max().map_or(0.0, |&most| ms(most));
    println!("{name:28} {mean:>10.2} {most:>10.2}  {digest:016x}");
}
