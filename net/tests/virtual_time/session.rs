//! Parties on a fair network: in step, joining, leaving, and what it costs.

use core::time::Duration;

use lockstone_net::link::Channel;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{DropReason, Phase, SayError, Session};
use lockstone_net::wire::{self, ChatLine, Epoch, Message};
use lockstone_sim::mix64;
use testkit::sessions::*;

#[test]
fn two_peers_play_in_step() {
    let mut driver = session(2, &PartySettings::default(), ms(50));
    for n in 0..40 {
        let seat = n as usize % 2;
        driver.seats[seat].session.command(n).expect("it plays");
        let until = driver.now() + ms(170);
        driver.run_until(until);
    }
    let until = driver.now() + secs(2);
    driver.run_until(until);
    let [a, b] = [0, 1].map(|seat| Played::of(&driver.seats[seat].events));
    assert!(assert_same(&a, &b, "two peers") >= 14);
    let stats = driver.seats.iter().map(|seat| seat.session.stats()).collect::<Vec<_>>();
    for (seat, stats) in driver.seats.iter().zip(&stats) {
        assert!(seat.session.player().is_some() && seat.session.player() == stats.player);
        assert_eq!(stats.desyncs, 0);
        assert!(stats.checksums_compared >= 14, "{stats:?}");
        assert_eq!(stats.commands_sent, 20);
        assert_eq!(stats.commands_pending, 0);
        assert_eq!(stats.drops.total(), stats.drops.of(DropReason::Replayed));
    }
    let commands: usize = a.turns.values().map(|turn| turn.inputs.len()).sum();
    assert!(commands >= 42, "{commands} inputs: two joins and forty commands");
}

/// The bar: 8 peers, 20 ticks a second, one command of 6 bytes each a second, 50 ms one way, no
/// loss. ggrs 0.13 needs about 109 KB/s and 2,200 packets a second for the same; 20 and 15 times
/// less is asked for.
#[test]
fn traffic_of_eight_peers_is_small() {
    let mut driver = session(8, &PartySettings::default(), ms(50));
    let before = driver.network.carried_in_all();
    let start = driver.now();
    for n in 0..8 * 60 {
        let seat = n as usize % 8;
        // As random as people are, but a second apart for each.
        let at = start + secs(n / 8) + ms(seat as u64 * 125 + mix64(seat as u64) % 100);
        driver.run_until(at);
        driver.seats[seat].session.command(1 << 31 | n).expect("it plays");
    }
    driver.run_until(start + secs(60));
    let after = driver.network.carried_in_all();
    let (bytes, packets) = ((after.bytes - before.bytes) / 60, (after.packets - before.packets) / 60);
    println!("8 peers: {bytes} payload bytes/s and {packets} packets/s in all");
    assert!(bytes < 4_000, "{bytes} bytes/s");
    assert!(packets < 110, "{packets} packets/s");
}

#[test]
fn an_idle_replica_sends_at_most_four_packets_a_second() {
    let mut driver = session(3, &PartySettings::default(), ms(20));
    let until = driver.now() + secs(2);
    driver.run_until(until);
    let [founder, a, b] = [0, 1, 2].map(|seat| driver.peer(seat));
    let count = |driver: &Driver<Party<Mixer>>, from, to| driver.network.carried(from, to).packets;
    let before = [(a, founder), (b, founder), (founder, a), (a, b)].map(|(from, to)| count(&driver, from, to));
    let until = driver.now() + secs(60);
    driver.run_until(until);
    let after = [(a, founder), (b, founder), (founder, a), (a, b)].map(|(from, to)| count(&driver, from, to));
    let rates: Vec<_> = before.iter().zip(after).map(|(before, after)| (after - before) as f64 / 60.0).collect();
    println!("packets a second: replicas {} and {}, sequencer to one {}", rates[0], rates[1], rates[2]);
    assert!(rates[0] <= 4.0 && rates[1] <= 4.0);
    // Every 2 ticks of 50 ms.
    assert!(rates[2] <= 10.0);
    assert_eq!(rates[3], 0.0, "replicas have nothing to say to each other");
}

