//! Recordings of one session, against each other and against what their turns lead to.
//!
//! ```text
//! recordings ─► timelines ─► the turns that most have ─► played again
//!     └─► every recorded checksum compared ─► first difference ─► verdict, location, spread
//! ```
//!
//! Where the recordings themselves show the first difference, only what lies around it is played.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::codec::CodecError;
use lockstone_sim::{Simulation, Tick, Turn};

use super::extent::covered;
use super::parting::explain;
use super::replayer::Replayer;
use super::report::{Finding, PeerReport, Report, Unmet};
use super::states::beginnings;
use super::verdict::{Case, two_votes, unlike_headers, unlike_starts};
use crate::inspect::Inspect;
use crate::panics::caught;
use crate::recording::{Recording, Timeline};

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
    pub(super) watch: Option<&'a dyn Fn(Tick)>,
}

impl<'a, S: Inspect> Checker<'a, S> {
    /// A checker; `build` makes the simulation of a seed, as it is before tick 0.
    pub fn new(build: &'a dyn Fn(u64) -> S) -> Self {
        Checker { build, look: None, watch: None }
    }

    /// Also suspects what shows the world: `look` draws it once, as a view would.
    pub fn with_presentation(self, look: &'a dyn Fn(&S)) -> Self {
        Checker { look: Some(look), ..self }
    }

    /// Tells of each tick that is played, however often.
    pub fn with_progress(self, watch: &'a dyn Fn(Tick)) -> Self {
        Checker { watch: Some(watch), ..self }
    }

    /// Plays the recordings of one session again, and tells who differs from whom, since
    /// when, where and why.
    ///
    /// # Errors
    /// [`CheckError`] if they are not of one session, or not of this simulation.
    pub fn check(&self, recordings: Vec<Recording<S>>) -> Result<Report, CheckError> {
        let mut peers: Vec<_> = recordings.into_iter().map(Timeline::new).collect();
        belong_together(&peers)?;
        let unusable = self.leave_out_unusable_states(&mut peers)?;
        let mut reports: Vec<_> = peers.iter().map(|peer| self.describe(peer)).collect();
        reports.iter_mut().zip(unusable).for_each(|(report, unusable)| report.unusable = unusable);
        let two_faced = two_votes(&peers);
        // Without its first state nothing is known of a part; all others are checked alike.
        let mut left_out = Vec::new();
        if reports.iter().any(|report| !report.covers.is_empty()) {
            let is_lost = |peer: &Timeline<S>| !peer.states.contains_key(&peer.start());
            for n in (0..peers.len()).rev().filter(|&n| is_lost(&peers[n])).collect::<Vec<_>>() {
                peers.remove(n);
                left_out.push((n, reports.remove(n)));
            }
        }
        let mut report = self.check_timelines(&peers, reports)?;
        left_out.into_iter().rev().for_each(|(n, peer)| report.insert(n, peer));
        Ok(Report { two_faced, ..report })
    }

    fn check_timelines(&self, peers: &[Timeline<S>], mut reports: Vec<PeerReport>) -> Result<Report, CheckError> {
        // Parts of the world have other turns and other checksums by design.
        let are_parts = peers.len() > 1 && reports.iter().any(|report| !report.covers.is_empty());
        let start = peers.iter().map(Timeline::start).min().unwrap_or_default();
        let end = peers.iter().map(|peer| peer.end).max().unwrap_or_default();
        let played = Cell::new(start);
        let watch = |tick| {
            played.set(tick);
            self.watch.iter().for_each(|watch| watch(tick));
        };
        let checker = Checker { build: self.build, look: self.look, watch: Some(&watch) };
        let outcome = caught(|| match unlike_headers(peers) {
            Some(finding) => Ok((None, Some(finding))),
            None if are_parts => checker.check_shared(peers, &mut reports),
            None => Ok((None, checker.check_alike(peers, &mut reports)?)),
        });
        let (shared, finding, panic) = match outcome {
            Ok(found) => {
                let (shared, finding) = found?;
                (shared, finding, None)
            }
            Err(panicked) => (None, None, Some((played.get(), panicked))),
        };
        Ok(Report { peers: reports, start, end, shared, finding, panic, two_faced: Vec::new() })
    }

    /// A recording, of which nothing was compared yet.
    fn describe(&self, peer: &Timeline<S>) -> PeerReport {
        // What cannot be read is told where it is played.
        let covers = self.load(peer, peer.start()).map(|start| covered(peer, &start));
        PeerReport {
            who: peer.who(),
            player: peer.header.player,
            build: format!("engine {}, {}", peer.header.engine, peer.header.build),
            start: peer.start(),
            end: peer.end,
            ending: peer.ending.clone(),
            covers: covers.unwrap_or_default(),
            noted: peer.noted,
            unusable: Vec::new(),
            checksums: 0,
            agreed: None,
            differs: None,
        }
    }

