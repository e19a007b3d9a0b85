//! Rollback sessions: equal worlds in any weather, with or without everybody.
//!
//! Every failure names the seed that repeats it: `SEED=17 cargo test -p lockstone-net --test
//! virtual_time rollback:: -- --nocapture`. `SEEDS=300` tries that many.

mod chaos;
mod crafted;
mod freeze;
mod hostile;
mod losses;
mod members;
mod pace;
mod reconcile;
mod suspicion;
mod two_faced;
mod words;

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::limits::EVIDENCE_GIVE_TIME;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::session::{DropReason, EndReason, Event, Phase, Session};
use lockstone_net::wire::{self, ChatLine, Epoch, Message};
use lockstone_net::{Channel, LinkEvent, PeerId, Rollback, RollbackSettings};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn, mix64};
use testkit::seeds;
use testkit::sessions::log::Log;
use testkit::sessions::rollback::*;
use testkit::sessions::*;

#[test]
fn worlds_stay_equal_in_bad_weather_and_go_on_after_it() {
    let compared = seeds::each("-p lockstone-net --test virtual_time rollback::", 40, |seed| {
        let mut dice = Dice(seed);
        let (peers, delay) = (2 + dice.roll(3) as usize, ms(50 + 50 * dice.roll(2)));
        let weather = Weather { jitter: ms(50), loss_permille: 100, ..Weather::clear(delay) };
        let mut driver = room(seed, peers, weather, &settings(seed));
        play(&mut driver, &mut dice, secs(20));
        driver.network.set_weather(Weather::clear(delay));
        play(&mut driver, &mut dice, secs(1));
        let before = ticks(&driver);
        play(&mut driver, &mut dice, secs(5));
        for (n, seat) in driver.seats.iter().enumerate() {
            let played = seat.session.stats().settled.since(before[n]);
            assert!((98..=103).contains(&played), "seed {seed}: seat {n} played {played} ticks in 5 clear seconds");
            assert!(seat.session.stats().commands_pending <= 2, "seed {seed}: seat {n}");
        }
        in_step(&driver, seed)
    });
    println!("{} checksums compared", compared.iter().sum::<u64>());
}

#[test]
fn what_is_settled_can_be_looked_at_and_never_changes_again() {
    let weather = Weather { jitter: ms(50), loss_permille: 50, ..Weather::clear(ms(60)) };
    let (seed, mut dice) = (9, Dice(9));
    let mut driver = room(seed, 3, weather, &settings(seed));
    let mut looked = vec![BTreeMap::new(); 3];
    while driver.now() < secs(20) {
        play(&mut driver, &mut dice, ms(70));
        for (seat, looked) in driver.seats.iter_mut().zip(&mut looked) {
            let settled = seat.session.settled();
            let world = seat.session.settled_world().expect("it plays");
            assert_eq!(world.tick(), settled);
            looked.insert(settled, world.state.clone());
        }
    }
    for (seat, looked) in driver.seats.iter().zip(&looked) {
        let log = Log::of(&seat.events);
        let (mut world, mut compared) = (Mixer::new(seed, 64), 0);
        while world.tick() <= log.end {
            if let Some(state) = looked.get(&world.tick()) {
                assert_eq!(state, &world.state);
                compared += 1;
            }
            world.step(log.turns.get(&world.tick()).unwrap_or(&Turn::EMPTY));
        }
        let rollbacks = seat.session.stats().rollback.expect("it is one").rollbacks;
        assert!(compared > 150 && rollbacks > 50, "{compared} looks, {rollbacks} rollbacks");
    }
}