#[test]
fn a_command_plays_everywhere_at_one_tick_and_soon() {
    let mut driver = session(3, &PartySettings::default(), ms(50));
    let until = driver.now() + secs(6);
    driver.run_until(until);
    for seat in 0..3 {
        driver.seats.iter_mut().for_each(|seat| seat.events.clear());
        let sent = driver.now();
        driver.seats[seat].session.command(99).expect("it plays");
        let mut played = [None; 3];
        driver.run_while(sent + secs(2), |driver| {
            for (n, seat) in driver.seats.iter().enumerate() {
                let tick = Played::of(&seat.events).turns.keys().next().copied();
                played[n] = played[n].or(tick.map(|tick| (tick, driver.now() - sent)));
            }
            played.iter().any(Option::is_none)
        });
        let played = played.map(|played| played.expect("it plays everywhere"));
        println!("command of seat {seat}: {played:?}");
        assert!(played.iter().all(|(tick, _)| *tick == played[0].0), "{played:?}");
        let one_way = if seat == 0 { ms(0) } else { ms(50) };
        // The delay, the wait for the open tick, one way back at most, and the playout's margin.
        let bound = one_way + ms(50) * 3 + ms(50) + ms(50) + ms(30);
        assert!(played.iter().all(|(_, after)| *after <= bound), "{played:?}");
    }
}

#[test]
fn the_founder_holds_tick_0_until_all_are_there() {
    let settings = PartySettings { players_at_start: 3, ..PartySettings::default() };
    let mut driver = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(50))));
    driver.enter(party(settings.clone(), "founder"));
    driver.run_until(secs(5));
    driver.enter(party(settings.clone(), "second"));
    driver.run_until(secs(60));
    assert_eq!(driver.seats[0].session.phase(), Phase::Waiting { players: 2, needed: 3 });
    assert_eq!(driver.seats[0].session.stats().tick.0, 0);
    driver.enter(party(settings, "third"));
    driver.run_until(secs(65));
    for seat in &driver.seats {
        let first = Played::of(&seat.events).turns.into_iter().next().expect("all joined");
        assert_eq!((first.0.0, first.1.inputs.len()), (0, 3), "all enter at tick 0");
        assert!(seat.session.stats().tick.0 >= 80);
    }
}

/// Ordinary lines: how evenly a replica plays, and how far behind the sequencer's own time. It can
/// be ahead of it, because turns are closed an input delay early.
#[test]
fn play_is_even_and_close_on_ordinary_lines() {
    let line =
        |delay, jitter, loss_permille| Weather { jitter: ms(jitter), loss_permille, ..Weather::clear(ms(delay)) };
    let lines = [
        ("20 ms, 5 ms jitter", line(20, 5, 0), 99, 0),
        ("40 ms, 30 ms jitter, 1 % loss", line(40, 30, 10), 95, 100),
        ("80 ms, 60 ms jitter, 5 % loss", line(80, 60, 50), 93, 250),
    ];
    for (line, weather, even_percent_min, lag_ms_max) in lines {
        let mut driver = session(2, &PartySettings::default(), ms(20));
        driver.network.set_weather(weather);
        let until = driver.now() + secs(10);
        driver.run_until(until);
        let (gaps, mut lags) = pace(&mut driver, secs(120));
        lags.sort_unstable();
        let even = gaps.iter().filter(|gap| (44..=57).contains(*gap)).count() * 100 / gaps.len();
        let (median, p99) = (lags[lags.len() / 2], lags[lags.len() * 99 / 100]);
        let longest = gaps.iter().max().expect("ticks");
        println!("{line}: {even} % of ticks even, lag median {median} ms, 99 % {p99} ms, longest gap {longest} ms");
        assert!(even >= even_percent_min, "{line}: {even} % even");
        assert!(p99 <= lag_ms_max, "{line}: {p99} ms behind");
    }
}

