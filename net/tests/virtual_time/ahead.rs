//! Looking ahead: the own hero answers at once, and nothing that is played or sent changes.

use core::time::Duration;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lockstone_net::Party;
use lockstone_net::limits::LOOK_AHEAD_TICKS_MAX;
use lockstone_net::link::Link;
use lockstone_net::memory::{Driver, MemoryLink, MemoryNetwork, Seat, Weather};
use lockstone_net::party::PartySettings;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{AheadStats, Phase, Transmit};
use lockstone_net::wire::{CellBytes, RawGiven};
use lockstone_sim::{Simulation, Tick, mix64};
use testkit::relay::{STORM, Scene};
use testkit::seeds;
use testkit::sessions::tap::{Tap, altering, each_frame};
use testkit::sessions::*;
use testkit::storm::STURDY;

const ROUND_TRIPS_MS: [u64; 3] = [20, 100, 300];
const PERIOD: Duration = ms(50);
/// A click so shortly before a tick may have to wait for the one after it.
const LATE: Duration = ms(11);

/// Visits a seat as any driver does, and looks ahead.
fn looking<T: Session, L: Link>(seat: &mut Seat<T, L>, now: Duration) {
    seat.visit(now);
    seat.session.look_ahead(u32::MAX);
    if let (Some(seen), Some(confirmed)) = (seat.session.simulation(), seat.session.confirmed()) {
        assert_eq!(confirmed.tick(), seat.session.settled());
        assert!(seen.tick() >= confirmed.tick(), "it never looks back");
        assert!(seen.tick().since(confirmed.tick()) <= LOOK_AHEAD_TICKS_MAX);
    }
}

/// Runs until a seat has played its next turn.
fn next_tick<T: Session, L: Link, H: Session>(driver: &mut Driver<T, L, H>, seat: usize) {
    let before = driver.seats[seat].session.settled();
    let end = driver.now() + secs(5);
    assert!(driver.run_while(end, |driver| driver.seats[seat].session.settled() == before), "it stands still");
}

fn hero(session: &Party<Mixer>) -> u64 {
    let player = session.stats().player.expect("it was let in");
    session.simulation().expect("it plays").state.heroes[&player]
}

fn ahead(session: &impl Session) -> AheadStats {
    session.stats().ahead.expect("it looks ahead")
}

/// A party of three that looks ahead, and knows its lines: its input delay has followed them.
fn party_of_three(rtt_ms: u64) -> Driver<Party<Mixer>> {
    let mut driver = session(3, &PartySettings::default(), ms(rtt_ms / 2));
    driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
    let until = driver.now() + secs(30);
    driver.run_until(until);
    driver
}

/// Commands that are given just after a tick are seen in the next one, and played.
fn assert_answers(driver: &mut Driver<Party<Mixer>>, seat: usize, context: &str) {
    for n in 0..5 {
        next_tick(driver, seat);
        let before = hero(&driver.seats[seat].session);
        driver.seats[seat].session.command(n).expect("it plays");
        next_tick(driver, seat);
        assert_eq!(hero(&driver.seats[seat].session), mix64(before ^ n), "{context}: seat {seat}, command {n}");
    }
    let (seen, until) = (hero(&driver.seats[seat].session), driver.now() + secs(1));
    driver.run_until(until);
    let session = &driver.seats[seat].session;
    assert_eq!((hero(session), session.stats().commands_pending), (seen, 0), "{context}: seat {seat}");
}

#[test]
fn in_a_party_the_own_hero_answers_in_the_next_tick() {
    for rtt_ms in ROUND_TRIPS_MS {
        let mut driver = party_of_three(rtt_ms);
        for (seat, n) in (0..20).flat_map(|n| (0..3).map(move |seat| (seat, n))) {
            next_tick(&mut driver, seat);
            let before = hero(&driver.seats[seat].session);
            driver.seats[seat].session.command(n).expect("it plays");
            next_tick(&mut driver, seat);
            assert_eq!(hero(&driver.seats[seat].session), mix64(before ^ n), "seat {seat} at {rtt_ms} ms, command {n}");
            let until = driver.now() + ms(7 * n + 13 * seat as u64);
            driver.run_until(until);
        }
        for seat in &driver.seats {
            let stats = ahead(&seat.session);
            println!("{rtt_ms} ms: {stats:?}");
            assert!(stats.compared > 250 && stats.corrections == 0, "at {rtt_ms} ms: {stats:?}");
        }
    }
}

