//! Once worlds differ, every peer gets everyone's evidence, while those in step go on playing.
//!
//! `SEED=17 cargo test -p lockstone-net --test virtual_time exchange::` repeats a seed,
//! `SEEDS=100` plays so many.

use core::time::Duration;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lockstone_net::RollbackSettings;
use lockstone_net::limits::*;
use lockstone_net::memory::{Driver, Seat, Weather};
use lockstone_net::party::PartySettings;
use lockstone_net::session::{EndReason, Event, EvidenceError, OnDesync, Phase, Session};
use lockstone_net::wire::{self, LeaveReason, Message};
use lockstone_sim::{PlayerId, Tick};
use testkit::seeds;
use testkit::sessions::rollback::{in_step, kill, odd_rollback, room_by, settings};
use testkit::sessions::tap::Tap;
use testkit::sessions::*;

/// Ticks a second, in sessions of both kinds.
const RATE: u32 = 20;

/// What one seat's application saw of an inquiry.
#[derive(Default)]
struct Log {
    seen: usize,
    player: Option<PlayerId>,
    wanted_at: Vec<Duration>,
    /// The tick that was to be played then.
    wanted_tick: Tick,
    bytes_max: usize,
    given: Vec<u8>,
    arrived: BTreeMap<PlayerId, Vec<u8>>,
    complete: Vec<(Duration, Vec<PlayerId>)>,
    complete_tick: Tick,
    ended_at: Option<Duration>,
}

/// How much an application gives, of so much that it may; `None`: it does not care.
type Amount = fn(&mut Dice, usize) -> Option<usize>;

/// As much as it may.
fn all(_: &mut Dice, max: usize) -> Option<usize> {
    Some(max)
}

fn any(dice: &mut Dice, max: usize) -> Option<usize> {
    Some(1 + dice.roll(max as u64) as usize)
}

fn nothing(_: &mut Dice, _: usize) -> Option<usize> {
    None
}

impl Log {
    fn player(&self) -> PlayerId {
        self.player.expect("it plays")
    }

    fn took(&self) -> Duration {
        self.complete[0].0 - self.wanted_at[0]
    }

