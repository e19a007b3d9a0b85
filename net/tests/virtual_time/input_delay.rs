//! The input delay of a party follows what turns take to its members, and nobody's ticks come less
//! regularly because of that.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::Session;
use lockstone_sim::Tick;
use testkit::seeds;
use testkit::sessions::rollback::{in_step, play};
use testkit::sessions::*;

type Room = Driver<Party<Mixer>>;

const PEERS: usize = 3;
/// Whoever has played for so long is abreast, and its jitter buffer knows its line.
const ABREAST: Duration = secs(6);
const SETTLED_WITHIN: Duration = secs(30);
/// Without jitter no tick comes sooner or later than that because of a change: a twentieth of its
/// time, and what times in milliseconds leave open.
const SLEWED: Duration = ms(3);
/// With jitter, more or less than without a change: a jitter buffer runs a tenth faster or slower.
const BUFFERED: Duration = ms(5);

fn fixed(ticks: u32) -> PartySettings {
    PartySettings { input_delay_ticks: Some(ticks), ..PartySettings::default() }
}

/// Three on such lines.
fn room(settings: &PartySettings, weather: Weather) -> Room {
    let parties = (0..PEERS).map(|n| party(settings.clone(), &format!("player {n}")));
    gather(seeds::one(1), weather, parties, |_, link| link)
}

fn delay(room: &Room, seat: usize) -> u32 {
    room.seats[seat].session.stats().input_delay_ticks.expect("it leads")
}

/// How a room played for a while.
struct Play {
    began: Duration,
    /// When each seat played its newest tick.
    last: Vec<(Tick, Duration)>,
    /// The shortest and the longest time between two ticks of each seat.
    paces: Vec<(Duration, Duration)>,
    /// By how much the latest of the others played its last ticks later than the first seat.
    late: Duration,
    /// The delays that the first seat had, and from when on.
    delays: Vec<(Duration, u32)>,
}

/// Runs for so long, and sees how.
fn watch(room: &mut Room, time: Duration) -> Play {
    let (began, end) = (room.now(), room.now() + time);
    let last: Vec<_> = room.seats.iter().map(|seat| (seat.session.settled(), began)).collect();
    let paces = vec![(Duration::MAX, Duration::ZERO); last.len()];
    let mut play = Play { began, last, paces, late: Duration::ZERO, delays: vec![(Duration::ZERO, delay(room, 0))] };
    let mut led = BTreeMap::new();
    room.run_while(end, |room| {
        for (n, seat) in room.seats.iter().enumerate() {
            let (before, at) = play.last[n];
            let tick = seat.session.settled();
            if tick == before {
                continue;
            }
            play.last[n] = (tick, room.now());
            // The first was seen in its midst.
            if at > play.began {
                let gap = if tick == before.next() { room.now() - at } else { Duration::ZERO };
                play.paces[n] = (play.paces[n].0.min(gap), play.paces[n].1.max(room.now() - at));
            }
            if n == 0 {
                led.insert(tick, room.now());
            } else if room.now() > end - secs(5) {
                let late = led.get(&tick).map_or(Duration::ZERO, |led| room.now() - *led);
                play.late = play.late.max(late);
            }
        }
        if play.delays[play.delays.len() - 1].1 != delay(room, 0) {
            play.delays.push((room.now() - began, delay(room, 0)));
        }
        true
    });
    play
}

/// How long a seat's commands take to be confirmed, on average.
fn way_of_commands(room: &mut Room, seat: usize, dice: &mut Dice) -> Duration {
    const COMMANDS: u32 = 40;
    let hero = |room: &Room| {
        let session = &room.seats[seat].session;
        session.confirmed().expect("it plays").state.heroes[&session.stats().player.expect("it plays")]
    };
    let ways = (0..COMMANDS).map(|n| {
        let until = room.now() + ms(300 + dice.roll(200));
        room.run_until(until);
        let (before, at) = (hero(room), room.now());
        room.seats[seat].session.command(n.into()).expect("it plays");
        assert!(room.run_while(at + secs(5), |room| hero(room) == before), "it is confirmed");
        room.now() - at
    });
    ways.sum::<Duration>() / COMMANDS
}

