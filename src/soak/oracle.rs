//! Judges a run by its trace: what must hold whatever goes wrong, but for what [`Allowed`] allows.
//!
//! It must never look into a session, only at what peers told. Each rule is one function.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lockstone_net::session::{DropReason, EndReason};
use lockstone_net::wire::Branch;
use lockstone_sim::{Checksum, PlayerId, Tick};
use serde::Serialize;

use super::allowed::{Allowed, Calm};
use super::fleet::HUSH_MS;
use super::schedule::{Kind, Schedule, SeatId};
use super::trace::{LOOK_MS, Life, Segment, Told, Trace};

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// All play the same turns, and nobody discards more than the last moments.
    OneHistory,
    /// Worlds are equal at every tick that two peers have, and no peer finds a difference.
    Checksums,
    /// Each command that was taken of a player is played once, in order.
    Commands,
    /// What the world asks for comes in a turn.
    Requests,
    /// The session goes on soon after trouble, and everyone is abreast of it.
    Progress,
    /// Who is in the world stays, as the same player; who enters comes in.
    Hero,
    /// Nothing waits for ever, and no honest peer is taken for a hostile one.
    Leak,
    /// The same schedule gives the same trace.
    Trace,
    /// Nothing panics.
    Panic,
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// Which rule.
    pub rule: Rule,
    /// What happened.
    pub text: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.name(), self.text)
    }
}

impl Rule {
    /// What reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::OneHistory => "one-history",
            Rule::Checksums => "checksums",
            Rule::Commands => "commands",
            Rule::Requests => "requests",
            Rule::Progress => "progress",
            Rule::Hero => "hero",
            Rule::Leak => "leak",
            Rule::Trace => "trace",
            Rule::Panic => "panic",
        }
    }
}

/// Ticks that may be played and discarded when who led is lost, or all of the trouble: of the 1.5 s
/// for which it closes without a quorum, of twice the 0.4 s that packets take at most, and two
/// more.
const DISCARDED_TICKS_MAX: u32 = 48;
/// What the world asks for is in one of so many turns.
const REQUEST_TICKS_MAX: u32 = 100;
/// A peer that is abreast is at most so many ticks behind the newest.
const BEHIND_TICKS_MAX: u32 = 16;
/// In calm the newest tick grows within so long.
const STALL_MS_MAX: u32 = 1_000;
/// Who enters in calm is in the world within so long.
const ENTER_MS_MAX: u32 = 5_000;

/// All that does not hold in a run.
pub fn judge(schedule: &Schedule, trace: &Trace) -> Vec<Breach> {
    let sessions = trace.sessions(schedule.kind);
    let mut breaches: Vec<_> = sessions.iter().flat_map(|session| judge_session(schedule, session)).collect();
    if let Some((_, Some(first))) = &trace.cores {
        breaches.push(breach(Rule::Checksums, first));
    }
    breaches
}

fn judge_session(schedule: &Schedule, trace: &Trace) -> Vec<Breach> {
    let judge = Judge { schedule, trace, allowed: Allowed::of(schedule, trace) };
    let mut breaches = Vec::new();
    let out = &mut breaches;
    match schedule.kind {
        Kind::Party => {
            let history = judge.one_history(out);
            judge.commands_and_heroes(&history, out);
            judge.requests(&history, out);
        }
        Kind::Rollback => judge.settled_history(out),
        Kind::Relay => {
            let history = judge.relays_history(out);
            judge.commands_and_heroes(&history, out);
            judge.requests(&history, out);
        }
    }
    judge.progress(out);
    judge.presence(out);
    judge.leaks(out);
    breaches
}

fn breach(rule: Rule, text: impl fmt::Display) -> Breach {
    Breach { rule, text: text.to_string() }
}

struct Judge<'j> {
    schedule: &'j Schedule,
    trace: &'j Trace,
    allowed: Allowed,
}

