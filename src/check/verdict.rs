//! Why worlds differ: each suspicion is played, and the one that meets the odd peer's recorded checksums is the cause.
//!
//! ```text
//! the state before ─► as suspected: other turns, one bit turned over, read from bytes, looked at, ... ─► the odd peer's checksums?
//! ```
//!
//! It never blames a peer whose checksums the turns lead to. What cannot be shown is told as unknown.

use std::collections::BTreeMap;

use lockstone_sim::codec::differences;
use lockstone_sim::world::StateBit;
use lockstone_sim::{Tick, Turn};

use super::compare::{CheckError, Checker};
use super::inspect::Inspect;
use super::locate::locate;
use super::replayer::Replayer;
use super::report::{Cause, Finding, Verdict};
use super::timeline::Timeline;

/// So many ticks after the first difference a suspicion must meet the odd peer's checksums.
const WITNESS_TICKS: u32 = 20;
/// A step that comes out in several ways shows it within so many tries, or is taken to be sound.
const TRIES: u32 = 3;

/// A difference that is to be explained.
pub(super) struct Case<'c, 'a, S: Inspect> {
    pub checker: &'c Checker<'a, S>,
    pub peers: &'c [Timeline<S>],
    /// The turns that most have.
    pub turns: &'c BTreeMap<Tick, Turn<S>>,
    /// The first tick at which a recorded checksum is not met.
    pub tick: Tick,
    /// The newest before at which that recording's was.
    pub agreed: Option<Tick>,
    /// Whose are not.
    pub odd: Vec<usize>,
}

/// The odd peer's state at some tick, as it was had again, and what it was given from there on.
pub(super) struct OddState<S: Inspect> {
    pub simulation: S,
    pub turns: BTreeMap<Tick, Turn<S>>,
}

type Solution<S> = (Verdict, Option<OddState<S>>);

/// What can be told without playing: another seed, table, configuration, program or state at the start.
pub(super) fn before_the_first_tick<S: Inspect>(
    checker: &Checker<'_, S>,
    peers: &[Timeline<S>],
) -> Result<Option<Finding>, CheckError> {
    let told = |cause, what: &str, values: Vec<String>| {
        let blamed = minority(&values);
        (!values.windows(2).all(|pair| pair[0] == pair[1])).then(|| {
            let each = peers.iter().zip(&values).map(|(peer, value)| format!("{} has {what} {value}", peer.who()));
            finding(peers, Verdict { cause, blamed, reasons: each.collect() })
        })
    };
    let all = |value: fn(&Timeline<S>) -> String| peers.iter().map(value).collect::<Vec<_>>();
    let found = told(Cause::StartData, "the seed", all(|peer| peer.header.seed.to_string()))
        .or_else(|| told(Cause::Table, "the random table", all(|peer| format!("{:032x}", peer.header.table))))
        .or_else(|| told(Cause::Build, "the rules", all(|peer| format!("{:016x}", peer.header.rules))))
        .or_else(|| told(Cause::StartData, "the configuration", all(|peer| format!("{:016x}", peer.header.config))));
    match found {
        Some(found) => Ok(Some(found)),
        None => unlike_starts(checker, peers),
    }
}

/// Recordings that begin at one tick, in several states.
fn unlike_starts<S: Inspect>(checker: &Checker<'_, S>, peers: &[Timeline<S>]) -> Result<Option<Finding>, CheckError> {
    for (n, peer) in peers.iter().enumerate() {
        let same_start: Vec<usize> = (0..peers.len()).filter(|&m| peers[m].start() == peer.start()).collect();
        let state = |m: usize| &peers[m].states[&peers[m].start()];
        let Some(&other) = same_start.iter().find(|&&m| m > n && state(m) != state(n)) else { continue };
        let states: Vec<_> = same_start.iter().map(|&m| state(m)).collect();
        let odd: Vec<usize> = minority(&states).into_iter().map(|place| same_start[place]).collect();
        let start = peer.start();
        let (mut ours, mut theirs) = (checker.load(peer, start)?, checker.load(&peers[other], start)?);
        let reasons =
            vec![format!("{} and {} began at tick {start} with unlike states", peer.who(), peers[other].who())];
        let verdict = Verdict { cause: Cause::StartData, blamed: odd.clone(), reasons };
        let location = Some(locate(&mut ours, &mut theirs));
        return Ok(Some(Finding { tick: start, odd, location, ..finding(peers, verdict) }));
    }
    Ok(None)
}

fn finding<S: Inspect>(peers: &[Timeline<S>], verdict: Verdict) -> Finding {
    let tick = peers.iter().map(Timeline::start).max().unwrap_or_default();
    let odd = verdict.blamed.clone();
    Finding {
        tick,
        agreed: None,
        odd,
        verdict,
        location: None,
        spread: Vec::new(),
        inputs: Vec::new(),
        journal: Vec::new(),
    }
}

