//! Clocks that differ: each peer's begins somewhere, is fast or slow by up to 500 ppm, jumps ahead,
//! and is set back. A party plays on, the same for all, and does not drift. Relay sessions:
//! `relay/clocks.rs`.

use core::time::Duration;

use lockstone_net::memory::{Clock, Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, Session};
use testkit::sessions::rollback::{self, in_step};
use testkit::sessions::*;
use testkit::{clocks, seeds};

const PEERS: usize = 4;
const TIME: Duration = secs(180);
/// So soon after a jump all are abreast again: playout remembers 4 s, then the world runs a tenth
/// faster for another 4 s.
const RECOVERY: Duration = secs(9);
const BEHIND_TICKS_MAX: u32 = 8;
/// Much longer than anyone may be silent.
const JUMP_MS_MAX: u64 = 600_000;
/// Nobody waits for the world for longer, not even the one whose clock jumps.
const STALL_MAX: Duration = secs(3);

type Room = Driver<Party<Mixer>>;

/// Plays for so long with clocks of which the last may be another, and that jump or are set back by
/// so much. Returns how many checksums were compared, or who is not abreast of the sequencer, does
/// not play, or was put out.
fn play(seed: u64, time: Duration, last: fn(&mut Dice) -> Clock, jump_ms_max: u64) -> Result<u64, String> {
    let mut dice = Dice(seed);
    let mut driver = room(seed, &mut dice, last);
    let (mut abreast_at, end) = (driver.now() + RECOVERY, driver.now() + time);
    while driver.now() < end {
        let until = driver.now() + ms(20 + dice.roll(300));
        driver.run_until(until);
        let tick = driver.seats[0].session.stats().tick;
        for (n, seat) in driver.seats.iter().enumerate() {
            let (stats, told) = (seat.session.stats(), |event: &&Event<Mixer>| {
                matches!(event, Event::PlayerLeft { .. } | Event::PlayerAway { .. })
            });
            let behind = tick.since(stats.tick);
            if !playing(&seat.session) || driver.now() >= abreast_at && behind > BEHIND_TICKS_MAX {
                return Err(format!("seat {n}: {:?}, {behind} ticks behind", seat.session.phase()));
            }
            if let Some(gone) = seat.events.iter().find(told) {
                return Err(format!("seat {n} was told {gone:?}"));
            }
            if stats.stalls.longest > STALL_MAX {
                return Err(format!("seat {n} stood still for {:?}", stats.stalls.longest));
            }
        }
        let seat = dice.roll(PEERS as u64) as usize;
        let _ = driver.seats[seat].session.command(dice.roll(1 << 40));
        if driver.now() >= abreast_at && jump_ms_max > 0 && dice.roll(10) == 0 {
            let (now, by, seat) = (driver.now(), ms(dice.roll(jump_ms_max)), &mut driver.seats[seat]);
            if dice.roll(2) == 0 {
                seat.clock.jump(by)
            } else {
                seat.clock.set_back(now, by)
            }
            // Whoever slept is woken by its timer, whatever its clock shows now.
            seat.session.advance(seat.clock.shows(now));
            abreast_at = driver.now() + RECOVERY;
        }
    }
    Ok(in_step(&driver, seed))
}

fn room(seed: u64, dice: &mut Dice, last: fn(&mut Dice) -> Clock) -> Room {
    let weather = Weather { jitter: ms(20), loss_permille: 20, ..Weather::clear(ms(30)) };
    let mut driver = Driver::new(MemoryNetwork::new(seed, weather));
    for n in 0..PEERS {
        let seat = driver.enter(party(PartySettings::default(), &format!("player {n}")));
        driver.seats[seat].clock = if n + 1 < PEERS { clocks::any(dice) } else { last(dice) };
    }
    driver.run_while(secs(20), |driver| !driver.seats.iter().all(|seat| playing(&seat.session)));
    driver
}