#[test]
fn survivors_go_on_when_a_peer_dies() {
    let compared = seeds::each("-p lockstone-net --test virtual_time rollback::", 60, |seed| {
        let mut dice = Dice(seed ^ 0xdead);
        let peers = 3 + dice.roll(2) as usize;
        let loss_permille = 20 + dice.roll(31) as u16;
        let weather = Weather { jitter: ms(20), loss_permille, ..Weather::clear(ms(20 + dice.roll(60))) };
        let mut driver = room(seed, peers, weather, &settings(seed));
        let until_death = ms(500 + dice.roll(5_000));
        play(&mut driver, &mut dice, until_death);
        // Some die without a word to anyone, some break their connections.
        let victim = dice.roll(peers as u64) as usize;
        let silently = dice.roll(2) == 0;
        let dead = kill(&mut driver, victim, silently);
        let (died_at, before) = (driver.now(), ticks(&driver));
        play(&mut driver, &mut dice, secs(3));
        for (n, seat) in driver.seats.iter().enumerate() {
            let stats = seat.session.stats();
            assert_eq!(stats.rollback.expect("it predicts").regroupings, 1, "seed {seed}: seat {n}");
            assert!(
                stats.settled > before[n].plus(15),
                "seed {seed}: seat {n} does not go on within 3 s of {died_at:?}"
            );
            assert_eq!(seat.session.simulation().expect("it plays").state.heroes.len(), peers - 1);
        }
        play(&mut driver, &mut dice, secs(5));
        let survivors = in_step(&driver, seed);
        let dead = Played::of(&dead);
        survivors + assert_same(&dead, &Played::of(&driver.seats[0].events), &format!("seed {seed}: the dead")) as u64
    });
    println!("{} checksums compared", compared.iter().sum::<u64>());
}

#[test]
fn survivors_go_on_when_two_die_or_leave_one_after_the_other() {
    let compared = seeds::each("-p lockstone-net --test virtual_time rollback::", 60, two_are_lost);
    let went_on = compared.iter().filter(|compared| **compared > 0).count();
    println!("{went_on} of {} sessions went on", compared.len());
    assert!(compared.len() < 60 || went_on >= 40, "{went_on}");
}

#[test]
fn two_losses_noticed_in_another_order_are_played_alike() {
    // One peer had gone on without the first when another noticed both: their leaves stood in
    // another order in its turn.
    assert!(two_are_lost(97) > 0);
}

/// Two of four are lost. The others go on, unless the second was lost before all had gone on
/// without the first, and the session's first player is one of both: it could play on with the
/// other.
fn two_are_lost(seed: u64) -> u64 {
    let mut dice = Dice(seed ^ 0xd1ed);
    let weather = Weather { jitter: ms(30), loss_permille: 30, ..Weather::clear(ms(30)) };
    let mut driver = room(seed, 4, weather, &settings(seed));
    play(&mut driver, &mut dice, secs(3));
    for peers in [4, 3] {
        let victim = dice.roll(peers) as usize;
        if dice.roll(3) == 0 {
            let now = driver.now();
            driver.seats[victim].session.leave(now);
            driver.run_until(now + ms(1));
        }
        let silently = dice.roll(2) == 0;
        kill(&mut driver, victim, silently);
        // Close enough that the second is often lost while the loss of the first is agreed upon.
        let until_next = ms(dice.roll(1_900));
        play(&mut driver, &mut dice, until_next);
    }
    play(&mut driver, &mut dice, secs(8));
    let first_is_left = driver.seats.iter().any(|seat| seat.session.stats().player == Some(PlayerId(0)));
    if !first_is_left && driver.seats.iter().all(|seat| ended(&seat.session) == Some(EndReason::NoQuorum)) {
        return 0;
    }
    for seat in &driver.seats {
        assert_eq!(seat.session.phase(), Phase::Playing, "seed {seed}");
        assert_eq!(seat.session.simulation().expect("it plays").state.heroes.len(), 2, "seed {seed}");
    }
    in_step(&driver, seed)
}

/// What becomes of the other of two when one is lost.
fn the_other_of_two(lost: usize, silently: bool) -> (Phase, u32) {
    let mut driver = room(7, 2, Weather::clear(ms(40)), &settings(7));
    play(&mut driver, &mut Dice(7), secs(3));
    kill(&mut driver, lost, silently);
    let before = ticks(&driver)[0];
    driver.run_until(driver.now() + secs(4));
    let session = &driver.seats[0].session;
    if playing(session) {
        assert_eq!(session.simulation().expect("it plays").state.heroes.len(), 1);
    }
    (session.phase(), session.stats().settled.since(before))
}