#[test]
fn a_click_at_any_moment_is_answered_in_a_tick() {
    for rtt_ms in ROUND_TRIPS_MS {
        let (mut driver, mut dice, mut longest) = (party_of_three(rtt_ms), Dice(rtt_ms), Duration::ZERO);
        for n in 0..60 {
            for seat in 0..3 {
                let until = driver.now() + ms(200 + dice.roll(300));
                driver.run_until(until);
                let (before, at) = (hero(&driver.seats[seat].session), driver.now());
                driver.seats[seat].session.command(n).expect("it plays");
                driver.run_while(at + secs(1), |driver| hero(&driver.seats[seat].session) == before);
                assert_eq!(hero(&driver.seats[seat].session), mix64(before ^ n));
                // What clicks need is learned by a few.
                longest = longest.max(if n < 10 { Duration::ZERO } else { driver.now() - at });
            }
        }
        println!("{rtt_ms} ms: answered after {longest:?} at most");
        assert!(longest <= PERIOD + LATE, "{longest:?}");
    }
}

#[test]
fn a_click_is_answered_in_a_tick_also_while_the_input_delay_changes() {
    for rtt_ms in [20, 300] {
        let play = |input_delay_ticks| {
            let settings = PartySettings { input_delay_ticks, ..PartySettings::default() };
            let mut driver = session(3, &settings, ms(rtt_ms / 2));
            driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
            let until = driver.now() + secs(6);
            driver.run_until(until);
            let (mut dice, mut longest) = (Dice(rtt_ms), Duration::ZERO);
            for n in 0..120 {
                let (seat, until) = (n as usize % 3, driver.now() + ms(100 + dice.roll(200)));
                driver.run_until(until);
                let (before, at) = (hero(&driver.seats[seat].session), driver.now());
                driver.seats[seat].session.command(n).expect("it plays");
                driver.run_while(at + secs(1), |driver| hero(&driver.seats[seat].session) == before);
                // What clicks need is learned by a few.
                longest = longest.max(if n < 30 { Duration::ZERO } else { driver.now() - at });
            }
            let corrections: Vec<_> = driver.seats.iter().map(|seat| ahead(&seat.session).corrections).collect();
            (driver.seats[0].session.stats().input_delay_ticks, longest, corrections)
        };
        let ((fixed, _, before), (ticks, longest, corrections)) = (play(Some(3)), play(None));
        println!(
            "{rtt_ms} ms, to {ticks:?} ticks: {longest:?} at most; corrections {corrections:?}, before {before:?}"
        );
        assert_ne!(ticks, fixed);
        assert!(longest <= PERIOD + LATE, "{rtt_ms} ms: {longest:?}");
        for (corrections, before) in corrections.iter().zip(before) {
            assert!(
                *corrections <= before + 10,
                "at {rtt_ms} ms: {corrections} corrections, {before} with a fixed one"
            );
        }
    }
}