    /// Recordings that should have the same turns and checksums.
    fn check_alike(&self, peers: &[Timeline<S>], reports: &mut Vec<PeerReport>) -> Result<Option<Finding>, CheckError> {
        if let Some(finding) = unlike_starts(self, peers)? {
            return Ok(Some(finding));
        }
        let split = first_split(peers);
        let agreed = split.and_then(|(agreed, _)| agreed);
        let ways = ways(peers);
        let (mut chosen, mut limit) = (None::<(Soundness, Replayer<'_, S>, Vec<PeerReport>)>, Tick::default());
        'chosen: for (holder, start) in beginnings(peers, split) {
            let end = peers.iter().map(|peer| peer.end).max().unwrap_or(start);
            limit = split.map_or(end, |(_, tick)| end.min(tick.plus(AFTER_TICKS)));
            // If as many have other turns, those count that lead to the checksums of anyone.
            for turns in &ways {
                let mut played = Replayer::new(self.load(&peers[holder], start)?, turns).watched(self.watch);
                let mut compared = reports.clone();
                compare(peers, &mut compared, &mut played, limit);
                let soundness = soundness(&compared, holder, agreed);
                if chosen.as_ref().is_none_or(|(best, ..)| *best < soundness) {
                    chosen = Some((soundness, played, compared));
                }
                if soundness == Soundness::All {
                    break 'chosen;
                }
            }
        }
        let (_, mut played, compared) = chosen.expect("there are recordings");
        *reports = compared;
        if split.is_none() {
            // The last turn has no checksum if the rules panicked in it.
            played.at(limit);
        }
        // The first to differ is examined; of several the one that began first, for others may have
        // been given its state.
        let unmet = |n: usize| Some((reports[n].differs?.tick, peers[n].start(), n));
        let Some((tick, _, suspect)) = (0..peers.len()).filter_map(unmet).min() else { return Ok(None) };
        let odd = (0..peers.len()).filter(|&n| reports[n].differs.is_some()).collect();
        let is_in_step = |report: &&PeerReport| report.is_healthy() && report.agreed >= Some(tick);
        let healthy = reports.iter().position(|report| is_in_step(&report)).map(|n| &peers[n]);
        let (agreed, odd_seed, panicked) = (reports[suspect].agreed, None, Vec::new());
        explain(Case { checker: self, peers, played, tick, agreed, odd, suspect, healthy, odd_seed, panicked }, limit)
            .map(Some)
    }

    /// A simulation in the state that a recording holds at a tick.
    pub(super) fn load(&self, peer: &Timeline<S>, tick: Tick) -> Result<S, CheckError> {
        peer.load(tick, self.build).map_err(|cause| CheckError::State { who: peer.who(), tick, cause })
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
    let mut known = Tick::default();
    for pair in by_start.windows(2) {
        known = known.max(pair[0].end);
        if known < pair[1].start() {
            return Err(CheckError::Apart(pair[0].who(), pair[1].who()));
        }
    }
    Ok(())
}

/// The first tick at which recorded checksums are not all equal, and the newest before
/// at which all were.
fn first_split<S: Simulation>(peers: &[Timeline<S>]) -> Option<(Option<Tick>, Tick)> {
    let ticks: BTreeSet<_> = peers.iter().flat_map(|peer| peer.roots.keys()).collect();
    let mut agreed = None;
    for &tick in ticks {
        let roots: Vec<_> = peers.iter().filter_map(|peer| peer.roots.get(&tick)).collect();
        if roots.iter().any(|root| *root != roots[0]) {
            return Some((agreed, tick));
        }
        if roots.len() > 1 {
            agreed = Some(tick);
        }
    }
    None
}

/// The turns that most have; several, if as many have others.
fn ways<S: Simulation>(peers: &[Timeline<S>]) -> Vec<BTreeMap<Tick, Turn<S>>> {
    let mut ways = Vec::new();
    for favourite in 0..peers.len() {
        let turns = merged_turns(peers, favourite);
        if !ways.contains(&turns) {
            ways.push(turns);
        }
    }
    ways
}

/// For each tick the turn that most recordings of it have; of several equally frequent ones the
/// favourite's, or else the first recording's.
fn merged_turns<S: Simulation>(peers: &[Timeline<S>], favourite: usize) -> BTreeMap<Tick, Turn<S>> {
    let ticks: BTreeSet<_> = peers.iter().flat_map(|peer| peer.turns.keys().copied()).collect();
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

/// What a play says of the state that it begins at, and of its turns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Soundness {
    /// Nobody's checksums are met.
    None,
    /// Somebody's are, but not all on which the recordings agree.
    Some,
    /// All are on which the recordings agree, and not those of the state's own recorder alone.
    All,
}

fn soundness(reports: &[PeerReport], holder: usize, agreed: Option<Tick>) -> Soundness {
    let leads_on = reports.iter().all(|report| report.differs.is_none_or(|unmet| Some(unmet.tick) > agreed));
    let mut others = reports.iter().enumerate().filter(|(n, _)| *n != holder).peekable();
    let is_shared = others.peek().is_none() || others.any(|(_, report)| report.agreed.is_some());
    match reports.iter().any(PeerReport::is_healthy) {
        false => Soundness::None,
        true if leads_on && is_shared => Soundness::All,
        true => Soundness::Some,
    }
}

/// Compares each recording's checksums with those that turns lead to, up to a tick, or until a few
/// ticks after the first that is not met.
pub(super) fn compare<S: Inspect>(
    peers: &[Timeline<S>],
    reports: &mut [PeerReport],
    played: &mut Replayer<'_, S>,
    mut end: Tick,
) {
    let mut tick = played.start();
    while tick <= end {
        let mut root = None;
        for (peer, report) in peers.iter().zip(&mut *reports) {
            let Some(&recorded) = peer.roots.get(&tick) else { continue };
            let played = *root.get_or_insert_with(|| played.root(tick));
            report.checksums += 1;
            if report.differs.is_some() {
                continue;
            }
            if recorded == played {
                report.agreed = Some(tick);
            } else {
                report.differs = Some(Unmet { tick, recorded, played });
                end = end.min(tick.plus(AFTER_TICKS));
            }
        }
        tick = tick.next();
    }
}