#[test]
fn the_last_one_left_plays_on_alone() {
    // If the carrier says so, at once. Else after the silence timeout, and then only the first
    // player: the other cannot know whether the first plays on.
    for (lost, silently, ticks_min) in [(0, false, 75), (1, false, 75), (1, true, 40)] {
        let (phase, played) = the_other_of_two(lost, silently);
        assert!(phase == Phase::Playing && played > ticks_min, "{lost} {silently}: {phase:?}, {played} ticks");
    }
    assert_eq!(the_other_of_two(0, true).0, Phase::Ended(EndReason::NoQuorum));
}

#[test]
fn whose_carrier_ends_plays_on_alone() {
    let mut driver = room(8, 2, Weather::clear(ms(40)), &settings(8));
    play(&mut driver, &mut Dice(8), secs(2));
    driver.network.drop_peer(driver.peer(1));
    play(&mut driver, &mut Dice(9), secs(3));
    for seat in &driver.seats {
        assert_eq!(seat.session.phase(), Phase::Playing);
        assert_eq!(seat.session.simulation().expect("it plays").state.heroes.len(), 1);
    }
}

#[test]
fn a_leaving_player_leaves_at_once_and_loses_no_settled_turn() {
    let mut driver = room(3, 3, Weather::clear(ms(60)), &settings(3));
    play(&mut driver, &mut Dice(3), secs(3));
    let now = driver.now();
    driver.seats[1].session.leave(now);
    driver.run_until(now + ms(1));
    let left = driver.seats.remove(1);
    let before = ticks(&driver);
    driver.run_until(now + ms(1_000));
    for (n, seat) in driver.seats.iter().enumerate() {
        assert!(
            seat.session.stats().settled.since(before[n]) >= 14,
            "no time is spent on waiting for who said goodbye"
        );
    }
    assert!(in_step(&driver, 3) > 0);
    assert!(assert_same(&Played::of(&left.events), &Played::of(&driver.seats[0].events), "who left") > 0);
}

#[test]
fn one_way_broken_between_two_of_three_costs_one_of_them() {
    for seed in 0..10 {
        let mut driver = room(seed, 3, Weather::clear(ms(40)), &settings(seed));
        play(&mut driver, &mut Dice(seed), secs(2));
        let (a, b) = (driver.peer((seed % 3) as usize), driver.peer(((seed + 1) % 3) as usize));
        driver.network.set_cut(a, b, true);
        play(&mut driver, &mut Dice(seed + 1), secs(6));
        driver.seats.retain(|seat| ended(&seat.session).is_none());
        assert_eq!(driver.seats.len(), 2, "seed {seed}");
        assert!(in_step(&driver, seed) > 0);
    }
}

#[test]
fn own_commands_are_played_in_the_tick_they_are_given() {
    for delay in [20, 100, 200] {
        let mut driver = room(1, 2, Weather::clear(ms(delay)), &settings(1));
        driver.run_until(secs(3));
        for n in 0..20 {
            let hero = |driver: &Driver<Rollback<Mixer>>| {
                driver.seats[0].session.simulation().expect("it plays").state.heroes[&PlayerId(0)]
            };
            let before = hero(&driver);
            driver.seats[0].session.command(n).expect("it plays");
            let tick = driver.seats[0].session.stats().tick;
            let next = |driver: &Driver<Rollback<Mixer>>| driver.seats[0].session.stats().tick == tick;
            assert!(driver.run_while(driver.now() + secs(1), next));
            assert_eq!(hero(&driver), mix64(before ^ n), "{delay} ms: shown in the tick of the key press");
        }
        driver.run_until(driver.now() + secs(3));
        assert!(in_step(&driver, 1) > 0);
    }
}

#[test]
fn bursts_spill_over_into_the_next_ticks_in_order() {
    let mut driver = room(1, 2, Weather::clear(ms(30)), &settings(1));
    driver.run_until(secs(2));
    let mut given = 0;
    while driver.seats[1].session.command(given).is_ok() {
        given += 1;
    }
    assert_eq!(given, 64, "then no more are taken");
    driver.run_until(secs(7));
    let played = Played::of(&driver.seats[0].events);
    let commands: Vec<_> = played.turns.values().flat_map(|turn| commands_of(turn, PlayerId(1))).collect();
    assert_eq!(commands, (0..64).collect::<Vec<_>>());
    assert!(played.turns.values().all(|turn| commands_of(turn, PlayerId(1)).count() <= 1), "one a tick");
}