fn assert_in_step(room: &Room) {
    for seat in &room.seats {
        let stats = seat.session.stats();
        assert!(stats.desyncs == 0 && stats.checksums_compared > 10);
        assert_eq!(stats.stalls.count, 0, "nobody's world stands still");
    }
}

#[test]
fn everyone_can_play_a_turn_when_the_sequencer_does() {
    let ways = [(20, 0, 2..=2), (20, 30, 2..=3), (100, 0, 3..=3), (100, 30, 3..=4), (300, 0, 5..=5), (300, 30, 5..=6)];
    for (rtt_ms, jitter_ms, expected) in ways {
        let weather = Weather { jitter: ms(jitter_ms), ..Weather::clear(ms(rtt_ms / 2)) };
        let play = |settings: &PartySettings| {
            let mut room = room(settings, weather);
            // Paces count once all are abreast.
            let first = watch(&mut room, ABREAST);
            let mut play = watch(&mut room, secs(54));
            let later = play.delays.drain(1..).map(|(at, ticks)| (ABREAST + at, ticks));
            play.delays = first.delays.into_iter().chain(later).collect();
            assert_in_step(&room);
            let mut dice = Dice(rtt_ms);
            let ways = [0, 1].map(|seat| way_of_commands(&mut room, seat, &mut dice));
            (play, ways)
        };
        let ((before, ways_before), (play, ways)) = (play(&fixed(3)), play(&PartySettings::default()));
        println!("{rtt_ms} ms round trip, up to {jitter_ms} ms jitter: {:?}", play.delays);
        println!(
            "  commands: who leads {:.0?}, another {:.0?}; fixed at 3: {:.0?}, {:.0?}",
            ways[0], ways[1], ways_before[0], ways_before[1]
        );
        println!("  others play at most {:.0?} later than who leads; fixed at 3: {:.0?}", play.late, before.late);
        println!("  ticks come after {:.1?}; fixed at 3: {:.1?}", play.paces, before.paces);
        let (settled_at, settled) = play.delays[play.delays.len() - 1];
        assert!(expected.contains(&settled), "{settled} ticks");
        assert!(settled_at < SETTLED_WITHIN, "after {settled_at:?}");
        assert!(play.late <= ms(jitter_ms), "{:?} late", play.late);
        let slack = if jitter_ms == 0 { SLEWED } else { BUFFERED };
        for ((shortest, longest), even) in play.paces.iter().zip(&before.paces) {
            assert!(*longest <= even.1 + slack && *shortest + slack >= even.0, "{:?}, {:?}", play.paces, before.paces);
        }
    }
}

/// The control: a delay that is too short for the line.
#[test]
fn with_a_delay_that_is_too_short_others_play_later() {
    let mut room = room(&fixed(3), Weather::clear(ms(150)));
    assert!(watch(&mut room, secs(20)).late > ms(50));
}

#[test]
fn a_fixed_one_stays_and_a_joiner_may_have_another() {
    for ticks in [1, 4] {
        let mut room = room(&fixed(ticks), Weather::clear(ms(150)));
        let joiner = room.enter(party(fixed(9), "another"));
        let play = watch(&mut room, secs(30));
        assert!(playing(&room.seats[joiner].session));
        assert_eq!(play.delays, [(Duration::ZERO, ticks)]);
        assert_eq!(room.seats[joiner].session.stats().input_delay_ticks, None, "it is told to nobody");
    }
}

