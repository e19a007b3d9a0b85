//! A party through hours in which something goes wrong every minute: it goes on, and no peer's
//! memory grows.
//!
//! `HOURS=24 cargo test --release -p lockstone-net --test day -- --nocapture` tells how much memory
//! the sessions hold after the first eighth of them, and after all.

use core::time::Duration;
use std::time::Instant;

use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::Stats;
use lockstone_net::{PeerId, PlayerKey};
use peak_alloc::PeakAlloc;
use testkit::seeds;
use testkit::sessions::*;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const PLAYERS: usize = 4;
const WEATHER: Weather = Weather { jitter: ms(20), loss_permille: 20, ..Weather::clear(ms(50)) };
/// Between two things that go wrong. Each is over long before the next.
const INTERVAL: Duration = secs(60);
/// What they hold is not always the same: who leads has more of it.
const GROWN_BYTES_MAX: usize = 64 * 1024;

struct Room {
    driver: Driver<Party<Mixer>>,
    dice: Dice,
    /// The seat of each player, and its key.
    there: Vec<(usize, u8)>,
    keys: u8,
    takeovers: u64,
}

fn player(key: u8) -> Party<Mixer> {
    let world = |seed| Mixer::new(seed, 64).keeping(1_200);
    party_of(PartySettings::default(), IDENTITY, "player", world).with_key(PlayerKey::from_bytes([key; 32]))
}

impl Room {
    fn new(seed: u64) -> Room {
        let players = (0..PLAYERS as u8).map(player);
        let driver = gather(seed, WEATHER, players, |_, link| link);
        let there = (0..PLAYERS).map(|seat| (seat, seat as u8)).collect();
        Room { driver, dice: Dice(seed), there, keys: PLAYERS as u8, takeovers: 0 }
    }

    fn peer(&self, seat: usize) -> PeerId {
        self.driver.peer(seat)
    }

    fn stats(&self, seat: usize) -> Stats {
        self.driver.seats[seat].session.stats()
    }

    /// Which of those who are there leads.
    fn leader(&self) -> usize {
        let leads = |(seat, _): &(usize, u8)| {
            let stats = self.stats(*seat);
            stats.player.is_some() && stats.sequencer() == stats.player
        };
        self.there.iter().position(leads).unwrap_or(0)
    }

    /// Everyone plays, and commands something now and then.
    fn play(&mut self, time: Duration) {
        let end = self.driver.now() + time;
        while self.driver.now() < end {
            self.driver.run_until((self.driver.now() + ms(250)).min(end));
            let (who, _) = self.there[self.dice.roll(self.there.len() as u64) as usize];
            let _ = self.driver.seats[who].session.command(self.dice.roll(1 << 40));
            self.driver.seats.iter_mut().for_each(|seat| seat.events.clear());
        }
    }

    /// A process is no more. What it held is free.
    fn end(&mut self, seat: usize) {
        let peer = self.peer(seat);
        self.driver.network.drop_peer(peer);
        self.driver.seats[seat].freeze(Duration::MAX);
        self.driver.seats[seat].session = player(0);
    }

    fn enter(&mut self, key: u8) {
        let seat = self.driver.enter(player(key));
        self.there.push((seat, key));
    }

    /// Something goes wrong, and is over.
    fn something(&mut self) {
        let who = self.dice.roll(PLAYERS as u64) as usize;
        let now = self.driver.now();
        match self.dice.roll(5) {
            0 => {
                let (seat, key) = self.there.remove(self.leader());
                self.end(seat);
                self.takeovers += 1;
                self.play(secs(15));
                self.enter(key);
            }
            1 => {
                let (seat, _) = self.there.remove(who);
                self.driver.seats[seat].session.leave(now);
                self.play(secs(2));
                self.end(seat);
                self.keys = self.keys.wrapping_add(1);
                self.enter(self.keys);
            }
            2 => {
                let (seat, _) = self.there[who];
                let cut = |room: &Room, cut| {
                    for (other, _) in room.there.iter().filter(|(other, _)| *other != seat) {
                        room.driver.network.set_cut(room.peer(seat), room.peer(*other), cut);
                    }
                };
                cut(self, true);
                self.play(secs(3));
                cut(self, false);
            }
            3 => self.driver.seats[self.there[who].0].freeze(now + secs(15)),
            _ => {
                self.driver.network.set_weather(Weather { loss_permille: 1_000, ..WEATHER });
                self.play(secs(2));
                self.driver.network.set_weather(WEATHER);
            }
        }
    }

    /// Runs for so long. Returns how much memory the sessions of all who are there then hold.
    fn run(mut self, time: Duration) -> usize {
        let started = Instant::now();
        while self.driver.now() < time {
            self.something();
            self.play(INTERVAL);
            self.all_is_well();
        }
        let pace = time.as_secs_f64() / started.elapsed().as_secs_f64();
        let before = MEMORY.current_usage();
        self.there.iter().for_each(|(seat, _)| self.driver.seats[*seat].session = player(0));
        let held = before - MEMORY.current_usage();
        let (hours, takeovers) = (time.as_secs_f64() / 3_600.0, self.takeovers);
        println!("after {hours:.1} h and {takeovers} takeovers {} KiB in all, {pace:.0} times real time", held / 1024);
        assert!(takeovers as f64 >= 3.0 * hours, "hardly anything went wrong");
        held
    }

    fn all_is_well(&self) {
        let now = self.driver.now();
        let sessions: Vec<_> = self.there.iter().map(|(seat, _)| &self.driver.seats[*seat].session).collect();
        for session in &sessions {
            let Stats { player, players, desyncs, .. } = session.stats();
            assert!(playing(*session), "at {now:?} {player:?} does not play: {:?}", session.phase());
            assert_eq!((players.len(), desyncs), (PLAYERS, 0), "at {now:?} as {player:?} sees it");
        }
        let ticks = || sessions.iter().map(|session| session.settled());
        let (first, last) = (ticks().min().expect("there are some"), ticks().max().expect("there are some"));
        assert!(last.since(first) < 20, "at {now:?} they are at ticks {first} to {last}");
    }
}

#[test]
fn a_party_goes_on_for_hours_and_nothing_grows() {
    let (hours, seed) = (seeds::number("HOURS").unwrap_or(1), seeds::one(7));
    let end = secs(hours * 3_600);
    let [early, late] = [end / 8, end].map(|time| Room::new(seed).run(time));
    assert!(late <= early + GROWN_BYTES_MAX, "{early} bytes have become {late}");
}
