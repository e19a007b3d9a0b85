//! What was played, and who parts from it.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::session::EndReason;
use lockstone_net::wire::Branch;
use lockstone_sim::{Checksum, PlayerId, Tick};

use super::commands::{Part, commands_of};
use super::{Breach, Judge, Rule, breach};
use crate::soak::schedule::{Kind, SeatId};
use crate::soak::trace::{LOOK_MS, Life, Segment, Told};

/// Ticks that may be played and discarded when who led is lost, or all of the trouble: of the 1.5 s
/// for which it closes without a quorum, of twice the 0.4 s that packets take at most, and two
/// more.
const DISCARDED_TICKS_MAX: u32 = 48;

/// What was played, by all who are left.
#[derive(Default)]
pub struct History {
    /// Of a party: the branch that goes on, and those before.
    pub branches: BTreeSet<Branch>,
    pub turns: BTreeMap<Tick, Told>,
    /// Of those who are gone, what they played last, if its world came to be that of the others:
    /// these may have loaded that. Turns may differ, and worlds not.
    supposed: BTreeMap<Tick, Told>,
    /// The checksum before each tick, and whose it is.
    pub checksums: BTreeMap<Tick, (Checksum, SeatId)>,
}

impl History {
    /// The first tick at which a segment has another world or another turn, with whom.
    fn parts_from(&self, segment: &Segment) -> Option<(Tick, SeatId, &'static str)> {
        let mut both =
            segment.checksums.iter().filter_map(|(tick, ours)| Some((*tick, *ours, self.checksums.get(tick)?)));
        both.find_map(|(tick, ours, (theirs, seat))| {
            if ours != *theirs {
                return Some((tick, *seat, "its world differs"));
            }
            // A turn is known to have been played if there is a checksum behind it.
            let next = tick.next();
            let played = segment.checksums.contains_key(&next) && self.checksums.contains_key(&next);
            let turns = [segment.turns.get(&tick), self.turns.get(&tick)].map(|turn| turn.map(|turn| turn.digest));
            (played && turns[0] != turns[1]).then_some((tick, *seat, "its turn differs"))
        })
    }

    /// Takes what a segment played from a tick on, up to the newest world that both had.
    fn suppose(&mut self, segment: &Segment, from: Tick) {
        let same =
            |(tick, ours): &(&Tick, &Checksum)| self.checksums.get(tick).is_some_and(|(theirs, _)| theirs == *ours);
        let Some((until, _)) = segment.checksums.range(from..).rev().find(same) else { return };
        for (tick, told) in segment.turns.range(from..*until) {
            self.supposed.entry(*tick).or_insert_with(|| told.clone());
        }
    }

    fn add(&mut self, segment: &Segment, seat: SeatId, before: Tick) {
        for (tick, checksum) in segment.checksums.range(..before) {
            self.checksums.entry(*tick).or_insert((*checksum, seat));
        }
        for (tick, told) in segment.turns.range(..before) {
            self.turns.entry(*tick).or_insert_with(|| told.clone());
        }
    }

    /// Whether the segment's hero enters in it, with a turn that counts. A relay's replica is told
    /// a part of it. In a party it may also have entered in turns that its peer never played.
    pub fn has_entry_of(&self, segment: &Segment, kind: Kind) -> bool {
        let enters = |told: &Told| told.joined.contains(&segment.player) || told.back.contains(&segment.player);
        let counts = |told: &Told, counted: &Told| match kind {
            Kind::Relay => enters(counted),
            // Two who found a session may begin with the same turn.
            Kind::Party | Kind::Rollback => self.branches.contains(&segment.branch) && counted.digest == told.digest,
        };
        let entry = segment.turns.iter().find(|(_, told)| enters(told));
        if entry.is_none() && kind == Kind::Party && self.branches.contains(&segment.branch) {
            let began = segment.span().map_or(Tick(0), |(start, _)| start);
            return self.turns.range(..began).any(|(_, counted)| enters(counted));
        }
        entry.is_some_and(|(tick, told)| self.turns.get(tick).is_some_and(|counted| counts(told, counted)))
    }

    /// Whether a segment is of the history that goes on, and of no branch that was given up.
    pub fn has_branch_of(&self, segment: &Segment, kind: Kind) -> bool {
        kind != Kind::Party || self.branches.contains(&segment.branch)
    }

    pub fn commands_of(&self, player: PlayerId) -> Vec<u64> {
        let is_known = |tick: &Tick| [*tick, tick.next()].iter().all(|tick| self.checksums.contains_key(tick));
        let supposed = self.supposed.iter().filter(|(tick, _)| !is_known(tick));
        let turns: BTreeMap<_, _> = supposed.chain(&self.turns).collect();
        commands_of(turns.into_values(), player)
    }

    /// When a player's hero was gone for good.
    pub fn end_of(&self, player: PlayerId) -> Option<Tick> {
        self.turns.iter().find(|(_, told)| told.left.contains(&player)).map(|(tick, _)| *tick)
    }
}