#[test]
fn a_party_of_different_clocks_that_jump_plays_on() {
    let compared = seeds::each("-p lockstone-net --test virtual_time clocks::", 8, |seed| {
        play(seed, TIME, clocks::any, JUMP_MS_MAX).unwrap_or_else(|who| panic!("seed {seed}: {who}"))
    });
    assert!(compared.iter().all(|compared| *compared > 100), "{compared:?}");
}

/// A rollback session waits for nobody for longer than 1.5 s.
#[test]
fn a_rollback_session_of_different_clocks_that_jump_plays_on() {
    seeds::each("-p lockstone-net --test virtual_time clocks::", 8, |seed| {
        let mut dice = Dice(seed);
        let weather = Weather { jitter: ms(20), loss_permille: 20, ..Weather::clear(ms(30)) };
        let mut driver = rollback::room(seed, 3, weather, &rollback::settings(seed));
        driver.seats.iter_mut().for_each(|seat| seat.clock = clocks::any(&mut dice));
        for _ in 0..20 {
            rollback::play(&mut driver, &mut dice, secs(3));
            let (now, by) = (driver.now(), ms(dice.roll(JUMP_MS_MAX)));
            let seat = &mut driver.seats[dice.roll(3) as usize];
            if dice.roll(2) == 0 {
                seat.clock.jump(by)
            } else {
                seat.clock.set_back(now, by)
            }
            seat.session.advance(seat.clock.shows(now));
        }
        rollback::play(&mut driver, &mut dice, secs(3));
        for (n, seat) in driver.seats.iter().enumerate() {
            let stats = seat.session.stats();
            assert_eq!(stats.players.len(), 3, "seed {seed}: seat {n}, {:?}", seat.session.phase());
            assert_eq!(stats.rollback.expect("it predicts").regroupings, 0, "seed {seed}: seat {n}");
            assert!(stats.settled.0 > 60 * 18, "seed {seed}: seat {n} played {}", stats.settled);
        }
        in_step(&driver, seed)
    });
}

/// What the tests here rest on: a clock that is too slow is found.
#[test]
fn a_clock_that_is_none_is_found() {
    assert!(play(1, TIME, clocks::half, 0).is_err(), "at half of the pace");
}

/// The session's ticks are those of the sequencer's clock, and everyone keeps up with them.
#[test]
fn an_hour_by_clocks_that_differ_is_an_hour() {
    for (seed, fast) in [(0, 500), (1, -500)] {
        let mut dice = Dice(seed);
        let mut driver = room(seed, &mut dice, clocks::any);
        let start = driver.now();
        for (seat, gains_ppm) in [fast, -fast, 0, -fast].into_iter().enumerate() {
            driver.seats[seat].clock.pace(start, gains_ppm);
        }
        let (ticks, mut compared) = (driver.seats[0].session.settled(), 0);
        for minute in 1..=60 {
            driver.run_until(start + secs(60) * minute);
            compared += in_step(&driver, seed);
            for (n, seat) in driver.seats.iter_mut().enumerate() {
                assert!(playing(&seat.session), "seed {seed}: seat {n} after {minute} min");
                seat.events.clear();
            }
            let played: Vec<_> = driver.seats.iter().map(|seat| seat.session.settled()).collect();
            let expected = 1_200.0 * f64::from(minute) * (1.0 + f64::from(fast) / 1e6);
            let drift = f64::from(played[0].since(ticks)) - expected;
            assert!(drift.abs() <= 2.0, "seed {seed}: {drift} ticks after {minute} min");
            assert!(played.iter().all(|tick| played[0].since(*tick) <= BEHIND_TICKS_MAX), "seed {seed}: {played:?}");
        }
        let stalls: Vec<_> = driver.seats.iter().map(|seat| seat.session.stats().stalls.longest).collect();
        println!(
            "the sequencer's clock gains {fast} ppm: {compared} checksums compared, the longest stalls {stalls:?}"
        );
    }
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