/// Those that have not what most have; none if nobody can tell.
fn minority<T: PartialEq>(values: &[T]) -> Vec<usize> {
    let votes = |value: &T| values.iter().filter(|other| *other == value).count();
    let Some(most) = values.iter().map(votes).max() else { return Vec::new() };
    if most * 2 <= values.len() {
        return Vec::new();
    }
    (0..values.len()).filter(|&n| votes(&values[n]) < most).collect()
}

impl<S: Inspect> Case<'_, '_, S> {
    /// Goes through the suspicions, from those that prove themselves to those that are left over.
    pub fn solve(&self, replayer: &mut Replayer<'_, S>) -> Result<Solution<S>, CheckError> {
        if let Some(solution) = self.several_ways(replayer) {
            return Ok(solution);
        }
        if let Some(solution) = self.uncovered_field(replayer)? {
            return Ok(solution);
        }
        if let Some(solution) = self.other_turns(replayer) {
            return Ok(solution);
        }
        if let Some(solution) = self.turned_bit(replayer) {
            return Ok(solution);
        }
        if let Some(solution) = self.lost_by_a_snapshot(replayer)? {
            return Ok(solution);
        }
        if let Some(solution) = self.looked_at(replayer) {
            return Ok(solution);
        }
        if let Some(solution) = self.written_from_outside()? {
            return Ok(solution);
        }
        Ok(self.left_over())
    }

    /// Who is looked at: of several odd peers the first.
    fn suspect(&self) -> &Timeline<S> {
        &self.peers[self.odd[0]]
    }

    /// The tick from which the difference is to be had again: the newest at which all was well.
    fn last_good(&self, replayer: &Replayer<'_, S>) -> Tick {
        self.agreed.unwrap_or(replayer.start()).max(replayer.start())
    }

    fn fork(&self, replayer: &mut Replayer<'_, S>, tick: Tick) -> S {
        let mut fork = (self.checker.build)(self.peers[0].header.seed);
        fork.restore(&replayer.at(tick).snapshot());
        fork
    }

    /// How many of the suspect's checksums a suspicion meets, from the first that the turns alone do not meet on. `None` if it does not meet
    /// one of them, or if there is none to meet.
    fn meets(&self, mut odd: OddState<S>, before_step: impl Fn(&S)) -> Option<u32> {
        let (suspect, mut met) = (self.suspect(), 0);
        let end = self.tick.max(odd.simulation.tick()).plus(WITNESS_TICKS).min(suspect.end);
        loop {
            let tick = odd.simulation.tick();
            if let Some(recorded) = suspect.roots.get(&tick) {
                if odd.simulation.checksum() != *recorded {
                    return None;
                }
                met += u32::from(tick >= self.tick);
            }
            if tick >= end {
                return (met > 0).then_some(met);
            }
            before_step(&odd.simulation);
            odd.simulation.step(odd.turns.get(&tick).unwrap_or(&Turn::default()));
        }
    }

    fn met(&self, met: u32) -> String {
        let who = self.suspect().who();
        format!("so played, the next {met} checksums of {who} are met, from tick {} on", self.tick)
    }

    /// The same turns from the same state, several times.
    fn several_ways(&self, replayer: &mut Replayer<'_, S>) -> Option<Solution<S>> {
        let from = self.last_good(replayer);
        let mut first = self.fork(replayer, from);
        self.play(&mut first, self.tick);
        for _ in 1..TRIES {
            let mut again = self.fork(replayer, from);
            self.play(&mut again, self.tick);
            if again.checksum() != first.checksum() {
                let reasons = vec![format!(
                    "played {TRIES} times in this process from one state at tick {from}, the same turns led to several states"
                )];
                let verdict = Verdict { cause: Cause::Nondeterminism, blamed: Vec::new(), reasons };
                return Some((verdict, Some(OddState { simulation: again, turns: self.turns.clone() })));
            }
        }
        None
    }

    fn play(&self, simulation: &mut S, until: Tick) {
        while simulation.tick() < until {
            simulation.step(self.turns.get(&simulation.tick()).unwrap_or(&Turn::default()));
        }
    }

