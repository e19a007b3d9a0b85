//! What a session tells for the day on which worlds differ: the checksum of every tick, its tree if
//! asked, and keyframes.

use std::collections::BTreeMap;

use lockstone_net::limits::KEYFRAME_TICKS;
use lockstone_net::memory::{Driver, MemoryNetwork, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Event, OnDesync, Session};
use lockstone_net::{Rollback, RollbackSettings};
use lockstone_sim::{CellId, Checksum, Simulation, Tick};
use testkit::sessions::rollback::{play, rollback, room, settings};
use testkit::sessions::*;

type Tree = Vec<(CellId, Checksum)>;

/// What one peer told, tick by tick.
#[derive(Default)]
struct Told {
    start: Option<Tick>,
    checksums: BTreeMap<Tick, Checksum>,
    trees: BTreeMap<Tick, Tree>,
    keyframes: BTreeMap<Tick, Vec<u8>>,
}

impl Told {
    /// Checks that time never goes back in what was told, and that nothing is told twice.
    fn by(events: &[Event<Mixer>]) -> Told {
        let (mut told, mut now) = (Told::default(), Tick(0));
        for event in events {
            let tick = match event {
                Event::Started { tick, .. } => {
                    told.start = Some(*tick);
                    *tick
                }
                Event::Turn { tick, .. } => tick.next(),
                Event::Checksum { tick, checksum, tree } => {
                    assert!(told.checksums.insert(*tick, *checksum).is_none(), "tick {tick} twice");
                    told.trees.insert(*tick, tree.clone());
                    *tick
                }
                Event::Keyframe { tick, snapshot } => {
                    told.keyframes.insert(*tick, snapshot.clone());
                    *tick
                }
                _ => continue,
            };
            assert!(tick >= now, "{event:?} after tick {now}");
            now = tick;
        }
        told
    }

    /// Every tick from the start to the last one has its checksum.
    fn is_gapless(&self, last_min: u32) -> bool {
        let start = self.start.expect("it began");
        let last = *self.checksums.last_key_value().expect("some were told").0;
        last >= Tick(last_min) && (start.0..=last.0).map(Tick).eq(self.checksums.keys().copied())
    }

    /// The checksum of a keyframe's state.
    fn keyframe_checksum(&self, tick: Tick) -> Checksum {
        let mut mixer = Mixer::new(0, 64);
        let snapshot = mixer.decode(&self.keyframes[&tick]).expect("it is a state");
        mixer.restore(&snapshot);
        mixer.checksum()
    }
}

/// All tell the same, from where each begins.
fn agree(driver: &Driver<impl Session<Sim = Mixer>, impl Link>, last_min: u32, trees: bool) {
    let all: Vec<_> = driver.seats.iter().map(|seat| Told::by(&seat.events)).collect();
    for told in &all {
        assert!(told.is_gapless(last_min), "{:?}", told.checksums.keys());
        let keyframe = Tick(KEYFRAME_TICKS);
        assert_eq!(told.keyframes.keys().collect::<Vec<_>>(), [&keyframe]);
        assert_eq!(told.keyframe_checksum(keyframe), told.checksums[&keyframe]);
        assert!(told.trees.values().all(|tree| tree.len() == if trees { 64 } else { 0 }));
        let start = told.start.expect("it began");
        let common = |told: &Told| {
            let last = Tick(last_min);
            let checksums: Vec<_> = told.checksums.range(start..=last).map(|(t, c)| (*t, *c)).collect();
            let trees: Vec<_> = told.trees.range(start..=last).map(|(t, c)| (*t, c.clone())).collect();
            (checksums, trees, told.keyframes.clone())
        };
        if all[0].start <= told.start {
            assert!(common(told) == common(&all[0]));
        }
    }
}

#[test]
fn a_party_tells_the_checksum_of_every_tick_and_a_keyframe_each_minute() {
    for emit_trees in [true, false] {
        let settings = PartySettings { emit_trees, ..PartySettings::default() };
        let mut driver = session(2, &settings, ms(30));
        driver.run_until(secs(20));
        driver.enter(party(settings, "late"));
        driver.run_until(secs(70));
        assert!(Told::by(&driver.seats[2].events).start > Some(Tick(300)));
        agree(&driver, 1_300, emit_trees);
    }
}

#[test]
fn a_rollback_session_tells_the_checksum_of_every_settled_tick_and_a_keyframe_each_minute() {
    let weather = Weather { jitter: ms(40), loss_permille: 100, ..Weather::clear(ms(50)) };
    for emit_trees in [true, false] {
        let settings = RollbackSettings { emit_trees, ..settings(8) };
        let mut driver = room(8, 3, weather, &settings);
        play(&mut driver, &mut Dice(8), secs(80));
        let stats = driver.seats[0].session.stats().rollback.expect("it predicts");
        assert!(stats.rollbacks > 100, "{stats:?}");
        agree(&driver, 1_300, emit_trees);
    }
}

/// Where the first difference was told, there is the state of just before. Both sides' states
/// differ.
fn shows_the_odd_state(driver: &Driver<impl Session<Sim = Mixer>, impl Link>, fault: Tick) {
    let states: Vec<_> = [0, 1]
        .iter()
        .map(|seat| {
            let events = &driver.seats[*seat].events;
            let found = events.iter().position(|event| matches!(event, Event::Desync { .. })).expect("they differ");
            let Event::Keyframe { tick, .. } = &events[found - 1] else { panic!("{:?}", events[found - 1]) };
            let told = Told::by(events);
            if let Some(checksum) = told.checksums.get(tick) {
                assert_eq!(told.keyframe_checksum(*tick), *checksum);
            }
            assert!(*tick > fault, "{tick} is before the fault");
            (told.checksums, told.keyframes[tick].clone())
        })
        .collect();
    let [(ours, our_state), (theirs, their_state)] = &states[..] else { panic!("two of them") };
    assert_ne!(our_state, their_state);
    let first = ours.iter().find(|(tick, checksum)| theirs.get(tick).is_some_and(|theirs| theirs != *checksum));
    assert_eq!(first.map(|(tick, _)| *tick), Some(fault.next()), "the very tick is known");
}

#[test]
fn both_sides_of_a_difference_tell_their_state() {
    let fault = Tick(104);
    let world = move |n: usize| move |seed| Mixer::new(seed, 64).with_fault((n == 1).then_some(fault));
    let mut driver: Driver<Party<Mixer>> = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(40))));
    for n in 0..2 {
        let settings = PartySettings { players_at_start: 2, on_desync: OnDesync::Stop, ..PartySettings::default() };
        driver.enter(party_of(settings, IDENTITY, &format!("player {n}"), world(n)));
    }
    driver.run_until(secs(10));
    shows_the_odd_state(&driver, fault);
    let mut driver: Driver<Rollback<Mixer>> = Driver::new(MemoryNetwork::new(1, Weather::clear(ms(40))));
    for n in 0..2 {
        driver.enter(rollback(settings(4), &format!("player {n}"), world(n)));
    }
    driver.run_until(secs(10));
    shows_the_odd_state(&driver, fault);
}