#[test]
fn in_a_relay_session_the_own_hero_answers_in_the_next_tick() {
    for rtt_ms in ROUND_TRIPS_MS {
        let mut scene = Scene::new(4, STORM, RelaySettings::default(), Weather::clear(ms(rtt_ms / 2)));
        scene.enter_many(3);
        scene.driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
        scene.run_until(secs(3));
        // No portal takes them away from now on.
        scene.driver.seats.iter_mut().for_each(|seat| seat.session.command((0, STURDY)).expect("it plays"));
        scene.run_until(secs(8));
        for n in 0..30 {
            for seat in 0..3 {
                next_tick(&mut scene.driver, seat);
                let to = (n as u16, seat as u16 | STURDY);
                scene.driver.seats[seat].session.command(to).expect("it plays");
                next_tick(&mut scene.driver, seat);
                let session = &scene.driver.seats[seat].session;
                let player = session.stats().player.expect("it was let in");
                let world = session.simulation().expect("it plays");
                let hero = world.hero(player).expect("it is in the world");
                let at = (hero.body.heading.x.floor(), hero.body.heading.y.floor());
                assert_eq!(at, (i32::from(n as u16), i32::from(seat as u16)), "seat {seat} at {rtt_ms} ms");
            }
            let until = scene.driver.now() + ms(90 + n);
            // Every confirmed core is what the relay has.
            scene.run_until(until);
        }
        assert!(scene.ticks_compared > 100 && scene.cells_compared > 1_000);
        for seat in &scene.driver.seats {
            println!("relay, {rtt_ms} ms: {:?}", ahead(&seat.session));
        }
        let relay = scene.relay();
        assert_eq!(relay.stats().ahead, None, "whose own commands are played at once");
    }
}

/// What a seat sent.
type Packets = Rc<RefCell<Vec<Transmit>>>;

fn keeping(packets: &Packets) -> impl FnMut(Transmit) -> Option<Transmit> + 'static {
    let packets = packets.clone();
    move |packet| {
        packets.borrow_mut().push(packet.clone());
        Some(packet)
    }
}

const BAD: Weather = Weather { jitter: ms(40), loss_permille: 50, reorder_permille: 50, ..Weather::clear(ms(60)) };

#[test]
fn a_party_plays_tells_and_sends_the_same_whoever_looks_ahead() {
    seeds::each("-p lockstone-net --test virtual_time ahead::", 5, |seed| {
        let play = |looks: bool| {
            let packets: Vec<_> = (0..4).map(|_| Packets::default()).collect();
            let settings = PartySettings { seed, players_at_start: 4, ..PartySettings::default() };
            let parties = (0..4).map(|n| party(settings.clone(), &format!("player {n}")));
            let mut driver = gather(seed, BAD, parties, |n, link| Tap::new(link, keeping(&packets[n])));
            if looks {
                driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
            }
            let mut dice = Dice(seed);
            for second in 0..40 {
                let until = driver.now() + ms(dice.roll(500));
                driver.run_until(until);
                let _ = driver.seats[dice.roll(4) as usize].session.command(dice.roll(1 << 40));
                if second == 20 {
                    driver.seats[0].freeze(Duration::MAX);
                }
            }
            let told: Vec<_> = driver.seats.iter().map(|seat| format!("{:?}", seat.events)).collect();
            let stats: Vec<_> = driver.seats.iter().map(|seat| seat.session.stats()).collect();
            (told, packets, stats)
        };
        let ((told, packets, stats), (told_ahead, packets_ahead, stats_ahead)) = (play(false), play(true));
        assert!(told == told_ahead, "seed {seed}: other events");
        for (seat, (one, other)) in packets.iter().zip(&packets_ahead).enumerate() {
            let (one, other) = (one.borrow(), other.borrow());
            assert!(*one == *other, "seed {seed}: seat {seat} sends other packets");
            assert!(one.len() > 20, "seed {seed}: seat {seat} sends few packets, {}", one.len());
        }
        for (one, other) in stats.into_iter().zip(stats_ahead) {
            assert!(one.ahead.is_none() && other.ahead.is_some_and(|ahead| ahead.compared > 50));
            assert_eq!(one, lockstone_net::session::Stats { ahead: None, tick: one.tick, ..other });
        }
    });
}

