//! Clocks that differ: the relay's and each replica's begins somewhere, is fast or slow by up to
//! 500 ppm, jumps ahead, and is set back. Cores stay exact, and replicas abreast.

use core::time::Duration;

use lockstone_net::memory::{Clock, Weather};
use lockstone_net::relay::RelaySettings;
use testkit::relay::*;
use testkit::sessions::*;
use testkit::{clocks, seeds};

const REPLICAS: usize = 6;
const TIME: Duration = secs(50);
/// So soon after a jump all are abreast again: playout remembers 4 s, then the world runs a tenth
/// faster for some seconds more.
const RECOVERY: Duration = secs(12);
/// A frame that was lost comes half a second later at the most.
const BEHIND_TICKS_MAX: u32 = 12;
/// Much longer than anyone may be silent.
const JUMP_MS_MAX: u64 = 600_000;

/// Plays with clocks of which the last may be another, and that jump by so much. Returns how many
/// cells were compared, or who is not abreast of the relay, or does not play.
fn play(seed: u64, last: fn(&mut Dice) -> Clock, jump_ms_max: u64) -> Result<u64, String> {
    let weather = Weather { jitter: ms(20), loss_permille: 20, ..Weather::clear(ms(30)) };
    let (mut scene, mut dice) = (Scene::new(seed, STORM, RelaySettings::default(), weather), Dice(seed));
    scene.driver.hub_mut().clock = clocks::any(&mut dice);
    for n in 0..REPLICAS {
        let seat = scene.enter();
        scene.seat_mut(seat).clock = if n + 1 < REPLICAS { clocks::any(&mut dice) } else { last(&mut dice) };
    }
    scene.run_until(secs(5));
    let (mut abreast_at, end) = (scene.driver.now() + RECOVERY, scene.driver.now() + TIME);
    while scene.driver.now() < end {
        scene.play(ms(20 + dice.roll(300)), 60);
        let tick = scene.stats().tick;
        for (n, seat) in scene.seats() {
            let behind = tick.since(seat.session.stats().tick);
            if !playing(&seat.session) || scene.driver.now() >= abreast_at && behind > BEHIND_TICKS_MAX {
                return Err(format!("seat {n}: {:?}, {behind} ticks behind", seat.session.phase()));
            }
        }
        if scene.driver.now() >= abreast_at && dice.roll(10) == 0 {
            let (now, by, back) = (scene.driver.now(), ms(dice.roll(jump_ms_max)), dice.roll(2) == 0);
            let set = |clock: &mut Clock| if back { clock.set_back(now, by) } else { clock.jump(by) };
            // Whoever slept is woken by its timer, whatever its clock shows now.
            match dice.roll(REPLICAS as u64 + 1) as usize {
                0 => {
                    let hub = scene.driver.hub_mut();
                    set(&mut hub.clock);
                    hub.session.advance(hub.clock.shows(now));
                }
                seat => {
                    let seat = scene.seat_mut(seat);
                    set(&mut seat.clock);
                    seat.session.advance(seat.clock.shows(now));
                }
            }
            abreast_at = scene.driver.now() + RECOVERY;
        }
    }
    assert_eq!(scene.stats().desyncs, 0, "seed {seed}");
    Ok(scene.cells_compared)
}

#[test]
fn replicas_of_different_clocks_that_jump_stay_exact() {
    let compared = seeds::each("-p lockstone-net --test virtual_time relay::clocks", 4, |seed| {
        play(seed, clocks::any, JUMP_MS_MAX).unwrap_or_else(|who| panic!("seed {seed}: {who}"))
    });
    assert!(compared.iter().all(|compared| *compared > 100_000), "{compared:?}");
}

/// What the test above rests on: a clock that is too slow is found.
#[test]
fn a_clock_that_is_none_is_found() {
    assert!(play(1, clocks::half, 1).is_err(), "at half of the pace");
}