/// What was played, by all who are left.
#[derive(Default)]
struct History {
    /// Of a party: the branch that goes on, and those before.
    branches: BTreeSet<Branch>,
    turns: BTreeMap<Tick, Told>,
    /// Of those who are gone, what they played last, if its world came to be that of the others:
    /// these may have loaded that. Turns may differ, and worlds not.
    supposed: BTreeMap<Tick, Told>,
    /// The checksum before each tick, and whose it is.
    checksums: BTreeMap<Tick, (Checksum, SeatId)>,
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
    fn has_entry_of(&self, segment: &Segment, kind: Kind) -> bool {
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
    fn has_branch_of(&self, segment: &Segment, kind: Kind) -> bool {
        kind != Kind::Party || self.branches.contains(&segment.branch)
    }

    fn commands_of(&self, player: PlayerId) -> Vec<u64> {
        let is_known = |tick: &Tick| [*tick, tick.next()].iter().all(|tick| self.checksums.contains_key(tick));
        let supposed = self.supposed.iter().filter(|(tick, _)| !is_known(tick));
        let turns: BTreeMap<_, _> = supposed.chain(&self.turns).collect();
        commands_of(turns.into_values(), player)
    }

    /// When a player's hero was gone for good.
    fn end_of(&self, player: PlayerId) -> Option<Tick> {
        self.turns.iter().find(|(_, told)| told.left.contains(&player)).map(|(tick, _)| *tick)
    }
}

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

fn commands_of<'t>(turns: impl Iterator<Item = &'t Told>, player: PlayerId) -> Vec<u64> {
    let commands = turns.flat_map(|told| &told.commands);
    commands.filter(|(by, _)| *by == player).map(|(_, command)| *command).collect()
}

