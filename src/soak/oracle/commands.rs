//! Whose commands were played, and what the world asked for.

use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Tick};

use super::history::History;
use super::{Breach, Judge, Rule, breach};
use crate::soak::schedule::SeatId;
use crate::soak::trace::{Life, Told};

/// What the world asks for is in one of so many turns.
const REQUEST_TICKS_MAX: u32 = 100;

/// Whether commands are what was given in one life after the other: of each the first of it, and
/// all of the last if that `lives_on`.
fn is_played(given: &[Vec<u64>], lives_on: bool, played: &[u64]) -> bool {
    let Some((first, rest)) = given.split_first() else { return played.is_empty() };
    if rest.is_empty() {
        return if lives_on { played == first } else { first.starts_with(played) };
    }
    let common = first.iter().zip(played).take_while(|(given, played)| given == played).count();
    (0..=common).rev().any(|taken| is_played(rest, lives_on, &played[taken..]))
}

pub fn commands_of<'t>(turns: impl Iterator<Item = &'t Told>, player: PlayerId) -> Vec<u64> {
    let commands = turns.flat_map(|told| &told.commands);
    commands.filter(|(by, _)| *by == player).map(|(_, command)| *command).collect()
}

/// One of a player's lives in a session, since it came in.
pub struct Part<'l> {
    pub seat: SeatId,
    pub life: &'l Life,
    /// What it gave before does not count.
    pub from_ms: u32,
    /// What it gave that was played in branches that were given up.
    pub in_vain: Vec<u64>,
}

impl Part<'_> {
    fn given(&self) -> Vec<u64> {
        let mut in_vain = self.in_vain.clone();
        let counts = |(at_ms, command): &(u32, u64)| match in_vain.iter().position(|lost| lost == command) {
            Some(n) => {
                in_vain.swap_remove(n);
                false
            }
            None => *at_ms >= self.from_ms,
        };
        let given = self.life.given.iter().copied().filter(counts);
        given.map(|(_, command)| command).collect()
    }
}