/// Between the ticks of seat 1, and how far each is behind the sequencer's time, in milliseconds.
fn pace(driver: &mut Driver<Party<Mixer>>, time: Duration) -> (Vec<i64>, Vec<i64>) {
    let millis = |time: Duration| time.as_millis() as i64;
    let tick = |driver: &Driver<Party<Mixer>>, seat: usize| driver.seats[seat].session.stats().tick;
    let start = millis(driver.now()) - i64::from(tick(driver, 0).0) * 50;
    let (mut last, mut gaps, mut lags) = ((tick(driver, 1), driver.now()), Vec::new(), Vec::new());
    let end = driver.now() + time;
    driver.run_while(end, |driver| {
        let now = (tick(driver, 1), driver.now());
        if now.0 != last.0 {
            gaps.push(millis(now.1 - last.1));
            lags.push(millis(now.1) - start - i64::from(now.0.0) * 50);
            last = now;
        }
        true
    });
    (gaps, lags)
}

/// At an interval as long as the delay, the sequencer says least.
#[test]
fn the_idle_rate_of_the_sequencer_is_bounded_by_the_input_delay() {
    for (delay_ticks, rate_max) in [(1, 20.0), (3, 6.7), (6, 3.4)] {
        let settings = PartySettings {
            input_delay_ticks: Some(delay_ticks),
            packet_interval_ticks: delay_ticks,
            ..PartySettings::default()
        };
        let mut driver = session(2, &settings, ms(20));
        let [founder, replica] = [0, 1].map(|seat| driver.peer(seat));
        let before = driver.network.carried(founder, replica).packets;
        let until = driver.now() + secs(60);
        driver.run_until(until);
        let rate = (driver.network.carried(founder, replica).packets - before) as f64 / 60.0;
        assert!(rate <= rate_max, "{rate} packets a second at a delay of {delay_ticks} ticks");
    }
}

#[test]
fn what_a_player_says_is_heard_by_all_in_the_same_order() {
    let mut driver = session(3, &PartySettings::default(), ms(50));
    for round in 0..5 {
        for seat in 0..3 {
            driver.seats[seat].session.say(&format!("{seat} says {round}")).expect("it plays");
        }
        let until = driver.now() + secs(1);
        driver.run_until(until);
    }
    let [founder, a, b] = [0, 1, 2].map(|seat| said(&driver.seats[seat].events));
    assert_eq!(founder.len(), 15);
    assert_eq!((&a, &b), (&founder, &founder));
    let refused = (0..10).filter(|_| driver.seats[1].session.say("again") == Err(SayError::TooOften)).count();
    assert_eq!(refused, 7);
    assert_eq!(driver.seats[0].session.say("\u{7}"), Err(SayError::Text));
}

#[test]
fn who_is_not_in_the_world_says_nothing_and_who_says_too_much_is_held_back() {
    let mut driver = session(3, &PartySettings::default(), ms(50));
    let (founder, late) = (driver.peer(0), driver.enter(party(PartySettings::default(), "late")));
    assert_eq!(driver.seats[late].session.say("hello?"), Err(SayError::NotPlaying));
    let line = ChatLine::new("buy gold").expect("a line");
    for seat in [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, late] {
        let bytes = wire::encode(Epoch::default(), &Message::Say(line.clone()));
        lockstone_net::Link::send(&mut driver.seats[seat].link, founder, Channel::Reliable, bytes);
    }
    let until = driver.now() + secs(1);
    driver.run_until(until);
    let drops = driver.seats[0].session.stats().drops;
    assert_eq!((drops.of(DropReason::ChatFlood), drops.of(DropReason::UnknownPeer)), (8, 1), "{drops:?}");
    assert_eq!(said(&driver.seats[1].events).len(), 12);
}