/// A round trip of ten seconds costs who leads no more than one of half a second does.
#[test]
fn it_follows_a_line_no_farther_than_300_ms() {
    let mut room = room(&PartySettings::default(), Weather::clear(ms(40)));
    let ends = [room.peer(0), room.peer(2)];
    for (from, to) in [(0, 1), (1, 0)] {
        room.network.set_direction(ends[from], ends[to], Some(Weather::clear(ms(400))));
    }
    let delays = watch(&mut room, secs(60)).delays;
    assert_eq!(delays.iter().map(|(_, ticks)| *ticks).collect::<Vec<_>>(), [3, 4, 5, 6]);
}

/// The line of one of three grows long, and short again. Nobody's ticks come less regularly, not
/// even when another takes over.
#[test]
fn a_change_leaves_ticks_regular() {
    let mut room = room(&PartySettings::default(), Weather::clear(ms(10)));
    let settled = watch(&mut room, secs(30));
    assert_eq!(settled.delays.len(), 2, "{:?}", settled.delays);
    let ends = [room.peer(0), room.peer(2)];
    for (way_ms, expected) in [(150, [2, 3, 4, 5]), (10, [5, 4, 3, 2])] {
        for (from, to) in [(0, 1), (1, 0)] {
            room.network.set_direction(ends[from], ends[to], Some(Weather::clear(ms(way_ms))));
        }
        let play = watch(&mut room, secs(60));
        println!("{way_ms} ms: {:?}; ticks come after {:.1?}", play.delays, play.paces);
        assert_eq!(play.delays.iter().map(|(_, ticks)| *ticks).collect::<Vec<_>>(), expected, "by a tick at a time");
        assert!(play.delays.windows(2).all(|two| two[1].0 - two[0].0 >= secs(5)), "{:?}", play.delays);
        for (shortest, longest) in &play.paces[..2] {
            assert!(*longest <= ms(50) + SLEWED && *shortest + SLEWED >= ms(50), "{:?}", play.paces);
        }
        assert!(room.seats[..2].iter().all(|seat| seat.session.stats().stalls.count == 0));
    }
}

/// Each has another delay. Whoever takes over goes on from the newest turn, whatever was closed
/// ahead, and nobody notices how far that was.
#[test]
fn whoever_leads_has_a_delay_of_its_own() {
    seeds::each("-p lockstone-net --test virtual_time input_delay::", 20, |seed| {
        let mut dice = Dice(seed);
        let delays: Vec<_> = (0..4).map(|_| Some(dice.roll(10) as u32 * 2).filter(|ticks| *ticks > 0)).collect();
        let settings = |n: usize| PartySettings { input_delay_ticks: delays[n], ..PartySettings::default() };
        let parties = (0..4).map(|n| party(settings(n), &format!("player {n}")));
        let mut room = gather(seed, Weather::clear(ms(50)), parties, |_, link| link);
        play(&mut room, &mut dice, secs(3));
        let (at, peer) = (room.now(), room.peer(0));
        if seed % 2 == 0 {
            room.seats[0].session.leave(at);
            room.run_until(at + ms(1));
        }
        room.network.drop_peer(peer);
        room.seats.remove(0);
        let known = |room: &Room| room.seats.iter().map(|seat| seat.session.stats().known).max();
        room.run_until(at + ms(100));
        let before = known(&room);
        assert!(room.run_while(at + secs(2), |room| known(room) <= before), "seed {seed}: no turn within 2 s");
        let until = room.now() + secs(2);
        room.run_until(until);
        assert_eq!(room.seats[0].session.stats().takeovers, 1, "seed {seed}");
        assert_eq!(delay(&room, 0), delays[1].unwrap_or(delay(&room, 0)), "seed {seed}: its own");
        let played = room.seats[0].session.settled();
        play(&mut room, &mut dice, secs(5));
        let ticks = room.seats[0].session.settled().since(played);
        assert!((99..=101).contains(&ticks), "seed {seed}: {ticks} ticks in 5 s");
        let until = room.now() + secs(2);
        room.run_until(until);
        in_step(&room, seed);
        for seat in &room.seats {
            assert_eq!(seat.session.stats().commands_pending, 0, "seed {seed}");
        }
    });
}