impl Judge<'_> {
    pub fn commands_and_heroes(&self, history: &History, out: &mut Vec<Breach>) {
        // Each player's lives, in the order in which it entered.
        let mut parts: BTreeMap<PlayerId, Vec<Part<'_>>> = BTreeMap::new();
        let mut last: BTreeMap<SeatId, (SeatId, PlayerId)> = BTreeMap::new();
        let mut lives: Vec<_> = self.trace.lives.iter().map(|(seat, life)| (*seat, life)).collect();
        lives.retain(|(seat, _)| !self.schedule.is_host(*seat));
        lives.sort_by_key(|(seat, life)| (life.entered_ms, *seat));
        for (seat, life) in lives {
            // Before its hero entered for good, a peer may have been promised another number.
            let entered = life.segments.iter().skip_while(|segment| !history.has_entry_of(segment, self.schedule.kind));
            let mut players: Vec<_> = entered.map(|segment| segment.player).collect();
            players.dedup();
            let steady = self.is_steady(seat);
            if players.len() > 1 && steady {
                out.push(breach(Rule::Hero, format!("seat {seat} was {players:?} in turn")));
            }
            // Who never was in the world has a number that may have become another's.
            let [player] = players.as_slice() else { continue };
            if life.plays_from_ms().is_none() {
                continue;
            }
            let before = last.insert(self.schedule.player_of(seat), (seat, *player));
            if let Some((first, waits)) = before.filter(|(first, waits)| {
                waits != player && steady && self.was_steady(*first) && history.end_of(*waits).is_none()
            }) {
                let text = format!("seat {seat} came back as {player}, and was {waits} on seat {first}");
                out.push(breach(Rule::Hero, text));
            }
            // What it did as long as it led a session of its own is lost with that.
            let apart = life.segments.iter().take_while(|segment| !history.has_entry_of(segment, self.schedule.kind));
            let founded = apart.filter(|segment| segment.span().is_some_and(|(start, _)| start == Tick(0))).last();
            let from_ms = founded.map_or(0, |segment| segment.until_ms + 1);
            let in_vain = life.segments.iter().filter(|segment| !history.has_branch_of(segment, self.schedule.kind));
            let in_vain = in_vain.flat_map(|segment| {
                let counts = |(tick, told): &(&Tick, &Told)| {
                    history.turns.get(tick).is_some_and(|counted| counted.digest == told.digest)
                };
                let apart = segment.turns.iter().filter(move |turn| !counts(turn));
                commands_of(apart.map(|(_, told)| told), segment.player)
            });
            let in_vain = in_vain.collect();
            parts.entry(*player).or_default().push(Part { seat, life, from_ms, in_vain });
            if let Some(tick) = history.end_of(*player).filter(|_| steady && life.lives()) {
                out.push(breach(Rule::Hero, format!("{player} of seat {seat} is lost at tick {tick}")));
            }
        }
        for (player, lives) in parts {
            self.commands(&lives, &history.commands_of(player), out);
            let joins =
                history.turns.values().flat_map(|told| &told.joined).filter(|joined| **joined == player).count();
            if joins > 1 {
                out.push(breach(Rule::Hero, format!("{player} of seat {} enters {joins} times", lives[0].seat)));
            }
        }
    }

    /// What was played of a player is what it gave, in each of its lives: all of it if it is still
    /// there, else up to where that life ended. Who was excused may have played apart, in vain.
    pub fn commands(&self, lives: &[Part<'_>], played: &[u64], out: &mut Vec<Breach>) {
        let given: Vec<Vec<u64>> = lives.iter().map(Part::given).collect();
        let lives_on = lives.last().is_some_and(|part| part.life.lives());
        let (latest, earlier) = lives.split_last().expect("it lives once at least");
        let steady = self.is_steady(latest.seat) && earlier.iter().all(|part| self.was_steady(part.seat));
        if steady && !is_played(&given, lives_on, played) {
            let seats: Vec<_> = lives.iter().map(|part| part.seat.to_string()).collect();
            let (played, given) = (played.len(), given.iter().map(Vec::len).sum::<usize>());
            out.push(breach(
                Rule::Commands,
                format!("of seat {} {given} commands were taken, and {played} played, or others", seats.join(" and ")),
            ));
        }
    }

    /// What the world asked for in a tick that counts is in a turn after it, each time.
    pub fn requests(&self, history: &History, out: &mut Vec<Breach>) {
        let Some((end, _)) = history.checksums.last_key_value() else { return };
        let counts = |life: &Life, tick: Tick| {
            let ours = life.segments.iter().rev().find_map(|segment| segment.checksums.get(&tick));
            ours.is_some() && ours == history.checksums.get(&tick).map(|(sum, _)| sum)
        };
        let mut asked: BTreeMap<Tick, &Vec<u64>> = BTreeMap::new();
        for life in self.trace.lives.values() {
            let due =
                life.asked.iter().filter(|(tick, _)| tick.plus(REQUEST_TICKS_MAX) <= *end && counts(life, **tick));
            asked.extend(due.map(|(tick, requests)| (*tick, requests)));
        }
        let mut open: BTreeMap<u64, (u32, Tick)> = BTreeMap::new();
        for (tick, request) in asked.iter().flat_map(|(tick, requests)| requests.iter().map(move |one| (*tick, *one))) {
            open.entry(request).or_insert((0, tick)).0 += 1;
        }
        for request in history.turns.values().flat_map(|told| &told.requests) {
            open.entry(*request).and_modify(|(times, _)| *times = times.saturating_sub(1));
        }
        if let Some((_, tick)) = open.into_values().find(|(times, _)| *times > 0) {
            out.push(breach(
                Rule::Requests,
                format!("what was asked for before tick {tick} is in no turn until {end}"),
            ));
        }
    }
}