    fn missing(&self) -> &[PlayerId] {
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
fn attend(
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

fn weather(dice: &mut Dice) -> Weather {
    Weather {
        delay: ms(10 + dice.roll(70)),
        jitter: ms(dice.roll(40)),
        loss_permille: dice.roll(80) as u16,
        duplicate_permille: dice.roll(30) as u16,
        reorder_permille: dice.roll(30) as u16,
        line_bytes_per_s: None,
    }
}

/// Where and when a world goes wrong.
fn oddity(dice: &mut Dice, players: usize) -> (usize, Tick) {
    (dice.roll(players as u64) as usize, Tick(60 + dice.roll(100) as u32))
}

/// Whoever is odd is put out.
fn stopping() -> PartySettings {
    PartySettings { on_desync: OnDesync::Stop, ..PartySettings::default() }
}

/// Everyone has everyone else's evidence, byte for byte, and was told so in time. Returns the
/// longest time that it took.
fn all_have_all(logs: &[Log], seed: u64) -> Duration {
    for log in logs {
        let player = log.player();
        assert_eq!(log.wanted_at.len(), 1, "seed {seed}: {player} is asked once");
        assert_eq!(log.bytes_max, evidence_bytes_max(logs.len()));
        assert_eq!(log.missing(), [], "seed {seed}: {player}");
        assert_eq!(log.arrived.len(), logs.len() - 1, "seed {seed}: {player}");
        for other in logs.iter().filter(|other| other.player() != player) {
            assert!(log.arrived[&other.player()] == other.given, "seed {seed}: {player} has other bytes");
        }
        assert!(log.took() <= INQUIRY_TIME, "seed {seed}: {:?}", log.took());
    }
    logs.iter().map(Log::took).max().expect("someone")
}

/// The peers that are left play on without a pause, in step. The peer that is out of step has
/// ended, after it had all.
fn the_others_play_on<T: Session<Sim = Mixer>>(
    driver: &Driver<T>,
    logs: &[Log],
    is_out: impl Fn(usize) -> bool,
    pause: Duration,
    seed: u64,
) {
    let healthy: Vec<_> = (0..logs.len()).filter(|seat| !is_out(*seat)).collect();
    for (n, (seat, log)) in driver.seats.iter().zip(logs).enumerate() {
        if is_out(n) {
            assert_eq!(ended(&seat.session), Some(EndReason::Desync), "seed {seed}");
            assert!(log.ended_at.expect("it ended") >= log.complete[0].0);
            continue;
        }
        assert_eq!(seat.session.phase(), Phase::Playing, "seed {seed}: seat {n}");
        let played = log.complete_tick.since(log.wanted_tick);
        let due = log.took().saturating_sub(pause).as_millis() as u32 * RATE / 1_000;
        assert!(played >= due * 19 / 20, "seed {seed}: seat {n} played {played} ticks in {:?}", log.took());
        let place = |what: fn(&Event<Mixer>) -> bool| seat.events.iter().position(what).expect("it was told");
        let left = place(|event| matches!(event, Event::PlayerLeft { reason: LeaveReason::Desync, .. }));
        assert!(left < place(|event| matches!(event, Event::EvidenceComplete { .. })), "the hero does not linger");
        let [first, this] = [healthy[0], n].map(|seat| Played::of(&driver.seats[seat].events));
        assert!(assert_same(&first, &this, &format!("seed {seed}")) > 20);
    }
}

#[test]
fn in_a_party_everyone_gets_everyones_evidence_and_the_others_play_on() {
    let took = seeds::each("-p lockstone-net --test virtual_time exchange::", 16, |seed| {
        let mut dice = Dice(seed);
        let players = 2 + seed as usize % 4;
        let (odd, weather) = (oddity(&mut dice, players), weather(&mut dice));
        let mut driver = odd_party(seed, players, Some(odd), weather, stopping());
        let (mut logs, amount) = (Vec::new(), if seed % 2 == 0 { all } else { any });
        attend(&mut driver, &mut logs, &mut dice, amount, secs(45));
        // The sequencer's world is the session's.
        let is_out = |seat| if odd.0 == 0 { seat != 0 } else { seat == odd.0 };
        the_others_play_on(&driver, &logs, is_out, Duration::ZERO, seed);
        all_have_all(&logs, seed)
    });
    println!("it took at most {:?}", took.iter().max());
}

#[test]
fn in_a_rollback_session_everyone_gets_everyones_evidence_and_the_others_play_on() {
    let took = seeds::each("-p lockstone-net --test virtual_time exchange::", 16, |seed| {
        let mut dice = Dice(seed ^ 0x5eed);
        let players = 2 + seed as usize % 3;
        let (odd, weather) = (oddity(&mut dice, players), weather(&mut dice));
        let mut driver = odd_rollback(seed, players, Some(odd), weather, RollbackSettings::default());
        let (mut logs, amount) = (Vec::new(), if seed % 2 == 0 { all } else { any });
        attend(&mut driver, &mut logs, &mut dice, amount, secs(45));
        // Of two nobody can tell whose world is right, and the first player's counts.
        let is_out = |seat| seat == if players == 2 { 1 } else { odd.0 };
        the_others_play_on(&driver, &logs, is_out, secs(1), seed);
        all_have_all(&logs, seed)
    });
    println!("it took at most {:?}", took.iter().max());
}

#[test]
fn evidence_takes_a_bounded_part_of_the_way() {
    let mut dice = Dice(11);
    let clear = Weather::clear(ms(5));
    let mut driver = odd_party(11, 5, Some((2, Tick(70))), clear, stopping());
    let (mut logs, mut sent, mut most) = (Vec::new(), vec![0; 5], 0);
    for _ in 0..25 {
        attend(&mut driver, &mut logs, &mut dice, all, secs(1));
        for (seat, sent) in driver.seats.iter().zip(&mut sent) {
            let now = seat.session.stats().traffic.bytes_out;
            most = most.max(now - core::mem::replace(sent, now));
        }
    }
    let took = all_have_all(&logs, 11);
    println!("{most} bytes a second at most, {took:?} in all");
    // 25 chunks, and turns, reports and acknowledgements.
    assert!(most < 25 * (EVIDENCE_CHUNK_BYTES as u64 + 16) + 16_000, "{most} bytes in a second");
}

#[test]
fn who_dies_meanwhile_is_named_as_missing() {
    for silently in [false, true] {
        let mut dice = Dice(7);
        let clear = Weather::clear(ms(30));
        let mut driver = odd_party(7, 4, Some((1, Tick(80))), clear, stopping());
        died(&mut driver, &mut dice, silently);
        let mut driver = odd_rollback(7, 4, Some((1, Tick(80))), clear, RollbackSettings::default());
        died(&mut driver, &mut dice, silently);
    }
}

/// Seat 1 is out of step, seat 3 dies half a second into the inquiry.
fn died<T: Session<Sim = Mixer>>(driver: &mut Driver<T>, dice: &mut Dice, silently: bool) {
    let mut logs = Vec::new();
    while logs.iter().filter(|log: &&Log| !log.wanted_at.is_empty()).count() < 4 {
        attend(driver, &mut logs, dice, all, ms(50));
        assert!(driver.now() < secs(10));
    }
    attend(driver, &mut logs, dice, all, ms(500));
    kill(driver, 3, silently);
    let dead = logs.remove(3).player();
    attend(driver, &mut logs, dice, all, INQUIRY_TIME + secs(1));
    for log in &logs {
        assert_eq!(log.missing(), [dead]);
        assert_eq!(log.arrived.len(), 2);
        assert!(log.took() <= INQUIRY_TIME);
        if !silently {
            assert!(log.took() < secs(15), "the carrier told: {:?}", log.took());
        }
    }
    assert_eq!(ended(&driver.seats[1].session), Some(EndReason::Desync));
    assert!(playing(&driver.seats[0].session) && playing(&driver.seats[2].session));
}

#[test]
fn evidence_is_exchanged_too_if_nobody_is_to_stop() {
    let clear = Weather::clear(ms(30));
    let mut dice = Dice(3);
    let settings = PartySettings { on_desync: OnDesync::GoOn, ..PartySettings::default() };
    let mut driver = odd_party(3, 3, Some((2, Tick(70))), clear, settings);
    let mut logs = Vec::new();
    attend(&mut driver, &mut logs, &mut dice, any, secs(90));
    all_have_all(&logs, 3);
    assert!(driver.seats.iter().all(|seat| playing(&seat.session)));
    let settings = RollbackSettings { stop_on_desync: false, ..RollbackSettings::default() };
    let mut driver = odd_rollback(3, 3, Some((2, Tick(70))), clear, settings);
    let mut logs = Vec::new();
    attend(&mut driver, &mut logs, &mut dice, any, secs(90));
    all_have_all(&logs, 3);
    assert!(driver.seats.iter().all(|seat| playing(&seat.session)));
}

#[test]
fn applications_that_give_nothing_keep_nobody_waiting() {
    let mut dice = Dice(3);
    let mut logs = Vec::new();
    let mut driver = odd_party(3, 3, Some((2, Tick(70))), Weather::clear(ms(30)), stopping());
    attend(&mut driver, &mut logs, &mut dice, nothing, secs(20));
    for log in &logs {
        assert_eq!(log.missing().len(), 2);
        assert!(log.took() < EVIDENCE_GIVE_TIME + ms(300), "{:?}", log.took());
    }
    let ended_at = logs[2].ended_at.expect("it is out of step");
    assert!(ended_at <= logs[2].wanted_at[0] + EVIDENCE_GIVE_TIME + ms(50));
}

#[test]
fn a_replica_that_is_never_called_ends_by_itself() {
    // The sequencer is gone for good just as the replica finds its own world to differ.
    let mut driver = odd_party(5, 2, Some((1, Tick(84))), Weather::clear(ms(30)), stopping());
    let mut logs = Vec::new();
    let mut dice = Dice(5);
    while driver.seats[1].session.phase() == Phase::Playing {
        attend(&mut driver, &mut logs, &mut dice, all, ms(1));
        if !desyncs(&driver, 0).is_empty() || !desyncs(&driver, 1).is_empty() {
            break;
        }
    }
    kill(&mut driver, 0, true);
    logs.remove(0);
    attend(&mut driver, &mut logs, &mut dice, all, INQUIRY_TIME + secs(1));
    assert!(matches!(ended(&driver.seats[0].session), Some(EndReason::Desync | EndReason::SequencerLost { .. })));
}

#[test]
fn without_a_mismatch_nothing_is_said_of_evidence() {
    let said = Rc::new(Cell::new(0));
    let listen = |said: &Rc<Cell<u32>>| {
        let said = said.clone();
        move |packet: lockstone_net::session::Transmit| {
            let (_, message) = wire::decode(&packet.bytes).expect("a message");
            said.set(said.get() + u32::from(matches!(message, Message::Inquiry(_) | Message::Parcel(_))));
            Some(packet)
        }
    };
    let mut dice = Dice(9);
    let mut logs = Vec::new();
    let mut driver = room_by(9, 3, weather(&mut dice), &settings(9), |_, link| Tap::new(link, listen(&said)));
    attend(&mut driver, &mut logs, &mut dice, all, secs(30));
    assert_eq!(driver.seats[0].session.give_evidence(vec![1]), Err(EvidenceError::NotWanted));
    assert!(in_step(&driver, 9) > 40);

    let mut logs_of_party = Vec::new();
    let mut driver = Driver::new(lockstone_net::memory::MemoryNetwork::new(9, weather(&mut dice)));
    for n in 0..4 {
        driver.enter_by(party(PartySettings::default(), &format!("player {n}")), |link| Tap::new(link, listen(&said)));
    }
    attend(&mut driver, &mut logs_of_party, &mut dice, all, secs(30));
    assert_eq!(driver.seats[1].session.give_evidence(vec![1]), Err(EvidenceError::NotWanted));
    assert!(driver.seats.iter().all(|seat| playing(&seat.session)));
    assert_eq!(said.get(), 0);
    assert!(logs.iter().chain(&logs_of_party).all(|log| log.wanted_at.is_empty()));
}