#[test]
fn a_delay_spares_predictions() {
    let rollbacks = |input_delay_ticks| {
        let settings = RollbackSettings { input_delay_ticks, ..settings(5) };
        let mut driver = room(5, 2, Weather::clear(ms(80)), &settings);
        play(&mut driver, &mut Dice(5), secs(10));
        assert!(in_step(&driver, 5) > 0);
        driver.seats.iter().map(|seat| seat.session.stats().rollback.expect("it predicts").rollbacks).sum::<u64>()
    };
    let (without, with) = (rollbacks(0), rollbacks(4));
    assert!(without > 20 && with == 0, "{without} without a delay, {with} with one");
}

#[test]
fn who_is_ahead_of_what_it_knows_waits_and_then_goes_on() {
    let mut driver = room(2, 2, Weather::clear(ms(20)), &settings(2));
    play(&mut driver, &mut Dice(2), secs(2));
    let (a, b) = (driver.peer(0), driver.peer(1));
    driver.network.set_cut(a, b, true);
    driver.run_until(driver.now() + ms(1_000));
    for seat in &driver.seats {
        let stats = seat.session.stats();
        assert!(stats.tick.since(stats.known) <= 8, "it plays no more than its prediction ahead");
        assert!(stats.rollback.expect("it predicts").stalls > 5);
    }
    driver.network.set_cut(a, b, false);
    let before = ticks(&driver);
    play(&mut driver, &mut Dice(3), secs(2));
    assert!(driver.seats.iter().zip(before).all(|(seat, before)| seat.session.stats().settled.since(before) > 30));
    assert!(driver.seats.iter().all(|seat| seat.session.stats().rollback.expect("it predicts").regroupings == 0));
    assert!(in_step(&driver, 2) > 0);
}

#[test]
fn everyone_tells_the_same_story() {
    let mut driver = room(9, 4, Weather { jitter: ms(40), ..Weather::clear(ms(40)) }, &settings(9));
    play(&mut driver, &mut Dice(9), secs(5));
    for (n, seat) in driver.seats.iter().enumerate() {
        let mut events = seat.events.iter();
        let Some(Event::Started { tick: Tick(0), seed: 9, player, .. }) = events.next() else { panic!("it starts") };
        assert_eq!(usize::from(player.0), n, "players are numbered by arrival");
        let names = events.filter_map(|event| match event {
            Event::PlayerJoined { player, name } => Some((player.0, name.clone())),
            _ => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), (0..4).map(|n| (n, format!("player {n}"))).collect::<Vec<_>>());
        let rtt = seat.session.stats().players.iter().filter_map(|player| player.exchange.as_ref()?.rtt()).max();
        assert!(rtt.is_some_and(|rtt| rtt > ms(80) && rtt < ms(200)), "{rtt:?}");
    }
    assert!(in_step(&driver, 9) > 0);
}

/// How long all have played by what is settled.
fn ticks(driver: &Driver<Rollback<Mixer>>) -> Vec<Tick> {
    driver.seats.iter().map(|seat| seat.session.stats().settled).collect()
}

#[test]
fn who_is_woken_rarely_still_has_its_checksums_compared() {
    // More of them than a packet holds had come together: none was sent.
    let settings = RollbackSettings { checksum_interval_ticks: 1, ..settings(6) };
    let mut driver = room(6, 2, Weather::clear(ms(20)), &settings);
    let before = driver.seats[0].session.stats().checksums_compared;
    for _ in 0..12 {
        let asleep = driver.seats.pop().expect("two are there");
        driver.run_until(driver.now() + ms(450));
        driver.seats.push(asleep);
        driver.run_until(driver.now());
    }
    driver.run_until(driver.now() + ms(40));
    assert!(driver.seats[0].session.stats().checksums_compared - before > 60);
}

