//! Recordings of one session, against each other and against what their turns lead to.
//!
//! ```text
//! recordings ─► timelines ─► the turns that most have ─► played again
//!     └─► every recorded checksum compared ─► first difference ─► verdict, location, spread
//! ```
//!
//! Where the recordings themselves show the first difference, only what lies around it is played.

use std::collections::BTreeMap;

use lockstone_sim::codec::CodecError;
use lockstone_sim::{Simulation, Tick, Turn};

use super::extent::{Covered, covered};
use super::parting::explain;
use super::replayer::Replayer;
use super::report::{Finding, PeerReport, Report, Unmet};
use super::verdict::{self, Case};
use crate::inspect::Inspect;
use crate::recording::Timeline;
use crate::recording::{Build, Recording};

/// So far behind the first difference others are looked for.
pub(super) const AFTER_TICKS: u32 = 64;
/// How long a recording may be that is played again and again: a day at 20 ticks a second.
#[cfg(not(target_arch = "wasm32"))]
const TICKS_MAX: u32 = 20 * 60 * 60 * 24;

/// Why recordings cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// None were given.
    #[error("there is no recording to check")]
    Nothing,
    /// They are of several games.
    #[error("the recordings are of several games: {0} and {1}")]
    Games(String, String),
    /// They are of several rooms.
    #[error("the recordings are of several rooms, {0:?} and {1:?}: they are not of one session")]
    Rooms(String, String),
    /// They have no tick in common.
    #[error("the recordings of {0} and {1} have no tick in common: they are not of one session")]
    Apart(String, String),
    /// A recording is longer than can be taken apart.
    #[error("the recording of {who} has {ticks} ticks, and at most {max} can be played again and again")]
    TooLong {
        /// Whose.
        who: String,
        /// How many it has.
        ticks: u32,
        /// How many it may have.
        max: u32,
    },
    /// A recording's state is not one of this simulation.
    #[error("the state that {who} recorded at tick {tick} cannot be read: {cause}")]
    State {
        /// Whose.
        who: String,
        /// When.
        tick: Tick,
        /// Why.
        cause: CodecError,
    },
}

/// The turns of a recording one a tick, the empty ones too.
///
/// # Errors
/// [`CheckError::TooLong`] if there are more than [`TICKS_MAX`]: a few bytes can claim months.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn every_turn<S: Simulation>(recording: &Timeline<S>) -> Result<Vec<Turn<S>>, CheckError> {
    let (start, ticks) = (recording.start(), recording.end.since(recording.start()));
    if ticks > TICKS_MAX {
        return Err(CheckError::TooLong { who: recording.who(), ticks, max: TICKS_MAX });
    }
    let turn = |tick| recording.turns.get(&Tick(tick)).cloned().unwrap_or_default();
    Ok((start.0..recording.end.0).map(turn).collect())
}

/// Checks recordings of one kind of simulation.
pub struct Checker<'a, S> {
    pub(super) build: &'a dyn Fn(u64) -> S,
    pub(super) look: Option<&'a dyn Fn(&S)>,
}

impl<'a, S: Inspect> Checker<'a, S> {
    /// A checker; `build` makes the simulation of a seed, as it is before tick 0.
    pub fn new(build: &'a dyn Fn(u64) -> S) -> Self {
        Checker { build, look: None }
    }

    /// Also suspects what shows the world: `look` draws it once, as a view would.
    pub fn with_presentation(self, look: &'a dyn Fn(&S)) -> Self {
        Checker { look: Some(look), ..self }
    }

    /// Plays the recordings of one session again, and tells who differs from whom, since
    /// when, where and why.
    ///
    /// # Errors
    /// [`CheckError`] if they are not of one session, or not of this simulation.
    pub fn check(&self, recordings: Vec<Recording<S>>) -> Result<Report, CheckError> {
        let peers: Vec<_> = recordings.into_iter().map(Timeline::new).collect();
        self.check_timelines(&peers)
    }

    pub(super) fn check_timelines(&self, peers: &[Timeline<S>]) -> Result<Report, CheckError> {
        belong_together(peers)?;
        let covers: Vec<_> = peers.iter().map(|peer| self.covers(peer)).collect();
        // Parts of the world have other turns and other checksums by design.
        let report = match peers {
            [_, _, ..] if covers.iter().any(|covers| !covers.is_empty()) => self.check_shared(peers)?,
            _ => self.check_alike(peers)?,
        };
        let mut reports = report.peers;
        reports.iter_mut().zip(covers).for_each(|(report, covers)| report.covers = covers);
        Ok(Report { peers: reports, ..report })
    }

