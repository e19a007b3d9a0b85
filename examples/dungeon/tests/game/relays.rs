//! What the fleet finds of a relay that is started again, and what it allows. The rest of what it
//! finds is planted in the engine's own tests, of games in which no hero waits.

use core::ops::Range;

use dungeon::DungeonGame;
use lockstone::net::memory::Weather;
use lockstone::soak::{self, Fault, HUB, Kind, LOOK_MS, Life, Rule, Schedule, SeatId, Step, Trace};

/// When the standby dies that led.
const DIES_MS: u32 = 32_000;

/// A relay's standby leads, and dies. Nobody is told, and the relay is started again on a seat.
fn started_again(seat: SeatId, after_ms: u32) -> Schedule {
    let steps = [
        (0, Fault::Enter { seat: 1, clock_ms: 0, gains_ppm: 0, back: None }),
        (0, Fault::Standby { seat: 2, clock_ms: 0, gains_ppm: 0 }),
        // The standby may be out of step by it, but no relay that comes later.
        (6_000, Fault::Cut { seats: [2].into(), ms: 400 }),
        (18_000, Fault::Kill { seat: HUB, told_ms: 0 }),
        (DIES_MS, Fault::Kill { seat: 2, told_ms: 12_000 }),
        // Nobody is there yet.
        (DIES_MS, Fault::Freeze { seat, ms: 5_000 }),
        (DIES_MS + after_ms, Fault::Resume { seat, clock_ms: 0, gains_ppm: 0, lost_ticks: 11 }),
    ];
    let steps = steps.map(|(at_ms, fault)| Step { at_ms, fault }).into();
    let weather = Weather::clear(core::time::Duration::from_millis(50));
    Schedule { kind: Kind::Relay, seed: 5, ms: DIES_MS + after_ms, weather, steps }
}

/// Plays it. Nothing is found: players who are not told that a relay died wait 10 s for it.
fn sound(schedule: &Schedule) -> Trace {
    let trace = soak::play_wide::<DungeonGame>(schedule).expect("the game can");
    println!("{}", soak::story(schedule, &trace));
    assert_eq!(soak::judge(schedule, &trace), []);
    trace
}

/// For a time a peer is seen as it was at the beginning of it.
fn stands_still(life: &mut Life, times_ms: Range<u32>) {
    let at = |at_ms: u32| ((at_ms - life.looked_at_ms) / LOOK_MS) as usize;
    let (from, until) = (at(times_ms.start), at(times_ms.end).min(life.looks.len()));
    let was = life.looks[from];
    life.looks[from..until].fill(was);
}

fn is_found(schedule: &Schedule, trace: &Trace) -> bool {
    let found = soak::judge(schedule, trace);
    println!("{found:?}");
    found.iter().any(|breach| breach.rule == Rule::Progress)
}

/// Players on one of these seats have a key, and on the other none. A relay is no player.
#[test]
fn a_relay_that_stands_still_after_it_was_started_again_is_found() {
    for seat in [3, 4] {
        let schedule = started_again(seat, 4_000);
        let mut trace = sound(&schedule);
        let relay = trace.lives.get_mut(&seat).expect("it is started again");
        stands_still(relay, DIES_MS + 4_500..schedule.ms + 60_000);
        assert!(is_found(&schedule, &trace), "on seat {seat}");
    }
}

#[test]
fn a_player_that_is_late_to_find_a_relay_that_was_started_again_is_found() {
    let schedule = started_again(4, 100);
    let trace = sound(&schedule);
    // It looks for the relay after 10 s, and is to be in the world 5 s later.
    for (plays_ms, is_late) in [(14_500, false), (15_500, true)] {
        let mut trace = trace.clone();
        let player = trace.lives.get_mut(&1).expect("it plays");
        // By then it looks for the relay.
        stands_still(player, DIES_MS + 10_200..DIES_MS + plays_ms);
        assert_eq!(is_found(&schedule, &trace), is_late, "it plays after {plays_ms} ms");
    }
}
