//! Rollback games: a fault that was planted is found, without it nothing is, and what is
//! recorded replays.

use std::time::Duration;

use lockstone::check::{Mismatch, sync_test};
use lockstone::net::memory::{Driver, MemoryNetwork, Weather};
use lockstone::net::session::{EndReason, Event, Phase, Session};
use lockstone::net::wire::LeaveReason;
use lockstone::net::{Identity, Rollback, RollbackConfig, RollbackSettings};
use lockstone::recording::{Desync, Entry, Header, Recording, Writer, replay};
use lockstone::sim::{Checksum, Input, PlayerId, Simulation, Tick, mix64};
use testkit::mixer::Mixer;
use testkit::recorded;
use testkit::storm::{self, SMALL, StormWorld};

const SEED: u64 = 5;
/// The state before the turn of this tick is still as it should be.
const FAULT: Tick = Tick(104);

type Room = Driver<Rollback<StormWorld>>;

/// A world whose rules count outside of it from a tick on.
fn world(seed: u64, counts_from: Option<Tick>) -> StormWorld {
    storm::Weather { seed, ..SMALL }.counting_world(counts_from)
}

/// Two heroes that walk about.
fn test_storm(counts_from: Option<Tick>, ticks: u32) -> Result<(), Mismatch> {
    sync_test(world(SEED, counts_from), &[(), ()], ticks, |world, player| {
        Some(SMALL.place(mix64(u64::from(world.tick().0) << 16 | u64::from(player.0))))
    })
}

#[test]
fn a_counter_outside_of_the_world_is_found_and_the_tick_named() {
    let found = Err(Mismatch { tick: FAULT.next() });
    assert_eq!(test_storm(Some(FAULT), 200), found);
    // The fault's tick and three more, and one less.
    assert_eq!(test_storm(Some(FAULT), FAULT.0 + 4), found);
    assert_eq!(test_storm(Some(FAULT), FAULT.0 + 3), Ok(()));
}

#[test]
fn a_field_that_no_snapshot_holds_is_found() {
    let test = |mixer: Mixer| {
        sync_test(mixer, &[(7, 9), (7, 10)], 50, |mixer, player| Some(u64::from(mixer.tick().0 ^ u32::from(player.0))))
    };
    // The first tick that is gone back to is tick 1.
    assert_eq!(test(Mixer::new(SEED, 8).with_hidden_number()), Err(Mismatch { tick: Tick(2) }));
    assert_eq!(test(Mixer::new(SEED, 8)), Ok(()));
}

#[test]
fn without_a_fault_nothing_is_found() {
    assert_eq!(test_storm(None, 200), Ok(()));
    let driver = played(None);
    for seat in &driver.seats {
        assert!(seat.events.iter().all(|event| !matches!(event, Event::Desync { .. })));
        let stats = seat.session.stats();
        assert!(stats.desyncs == 0 && stats.checksums_compared > 10, "{stats:?}");
    }
}

/// So many players who have met.
fn room(players: usize, weather: Weather, counts_from: Option<Tick>) -> Room {
    let config = RollbackConfig::new(RollbackSettings { players, seed: SEED, ..RollbackSettings::default() });
    let config = config.expect("the settings are in range");
    let mut driver = Driver::new(MemoryNetwork::new(SEED, Weather::clear(weather.delay)));
    for n in 0..players {
        let identity = Identity { rules: 1, table: 2, config: 3 };
        let build = move |seed| world(seed, counts_from);
        let session = Rollback::new(config.clone(), identity, &format!("player {n}"), (), build);
        driver.enter(session.expect("the name is short"));
    }
    let waits = |driver: &Room| driver.seats.iter().any(|seat| seat.session.phase() != Phase::Playing);
    assert!(driver.run_while(Duration::from_secs(10), waits), "the players do not get together");
    driver.network.set_weather(weather);
    driver
}

/// Lets a player walk elsewhere.
fn walk(driver: &mut Room, seat: usize, n: u64) {
    // Refused by a session that has ended.
    let _ = driver.seats[seat].session.command(SMALL.place(mix64(n)));
}

fn run_for(driver: &mut Room, ms: u64) {
    let until = driver.now() + Duration::from_millis(ms);
    driver.run_until(until);
}

/// Ten seconds of two players: the second walks elsewhere every tick, so the first must play every
/// tick again, and the second none.
fn played(counts_from: Option<Tick>) -> Room {
    let mut driver = room(2, Weather::clear(Duration::from_millis(50)), counts_from);
    for n in 0..200 {
        walk(&mut driver, 1, n);
        run_for(&mut driver, 50);
    }
    leave(&mut driver);
    driver
}

/// Everyone leaves.
fn leave(driver: &mut Room) {
    let now = driver.now();
    driver.seats.iter_mut().for_each(|seat| seat.session.leave(now));
    run_for(driver, 200);
}