    /// States that were recorded as equal by their checksums, and are not.
    fn uncovered_field(&self, replayer: &mut Replayer<'_, S>) -> Result<Option<Solution<S>>, CheckError> {
        let peer = self.suspect();
        let start = replayer.start();
        for &tick in peer.states.keys().filter(|tick| (start..=self.tick).contains(*tick)) {
            let ours = replayer.at(tick);
            let snapshot = ours.snapshot();
            let equal_bytes = ours.encode(&snapshot) == peer.states[&tick];
            let mut theirs = self.checker.load(peer, tick)?;
            if equal_bytes || ours.checksum() != theirs.checksum() {
                continue;
            }
            let fields = locate_all(ours, &mut theirs);
            let reasons = vec![
                format!(
                    "at tick {tick} the recorded state of {} has the same checksum as ours, and is another",
                    peer.who()
                ),
                format!("what differs and is not covered: {fields}"),
            ];
            let verdict = Verdict { cause: Cause::ChecksumField, blamed: Vec::new(), reasons };
            return Ok(Some((verdict, Some(OddState { simulation: theirs, turns: peer.turns.clone() }))));
        }
        Ok(None)
    }

    fn other_turns(&self, replayer: &mut Replayer<'_, S>) -> Option<Solution<S>> {
        let (peer, from) = (self.suspect(), self.last_good(replayer));
        let unlike = |tick: &Tick| peer.turns.get(tick) != self.turns.get(tick);
        let ticks = (from.0..self.tick.0).map(Tick);
        let tick = ticks.filter(|tick| peer.covers(*tick)).find(unlike)?;
        let odd = |case: &Self, replayer: &mut Replayer<'_, S>| OddState {
            simulation: case.fork(replayer, tick),
            turns: peer.turns.clone(),
        };
        let met = self.meets(odd(self, replayer), |_| ())?;
        let text = |turn: Option<&Turn<S>>| turn.map_or("nothing".to_owned(), |turn| format!("{turn:?}"));
        let turns: Vec<_> = self.peers.iter().filter(|peer| peer.covers(tick)).map(|p| p.turns.get(&tick)).collect();
        let agreeing = turns.iter().filter(|turn| **turn == self.turns.get(&tick)).count();
        let blamed = if agreeing * 2 > turns.len() { self.odd.clone() } else { Vec::new() };
        let mut reasons = vec![
            format!(
                "at tick {tick} {} entered, and for {} {}",
                text(turns_at(self.turns, tick)),
                peer.who(),
                text(turns_at(&peer.turns, tick))
            ),
            self.met(met),
        ];
        if blamed.is_empty() {
            reasons.push("as many recordings have the one as the other, so nobody can tell which is right".to_owned());
        }
        let mut state = odd(self, replayer);
        state.simulation.step(peer.turns.get(&tick).unwrap_or(&Turn::default()));
        Some((Verdict { cause: Cause::Input, blamed, reasons }, Some(state)))
    }

    /// One bit of the state, turned over just before its checksum was taken.
    fn turned_bit(&self, replayer: &mut Replayer<'_, S>) -> Option<Solution<S>> {
        let peer = self.suspect();
        let root = *peer.roots.get(&self.tick)?;
        let bit = replayer.at(self.tick).find_bit(root, None)?;
        let mut reasons = vec![format!(
            "one bit turned over leads to its checksum at tick {}: bit {} of byte {} of {}",
            self.tick, bit.bit, bit.byte, bit.of
        )];
        let odd = |case: &Self, replayer: &mut Replayer<'_, S>| {
            let mut simulation = case.fork(replayer, case.tick);
            let turned = simulation.with_bit_turned(&bit)?;
            simulation.restore(&turned);
            Some(OddState { simulation, turns: case.turns.clone() })
        };
        if let Some(state) = odd(self, replayer) {
            reasons.extend(field_of(replayer.at(self.tick), &state.simulation, &bit));
            reasons.extend(self.meets(state, |_| ()).map(|met| self.met(met)));
        }
        reasons
            .push("no step writes a single bit: a fault of the memory, or a write from outside of the step".to_owned());
        let verdict = Verdict { cause: Cause::StateCorruption, blamed: self.odd.clone(), reasons };
        Some((verdict, odd(self, replayer)))
    }

    /// The state as it is read from bytes, in the place of the living one: where a peer joined, or at the last tick at which all was well.
    fn lost_by_a_snapshot(&self, replayer: &mut Replayer<'_, S>) -> Result<Option<Solution<S>>, CheckError> {
        let peer = self.suspect();
        let cause = Cause::SnapshotField;
        if replayer.start() < peer.start() && peer.start() <= self.tick {
            let odd = || Ok(OddState { simulation: self.checker.load(peer, peer.start())?, turns: self.turns.clone() });
            if let Some(met) = self.meets(odd()?, |_| ()) {
                let joined = format!("{} joined at tick {} from a serialised state", peer.who(), peer.start());
                let verdict = Verdict { cause, blamed: Vec::new(), reasons: vec![joined, self.met(met)] };
                let mut state = odd()?;
                self.play(&mut state.simulation, self.tick);
                return Ok(Some((verdict, Some(state))));
            }
        }
        let from = self.last_good(replayer);
        let odd = |replayer: &mut Replayer<'_, S>| {
            let ours = replayer.at(from);
            let taken = ours.snapshot();
            let bytes = ours.encode(&taken);
            let mut simulation = (self.checker.build)(peer.header.seed);
            let read = simulation.decode(&bytes).ok()?;
            simulation.restore(&read);
            Some(OddState { simulation, turns: self.turns.clone() })
        };
        let Some(state) = odd(replayer) else { return Ok(None) };
        let Some(met) = self.meets(state, |_| ()) else { return Ok(None) };
        let restored = format!("the state of tick {from}, serialised and read again, goes another way");
        let verdict = Verdict { cause, blamed: Vec::new(), reasons: vec![restored, self.met(met)] };
        Ok(Some((
            verdict,
            odd(replayer).map(|mut state| {
                self.play(&mut state.simulation, self.tick);
                state
            }),
        )))
    }

    fn looked_at(&self, replayer: &mut Replayer<'_, S>) -> Option<Solution<S>> {
        let look = self.checker.look?;
        let from = self.last_good(replayer);
        let odd = |replayer: &mut Replayer<'_, S>| OddState {
            simulation: self.fork(replayer, from),
            turns: self.turns.clone(),
        };
        let met = self.meets(odd(replayer), look)?;
        let reasons =
            vec![format!("drawn before each step from tick {from} on, the world goes another way"), self.met(met)];
        let mut state = odd(replayer);
        while state.simulation.tick() < self.tick {
            look(&state.simulation);
            let tick = state.simulation.tick();
            state.simulation.step(self.turns.get(&tick).unwrap_or(&Turn::default()));
        }
        Some((Verdict { cause: Cause::Presentation, blamed: Vec::new(), reasons }, Some(state)))
    }

    /// A recorded state of the odd peer from which the turns lead on to its checksums: its steps are sound, and its state was not.
    fn written_from_outside(&self) -> Result<Option<Solution<S>>, CheckError> {
        let peer = self.suspect();
        let Some(&tick) = peer.states.range(self.tick..).next().map(|(tick, _)| tick) else { return Ok(None) };
        let odd = || Ok(OddState { simulation: self.checker.load(peer, tick)?, turns: peer.turns.clone() });
        let Some(met) = self.meets(odd()?, |_| ()) else { return Ok(None) };
        if met < 2 {
            // The checksum of the state itself proves nothing of the steps.
            return Ok(None);
        }
        let reasons = vec![
            format!(
                "{} recorded its state at tick {tick}: from there on the turns lead to its checksums ({met} met)",
                peer.who()
            ),
            "so its steps are sound, and its state was changed between them".to_owned(),
        ];
        Ok(Some((Verdict { cause: Cause::StateCorruption, blamed: self.odd.clone(), reasons }, Some(odd()?))))
    }

    /// No suspicion that can be played explains it: what else is unlike.
    fn left_over(&self) -> Solution<S> {
        let reasons = vec!["nothing that can be tried here leads to its checksums".to_owned()];
        (Verdict { cause: Cause::Unknown, blamed: Vec::new(), reasons }, None)
    }
}

