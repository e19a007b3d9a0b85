//! What the other tests rest on: what is wrong is found.

use std::cell::Cell;
use std::rc::Rc;

use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{EndReason, Event};
use lockstone_net::wire::{LeaveReason, RawGiven};
use lockstone_sim::world::Zone;
use lockstone_sim::{Fx, Simulation};
use testkit::relay::*;
use testkit::sessions::tap::{altering, each_frame};
use testkit::sessions::*;
use testkit::storm::{self, StormWorld};

/// A fight all over a small world, whose effects go as far as cells let them.
const FIGHT: storm::Weather =
    storm::Weather { seed: 6, cells: 24, cell_log2: 2, reach: Fx::int(5), stride: Fx::int(2), light: 4, players: 40 };

fn scene(seed: u64, settings: RelaySettings) -> Scene {
    let mut scene = Scene::new(seed, FIGHT, settings, Weather::clear(ms(30)));
    scene.enter_many(8);
    scene.run_until(secs(2));
    scene
}

fn is_told<'a>(mut events: impl Iterator<Item = &'a Event<StormWorld>>) -> bool {
    events.any(|event| matches!(event, Event::Desync { .. }))
}

/// The witness finds it, and so does the comparison of cores in the session itself.
#[test]
fn a_ring_less_of_the_halo_is_found() {
    let seen = std::panic::catch_unwind(|| scene_that_lacks_a_ring(false).play(secs(10), 60));
    let told = seen.expect_err("a core stayed exact without all of its halo");
    let told = told.downcast_ref::<String>().expect("what is wrong");
    assert!(told.contains("another state") || told.contains("differs"), "{told}");
    // The same, unwatched: the relay finds it.
    let mut scene = scene_that_lacks_a_ring(true);
    scene.play(secs(10), 60);
    assert!(is_told(scene.told.iter()), "no comparison of cores differed");
    println!("the witness: {told}");
}

fn scene_that_lacks_a_ring(unwatched: bool) -> Scene {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let mut scene = Scene::lacking(1, 51, FIGHT, settings, Weather::clear(ms(30)));
    scene.blind = unwatched;
    scene.enter_many(8);
    scene.run_until(secs(2));
    scene
}

/// One changed cell of a halo that matters does not arrive.
#[test]
fn a_dropped_change_of_the_halo_is_found_and_repaired() {
    let (mut found, seeds) = (0, 52..62);
    for seed in seeds.clone() {
        found += usize::from(change_is_dropped(seed));
    }
    // What was dropped does not always matter to a core, and is then nothing to be found.
    println!("of {} dropped changes {found} reached a core, and all of those were repaired", seeds.count());
    assert!(found >= 3);
}

fn change_is_dropped(seed: u64) -> bool {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let mut scene = scene(seed, settings);
    scene.play(secs(2), 60);
    scene.odd = Some(3);
    let (peer, dropped) = (scene.peer(3), Rc::new(Cell::new(None)));
    let one = dropped.clone();
    scene.meddle(
        0,
        altering(move |to, message| {
            if to == peer {
                each_frame(message, |tick, frame| {
                    // All changes of one tick, whenever they are sent.
                    let has = frame.given.iter().any(|given| matches!(given, RawGiven::Change(..)));
                    if has && one.get().is_none_or(|one| one == tick) {
                        one.set(Some(tick));
                        let kept = frame.given.iter().filter(|given| !matches!(given, RawGiven::Change(..))).cloned();
                        frame.given = list(kept.collect());
                    }
                });
            }
        }),
    );
    scene.play(secs(15), 60);
    assert!(dropped.get().is_some());
    // It was of a cell that was loading, and a later one does not fit without it: that
    // is told at once.
    if let Some(reason) = ended(&scene.seat(3).session) {
        assert!(matches!(reason, EndReason::Transfer(_)), "seed {seed}: {reason}");
        return true;
    }
    let found = is_told(scene.told.iter());
    // Repaired or never harmed, the core is exact now.
    assert_exact(&mut scene, 3, seed);
    found
}

/// A seat plays, and its core is the relay's, whatever its halo is.
fn assert_exact(scene: &mut Scene, seat: usize, seed: u64) {
    for _ in 0..20 {
        let until = scene.driver.now() + ms(50);
        scene.run_until(until);
        let session = &scene.seat(seat).session;
        assert!(playing(session), "seed {seed}: {:?}", session.phase());
        let world = session.simulation().expect("it plays");
        let moment = &scene.moments[&world.tick()];
        for cell in world.area().core() {
            assert!(
                moment.cells.get(&cell) == world.cell_state(cell).as_ref(),
                "seed {seed}: {cell} at {}",
                world.tick()
            );
        }
    }
}

/// The states of cells that a replica is given are those of another world: as if its own
/// memory were damaged.
#[test]
fn a_world_that_was_changed_from_outside_is_repaired_or_put_out() {
    let (mut repaired, mut out) = (0, 0);
    for seed in 70..76 {
        let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
        let mut scene = scene(seed, settings);
        scene.odd = Some(2);
        let peer = scene.peer(2);
        // On odd seeds once, on even ones again and again.
        let (again, mut done) = (seed % 2 == 0, false);
        let mut core = scene.seat(2).session.simulation().expect("it plays").area().core_rect().expect("a part");
        scene.meddle(
            0,
            altering(move |to, message| {
                if to == peer && (again || !done) {
                    each_frame(message, |_, frame| {
                        let mut given = frame.given.to_vec();
                        for given in &given {
                            core = if let RawGiven::Area(area, _) = given { area.core } else { core };
                        }
                        given.extend(core.iter().skip(10).take(3).map(RawGiven::Pristine));
                        frame.given = list(given);
                        done = true;
                    });
                }
            }),
        );
        scene.play(secs(30), 60);
        let end = ended(&scene.seat(2).session);
        let told = is_told(scene.told.iter());
        match end {
            Some(EndReason::Desync | EndReason::Removed(LeaveReason::Desync)) => out += 1,
            Some(other) => panic!("seed {seed}: {other}"),
            None => {
                repaired += u32::from(told);
                assert!(!again, "seed {seed}: it plays on with a world that is changed all the time");
                scene.meddle(0, Some);
                assert_exact(&mut scene, 2, seed);
            }
        }
        let others = (1..9).filter(|seat| *seat != 2);
        assert!(others.clone().all(|seat| playing(&scene.seat(seat).session)), "seed {seed}: the others play");
        assert!(others.clone().all(|seat| !is_told(scene.seat(seat).events.iter())), "seed {seed}");
    }
    println!("{repaired} repaired, {out} put out");
    assert!(repaired >= 1 && out >= 3);
}

/// The witness compares halo cells as well: it is not blind for a role.
#[test]
fn the_witness_sees_every_role() {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let scene = scene(53, settings);
    let world = scene.seat(1).session.simulation().expect("it plays");
    let roles: Vec<Zone> = world.area().core().chain(world.area().halo()).map(|cell| world.area().zone(cell)).collect();
    for role in [Zone::Core, Zone::Fringe, Zone::Halo] {
        assert!(roles.contains(&role));
    }
    assert!(scene.moments.contains_key(&world.tick()));
}
