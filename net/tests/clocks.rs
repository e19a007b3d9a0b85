//! Clocks that differ: each peer's begins somewhere, is fast or slow by up to 500 ppm, and jumps
//! ahead. A party plays on, the same for all. Relay sessions: `relay/clocks.rs`.

use core::time::Duration;

use lockstone_net::memory::{Clock, Driver, MemoryNetwork, Weather};
use lockstone_net::party::PartySettings;
use testkit::sessions::rollback::in_step;
use testkit::sessions::*;
use testkit::{clocks, seeds};

const PEERS: usize = 4;
const TIME: Duration = secs(180);
/// So soon after a jump all are abreast again: playout remembers 4 s, then the world runs a tenth
/// faster for another 4 s.
const RECOVERY: Duration = secs(9);
const BEHIND_TICKS_MAX: u32 = 8;
/// Much, but less than anyone may be silent.
const JUMP_MS_MAX: u64 = 2_000;

/// Plays with clocks of which the last may be another, and that jump by so much. Returns how many
/// checksums were compared, or who is not abreast of the sequencer, or does not play.
fn play(seed: u64, last: fn(&mut Dice) -> Clock, jump_ms_max: u64) -> Result<u64, String> {
    let weather = Weather { jitter: ms(20), loss_permille: 20, ..Weather::clear(ms(30)) };
    let (mut driver, mut dice) = (Driver::new(MemoryNetwork::new(seed, weather)), Dice(seed));
    for n in 0..PEERS {
        let seat = driver.enter(party(PartySettings::default(), &format!("player {n}")));
        driver.seats[seat].clock = if n + 1 < PEERS { clocks::any(&mut dice) } else { last(&mut dice) };
    }
    driver.run_while(secs(20), |driver| !driver.seats.iter().all(|seat| playing(&seat.session)));
    let (mut abreast_at, end) = (driver.now() + RECOVERY, driver.now() + TIME);
    while driver.now() < end {
        let until = driver.now() + ms(20 + dice.roll(300));
        driver.run_until(until);
        let tick = driver.seats[0].session.stats().tick;
        for (n, seat) in driver.seats.iter().enumerate() {
            let behind = tick.since(seat.session.stats().tick);
            if !playing(&seat.session) || driver.now() >= abreast_at && behind > BEHIND_TICKS_MAX {
                return Err(format!("seat {n}: {:?}, {behind} ticks behind", seat.session.phase()));
            }
        }
        let seat = dice.roll(PEERS as u64) as usize;
        let _ = driver.seats[seat].session.command(dice.roll(1 << 40));
        if driver.now() >= abreast_at && dice.roll(10) == 0 {
            driver.seats[seat].clock.jump(ms(dice.roll(jump_ms_max)));
            abreast_at = driver.now() + RECOVERY;
        }
    }
    Ok(in_step(&driver, seed))
}

#[test]
fn a_party_of_different_clocks_that_jump_plays_on() {
    let compared = seeds::each("-p lockstone-net --test clocks", 8, |seed| {
        play(seed, clocks::any, JUMP_MS_MAX).unwrap_or_else(|who| panic!("seed {seed}: {who}"))
    });
    assert!(compared.iter().all(|compared| *compared > 100), "{compared:?}");
}

/// What the test above rests on: a clock that is too slow, or jumps too far, is found.
#[test]
fn a_clock_that_is_none_is_found() {
    assert!(play(1, clocks::half, 1).is_err(), "at half of the pace");
    assert!(play(1, clocks::any, 600_000).is_err(), "jumps of minutes");
}

#[test]
fn a_clock_shows_what_it_must_when_it_says_so() {
    let mut dice = Dice(3);
    for _ in 0..1_000 {
        let mut clock = clocks::any(&mut dice);
        let mut now = Duration::ZERO;
        for _ in 0..20 {
            let before = clock.shows(now);
            match dice.roll(3) {
                0 => clock.jump(ms(dice.roll(5_000))),
                1 => clock.pace(now, dice.roll(2_000) as i32 - 1_000),
                _ => now += Duration::from_nanos(dice.roll(1 << 40)),
            }
            assert!(clock.shows(now) >= before, "it never goes back");
            let shown = clock.shows(now) + Duration::from_nanos(dice.roll(1 << 40));
            let at = clock.when(shown);
            assert!(at >= now && clock.shows(at) >= shown, "{clock:?}");
            assert!(at == now || clock.shows(at - Duration::from_nanos(2)) < shown, "no later than it must: {clock:?}");
        }
    }
}