fn turns_at<S: Inspect>(turns: &BTreeMap<Tick, Turn<S>>, tick: Tick) -> Option<&Turn<S>> {
    turns.get(&tick)
}

/// The field that a bit belongs to, with both values.
fn field_of<S: Inspect>(ours: &S, theirs: &S, bit: &StateBit) -> Option<String> {
    let thing = |simulation: &S| simulation.things(bit.of.cell()).into_iter().find(|thing| thing.part == bit.of);
    let (ours, theirs) = (thing(ours)?, thing(theirs)?);
    let difference = differences(&ours.fields, &theirs.fields).into_iter().next()?;
    Some(format!("{} {}", ours.kind, difference))
}

/// All parts in which two states of one checksum differ, whatever their tree says.
fn locate_all<S: Inspect>(ours: &mut S, theirs: &mut S) -> String {
    let cells = ours.tree().into_iter().map(|(cell, _)| Some(cell));
    let cells: Vec<_> = std::iter::once(None).chain(cells).collect();
    let told = cells.into_iter().flat_map(|cell| {
        let others = theirs.things(cell);
        let pairs = ours.things(cell).into_iter().filter_map(move |thing| {
            let other = others.iter().find(|other| other.part == thing.part)?;
            Some((thing.kind.clone(), differences(&thing.fields, &other.fields)))
        });
        pairs.flat_map(|(kind, fields)| fields.into_iter().map(move |field| format!("{kind} {field}")))
    });
    told.take(3).collect::<Vec<_>>().join("; ")
}
