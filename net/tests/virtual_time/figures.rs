//! What sessions of each kind tell of their links, held against the weather that the test makes.

use core::time::Duration;

use lockstone_net::link::PeerId;
use lockstone_net::memory::{Driver, MemoryLink, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{DropReason, Event, Exchange, Stats, TrafficClass};
use lockstone_net::wire::{Echo, Epoch, Message, Stamp};
use lockstone_net::{Rollback, RollbackSettings};
use lockstone_sim::{Input, Simulation};
use testkit::relay::{STORM, Scene};
use testkit::seeds;
use testkit::sessions::rollback::{play, room, settings};
use testkit::sessions::tap::{Tap, altering};
use testkit::sessions::*;

const DELAY: Duration = ms(50);
const ROUGH: Weather = Weather { jitter: ms(10), loss_permille: 50, ..Weather::clear(DELAY) };

/// The exchanges with others that a peer tells of.
fn exchanges(stats: &Stats) -> Vec<Exchange> {
    stats.players.iter().filter_map(|player| player.exchange.clone()).chain(stats.host.clone()).collect()
}

fn party(weather: Weather, minutes: u64) -> (Vec<Stats>, usize) {
    let mut driver = session(3, &PartySettings::default(), DELAY);
    driver.network.set_weather(weather);
    play(&mut driver, &mut Dice(seeds::one(1)), secs(60 * minutes));
    (driver.seats.iter().map(|seat| seat.session.stats()).collect(), 4)
}

fn rollback(weather: Weather, minutes: u64) -> (Vec<Stats>, usize) {
    let mut driver = room(seeds::one(1), 3, weather, &settings(1));
    play(&mut driver, &mut Dice(seeds::one(1)), secs(60 * minutes));
    (driver.seats.iter().map(|seat| seat.session.stats()).collect(), 6)
}

fn relay(weather: Weather, minutes: u64) -> (Vec<Stats>, usize) {
    let mut scene = Scene::new(seeds::one(1), STORM, RelaySettings::default(), Weather::clear(DELAY));
    scene.blind = true;
    scene.enter_many(3);
    scene.run_until(secs(3));
    scene.driver.network.set_weather(weather);
    scene.play(secs(60 * minutes), 20);
    let replicas = scene.seats().map(|(_, seat)| seat.session.stats());
    (replicas.chain([scene.stats()]).collect(), 6)
}

/// Plays some minutes in a weather. Returns all seats' figures, and how many exchanges there must
/// be.
type PlayOfKind = fn(Weather, u64) -> (Vec<Stats>, usize);

const KINDS: [(&str, PlayOfKind); 3] = [("party", party), ("rollback", rollback), ("relay", relay)];

#[test]
fn round_trips_jitter_and_loss_are_those_of_the_weather() {
    for (kind, play) in KINDS {
        let (seats, count) = play(ROUGH, 4);
        let all: Vec<_> = seats.iter().flat_map(exchanges).collect();
        assert_eq!(all.len(), count, "{kind}");
        for exchange in all {
            let trip = exchange.round_trip.expect("it was measured");
            let loss = exchange.loss;
            println!("{kind}: {trip:?}, {loss:?}, {:.1} % lost", loss.share() * 100.0);
            // 50 to 60 ms each way: 110 on average, and told in whole milliseconds.
            assert!(trip.smoothed.abs_diff(ms(110)) < ms(8), "{kind}: {trip:?}");
            assert!(trip.last >= ms(100) && trip.last < ms(123), "{kind}: {trip:?}");
            // The sum of two even spreads of 10 ms is 3.3 ms from its mean on average.
            assert!(trip.jitter > ms(1) && trip.jitter < ms(8), "{kind}: {trip:?}");
            assert!(loss.expected > 300 && (0.02..0.08).contains(&loss.share()), "{kind}: {loss:?}");
            assert!(loss.recent_expected == 128 && loss.recent_share() < 0.16, "{kind}: {loss:?}");
        }
    }
}

#[test]
fn on_clear_weather_nothing_is_lost_and_nothing_stands_still() {
    for (kind, play) in KINDS {
        let (seats, _) = play(Weather::clear(DELAY), 1);
        for stats in &seats {
            assert_eq!(stats.stalls.count, 0, "{kind}: {:?}", stats.stalls);
            assert_eq!((stats.takeovers, stats.epoch, stats.away.len()), (0, Epoch(0), 0), "{kind}");
        }
        for exchange in seats.iter().flat_map(exchanges) {
            let trip = exchange.round_trip.expect("it was measured");
            assert_eq!((exchange.loss.lost, exchange.loss.recent_lost), (0, 0), "{kind}");
            assert!(trip.smoothed >= ms(100) && trip.smoothed < ms(102), "{kind}: {trip:?}");
            assert!(trip.jitter < ms(2), "{kind}: {trip:?}");
        }
    }
}

#[test]
fn what_is_sent_of_each_class_is_what_is_received() {
    let mut driver = session(2, &PartySettings::default(), DELAY);
    play(&mut driver, &mut Dice(1), secs(10));
    driver.seats[1].session.say("Here I am.").expect("it plays");
    // Nothing is under way just before a packet leaves.
    let [a, b] = loop {
        let until = driver.now() + ms(1);
        driver.run_until(until);
        let [a, b] = [0, 1].map(|seat| exchanges(&driver.seats[seat].session.stats()).remove(0).traffic);
        if a.total().packets_out == b.total().packets_in && b.total().packets_out == a.total().packets_in {
            break [a, b];
        }
    };
    for class in TrafficClass::ALL {
        let (a, b) = (a.of(class), b.of(class));
        assert_eq!((a.packets_out, a.bytes_out), (b.packets_in, b.bytes_in), "{}", class.name());
        assert_eq!((b.packets_out, b.bytes_out), (a.packets_in, a.bytes_in), "{}", class.name());
    }
    for class in [TrafficClass::Turns, TrafficClass::Reports, TrafficClass::Loading, TrafficClass::Chat] {
        assert!(a.of(class).packets_in + a.of(class).packets_out > 0, "{}", class.name());
    }
    for class in [TrafficClass::Evidence, TrafficClass::Election, TrafficClass::Distant] {
        assert_eq!(a.of(class), Default::default(), "{}", class.name());
    }
    let stats = driver.seats[0].session.stats();
    assert_eq!(stats.traffic, stats.traffic_by_class.total());
    assert_eq!(stats.traffic_by_class, a, "there is one other peer");
}

/// A seat's delay is what its events tell: from the tick at which it gave a command to the tick
/// after the turn that held it.
fn assert_delay(driver: &mut Driver<impl Session<Sim = Mixer>, MemoryLink>, seat: usize, is_final: bool) {
    let end = driver.now() + secs(2);
    driver.run_until(end);
    let before = driver.seats[seat].session.stats().delay;
    let own = driver.seats[seat].session.stats().player;
    let at = driver.seats[seat].session.simulation().expect("it plays").tick();
    driver.seats[seat].session.command(77).expect("it plays");
    let from = driver.seats[seat].events.len();
    let told = |driver: &Driver<_, MemoryLink>| {
        let events: &[Event<Mixer>] = &driver.seats[seat].events[from..];
        events.iter().find_map(|event| match event {
            Event::Turn { tick, turn } => {
                let is_own = |input: &Input<Mixer>| matches!(input, Input::Command(player, 77) if Some(*player) == own);
                turn.inputs.iter().any(is_own).then_some(*tick)
            }
            _ => None,
        })
    };
    driver.run_while(end + secs(2), |driver| told(driver).is_none());
    let turn = told(driver).expect("it was played");
    // A rollback session tells it when all know it, some ticks later.
    let now = driver.seats[seat].session.simulation().expect("it plays").tick();
    let delay = driver.seats[seat].session.stats().delay;
    assert_eq!(delay.commands, before.commands + 1);
    assert_eq!(delay.last_ticks, if is_final { turn.next().since(at) } else { now.since(at) }, "seat {seat}");
    assert!(delay.max_ticks >= delay.last_ticks && delay.mean_ticks() <= delay.max_ticks as f32);
    println!("seat {seat}: {delay:?}");
    assert!((1..10).contains(&delay.last_ticks));
}

#[test]
fn a_command_takes_as_many_ticks_as_its_turn_comes_later() {
    for seat in 0..3 {
        assert_delay(&mut session(3, &PartySettings::default(), DELAY), seat, true);
        assert_delay(&mut room(1, 3, Weather::clear(DELAY), &settings(1)), seat, false);
    }
}

/// What a replica, and who leads, tell of a cut of 3 s between them.
fn assert_stall(kind: &str, cut: &Stats, other: &Stats, time: core::ops::Range<Duration>) {
    println!("{kind}: {:?}, and {:?}", cut.stalls, other.stalls);
    assert_eq!(cut.stalls.count, 1, "{kind}: {:?}", cut.stalls);
    assert!(time.contains(&cut.stalls.time), "{kind}: {:?}", cut.stalls);
    assert_eq!(cut.stalls.longest, cut.stalls.time, "{kind}");
}

/// Nobody hears the last seat for a while.
fn cut(driver: &mut Driver<impl Session, MemoryLink>, time: Duration) {
    let peers: Vec<PeerId> = driver.seats.iter().map(|seat| seat.peer).collect();
    let (lonely, others) = peers.split_last().expect("there are seats");
    let (mended, settled) = (driver.now() + time, driver.now() + time + secs(3));
    others.iter().for_each(|other| driver.network.set_cut(*lonely, *other, true));
    driver.run_until(mended);
    others.iter().for_each(|other| driver.network.set_cut(*lonely, *other, false));
    driver.run_until(settled);
}

#[test]
fn a_cut_link_is_a_stall() {
    let mut driver: Driver<Party<Mixer>> = session(3, &PartySettings::default(), DELAY);
    cut(&mut driver, secs(3));
    let [leader, near, far] = [0, 1, 2].map(|seat| driver.seats[seat].session.stats());
    assert_stall("party", &far, &leader, ms(2_600)..ms(3_300));
    assert_eq!((leader.stalls.count, near.stalls.count), (0, 0), "nobody else notices");

    let mut driver: Driver<Rollback<Mixer>> = room(1, 2, Weather::clear(DELAY), &settings(1));
    cut(&mut driver, secs(1));
    let [first, second] = [0, 1].map(|seat| driver.seats[seat].session.stats());
    // The prediction goes on for 8 ticks.
    assert_stall("rollback", &first, &second, ms(450)..ms(900));
    assert_stall("rollback", &second, &first, ms(450)..ms(900));

    let mut scene = Scene::new(1, STORM, RelaySettings::default(), Weather::clear(DELAY));
    scene.blind = true;
    scene.enter_many(2);
    scene.run_until(secs(6));
    let (relay, replica) = (scene.peer(0), scene.peer(1));
    scene.driver.network.set_cut(relay, replica, true);
    scene.run_until(secs(9));
    let during = scene.seat(1).session.stats().stalls;
    assert!(during.count == 1 && during.time > secs(2), "a stall of now counts: {during:?}");
    scene.driver.network.set_cut(relay, replica, false);
    scene.run_until(secs(12));
    assert_stall("relay", &scene.seat(1).session.stats(), &scene.stats(), ms(2_600)..ms(3_400));
    assert_eq!((scene.stats().stalls.count, scene.seat(2).session.stats().stalls.count), (0, 0));
}

#[test]
fn a_peer_that_stands_still_itself_counts_no_stall() {
    let mut driver = session(3, &PartySettings::default(), DELAY);
    let wakes = driver.now() + secs(4);
    driver.seats[2].freeze(wakes);
    driver.run_until(wakes + secs(3));
    let stats = driver.seats[2].session.stats();
    assert_eq!(stats.stalls.count, 0, "{:?}", stats.stalls);
    assert!(stats.settled.since(driver.seats[0].session.stats().settled) == 0 && stats.settled.0 > 100);
}

#[test]
fn a_takeover_is_seen_by_all_who_are_left() {
    let mut driver = session(4, &PartySettings::default(), DELAY);
    driver.seats.remove(0);
    let until = driver.now() + secs(5);
    driver.run_until(until);
    for seat in &driver.seats {
        let stats = seat.session.stats();
        assert_eq!((stats.takeovers, stats.epoch), (1, Epoch(1)));
        assert_eq!(stats.stalls.count, u32::from(stats.stalls.time > Duration::ZERO), "{:?}", stats.stalls);
        assert!(stats.stalls.time < secs(2), "{:?}", stats.stalls);
    }
    let mut driver = room(1, 3, Weather::clear(DELAY), &settings(1));
    driver.seats.remove(0);
    let until = driver.now() + secs(5);
    driver.run_until(until);
    for seat in &driver.seats {
        assert_eq!((seat.session.stats().takeovers, seat.session.stats().epoch), (1, Epoch(1)));
    }
}

/// Lets a peer lie in what its packets say of themselves.
fn lie(message: &mut Message, stamp: Stamp) {
    match message {
        Message::Turns(turns) => turns.stamp = stamp,
        Message::Frames(frames) => frames.stamp = stamp,
        Message::Report(report) => report.stamp = stamp,
        Message::Inputs(inputs) => inputs.stamp = stamp,
        _ => {}
    }
}

/// A peer that echoes what was never sent, says that it held it for longer than time has passed,
/// and leaps in its numbers: what is told of it stays within what can be.
#[test]
fn lies_of_echoes_and_numbers_give_no_absurd_figures() {
    let stamps: [fn(u32) -> Stamp; 4] = [
        |n| Stamp { number: n, echo: Some(Echo { number: n.wrapping_mul(0x9e37_79b9), held_ms: 0 }) },
        |n| Stamp { number: n, echo: Some(Echo { number: n / 2, held_ms: u16::MAX }) },
        |n| Stamp { number: n.wrapping_mul(1 << 25), echo: Some(Echo { number: u32::MAX, held_ms: 1 }) },
        |n| Stamp { number: u32::MAX - n % 2, echo: None },
    ];
    for (which, stamp) in stamps.into_iter().enumerate() {
        for liar in 0..2 {
            let parties = (0..2).map(|n| testkit::sessions::party(PartySettings::default(), &format!("player {n}")));
            let mut driver = gather(1, Weather::clear(DELAY), parties, |_, link| Tap::idle(link));
            let mut n = 1_000;
            driver.seats[liar].link.set(altering(move |_, message| {
                n += 1;
                lie(message, stamp(n));
            }));
            let until = driver.now() + secs(20);
            driver.run_until(until);
            let stats = driver.seats[1 - liar].session.stats();
            for exchange in exchanges(&stats) {
                let (trip, loss) = (exchange.round_trip.unwrap_or_default(), exchange.loss);
                println!("{which}, {liar}: {trip:?}, {loss:?}");
                assert!(trip.smoothed <= secs(20) && trip.jitter <= secs(20), "{which}: {trip:?}");
                assert!(loss.lost <= loss.expected && loss.recent_lost <= loss.recent_expected, "{which}: {loss:?}");
                assert!(loss.expected < 3_000 * 500 && loss.recent_expected <= 128, "{which}: {loss:?}");
                assert!((0.0..=1.0).contains(&loss.share()) && (0.0..=1.0).contains(&loss.recent_share()));
            }
            let repeated = stats.drops.of(DropReason::Replayed);
            assert!(which != 3 || repeated > 10 || stats.players.len() < 2, "numbers that come twice are no packets");
        }
    }
}

#[test]
fn rollback_players_lie_in_vain_too() {
    let mut driver =
        testkit::sessions::rollback::room_by(1, 2, Weather::clear(DELAY), &RollbackSettings::default(), |_, link| {
            Tap::idle(link)
        });
    driver.seats[1].link.set(altering(|_, message| {
        if let Message::Inputs(inputs) = message {
            inputs.stamp.echo = Some(Echo { number: u32::MAX, held_ms: u16::MAX });
            *inputs = inputs.clone().sealed(Epoch(0));
        }
    }));
    let until = driver.now() + secs(5);
    driver.run_until(until);
    let exchange = exchanges(&driver.seats[0].session.stats()).remove(0);
    assert!(exchange.rtt().is_some_and(|rtt| rtt < ms(150)), "what was measured before stays: {exchange:?}");
}
