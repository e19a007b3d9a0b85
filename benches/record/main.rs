//! What it costs to have evidence at hand: the root of every tick, its tree, the ring in memory, a
//! keyframe each minute, and the bytes by which peers compare checksums.
//!
//! `cargo bench -p lockstone --bench record` prints the times, and how they stand to the 50 ms
//! between two ticks, then memory and bytes on the wire, each with its bar.

mod wire;

use std::time::Duration;

use lockstone::net::limits::KEYFRAME_TICKS;
use lockstone::recording::{Header, Packed, RING_BYTES_MAX, Ring};
use lockstone_sim::{Simulation, Turn, World};
use testkit::contest::ours::{self, Field};
use testkit::contest::play::{CROWDED, SPREAD};
use testkit::contest::{time, typical};
use testkit::recorded::header;

/// Between two ticks.
const PERIOD: Duration = Duration::from_millis(50);
/// What the checks may send, in bytes a second and peer.
const WIRE_MAX: f64 = 100.0;

fn main() {
    for play in [SPREAD, CROWDED] {
        println!("\n{}: {} heroes, {} monsters, {} objects", play.name, play.heroes, play.monsters, play.objects);
        let mut world = ours::world(&play, 0);
        let root = after_step(&mut world, |world| _ = world.checksum());
        let tree = after_step(&mut world, |world| {
            world.checksum();
            world.tree();
        });
        let mut ring = ring(&mut world);
        let all = after_step(&mut world, |world| keep(&mut ring, world));
        let snapshot = world.snapshot();
        let encode = typical(20, || time(|| drop(world.encode(&snapshot))));
        let bytes = world.encode(&snapshot);
        let pack = typical(20, || time(|| drop(Packed::of(&bytes))));
        let row = |name: &str, time: Duration, each: u32| {
            let percent = time.as_secs_f64() / (PERIOD * each).as_secs_f64() * 100.0;
            println!("{name:42} {:>9.1} µs {percent:>7.3} %", time.as_nanos() as f64 / 1000.0);
        };
        row("root", root, 1);
        row("root and tree", tree, 1);
        row("root, tree and ring", all, 1);
        row("keyframe: encode", encode, KEYFRAME_TICKS);
        row("keyframe: pack", pack, KEYFRAME_TICKS);
        println!("a keyframe has {} bytes, packed {}", bytes.len(), Packed::of(&bytes).bytes().len());
        let held = fill(&mut world);
        let percent = held as f64 / RING_BYTES_MAX as f64 * 100.0;
        println!(
            "the ring holds {held} bytes at most of {RING_BYTES_MAX} ({percent:.1} %), and saves {}",
            ring.write().len()
        );
    }
    let wire::Cost { sequencer, replica } = wire::cost();
    println!(
        "\nthe checks send {replica:.1} B/s from a replica, {sequencer:.1} B/s from the sequencer of 4, of {WIRE_MAX} a peer"
    );
}

/// The typical time of some work after a step, the step apart.
fn after_step(world: &mut World<Field>, mut work: impl FnMut(&mut World<Field>)) -> Duration {
    typical(400, || {
        world.step(&Turn::EMPTY);
        time(|| work(world))
    })
}

/// What a session and a recorder do with each tick.
fn keep(ring: &mut Ring, world: &mut World<Field>) {
    ring.checksum(world.tick(), world.checksum());
    ring.tree(world.tick(), &world.tree());
}

/// The most that two minutes take.
fn fill(world: &mut World<Field>) -> usize {
    let mut ring = ring(world);
    let ticks = (0..3 * KEYFRAME_TICKS).map(|_| {
        world.step(&Turn::EMPTY);
        if world.tick().0.is_multiple_of(KEYFRAME_TICKS) {
            ring.keyframe(world.tick(), packed(world));
        }
        keep(&mut ring, world);
        ring.bytes()
    });
    ticks.max().unwrap_or(0)
}

fn ring(world: &mut World<Field>) -> Ring {
    Ring::new(Header { start: world.tick(), ..header("play", 1) }, packed(world))
}

fn packed(world: &mut World<Field>) -> Packed {
    let snapshot = world.snapshot();
    Packed::of(&world.encode(&snapshot))
}
