//! An application that gives evidence when it is asked for, and keeps what it is told.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, EvidenceError, Session};
use lockstone_net::{Rollback, RollbackSettings};
use lockstone_sim::{PlayerId, Tick};

use super::*;

/// What one seat's application saw of an inquiry.
#[derive(Default)]
pub struct Log {
    seen: usize,
    player: Option<PlayerId>,
    pub wanted_at: Vec<Duration>,
    /// The tick that was to be played then.
    pub wanted_tick: Tick,
    pub bytes_max: usize,
    pub given: Vec<u8>,
    pub arrived: BTreeMap<PlayerId, Vec<u8>>,
    pub complete: Vec<(Duration, Vec<PlayerId>)>,
    pub complete_tick: Tick,
    pub ended_at: Option<Duration>,
}

/// How much an application gives, of so much that it may; `None`: it does not care.
pub type Amount = fn(&mut Dice, usize) -> Option<usize>;

/// As much as it may.
pub fn all(_: &mut Dice, max: usize) -> Option<usize> {
    Some(max)
}

pub fn any(dice: &mut Dice, max: usize) -> Option<usize> {
    Some(1 + dice.roll(max as u64) as usize)
}

pub fn nothing(_: &mut Dice, _: usize) -> Option<usize> {
    None
}

impl Log {
    pub fn player(&self) -> PlayerId {
        self.player.expect("it plays")
    }

    pub fn took(&self) -> Duration {
        self.complete[0].0 - self.wanted_at[0]
    }

    pub fn missing(&self) -> &[PlayerId] {
        assert_eq!(self.complete.len(), 1, "told once");
        &self.complete[0].1
    }

    fn hear<T: Session<Sim = Mixer>, L: Link>(
        &mut self,
        seat: &mut Seat<T, L>,
        now: Duration,
        dice: &mut Dice,
        amount: Amount,
    ) {
        let stats = seat.session.stats();
        self.player = stats.player.or(self.player);
        for event in &seat.events[self.seen..] {
            match event {
                Event::EvidenceWanted { bytes_max } => {
                    self.wanted_at.push(now);
                    (self.wanted_tick, self.bytes_max) = (stats.settled, *bytes_max);
                    if let Some(len) = amount(dice, *bytes_max) {
                        self.given = (0..len).map(|_| dice.roll(256) as u8).collect();
                        let too_long = vec![0; bytes_max + 1];
                        let error = EvidenceError::TooLong { len: bytes_max + 1, max: *bytes_max };
                        assert_eq!(seat.session.give_evidence(too_long), Err(error));
                        assert_eq!(seat.session.give_evidence(self.given.clone()), Ok(()));
                        assert_eq!(seat.session.give_evidence(Vec::new()), Err(EvidenceError::NotWanted));
                    }
                }
                Event::Evidence { player, bytes } => {
                    assert!(self.complete.is_empty(), "what comes after the end does not count");
                    assert!(self.arrived.insert(*player, bytes.clone()).is_none(), "{player} gave twice");
                }
                Event::EvidenceComplete { missing } => {
                    self.complete.push((now, missing.clone()));
                    self.complete_tick = stats.settled;
                }
                Event::Ended { .. } => self.ended_at = Some(now),
                _ => {}
            }
        }
        self.seen = seat.events.len();
    }
}

/// Lets all play for a while, and their applications give evidence.
pub fn attend(
    driver: &mut Driver<impl Session<Sim = Mixer>, impl Link>,
    logs: &mut Vec<Log>,
    dice: &mut Dice,
    amount: Amount,
    time: Duration,
) {
    let end = driver.now() + time;
    while driver.now() < end {
        let until = (driver.now() + ms(20 + dice.roll(80))).min(end);
        logs.resize_with(driver.seats.len(), Log::default);
        while driver
            .run_while(until, |driver| driver.seats.iter().zip(&*logs).all(|(seat, log)| log.seen == seat.events.len()))
        {
            let now = driver.now();
            for (seat, log) in driver.seats.iter_mut().zip(&mut *logs) {
                log.hear(seat, now, dice, amount);
            }
        }
        let seat = dice.roll(driver.seats.len() as u64) as usize;
        let _ = driver.seats[seat].session.command(dice.roll(1 << 40));
    }
}

pub fn weather(dice: &mut Dice) -> Weather {
    Weather {
        delay: ms(10 + dice.roll(70)),
        jitter: ms(dice.roll(40)),
        loss_permille: dice.roll(80) as u16,
        duplicate_permille: dice.roll(30) as u16,
        reorder_permille: dice.roll(30) as u16,
        line_bytes_per_s: None,
    }
}

/// Parties that all play, the world of one of whom goes wrong at a tick.
pub fn odd_party(
    seed: u64,
    players: usize,
    odd: Option<(usize, Tick)>,
    weather: Weather,
    settings: PartySettings,
) -> Driver<Party<Mixer>> {
    let settings = PartySettings { players_at_start: players, seed, ..settings };
    let mut driver = Driver::new(MemoryNetwork::new(seed, Weather::clear(weather.delay)));
    for n in 0..players {
        let fault = odd.filter(|(seat, _)| *seat == n).map(|(_, tick)| tick);
        let build = move |seed| Mixer::new(seed, 64).with_fault(fault);
        driver.enter(party_of(settings.clone(), IDENTITY, &format!("player {n}"), build));
    }
    all_play(&mut driver, weather);
    driver
}

/// The same with a rollback session.
pub fn odd_rollback(
    seed: u64,
    players: usize,
    odd: Option<(usize, Tick)>,
    weather: Weather,
    settings: RollbackSettings,
) -> Driver<Rollback<Mixer>> {
    let settings = RollbackSettings { players, seed, ..settings };
    let mut driver = Driver::new(MemoryNetwork::new(seed, Weather::clear(weather.delay)));
    for n in 0..players {
        let fault = odd.filter(|(seat, _)| *seat == n).map(|(_, tick)| tick);
        let build = move |seed| Mixer::new(seed, 64).with_fault(fault);
        driver.enter(rollback::rollback(settings.clone(), &format!("player {n}"), build));
    }
    all_play(&mut driver, weather);
    driver
}

fn all_play<T: Session<Sim = Mixer>>(driver: &mut Driver<T>, weather: Weather) {
    let waits = |driver: &Driver<T>| !driver.seats.iter().all(|seat| playing(&seat.session));
    assert!(driver.run_while(secs(10), waits), "the players do not get together");
    driver.network.set_weather(weather);
}