#[test]
fn a_relay_and_its_replicas_play_and_send_the_same_whoever_looks_ahead() {
    seeds::each("-p lockstone-net --test virtual_time ahead::", 3, |seed| {
        let play = |looks: bool| {
            let packets: Vec<_> = (0..5).map(|_| Packets::default()).collect();
            let mut scene = Scene::new(seed, STORM, RelaySettings::default(), BAD);
            scene.enter_many(4);
            (0..5).for_each(|seat| scene.meddle(seat, keeping(&packets[seat])));
            if looks {
                scene.driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
            }
            scene.play(secs(30), 100);
            let told: Vec<_> = scene.driver.seats.iter().map(|seat| format!("{:?}", seat.events)).collect();
            let looked = scene.driver.seats.iter().all(|seat| seat.session.stats().ahead.is_some());
            assert_eq!(looked, looks);
            (told, packets)
        };
        let ((told, packets), (told_ahead, packets_ahead)) = (play(false), play(true));
        assert!(told == told_ahead, "seed {seed}: other events");
        assert!(packets == packets_ahead, "seed {seed}: other packets");
        assert!(packets.iter().all(|packets| packets.borrow().len() > 50));
    });
}

#[test]
fn the_sequencer_sees_now_what_will_be_confirmed() {
    let (mut driver, mut dice, mut seen) = (party_of_three(100), Dice(3), BTreeMap::<Tick, _>::new());
    let mut compared = 0;
    for _ in 0..400 {
        next_tick(&mut driver, 0);
        if dice.roll(10) == 0 {
            driver.seats[dice.roll(3) as usize].session.command(dice.roll(1 << 40)).expect("it plays");
        }
        let session = &driver.seats[0].session;
        let state = |world: Option<&Mixer>| world.map(|world| world.state.clone()).expect("it plays");
        seen.insert(session.stats().tick, state(session.simulation()));
        if let Some(seen) = seen.get(&session.settled()) {
            assert_eq!(*seen, state(session.confirmed()));
            compared += 1;
        }
    }
    assert!(compared > 350, "{compared}");
}

/// Nobody gives commands for a while. Then everybody sees what is confirmed.
fn assert_nothing_is_stale(driver: &mut Driver<Party<Mixer>>, seats: &[usize], context: &str) {
    let until = driver.now() + secs(3);
    driver.run_until(until);
    for seat in seats {
        let session = &driver.seats[*seat].session;
        assert_eq!(session.phase(), Phase::Playing, "{context}: {seat}");
        let (seen, confirmed) = (session.simulation().expect("it plays"), session.confirmed().expect("it plays"));
        assert!(seen.tick() > confirmed.tick(), "{context}: {seat} looks ahead");
        assert_eq!(seen.state.heroes, confirmed.state.heroes, "{context}: {seat}");
    }
}

#[test]
fn who_takes_over_and_who_loads_anew_keep_no_stale_prediction() {
    seeds::each("-p lockstone-net --test virtual_time ahead::", 10, |seed| {
        let mut driver = session(5, &PartySettings::default(), ms(50));
        driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
        let mut dice = Dice(seed);
        let mut play = |driver: &mut Driver<Party<Mixer>>, seats: &[usize]| {
            for _ in 0..20 {
                let until = driver.now() + ms(dice.roll(200));
                driver.run_until(until);
                let seat = seats[dice.roll(seats.len() as u64) as usize];
                let _ = driver.seats[seat].session.command(dice.roll(1 << 40));
            }
        };
        play(&mut driver, &[0, 1, 2, 3, 4]);
        let (few, many) = ([0, 1], [2, 3, 4]);
        let cut = |driver: &Driver<Party<Mixer>>, cut: bool| {
            for (a, b) in few.iter().flat_map(|a| many.iter().map(move |b| (*a, *b))) {
                driver.network.set_cut(driver.peer(a), driver.peer(b), cut);
            }
        };
        cut(&driver, true);
        // What the few have given here is on its way for long.
        play(&mut driver, &[0, 1, 2, 3, 4]);
        let until = driver.now() + secs(2);
        driver.run_until(until);
        play(&mut driver, &many);
        assert_nothing_is_stale(&mut driver, &many, &format!("seed {seed}, another leads"));
        // One of them leads.
        many.iter().for_each(|seat| assert_answers(&mut driver, *seat, &format!("seed {seed}, another leads")));
        cut(&driver, false);
        let until = driver.now() + secs(5);
        driver.run_until(until);
        play(&mut driver, &many);
        assert_nothing_is_stale(&mut driver, &[0, 1, 2, 3, 4], &format!("seed {seed}, together again"));
        for seat in 0..5 {
            assert_answers(&mut driver, seat, &format!("seed {seed}, together again"));
        }
    });
}