impl Judge<'_> {
    /// A party's: what those played who are left. Whoever parts from it does so in its last
    /// moments, or when it was excused already.
    pub fn one_history(&self, out: &mut Vec<Breach>) -> History {
        let mut history = History::default();
        // What branches played that did not go on: each is a history of its own.
        let mut branches: BTreeMap<Branch, History> = BTreeMap::new();
        // Who played a turn that does not count, by its tick and what it came to.
        let mut discarded: BTreeMap<(Tick, u64), BTreeSet<SeatId>> = BTreeMap::new();
        let mut lives: Vec<_> = self.trace.lives.iter().collect();
        lives.sort_by_key(|(seat, life)| {
            (self.allowed.excused_ms.contains_key(seat), core::cmp::Reverse(life.gone_ms.unwrap_or(u32::MAX)), **seat)
        });
        let newest = lives.first().and_then(|(_, life)| life.segments.last()).map(|segment| segment.branch);
        let lineage = self.lineage(newest.unwrap_or_default());
        history.branches = lineage.keys().copied().collect();
        let segments = self.trace.lives.values().flat_map(|life| &life.segments);
        let begun: BTreeSet<_> = segments.filter(|one| one.leaves).map(|one| one.branch).collect();
        for (seat, life) in lives {
            for (n, segment) in life.segments.iter().enumerate().rev() {
                // Whoever founds a branch goes on with all that it played.
                let next = life.segments.get(n + 1);
                let ends = next.map_or(!life.lives(), |next| !next.leaves || !lineage.contains_key(&next.branch));
                let began = self.trouble_began(life, segment);
                let (goes_on, apart) = segment.split(lineage.get(&segment.branch).copied().unwrap_or(Tick(0)));
                let branch = branches.entry(segment.branch).or_default();
                // Whoever is cut off may part from the others, and from none of its branch.
                let is_begun = begun.contains(&segment.branch);
                for (segment, history, counts) in [(goes_on, &mut history, true), (apart, branch, false)] {
                    let Some((_, end)) = segment.span() else { continue };
                    // The trouble that a branch began in is none of its own.
                    let began = if is_begun { Tick(u32::MAX) } else { began };
                    let moments = Tick(end.0.saturating_sub(DISCARDED_TICKS_MAX)).min(began);
                    let parted = history.parts_from(&segment);
                    if let Some((tick, other, what)) = parted
                        && !(ends && tick >= moments || !is_begun && self.was_excused_at(*seat, life, tick))
                    {
                        let rule = if what.contains("world") { Rule::Checksums } else { Rule::OneHistory };
                        let text =
                            format!("seat {seat} parts from seat {other} at tick {tick}, and goes on to {end}: {what}");
                        out.push(breach(rule, text));
                    }
                    if let Some((tick, ..)) = parted.filter(|_| counts)
                        && let Some(after) = segment.checksums.get(&tick.next())
                    {
                        discarded.entry((tick, after.0)).or_default().insert(*seat);
                    }
                    let until = if ends { moments } else { end.next() };
                    let until = parted.map_or(until, |(tick, ..)| tick.min(until));
                    history.add(&segment, *seat, until);
                    if ends {
                        history.suppose(&segment, until);
                    }
                }
            }
        }
        for ((tick, _), seats) in discarded {
            self.kept(tick, &seats, out);
        }
        history
    }

    /// The histories that a branch goes on from, itself included, and where each was left.
    fn lineage(&self, branch: Branch) -> BTreeMap<Branch, Tick> {
        let pairs = self.trace.lives.values().flat_map(|life| life.segments.windows(2));
        let left = pairs.filter(|pair| pair[1].leaves);
        let parents: BTreeMap<_, _> =
            left.filter_map(|pair| Some((pair[1].branch, (pair[0].branch, pair[1].span()?.0)))).collect();
        let mut lineage = BTreeMap::from([(branch, Tick(u32::MAX))]);
        let mut next = branch;
        while let Some((parent, tick)) = parents.get(&next) {
            if lineage.insert(*parent, *tick).is_some() {
                break;
            }
            next = *parent;
        }
        lineage
    }

    /// What most of the players played may not be discarded. Who is excused does not count as one
    /// that played it.
    fn kept(&self, tick: Tick, by: &BTreeSet<SeatId>, out: &mut Vec<Breach>) {
        let life = |seat: &SeatId| &self.trace.lives[seat];
        let steady: BTreeSet<_> =
            by.iter().copied().filter(|seat| !self.was_excused_at(*seat, life(seat), tick)).collect();
        let Some(at_ms) = steady.iter().filter_map(|seat| life(seat).past_ms(tick)).max() else { return };
        let players: BTreeSet<_> = self.trace.plays_at(at_ms).collect();
        let (played, players) = (players.intersection(&steady).count(), players.len());
        if 2 * played > players {
            let text = format!("{played} of {players} players played tick {tick}, and it is discarded");
            out.push(breach(Rule::OneHistory, text));
        }
    }

    /// The tick at which the trouble began in which a segment ended. A sequencer that hears a
    /// quorum again makes up for all of it, before it learns that another was elected.
    fn trouble_began(&self, life: &Life, segment: &Segment) -> Tick {
        let began_ms = self.allowed.trouble_before(segment.until_ms);
        began_ms.and_then(|began_ms| life.look(began_ms)).map_or(Tick(u32::MAX), |look| look.tick)
    }

    /// Whether a peer was excused when it played a tick.
    fn was_excused_at(&self, seat: SeatId, life: &Life, tick: Tick) -> bool {
        let Some(from_ms) = self.allowed.excused_ms.get(&seat) else { return false };
        let was = life.look(from_ms.saturating_sub(1_000).max(life.looked_at_ms));
        was.is_none_or(|look| tick >= look.tick)
    }

    /// A rollback session's: any two play the same until one goes on without the other.
    pub fn settled_history(&self, out: &mut Vec<Breach>) {
        let lives: Vec<_> =
            self.trace.lives.iter().filter_map(|(seat, life)| Some((*seat, life, life.segments.first()?))).collect();
        for (n, (a, _, ours)) in lives.iter().enumerate() {
            for (b, _, theirs) in &lives[n + 1..] {
                let without = |one: &Segment, other: PlayerId| {
                    one.turns.iter().find(|(_, told)| told.left.contains(&other)).map(|(tick, _)| *tick)
                };
                let gone = [without(ours, theirs.player), without(theirs, ours.player)];
                let ends = [ours, theirs].map(|segment| segment.span().map(|(_, end)| end));
                let Some(until) = gone.into_iter().chain(ends).flatten().min() else { continue };
                let mut other = History::default();
                other.add(theirs, *b, until);
                if let Some((tick, _, what)) = other.parts_from(ours) {
                    let rule = if what.contains("world") { Rule::Checksums } else { Rule::OneHistory };
                    out.push(breach(rule, format!("seats {a} and {b} part at tick {tick}, before {until}: {what}")));
                }
            }
        }
        for (seat, life, segment) in lives {
            self.commands(
                &[Part { seat, life, from_ms: 0, in_vain: Vec::new() }],
                &commands_of(segment.turns.values(), segment.player),
                out,
            );
        }
    }

    /// A relay's session: what the relay played that leads at the end, and before it those that it
    /// goes on from. All others played the same, but for what was lost before a relay was started
    /// again.
    pub fn relays_history(&self, out: &mut Vec<Breach>) -> History {
        let hosts: Vec<_> = self.trace.lives.iter().filter(|(seat, _)| self.schedule.is_host(**seat)).collect();
        let segments = || hosts.iter().flat_map(|(seat, life)| life.segments.iter().map(|one| (**seat, *life, one)));
        let led_until = |life: &Life| {
            life.looks.iter().rposition(|look| look.plays).map(|n| life.looked_at_ms + n as u32 * LOOK_MS)
        };
        let leads = |(_, life): &&(&SeatId, &Life)| life.lives() && life.looks.last().is_some_and(|look| look.plays);
        let leaders: Vec<_> = hosts.iter().filter(leads).map(|(seat, _)| seat.to_string()).collect();
        if leaders.len() > 1 {
            out.push(breach(Rule::OneHistory, format!("relays lead on seats {} at the end", leaders.join(" and "))));
        }
        let mut history = History::default();
        // When a relay was started again, and where it goes on.
        let mut resumed = Vec::new();
        let last = hosts.iter().max_by_key(|(_, life)| (led_until(life), life.plays_from_ms()));
        let mut next = last.and_then(|(seat, life)| Some((**seat, *life, life.segments.last()?)));
        let mut until = Tick(u32::MAX);
        while let Some((seat, life, segment)) = next {
            let Some((start, _)) = segment.span() else { break };
            history.add(segment, seat, until);
            if self.schedule.is_resumed(seat) {
                resumed.push((life.entered_ms, start));
            }
            let goes_on = |(_, _, other): &(SeatId, &Life, &Segment)| {
                other.span().is_some_and(|(first, _)| first < start)
                    && other.checksums.get(&start) == segment.checksums.get(&start)
            };
            next = segments().filter(goes_on).min_by_key(|(_, _, other)| other.span());
            if next.is_none() && start > Tick(0) {
                out.push(breach(
                    Rule::OneHistory,
                    format!("seat {seat} goes on from tick {start}, as nobody played it"),
                ));
            }
            until = start;
        }
        for (seat, life, segment) in segments() {
            let Some((tick, other, what)) = history.parts_from(segment) else { continue };
            let is_lost = resumed.iter().any(|(at_ms, from)| *from <= tick && segment.until_ms <= *at_ms);
            if !is_lost && life.end != Some(EndReason::Superseded) {
                out.push(breach(
                    Rule::OneHistory,
                    format!("seat {seat} parts from seat {other} at tick {tick}: {what}"),
                ));
            }
        }
        history
    }
}
