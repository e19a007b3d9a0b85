//! What peers were told, and that it was the same.

use std::collections::BTreeMap;

use lockstone_net::link::Link;
use lockstone_net::memory::Driver;
use lockstone_net::session::{EndReason, Event, Phase, Session};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use crate::mixer::Mixer;

/// What a peer was told that players said, with their names.
pub fn said<S: Simulation>(events: &[Event<S>]) -> Vec<(String, String)> {
    let said = events.iter().filter_map(|event| match event {
        Event::Said { name, text, .. } => Some((name.clone(), text.clone())),
        _ => None,
    });
    said.collect()
}

pub fn playing(party: &impl Session) -> bool {
    party.phase() == Phase::Playing && party.stats().players.iter().any(|player| player.own)
}

pub fn ended(party: &impl Session) -> Option<EndReason> {
    match party.phase() {
        Phase::Ended(reason) => Some(reason),
        _ => None,
    }
}

/// Whose world a seat found to differ, at which tick, and when both were equal.
pub fn desyncs<T: Session<Sim = Mixer>>(
    driver: &Driver<T, impl Link>,
    seat: usize,
) -> Vec<(PlayerId, Tick, Option<Tick>)> {
    let desync = |event: &Event<Mixer>| match event {
        Event::Desync { player, tick, agreed, ours, theirs } => {
            assert_ne!(ours, theirs);
            Some((*player, *tick, *agreed))
        }
        _ => None,
    };
    driver.seats[seat].events.iter().filter_map(desync).collect()
}

/// What a peer played since it loaded the world last: turns that are not empty, and checksums.
#[derive(Default, PartialEq, Debug)]
pub struct Played {
    pub turns: BTreeMap<Tick, Turn<Mixer>>,
    pub checksums: BTreeMap<Tick, Checksum>,
}

impl Played {
    pub fn of(events: &[Event<Mixer>]) -> Played {
        let mut played = Played::default();
        for event in events {
            match event {
                Event::Started { .. } => played = Played::default(),
                Event::Turn { tick, turn } => {
                    assert!(played.turns.insert(*tick, turn.clone()).is_none(), "turn {tick} was played twice");
                }
                Event::Checksum { tick, checksum, .. } => {
                    played.checksums.insert(*tick, *checksum);
                }
                _ => {}
            }
        }
        played
    }
}

/// Both played the same between the ticks that both played. Returns how many checksums were
/// compared.
pub fn assert_same(a: &Played, b: &Played, context: &str) -> usize {
    let span = |played: &Played| Some((*played.checksums.first_key_value()?.0, *played.checksums.last_key_value()?.0));
    let (Some((a_first, a_last)), Some((b_first, b_last))) = (span(a), span(b)) else { return 0 };
    let (first, last) = (a_first.max(b_first), a_last.min(b_last));
    if first > last {
        return 0;
    }
    let [a_turns, b_turns] = [a, b].map(|played| played.turns.range(first..last).collect::<Vec<_>>());
    assert_eq!(a_turns, b_turns, "{context}: the turns differ");
    let [a_sums, b_sums] = [a, b].map(|played| played.checksums.range(first..=last).collect::<Vec<_>>());
    assert_eq!(a_sums, b_sums, "{context}: the checksums differ");
    a_sums.len()
}
