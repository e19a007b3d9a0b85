//! Every replica's core is the relay's, to the bit.

use lockstone_net::limits::REQUESTS_PER_TURN_MAX;
use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_sim::{Fx, Input};
use testkit::relay::*;
use testkit::sessions::*;
use testkit::storm;

fn line() -> Weather {
    Weather { jitter: ms(20), loss_permille: 50, ..Weather::clear(ms(40)) }
}

#[test]
fn cores_equal_the_whole_world_at_every_tick() {
    let mut scene = Scene::new(1, STORM, RelaySettings::default(), line());
    scene.enter_many(12);
    scene.run_until(secs(3));
    assert_eq!(scene.playing(), 12);
    scene.play(secs(60), 30);
    let stats = scene.stats();
    println!("{} cells compared, {} checksums, {:?}", scene.cells_compared, stats.checksums_compared, stats.drops);
    assert_eq!(stats.desyncs, 0);
    assert!(stats.checksums_compared >= 12 * 50, "{}", stats.checksums_compared);
    assert_eq!(scene.playing(), 12);
}

/// Eight heroes go into each other's cores, time after time, by portals of that kind. Returns how
/// many went.
fn visiting(scene: &mut Scene, rounds: usize, (column, row): (u16, u16)) -> usize {
    let mut moved = 0;
    for round in 0..rounds {
        for seat in 1..9 {
            // From far away into another's core, and on within it.
            let to = (seat + round % 7) % 8 + 1;
            let other = scene.seat(to).session.stats().player.expect("let in");
            let world = scene.seat(to).session.simulation().expect("it plays");
            let Some(pos) = world.hero(other).map(|hero| hero.pos) else { continue };
            let at = |along: Fx| along.floor().max(0) as u16;
            let command = (at(pos.x) | column, at(pos.y) | row);
            moved += usize::from(scene.seat_mut(seat).session.command(command).is_ok());
        }
        scene.play(secs(3), 0);
    }
    assert_eq!((scene.playing(), scene.stats().desyncs), (8, 0));
    println!("{} cell-ticks compared", scene.cells_compared);
    moved
}

fn eight_heroes() -> Scene {
    let mut scene = Scene::new(2, STORM, RelaySettings { core_actors_max: 0, ..RelaySettings::default() }, line());
    scene.enter_many(8);
    scene.run_until(secs(3));
    scene
}

#[test]
fn a_hero_that_two_transfers_move_in_one_turn_comes_to_nobodys_part() {
    let moved = visiting(&mut eight_heroes(), 12, (storm::PORTAL, storm::ONWARD));
    assert!(moved > 80, "{moved} went");
}

/// A turn takes so many requests. When those behind them are granted, their hero is not where it
/// asked for them.
#[test]
fn more_transfers_than_a_turn_takes_leave_every_core_exact() {
    let mut scene = eight_heroes();
    let moved = visiting(&mut scene, 6, (storm::PORTAL | storm::OFTEN, 0));
    assert!(moved > 40, "{moved} went");
    let requests = scene.log.turns.values().map(|turn| {
        let is_request = |input: &&Input<_>| matches!(input, Input::Request(_));
        turn.inputs.iter().filter(is_request).count()
    });
    let full = requests.filter(|requests| *requests == REQUESTS_PER_TURN_MAX).count();
    println!("{full} turns took as many requests as they may");
    assert!(full >= 40, "only {full} turns had to leave requests to the next");
}