/// One of a player's lives in a session, since it came in.
struct Part<'l> {
    seat: SeatId,
    life: &'l Life,
    /// What it gave before does not count.
    from_ms: u32,
    /// What it gave that was played in branches that were given up.
    in_vain: Vec<u64>,
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
    /// Who lives to the end without an excuse.
    fn steadfast(&self) -> impl Iterator<Item = (SeatId, &Life)> {
        let lives = self.trace.lives.iter().map(|(seat, life)| (*seat, life));
        lives.filter(|(seat, life)| life.lives() && !self.allowed.excused_ms.contains_key(seat))
    }

    /// A party's: what those played who are left. Whoever parts from it does so in its last
    /// moments, or when it was excused already.
    fn one_history(&self, out: &mut Vec<Breach>) -> History {
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
    fn settled_history(&self, out: &mut Vec<Breach>) {
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
    fn relays_history(&self, out: &mut Vec<Breach>) -> History {
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

    fn commands_and_heroes(&self, history: &History, out: &mut Vec<Breach>) {
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

    fn is_steady(&self, seat: SeatId) -> bool {
        !self.allowed.excused_ms.contains_key(&seat)
    }

    /// Whether nothing but its end excuses a peer.
    fn was_steady(&self, seat: SeatId) -> bool {
        self.is_steady(seat) || self.allowed.ended.contains(&seat)
    }

    /// What was played of a player is what it gave, in each of its lives: all of it if it is still
    /// there, else up to where that life ended. Who was excused may have played apart, in vain.
    fn commands(&self, lives: &[Part<'_>], played: &[u64], out: &mut Vec<Breach>) {
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
    fn requests(&self, history: &History, out: &mut Vec<Breach>) {
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

    /// In calm the newest tick grows, and everyone is abreast of it.
    fn progress(&self, out: &mut Vec<Breach>) {
        for Calm { from_ms, until_ms, goes_on_ms, abreast_ms, .. } in self.allowed.calm(self.trace.end_ms) {
            let late = self.stalls(from_ms + goes_on_ms, until_ms);
            if let Some(at_ms) = late {
                out.push(breach(
                    Rule::Progress,
                    format!("no tick is played around {at_ms} ms, and the trouble was over at {from_ms} ms"),
                ));
            }
            let mut at_ms = (from_ms + abreast_ms).next_multiple_of(LOOK_MS);
            while at_ms < until_ms {
                if let Some((seat, behind)) = self.laggard((from_ms, abreast_ms), at_ms) {
                    let text =
                        format!("seat {seat} is {behind} at {at_ms} ms, and the trouble was over at {from_ms} ms");
                    out.push(breach(Rule::Progress, text));
                    break;
                }
                at_ms += LOOK_MS;
            }
        }
    }

    /// When the newest tick stands still, if it does.
    fn stalls(&self, from_ms: u32, until_ms: u32) -> Option<u32> {
        let mut grew_ms = from_ms.next_multiple_of(LOOK_MS);
        let mut newest = self.newest(grew_ms)?;
        let mut at_ms = grew_ms;
        while at_ms < until_ms {
            let now = self.newest(at_ms)?;
            if now > newest {
                (newest, grew_ms) = (now, at_ms);
            } else if at_ms >= grew_ms + STALL_MS_MAX {
                return Some(at_ms);
            }
            at_ms += LOOK_MS;
        }
        None
    }

    /// The newest tick of all who must play then.
    fn newest(&self, at_ms: u32) -> Option<Tick> {
        self.must_play(at_ms).map(|(_, tick, _)| tick).max()
    }

    /// Everyone who is in the world at a time and has no excuse: how far it is, and whether it
    /// plays.
    fn must_play(&self, at_ms: u32) -> impl Iterator<Item = (SeatId, Tick, bool)> {
        self.trace.lives.iter().filter_map(move |(seat, life)| {
            let there = life.gone_ms.is_none_or(|gone_ms| at_ms < gone_ms) && self.allowed.must(*seat, at_ms);
            let look =
                life.look(at_ms).filter(|_| there && life.plays_from_ms().is_some_and(|from_ms| from_ms <= at_ms))?;
            Some((*seat, look.tick, look.plays))
        })
    }

    fn laggard(&self, (calm_ms, abreast_ms): (u32, u32), at_ms: u32) -> Option<(SeatId, String)> {
        let newest = self.newest(at_ms)?;
        let settled = |seat: SeatId| {
            let from_ms = self.trace.lives[&seat].plays_from_ms().unwrap_or(at_ms);
            at_ms >= from_ms.max(calm_ms) + abreast_ms
        };
        self.must_play(at_ms).filter(|(seat, ..)| settled(*seat)).find_map(|(seat, tick, plays)| {
            let behind = newest.since(tick);
            (behind > BEHIND_TICKS_MAX || !plays)
                .then(|| (seat, if plays { format!("{behind} ticks behind") } else { "not playing".to_owned() }))
        })
    }

    /// Who enters comes in, and who is in the world stays.
    fn presence(&self, out: &mut Vec<Breach>) {
        for (seat, life) in &self.trace.lives {
            let steady = !self.allowed.excused_ms.contains_key(seat);
            let elected = life
                .leaders
                .iter()
                .skip(1)
                .find(|(at_ms, _)| life.entered_ms + ENTER_MS_MAX < *at_ms && self.allowed.is_harmless(*at_ms));
            if let Some((at_ms, player)) = elected.filter(|_| steady) {
                out.push(breach(Rule::Progress, format!("{player} leads since {at_ms} ms, and nobody was lost")));
            }
            let scheduled = self.allowed.spells.iter().any(|spell| spell.takes(*seat));
            if let Some(end) = life.end.as_ref().filter(|_| steady && !scheduled && !self.is_too_late(life)) {
                let at_ms = life.gone_ms.unwrap_or(self.trace.end_ms);
                out.push(breach(Rule::Hero, format!("seat {seat} ended at {at_ms} ms: {end}")));
            }
            let calm = self
                .allowed
                .calm(self.trace.end_ms)
                .find(|calm| (calm.enters_from_ms..calm.until_ms).contains(&life.entered_ms));
            let due_ms = calm.map_or(self.trace.end_ms, |Calm { from_ms, until_ms, .. }| {
                let due_ms = life.entered_ms.max(from_ms) + ENTER_MS_MAX;
                if due_ms <= until_ms { due_ms } else { self.trace.end_ms }
            });
            let waits = !self.schedule.is_host(*seat)
                && !self.is_too_late(life)
                && life.lives()
                && life.plays_from_ms().is_none_or(|from_ms| from_ms > due_ms);
            if waits && steady && due_ms > life.entered_ms {
                out.push(breach(
                    Rule::Hero,
                    format!("seat {seat} entered at {} ms, and is not in the world at {due_ms} ms", life.entered_ms),
                ));
            }
        }
    }

    /// Whether a session takes nobody in any more.
    fn is_too_late(&self, life: &Life) -> bool {
        self.schedule.kind == Kind::Rollback && life.entered_ms > 0
    }

    fn leaks(&self, out: &mut Vec<Breach>) {
        for (seat, life) in &self.trace.lives {
            if life.desyncs > 0 {
                out.push(breach(Rule::Checksums, format!("seat {seat} found {} differences", life.desyncs)));
            }
            if let Some((at_ms, player)) = life.distrusted.first() {
                let text = format!("seat {seat} distrusts {player} from {at_ms} ms, and all are honest");
                out.push(breach(Rule::Leak, text));
            }
            let hostile = life.drops.iter().find(|(reason, _)| HOSTILE.contains(reason));
            if let Some((reason, times)) = hostile {
                out.push(breach(
                    Rule::Leak,
                    format!("seat {seat} dropped something {times} times as {reason:?}, and all are honest"),
                ));
            }
        }
        for (seat, life) in self.steadfast().filter(|(_, life)| life.pending > 0) {
            let text = format!("seat {seat} has {} commands that wait, {HUSH_MS} ms after its last", life.pending);
            out.push(breach(Rule::Leak, text));
        }
    }
}

/// What only a hostile peer should be the reason of.
const HOSTILE: [DropReason; 8] = [
    DropReason::Malformed,
    DropReason::Oversized,
    DropReason::ForgedAck,
    DropReason::BadCommand,
    DropReason::BadInput,
    DropReason::RequestFlood,
    DropReason::BadEvidence,
    DropReason::BadRepair,
];