/// The recording of what a session told, as a shell writes it.
fn record(events: &[Event<StormWorld>]) -> Recording<StormWorld> {
    let mut writer = None;
    for event in events {
        if let Event::Started { tick, seed, player, snapshot } = event {
            let header = Header { start: *tick, player: *player, ..recorded::header("storm", *seed) };
            writer = Some(Writer::create(Vec::new(), &header, snapshot).unwrap());
            continue;
        }
        let Some(open) = &mut writer else { continue };
        match event {
            Event::Turn { tick, turn } => open.turn(*tick, turn).unwrap(),
            Event::Checksum { tick, checksum, .. } => open.checksum(*tick, *checksum).unwrap(),
            Event::PlayerJoined { player, name } => open.name(*player, name),
            Event::Desync { player, tick, agreed, ours, theirs } => {
                let desync = Desync { player: *player, tick: *tick, agreed: *agreed, ours: *ours, theirs: *theirs };
                open.desync(desync).unwrap();
            }
            Event::Ended { tick, reason } => {
                let (bytes, _) = writer.take().unwrap().end(*tick, &reason.to_string()).unwrap();
                return Recording::read(&bytes).ok().unwrap();
            }
            _ => {}
        }
    }
    panic!("the session has not begun, or not ended");
}

#[test]
fn a_counter_outside_of_the_world_is_found_by_both_players_and_is_on_record() {
    let driver = played(Some(FAULT));
    let ended = |seat: usize| match driver.seats[seat].session.phase() {
        Phase::Ended(reason) => reason,
        phase => panic!("seat {seat} is {phase:?}"),
    };
    assert_eq!((ended(0), ended(1)), (EndReason::Left, EndReason::Desync), "of two, the first player's world counts");
    let gone = |event: &Event<_>| matches!(event, Event::PlayerLeft { reason: LeaveReason::Desync, .. });
    assert!(driver.seats[0].events.iter().any(gone));
    for (seat, other) in [(0, 1), (1, 0)] {
        let recording = record(&driver.seats[seat].events);
        let desyncs = recording.entries.iter().filter_map(|entry| match entry {
            Entry::Desync(desync) => Some(*desync),
            _ => None,
        });
        let [desync] = desyncs.collect::<Vec<_>>()[..] else { panic!("seat {seat}: one difference, told once") };
        // Each tenth tick is compared.
        assert_eq!((desync.player, desync.tick, desync.agreed), (PlayerId(other), Tick(110), Some(Tick(100))));
        // What led to it is all there: rules without the fault agree up to the tick before it.
        assert_eq!(checksum_at(&recording, desync.tick), Some(desync.ours));
        let replayed = replay(recording, world(SEED, None)).unwrap();
        let mismatch = replayed.mismatch.unwrap();
        assert_eq!((mismatch.tick, mismatch.agreed), (FAULT.next(), Some(FAULT)), "every tick is on record");
    }
}

/// What was recorded before the turn of a tick.
fn checksum_at(recording: &Recording<StormWorld>, tick: Tick) -> Option<Checksum> {
    let mut now = recording.header.start;
    recording.entries.iter().find_map(|entry| {
        now = now.plus(entry.ticks());
        match entry {
            Entry::Checksum(checksum) if now == tick => Some(*checksum),
            _ => None,
        }
    })
}

#[test]
fn a_game_of_late_commands_and_lost_players_replays_to_the_same_checksums() {
    let weather =
        Weather { jitter: Duration::from_millis(50), loss_permille: 100, ..Weather::clear(Duration::from_millis(50)) };
    let mut driver = room(3, weather, None);
    let mut recordings = Vec::new();
    for n in 0..400 {
        if n == 250 {
            let now = driver.now();
            driver.seats[1].session.leave(now);
            run_for(&mut driver, 500);
            recordings.push(record(&driver.seats.remove(1).events));
        }
        let seats = driver.seats.len();
        walk(&mut driver, n as usize % seats, n);
        run_for(&mut driver, 50);
    }
    for seat in &driver.seats {
        let rollback = seat.session.stats().rollback.expect("it predicts");
        assert!(rollback.rollbacks > 50 && rollback.regroupings == 1, "{rollback:?}");
    }
    leave(&mut driver);
    recordings.extend(driver.seats.iter().map(|seat| record(&seat.events)));
    for (recording, ticks_min) in recordings.into_iter().zip([200, 380, 380]) {
        let commands = recording.entries.iter().filter(|entry| is_command(entry)).count();
        let replay = replay(recording, world(SEED, None)).unwrap();
        assert_eq!(replay.mismatch, None);
        assert!(replay.ticks > ticks_min && replay.checksums >= replay.ticks - 1, "{replay:?}");
        assert!(commands > ticks_min as usize / 2, "{commands} turns with commands in {} ticks", replay.ticks);
    }
}

fn is_command(entry: &Entry<StormWorld>) -> bool {
    matches!(entry, Entry::Turn(turn) if turn.inputs.iter().any(|input| matches!(input, Input::Command(..))))
}