#[test]
fn a_newcomer_of_another_version_is_told_so_once() {
    let mut driver = room(1, 2, Weather::clear(ms(20)), &settings(1));
    let (stranger, now) = (PeerId(9 << 64), driver.now());
    let session = &mut driver.seats[1].session;
    session.handle(LinkEvent::Connected(stranger), now);
    for _ in 0..3 {
        // A hello of version 99, whatever follows there.
        session.handle(LinkEvent::Packet { from: stranger, channel: Channel::Reliable, bytes: vec![0, 0, 99, 1] }, now);
    }
    driver.run_until(now + ms(100));
    let refused = driver.seats[1].events.iter().filter_map(|event| match event {
        Event::Refused { peer, refusal, .. } if *peer == stranger => Some(refusal.to_string()),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    assert!(refused.len() == 1 && refused[0].contains("the protocol differs"), "{refused:?}");
}

#[test]
fn settings_that_cannot_work_are_refused_with_the_reason() {
    let refused = |settings| lockstone_net::RollbackConfig::new(settings).expect_err("it cannot work").to_string();
    let default = RollbackSettings::default;
    let said = |settings, words: &str| {
        let told = refused(settings);
        assert!(told.contains(words), "{told}");
    };
    said(RollbackSettings { max_prediction_ticks: 0, ..default() }, "max_prediction_ticks is 0, but must be 2 to 30");
    said(RollbackSettings { players: 5, ..default() }, "players is 5, but must be 2 to 4");
    said(RollbackSettings { input_delay_ticks: 9, ..default() }, "at most max_prediction_ticks, 8");
    said(
        RollbackSettings { checksum_interval_ticks: 1, max_prediction_ticks: 20, ..default() },
        "checksums would be forgotten",
    );
    said(
        RollbackSettings { ticks_per_s: 2, silence_timeout: Duration::from_millis(1_500), ..default() },
        "at least five ticks, 2500 ms",
    );
}

/// Three players, the world of one of whom goes wrong at a tick.
fn faulty(odd: Option<usize>, at: Tick, stop_on_desync: bool) -> Driver<Rollback<Mixer>> {
    let settings = RollbackSettings { players: 3, stop_on_desync, ..settings(4) };
    let mut driver = Driver::new(MemoryNetwork::new(4, Weather::clear(ms(40))));
    for n in 0..3 {
        let fault = (odd == Some(n)).then_some(at);
        let build = move |seed| Mixer::new(seed, 64).with_fault(fault);
        driver.enter(rollback(settings.clone(), &format!("player {n}"), build));
    }
    // A peer that is out of step waits for its application to give evidence, which here never
    // comes.
    play(&mut driver, &mut Dice(4), secs(12) + EVIDENCE_GIVE_TIME);
    driver
}

#[test]
fn whose_world_goes_wrong_is_out_and_the_others_play_on() {
    // The turn of tick 104 goes wrong: 100 is still equal, 110 is not.
    let of = |player: usize| (PlayerId(player as u16), Tick(110), Some(Tick(100)));
    for odd in 0..3 {
        let driver = faulty(Some(odd), Tick(104), true);
        let others: Vec<_> = (0..3).filter(|seat| *seat != odd).collect();
        assert_eq!(desyncs(&driver, odd), others.iter().map(|seat| of(*seat)).collect::<Vec<_>>());
        assert_eq!(ended(&driver.seats[odd].session), Some(EndReason::Desync));
        let stats = driver.seats[odd].session.stats();
        assert!(stats.desyncs >= 2 && stats.acquitted == 0, "{odd}: {stats:?}");
        for seat in &others {
            let session = &driver.seats[*seat].session;
            assert!(playing(session), "{seat} goes on without {odd}");
            assert_eq!(desyncs(&driver, *seat), vec![of(odd)]);
            assert_eq!(session.simulation().expect("it plays").state.heroes.len(), 2);
            let stats = session.stats();
            assert!(stats.desyncs >= 1 && stats.acquitted == stats.desyncs, "{odd}: {stats:?}");
        }
        let [first, second] = [0, 1].map(|n| Played::of(&driver.seats[others[n]].events));
        assert!(assert_same(&first, &second, "the others") >= 20);
        // What both sides hold of it reaches the tick.
        assert!(Played::of(&driver.seats[odd].events).checksums.contains_key(&Tick(100)));
        assert!(first.checksums.contains_key(&Tick(110)));
    }
}

#[test]
fn of_two_players_whose_worlds_differ_the_one_goes_on_whom_a_replay_confirms() {
    for (odd, replays, goes_on) in [(0, true, 1), (1, true, 0), (0, false, 0), (1, false, 0)] {
        let settings = settings(4);
        let mut driver = Driver::new(MemoryNetwork::new(4, Weather::clear(ms(40))));
        for n in 0..2 {
            let fault = (odd == n).then_some(Tick(104));
            let build = move |seed| Mixer::new(seed, 64).with_fault(fault);
            driver.enter(rollback(settings.clone(), &format!("player {n}"), build));
        }
        let (mut dice, end) = (Dice(4), driver.now() + secs(12) + EVIDENCE_GIVE_TIME);
        while driver.now() < end {
            play(&mut driver, &mut dice, ms(200));
            for seat in driver.seats.iter_mut().filter(|_| replays) {
                let wanted = seat.events.iter().find_map(|event| match event {
                    Event::ReferenceWanted { tick, .. } => Some(*tick),
                    _ => None,
                });
                if let Some(tick) = wanted {
                    seat.session.give_reference(tick, Some(replayed(&seat.events, tick)));
                }
            }
        }
        let case = format!("{odd} is odd, replays: {replays}");
        assert!(playing(&driver.seats[goes_on].session), "{case}");
        let stats = driver.seats[goes_on].session.stats();
        assert_eq!((stats.acquitted > 0, stats.desyncs > 0), (replays, true), "{case}");
        assert_eq!(ended(&driver.seats[1 - goes_on].session), Some(EndReason::Desync), "{case}");
    }
}

/// The checksum at a tick of a sound world that is told the same turns.
fn replayed(events: &[Event<Mixer>], until: Tick) -> Checksum {
    let Some(Event::Started { seed, .. }) = events.first() else { panic!("it began: {:?}", events.first()) };
    let mut world = Mixer::new(*seed, 64);
    for event in events {
        if let Event::Turn { tick, turn } = event
            && *tick < until
        {
            (world.tick().0..tick.0).for_each(|_| world.step(&Turn::EMPTY));
            world.step(turn);
        }
    }
    (world.tick().0..until.0).for_each(|_| world.step(&Turn::EMPTY));
    world.checksum()
}

#[test]
fn a_difference_is_counted_and_told_once_if_nobody_is_to_stop() {
    let driver = faulty(Some(1), Tick(57), false);
    for seat in 0..3 {
        assert!(playing(&driver.seats[seat].session));
        let odd = if seat == 1 { 2 } else { 1 };
        assert_eq!(desyncs(&driver, seat).len(), odd, "seat {seat}");
        assert!(driver.seats[seat].session.stats().desyncs > 5);
    }
}

#[test]
fn without_a_fault_nothing_is_found() {
    let driver = faulty(None, Tick(0), true);
    for seat in 0..3 {
        assert_eq!(desyncs(&driver, seat), vec![]);
        assert!(driver.seats[seat].session.stats().checksums_compared >= 40);
    }
    assert!(in_step(&driver, 4) > 0);
}

#[test]
fn what_a_player_says_is_heard_by_all() {
    let mut driver = room(3, 3, Weather::clear(ms(50)), &settings(3));
    let mut dice = Dice(3);
    for seat in 0..3 {
        driver.seats[seat].session.say(&format!("I am {seat}")).expect("it plays");
    }
    play(&mut driver, &mut dice, secs(1));
    for seat in &driver.seats {
        let mut heard: Vec<_> = said(&seat.events).into_iter().map(|(_, text)| text).collect();
        heard.sort();
        assert_eq!(heard, ["I am 0", "I am 1", "I am 2"]);
    }
    let first = driver.peer(0);
    for _ in 0..100 {
        let bytes = wire::encode(Epoch(0), &Message::Say(ChatLine::new("buy gold").expect("a line")));
        lockstone_net::Link::send(&mut driver.seats[2].link, first, Channel::Reliable, bytes);
    }
    play(&mut driver, &mut dice, secs(1));
    let drops = driver.seats[0].session.stats().drops;
    assert!((80..100).contains(&drops.of(DropReason::ChatFlood)), "{drops:?}");
    in_step(&driver, 3);
}
