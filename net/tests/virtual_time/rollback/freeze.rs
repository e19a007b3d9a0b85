//! A member of a rollback session that talks on, but gives no inputs: everyone stood still and
//! waited for it, for good. It is put out. Nobody honest is: not who is slow, lossy, asleep for
//! less than the silence timeout, or late to be met.
//!
//! On virtual time. `SEED=17 cargo test -p lockstone-net --test virtual_time rollback::freeze`
//! repeats a seed.

use core::time::Duration;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lockstone_net::link::PeerId;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::session::{EndReason, Event, Phase, Session, Transmit};
use lockstone_net::wire::{self, Inputs, LeaveReason, Message};
use lockstone_net::{Rollback, RollbackSettings};
use lockstone_sim::PlayerId;
use testkit::seeds;
use testkit::sessions::hostile::*;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Room, Tap};
use testkit::sessions::*;

/// From when on a hand does what it does.
type Switch = Rc<Cell<bool>>;

/// Makes a packet's message one that freezes others. It is given the newest that it let pass
/// to the same peer.
type Hold = fn(Inputs, &Inputs) -> Message;

const HOLDS: [(&str, Hold); 4] = [
    ("gives no inputs", |inputs, before| {
        let kept = inputs.inputs.iter().take(before.end().since(inputs.from) as usize).cloned();
        Message::Inputs(Inputs { inputs: list(kept.collect()), ..inputs })
    }),
    ("tells of no new turns", |inputs, before| {
        Message::Inputs(Inputs { confirmed: before.confirmed, checksums: list(vec![]), ..inputs })
    }),
    ("has nothing new of others", |inputs, before| {
        let Inputs { confirmed, received, .. } = *before;
        Message::Inputs(Inputs { confirmed, received, checksums: list(vec![]), ..inputs })
    }),
    ("talks of something else", |_, _| Message::Ready),
];

/// Players of whom one holds back, to all or to the first only, once it is switched on.
fn room_with_a_brake(settings: &RollbackSettings, peers: usize, hold: Hold, to_all: bool) -> (Room, Switch) {
    let weather = Weather { jitter: ms(10), loss_permille: 20, ..Weather::clear(ms(30)) };
    let switch = Switch::default();
    let room = room_by(settings.seed, peers, weather, settings, |seat, link| {
        let (switch, mut passed) = (switch.clone(), BTreeMap::<PeerId, Inputs>::new());
        Tap::new(link, move |packet: Transmit| {
            let (epoch, message) = wire::decode(&packet.bytes).expect("it was honest");
            let Message::Inputs(inputs) = message else { return Some(packet) };
            let braking = seat == LIAR && switch.get() && (to_all || packet.to.arrival() == 0);
            if !braking {
                passed.insert(packet.to, inputs);
                return Some(packet);
            }
            let message = match hold(inputs, &passed[&packet.to]) {
                Message::Inputs(inputs) => Message::Inputs(inputs.sealed(epoch)),
                other => other,
            };
            Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
        })
    });
    (room, switch)
}

/// How long others may stand still for one that holds back: from when its last input came until
/// they have agreed, and what they play ahead.
fn freeze_max(settings: &RollbackSettings) -> Duration {
    let ahead_ticks = 2 * (settings.max_prediction_ticks + settings.input_delay_ticks);
    2 * settings.silence_timeout + ahead_ticks * Duration::from_secs(1) / settings.ticks_per_s + ms(500)
}

/// The others go on soon without who holds back, and tell the same.
fn the_freeze_ends(mut room: Room, switch: &Switch, settings: &RollbackSettings, what: &str) {
    let mut dice = Dice(settings.seed);
    let before = ms(1_000 + dice.roll(2_000));
    play(&mut room, &mut dice, before);
    let peers = room.seats.len();
    switch.set(true);
    play(&mut room, &mut dice, freeze_max(settings));
    let out = ended(&room.seats[LIAR].session);
    assert_eq!(out, Some(EndReason::Removed(LeaveReason::TooSlow)), "{what}: it holds everyone up");
    room.seats.remove(LIAR);
    go_on(&mut room, &(0..peers - 1).collect::<Vec<_>>());
    for seat in &room.seats {
        assert_eq!(seat.session.stats().rollback.expect("it predicts").regroupings, 1, "{what}");
        assert_eq!(seat.session.simulation().expect("it plays").state.heroes.len(), peers - 1, "{what}");
    }
    if peers > 2 {
        assert!(in_step(&room, settings.seed) > 0, "{what}");
    }
}