#[test]
fn it_looks_no_farther_than_it_may_and_not_at_all_unless_asked() {
    let mut driver = session(2, &PartySettings::default(), ms(150));
    let until = driver.now() + secs(6);
    driver.run_until(until);
    assert_eq!(driver.seats[1].session.stats().ahead, None);
    for (ticks_max, ahead) in [(u32::MAX, 7), (3, 3), (0, 0)] {
        for _ in 0..200 {
            next_tick(&mut driver, 1);
            let session = &mut driver.seats[1].session;
            assert_eq!(session.simulation().map(Simulation::tick), Some(session.settled()), "nothing is left over");
            session.look_ahead(ticks_max);
            assert_eq!(session.look_ahead(ticks_max), 0, "once a tick");
        }
        let session = &driver.seats[1].session;
        assert_eq!(session.stats().tick, session.settled().plus(ahead), "of at most {ticks_max}");
    }
}

#[test]
fn what_a_false_relay_gives_is_looked_at_without_harm() {
    seeds::each("-p lockstone-net --test virtual_time ahead::", 5, |seed| {
        let mut scene = Scene::new(seed, STORM, RelaySettings::default(), Weather::clear(ms(50)));
        scene.blind = true;
        scene.enter_many(4);
        scene.driver.seats.iter_mut().for_each(|seat| seat.visit_by = looking);
        scene.run_until(secs(5));
        let looked =
            |scene: &Scene| -> u64 { scene.driver.seats.iter().map(|seat| ahead(&seat.session).compared).sum() };
        let before = looked(&scene);
        let mut dice = Dice(seed);
        let garbled = Rc::new(RefCell::new(0));
        let count = garbled.clone();
        scene.meddle(
            0,
            altering(move |_, message| {
                each_frame(message, |_, frame| {
                    let mut given = frame.given.to_vec();
                    for one in &mut given {
                        let (RawGiven::Cell(_, bytes) | RawGiven::Change(_, bytes)) = one else { continue };
                        let mut other = bytes.to_vec();
                        if dice.roll(20) == 0 && !other.is_empty() {
                            let at = dice.roll(other.len() as u64) as usize;
                            other[at] ^= dice.roll(255) as u8 + 1;
                            *bytes = CellBytes::new(other);
                            *count.borrow_mut() += 1;
                        }
                    }
                    frame.given = list(given);
                });
            }),
        );
        scene.play(secs(20), 200);
        let (garbled, looked) = (*garbled.borrow(), looked(&scene) - before);
        assert!(garbled > 20 && looked > 50, "seed {seed}: {garbled} garbled, {looked} ticks looked at");
    });
}

/// The control: a world that keeps a number to itself cannot be predicted.
#[test]
fn a_wrong_prediction_is_counted() {
    let hides = |seed| {
        let mut hidden = 0;
        Mixer::new(seed, 64).with(move |state, _| {
            hidden += 1;
            state.heroes.values_mut().for_each(|hero| *hero ^= hidden);
        })
    };
    let mut driver: Driver<Party<Mixer>, MemoryLink> = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(50))));
    driver.enter(party_of(PartySettings::default(), IDENTITY, "alone", hides));
    driver.seats[0].visit_by = looking;
    driver.run_until(secs(10));
    let stats = ahead(&driver.seats[0].session);
    assert!(stats.compared > 180 && stats.corrections > stats.compared / 2, "{stats:?}");
}