    /// Recordings that should have the same turns and checksums.
    fn check_alike(&self, peers: &[Timeline<S>]) -> Result<Report, CheckError> {
        let split = first_split(peers);
        if let Some(finding) = verdict::before_the_first_tick(self, peers)? {
            return Ok(self.report(peers, &Compared::default(), Some(finding)));
        }
        let (holder, start) = beginning(peers, split);
        let end = peers.iter().map(|peer| peer.end).max().unwrap_or(start);
        let limit = split.map_or(end, |(_, tick)| end.min(tick.plus(AFTER_TICKS)));
        let turns = self.sound_turns(peers, (holder, start), limit)?;
        let simulation = self.load(&peers[holder], start)?;
        let mut replayer = Replayer::new(simulation, &turns);
        let compared = compare(peers, &mut replayer, limit);
        let Some((tick, agreed)) = compared.first() else {
            return Ok(self.report(peers, &compared, None));
        };
        let odd = compared.odd(tick);
        let healthy = (0..peers.len()).find(|n| !odd.contains(n)).map(|n| &peers[n]);
        let case = Case { checker: self, peers, turns: &turns, tick, agreed, odd, healthy };
        let finding = explain(&case, &mut replayer, limit)?;
        Ok(self.report(peers, &compared, Some(finding)))
    }

    /// Which part of the world a recording covers. What cannot be read is told where it is played.
    fn covers(&self, peer: &Timeline<S>) -> Vec<Covered> {
        self.load(peer, peer.start()).map(|start| covered(peer, &start)).unwrap_or_default()
    }

    /// The turns that most have. If as many have others, those that lead to the
    /// checksums of anyone.
    fn sound_turns(
        &self,
        peers: &[Timeline<S>],
        (holder, start): (usize, Tick),
        limit: Tick,
    ) -> Result<BTreeMap<Tick, Turn<S>>, CheckError> {
        let mut ways: Vec<BTreeMap<Tick, Turn<S>>> = Vec::new();
        for favourite in 0..peers.len() {
            let turns = merged_turns(peers, favourite);
            if !ways.contains(&turns) {
                ways.push(turns);
            }
        }
        let ties = if ways.len() > 1 { ways.len() } else { 0 };
        for n in 0..ties {
            let compared = compare(peers, &mut Replayer::new(self.load(&peers[holder], start)?, &ways[n]), limit);
            if compared.peers.iter().any(|peer| peer.checksums > 0 && peer.differs.is_none()) {
                return Ok(ways.swap_remove(n));
            }
        }
        Ok(ways.swap_remove(0))
    }

    /// A simulation in the state that a recording holds at a tick.
    pub(super) fn load(&self, peer: &Timeline<S>, tick: Tick) -> Result<S, CheckError> {
        peer.load(tick, self.build).map_err(|cause| CheckError::State { who: peer.who(), tick, cause })
    }

    pub(super) fn report(&self, peers: &[Timeline<S>], compared: &Compared, finding: Option<Finding>) -> Report {
        let mut reports: Vec<_> = peers.iter().map(describe).collect();
        for (report, result) in reports.iter_mut().zip(&compared.peers) {
            report.checksums = result.checksums;
            (report.agreed, report.differs) = (result.agreed, result.differs);
        }
        let start = peers.iter().map(Timeline::start).min().unwrap_or_default();
        let end = peers.iter().map(|peer| peer.end).max().unwrap_or_default();
        Report { peers: reports, start, end, shared: None, finding }
    }
}

fn describe<S: Simulation>(peer: &Timeline<S>) -> PeerReport {
    let Build { profile, os, arch, executable, .. } = &peer.header.build;
    PeerReport {
        who: peer.who(),
        player: peer.header.player,
        build: format!("engine {}, {profile} {executable:016x} on {os} {arch}", peer.header.engine),
        start: peer.start(),
        end: peer.end,
        ending: peer.ending.clone(),
        covers: Vec::new(),
        noted: peer.noted,
        checksums: 0,
        agreed: None,
        differs: None,
    }
}

fn belong_together<S: Simulation>(peers: &[Timeline<S>]) -> Result<(), CheckError> {
    let first = peers.first().ok_or(CheckError::Nothing)?;
    for other in &peers[1..] {
        if other.header.game != first.header.game {
            return Err(CheckError::Games(first.header.game.clone(), other.header.game.clone()));
        }
        if other.header.room != first.header.room {
            return Err(CheckError::Rooms(first.header.room.clone(), other.header.room.clone()));
        }
    }
    let mut by_start: Vec<_> = peers.iter().collect();
    by_start.sort_by_key(|peer| peer.start());
    for pair in by_start.windows(2) {
        let known = by_start.iter().take_while(|peer| !std::ptr::eq(**peer, pair[1])).map(|peer| peer.end).max();
        if known.is_some_and(|end| end < pair[1].start()) {
            return Err(CheckError::Apart(pair[0].who(), pair[1].who()));
        }
    }
    Ok(())
}

