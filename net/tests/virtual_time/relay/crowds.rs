//! Somebody joins a session of 200 players in a fight. The others notice nothing.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Weather};
use lockstone_net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone_net::session::{Phase, Session};
use lockstone_sim::{Simulation, Tick};
use testkit::seeds;
use testkit::sessions::*;
use testkit::storm::{self, Storm};

type Crowd = Driver<Replica<Storm>, MemoryLink, Relay<Storm>>;

const PLAYERS: usize = 200;
/// One cell in six has a player in it.
const FIGHT: storm::Weather = storm::Weather { cells: 36, ..testkit::relay::STORM };
const LINE: Weather = Weather {
    delay: ms(40),
    jitter: ms(20),
    loss_permille: 10,
    duplicate_permille: 0,
    reorder_permille: 0,
    line_bytes_per_s: None,
};

/// Between which times the others play their ticks.
#[derive(Default)]
struct Gaps {
    last: BTreeMap<usize, (Tick, Duration)>,
    gaps: Vec<Duration>,
}

impl Gaps {
    fn look(&mut self, crowd: &Crowd) {
        for (seat, one) in crowd.seats.iter().enumerate().take(PLAYERS) {
            let tick = one.session.simulation().map(Simulation::tick).unwrap_or_default();
            let (last, at) = *self.last.entry(seat).or_insert((tick, crowd.now()));
            if tick != last {
                self.gaps.push(crowd.now() - at);
                self.last.insert(seat, (tick, crowd.now()));
            }
        }
    }

    /// The gap that of 1,000 so many are not longer than.
    fn permille(&mut self, permille: usize) -> Duration {
        self.gaps.sort();
        self.gaps[(self.gaps.len() - 1) * permille / 1_000]
    }
}

fn config() -> RelayConfig {
    RelayConfig::new(RelaySettings { seed: FIGHT.seed, budget_bytes_per_s: 1_000_000, ..RelaySettings::default() })
        .expect("in range")
}

fn replica(n: usize) -> Replica<Storm> {
    Replica::new(config(), IDENTITY, &format!("player {n}"), (), |_| FIGHT.world()).expect("the name is fine")
}

/// Plays for a time, or until it is enough; every 10 ms it is noted who has played what.
fn play(crowd: &mut Crowd, dice: &mut Dice, time: Duration, enough: impl Fn(&Crowd) -> bool) -> Gaps {
    let mut gaps = Gaps::default();
    let end = crowd.now() + time;
    while crowd.now() < end && !enough(crowd) {
        let until = crowd.now() + ms(5);
        crowd.run_until(until);
        gaps.look(crowd);
        crowd.hub_mut().events.clear();
        for seat in 0..PLAYERS {
            let tiles = u64::from(FIGHT.tiles());
            if dice.roll(200) == 0 {
                let seat = &mut crowd.seats[seat];
                let _ = seat.session.command((dice.roll(tiles) as u16, dice.roll(tiles) as u16));
                seat.events.clear();
            }
        }
    }
    gaps
}

fn is_in(crowd: &Crowd, seat: usize) -> bool {
    let session = &crowd.seats[seat].session;
    session.phase() == Phase::Playing && session.stats().players.iter().any(|player| player.own)
}

#[test]
#[ignore = "200 replicas take minutes: cargo test --release -p lockstone-net --test virtual_time relay::crowds -- --ignored --nocapture"]
fn who_joins_two_hundred_in_a_fight_is_soon_there() {
    for seed in 0..seeds::count(1).min(5) {
        let relay = Relay::dedicated(config(), IDENTITY, |_| FIGHT.world());
        let mut crowd = Crowd::with_hub(MemoryNetwork::hub(seed, LINE), relay, |link| link);
        let mut dice = Dice(seed);
        for n in 0..PLAYERS {
            crowd.enter(replica(n));
            let until = crowd.now() + ms(5);
            crowd.run_until(until);
        }
        play(&mut crowd, &mut dice, secs(3), |_| false);
        assert!((0..PLAYERS).all(|seat| is_in(&crowd, seat)), "seed {seed}");
        let mut before = play(&mut crowd, &mut dice, secs(3), |_| false);
        let begin = crowd.now();
        let joiner = crowd.enter(replica(PLAYERS));
        let mut gaps = play(&mut crowd, &mut dice, secs(10), |crowd| is_in(crowd, joiner));
        let took = crowd.now() - begin;
        let rest = play(&mut crowd, &mut dice, secs(3).saturating_sub(took), |_| false);
        gaps.gaps.extend(rest.gaps);
        let (p99_before, p99) = (before.permille(990), gaps.permille(990));
        let joined = crowd.seats[joiner].session.stats();
        println!(
            "seed {seed}: in the world after {took:?}, {} bytes came; p99 between ticks of the others {p99_before:?}, then {p99:?}",
            joined.traffic.bytes_in
        );
        assert!(took <= secs(3), "seed {seed}: {took:?}");
        assert!(p99 <= p99_before.mul_f64(1.1), "seed {seed}: {p99_before:?}, then {p99:?}");
        assert!(crowd.hub().session.stats().desyncs == 0);
    }
}