#[test]
fn who_talks_on_but_gives_no_inputs_does_not_freeze_the_others_for_good() {
    seeds::each("-p lockstone-net --test virtual_time rollback::freeze", 12, |seed| {
        let mut dice = Dice(seed ^ 0xf4ee2e);
        let max_prediction_ticks = [8, 3, 20][dice.roll(3) as usize];
        let input_delay_ticks = [0, 0, 1, 3][dice.roll(4) as usize];
        let settings = RollbackSettings { max_prediction_ticks, input_delay_ticks, ..settings(seed) };
        for (what, hold) in HOLDS {
            let what = format!("seed {seed}: {what}");
            let (room, switch) = room_with_a_brake(&settings, 3 + dice.roll(2) as usize, hold, true);
            the_freeze_ends(room, &switch, &settings, &what);
        }
    });
}

#[test]
fn who_gives_inputs_to_all_but_one_does_not_freeze_that_one() {
    // The others wait for who is frozen. It is not put out for that: it notices first.
    seeds::each("-p lockstone-net --test virtual_time rollback::freeze", 12, |seed| {
        for (what, hold) in HOLDS {
            let (room, switch) = room_with_a_brake(&settings(seed), 3, hold, false);
            the_freeze_ends(room, &switch, &settings(seed), &format!("seed {seed}: {what}"));
        }
    });
}

/// How often it was told that a player holds the others up.
fn told_of(room: &Driver<impl Session<Sim = Mixer>, impl Link>, player: usize) -> usize {
    let other = usize::from(player == 0);
    let slow = PlayerId(player as u16);
    let names = |event: &&Event<Mixer>| matches!(event, Event::HoldsUp { player } if *player == slow);
    room.seats[other].events.iter().filter(names).count()
}

/// Who was too slow is out, and the others go on.
fn the_slow_one_goes(mut room: Driver<impl Session<Sim = Mixer>, impl Link>, slow: usize, context: &str) {
    assert_eq!(ended(&room.seats[slow].session), Some(EndReason::Removed(LeaveReason::TooSlow)), "{context}");
    room.seats.remove(slow);
    let others: Vec<_> = (0..room.seats.len()).collect();
    go_on(&mut room, &others);
}

#[test]
fn who_gives_inputs_once_in_2500_ms_is_told_of_and_goes_and_the_others_go_on() {
    seeds::each("-p lockstone-net --test virtual_time rollback::freeze", 6, |seed| {
        for (what, hold) in HOLDS {
            for peers in 3..=4 {
                let context = format!("seed {seed}: of {peers} one {what}");
                let (mut room, switch) = room_with_a_brake(&settings(seed), peers, hold, true);
                let mut dice = Dice(seed);
                play(&mut room, &mut dice, secs(2));
                for moment in 0..14 {
                    switch.set(true);
                    play(&mut room, &mut dice, ms(2_450));
                    switch.set(false);
                    play(&mut room, &mut dice, ms(50));
                    if moment == 1 {
                        assert_eq!(told_of(&room, LIAR), 1, "{context}");
                    }
                }
                play(&mut room, &mut dice, secs(2));
                the_slow_one_goes(room, LIAR, &context);
            }
        }
    });
}

/// Who stands still, but for a moment in 700 ms. The others wait each time.
fn room_with_a_slow_one(seed: u64, peers: usize, slow: usize, moments: usize) -> Driver<Rollback<Mixer>> {
    let mut room = room(seed, peers, Weather::clear(ms(40)), &settings(seed));
    for _ in 0..moments {
        let asleep = room.seats.remove(slow);
        play(&mut room, &mut Dice(seed), ms(699));
        room.seats.insert(slow, asleep);
        pause(&mut room, 1);
    }
    room
}

#[test]
fn who_is_awake_for_a_moment_in_700_ms_for_long_is_told_of_and_goes_and_the_others_go_on() {
    seeds::each("-p lockstone-net --test virtual_time rollback::freeze", 6, |seed| {
        for (peers, slow) in (2..=4).flat_map(|peers| [(peers, 0), (peers, SECOND)]) {
            let context = format!("seed {seed}: number {slow} of {peers}");
            let mut room = room_with_a_slow_one(seed, peers, slow, 25);
            assert_eq!(told_of(&room, slow), 1, "{context}");
            play(&mut room, &mut Dice(seed), secs(2));
            the_slow_one_goes(room, slow, &context);
        }
    });
}