/// The first tick at which recorded checksums are not all equal, and the newest before
/// at which all were.
fn first_split<S: Simulation>(peers: &[Timeline<S>]) -> Option<(Option<Tick>, Tick)> {
    let ticks: std::collections::BTreeSet<_> = peers.iter().flat_map(|peer| peer.roots.keys()).collect();
    let mut agreed = None;
    for &tick in ticks {
        let mut roots = peers.iter().filter_map(|peer| peer.roots.get(&tick));
        let first = roots.next()?;
        let mut others = roots.peekable();
        if others.peek().is_some() {
            if others.any(|root| root != first) {
                return Some((agreed, tick));
            }
            agreed = Some(tick);
        }
    }
    None
}

/// For each tick the turn that most recordings of it have; of several equally frequent ones the
/// favourite's, or else the first recording's.
fn merged_turns<S: Simulation>(peers: &[Timeline<S>], favourite: usize) -> BTreeMap<Tick, Turn<S>> {
    let ticks: std::collections::BTreeSet<_> = peers.iter().flat_map(|peer| peer.turns.keys().copied()).collect();
    let merged = ticks.into_iter().filter_map(|tick| {
        let by_favour = peers.iter().cycle().skip(favourite).take(peers.len());
        let all: Vec<_> = by_favour.filter(|peer| peer.covers(tick)).map(|peer| peer.turns.get(&tick)).collect();
        let votes = |turn: &Option<&Turn<S>>| all.iter().filter(|other| *other == turn).count();
        let most = all.iter().map(votes).max()?;
        let turn = all.iter().copied().find(|turn| votes(turn) == most)??;
        Some((tick, turn.clone()))
    });
    merged.collect()
}

/// Where to begin: at the start, or, if the recordings differ, at the newest state before that; and
/// whose state it is.
fn beginning<S: Simulation>(peers: &[Timeline<S>], split: Option<(Option<Tick>, Tick)>) -> (usize, Tick) {
    let earliest = (0..peers.len()).min_by_key(|&n| peers[n].start()).expect("there are recordings");
    let start = (earliest, peers[earliest].start());
    let Some((Some(agreed), _)) = split else { return start };
    // A joiner's start is the founder's state as it was serialised, which may be what is wrong.
    let joined: Vec<Tick> = peers.iter().map(Timeline::start).filter(|&tick| tick > start.1).collect();
    let states = |n: usize| peers[n].states.keys().copied().filter(|tick| *tick <= agreed && !joined.contains(tick));
    (0..peers.len()).flat_map(|n| states(n).map(move |tick| (n, tick))).max_by_key(|&(_, tick)| tick).unwrap_or(start)
}

/// What was found of each recording.
#[derive(Default)]
pub(super) struct Compared {
    pub peers: Vec<PeerResult>,
}

#[derive(Clone, Default)]
pub(super) struct PeerResult {
    pub checksums: u32,
    pub agreed: Option<Tick>,
    pub differs: Option<Unmet>,
}

impl Compared {
    /// The first tick at which anyone differs, and the newest before at which that one was equal.
    pub fn first(&self) -> Option<(Tick, Option<Tick>)> {
        let unmet = self.peers.iter().filter_map(|peer| Some((peer.differs?.tick, peer.agreed)));
        unmet.min_by_key(|&(tick, _)| tick)
    }

    fn odd(&self, tick: Tick) -> Vec<usize> {
        let is_odd = |peer: &PeerResult| peer.differs.is_some_and(|unmet| unmet.tick <= tick.plus(AFTER_TICKS));
        (0..self.peers.len()).filter(|&n| is_odd(&self.peers[n])).collect()
    }
}

pub(super) fn compare<S: Inspect>(peers: &[Timeline<S>], replayer: &mut Replayer<'_, S>, end: Tick) -> Compared {
    let mut results = vec![PeerResult::default(); peers.len()];
    let mut last = end;
    let mut tick = replayer.start();
    while tick <= last {
        let recorded: Vec<_> = peers.iter().map(|peer| peer.roots.get(&tick).copied()).collect();
        if recorded.iter().any(Option::is_some) {
            let played = replayer.root(tick);
            for (result, recorded) in results.iter_mut().zip(recorded) {
                let Some(recorded) = recorded else { continue };
                result.checksums += 1;
                if recorded == played && result.differs.is_none() {
                    result.agreed = Some(tick);
                } else if recorded != played && result.differs.is_none() {
                    result.differs = Some(Unmet { tick, recorded, played });
                    last = last.min(tick.plus(AFTER_TICKS));
                }
            }
        }
        tick = tick.next();
    }
    Compared { peers: results }
}