/// Nobody is gone, and all play on.
fn nobody_is_put_out(room: &mut Driver<impl Session<Sim = Mixer>, impl Link>, context: &str) {
    for seat in &room.seats {
        assert_eq!(seat.session.phase(), Phase::Playing, "{context}");
        assert_eq!(seat.session.stats().rollback.expect("it predicts").regroupings, 0, "{context}");
    }
    go_on(room, &(0..room.seats.len()).collect::<Vec<_>>());
    assert!(in_step(room, 0) > 0, "{context}");
}

#[test]
fn who_sleeps_one_after_the_other_in_bad_weather_is_not_put_out() {
    seeds::each("-p lockstone-net --test virtual_time rollback::freeze", 12, |seed| {
        let mut dice = Dice(seed ^ 0x51ee9);
        let weather = Weather { jitter: ms(50), loss_permille: 300, ..Weather::clear(ms(60)) };
        let mut room = room(seed, 3, weather, &settings(seed));
        for nap in 0..20 {
            let sleeper = room.seats.remove(nap % 3);
            let asleep = ms(700 + dice.roll(300));
            play(&mut room, &mut dice, asleep);
            room.seats.insert(nap % 3, sleeper);
            // Long enough to be heard, and no longer.
            play(&mut room, &mut dice, ms(150));
        }
        room.network.set_weather(Weather::clear(ms(60)));
        play(&mut room, &mut dice, secs(1));
        nobody_is_put_out(&mut room, &format!("seed {seed}"));
    });
}

#[test]
fn who_is_awake_for_a_moment_in_700_ms_for_7_s_is_not_put_out() {
    let mut room = room_with_a_slow_one(3, 3, SECOND, 10);
    play(&mut room, &mut Dice(4), secs(2));
    nobody_is_put_out(&mut room, "slow");
}

#[test]
fn a_group_of_which_hardly_a_packet_comes_through_is_not_torn_apart() {
    // All stand still most of the time, each for the others: as long as everyone is heard of,
    // nobody is at fault.
    seeds::each("-p lockstone-net --test virtual_time rollback::freeze", 12, |seed| {
        let mut dice = Dice(seed ^ 0x7041);
        let peers = 2 + dice.roll(3) as usize;
        let max_prediction_ticks = [8, 3, 20][dice.roll(3) as usize];
        let input_delay_ticks = [0, 0, 1, 3][dice.roll(4) as usize];
        let settings = RollbackSettings { max_prediction_ticks, input_delay_ticks, ..settings(seed) };
        let storm = Switch::default();
        let mut room = room_by(seed, peers, Weather::clear(ms(50)), &settings, |_, link| {
            let (storm, mut dice, mut missing) = (storm.clone(), Dice(dice.roll(1 << 40)), BTreeMap::new());
            Tap::new(link, move |packet: Transmit| {
                // One of 14 to 26 packets, 20 a second: nobody is silent for the timeout.
                let left = missing.entry(packet.to).or_insert_with(|| dice.roll(14));
                let passes = *left == 0;
                *left = if passes { 13 + dice.roll(13) } else { *left - 1 };
                (!storm.get() || passes).then_some(packet)
            })
        });
        let before = ticks_of(&room);
        storm.set(true);
        play(&mut room, &mut dice, secs(30));
        storm.set(false);
        assert!(ticks_of(&room) > before, "seed {seed}");
        play(&mut room, &mut dice, secs(1));
        nobody_is_put_out(&mut room, &format!("seed {seed}: {peers} peers"));
    });
}

fn ticks_of(room: &Room) -> u32 {
    room.seats[0].session.stats().settled.0
}

#[test]
fn who_is_met_late_is_waited_for_by_all() {
    // The first player hears both others, who do not hear each other yet: neither gives it more
    // inputs.
    let mut room: Driver<Rollback<Mixer>> = Driver::new(MemoryNetwork::new(9, Weather::clear(ms(30))));
    for n in 0..3 {
        let settings = RollbackSettings { players: 3, ..settings(9) };
        room.enter(rollback(settings, &format!("player {n}"), |seed| Mixer::new(seed, 64)));
    }
    let [b, c] = [SECOND, LIAR].map(|seat| room.peer(seat));
    room.network.set_cut(b, c, true);
    pause(&mut room, 12_000);
    assert!(room.seats.iter().all(|seat| seat.session.stats().settled.0 == 0), "they have not met");
    room.network.set_cut(b, c, false);
    play(&mut room, &mut Dice(9), secs(2));
    nobody_is_put_out(&mut room, "late");
}
