//! How a recording fails, if it does: what shows itself first, then what is broken on purpose.
//!
//! Breakers first play short pieces here and there: a fault that acts all the time is found in them
//! at once. What is left is played whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lockstone_sim::{Checksum, Tick};

use super::candidate::Candidate;
use super::symptom::{Fails, Symptom, Trial, step};
use super::{Found, Step, Watch};
use crate::check::chaos::{Breaker, Reference};
use crate::inspect::Inspect;
use crate::panics::caught;
use crate::recording::Timeline;

/// So many pieces of so many ticks are tried first, if that is little beside all of it.
const PIECES: u32 = 6;
const PIECE_TICKS: u32 = 64;
/// What keeps snapshots to the end is played in pieces of so many ticks.
const KEPT_TICKS: u32 = 2_000;

/// In this process, and the cheap ones first.
const BREAKERS: [Breaker; 9] = [
    Breaker::CellOrder,
    Breaker::Threads,
    Breaker::Restore,
    Breaker::Allocation,
    Breaker::Rollback,
    Breaker::Presentation,
    Breaker::Partial,
    Breaker::StaleSnapshot,
    Breaker::Serialise,
];

/// What came out when a recording was just played.
struct Played {
    /// The checksum before each turn that was played, and the one behind the last.
    roots: Vec<Checksum>,
    /// States here and there, serialised.
    states: BTreeMap<Tick, Vec<u8>>,
    /// The newest tick at which a checksum was met.
    agreed: Option<Tick>,
    /// What showed itself behind them: a checksum that is not met, or a panic.
    end: Option<Symptom>,
}

/// How a recording fails: under a breaker, if one is given, else in any way.
pub(super) fn find<S: Inspect>(
    trial: &Trial<'_, S>,
    timeline: &Timeline<S>,
    whole: Candidate<S>,
    only: Option<Breaker>,
    watch: Watch<'_>,
) -> Option<Found<S>> {
    let played = play(trial, timeline, &whole, only.is_some(), watch);
    let reached = whole.start.plus(played.roots.len() as u32 - 1);
    match played.end {
        Some(Symptom::Panic { .. }) if only.is_some() => {}
        Some(symptom @ Symptom::Panic { .. }) => {
            let end = reached.next();
            return Some(found(symptom, whole.until(end), Fails { end: Some(end) }, None));
        }
        Some(symptom) => return Some(unmet(trial, whole.until(reached), symptom, played.agreed)),
        None => {}
    }
    let whole = whole.until(reached);
    let build = || trial.load(&whole).expect("it was read already");
    let reference = Reference::known(&build, whole.start, whole.turns.clone(), played.roots);
    let reference = reference.with_players(&trial.players);
    let in_all = |breaker: Breaker, watch: Watch<'_>| {
        let plays = &mut |tick| {
            watch(Step::Looks(Some(breaker), tick, reached));
            ControlFlow::Continue(())
        };
        let fails = caught(|| trial.under(breaker, &reference, plays)).ok()??;
        Some(found(Symptom::Breaker { breaker }, whole.until(reached), fails, None))
    };
    let in_piece = |breaker: Breaker, start: Tick, ticks: u32, watch: Watch<'_>| {
        watch(Step::Looks(Some(breaker), start, reached));
        let piece = whole.until(start.plus(ticks)).from(start, played.states.get(&start)?.clone());
        let fails = trial.fails_under(breaker, &piece)?;
        Some(found(Symptom::Breaker { breaker }, piece, fails, None))
    };
    let wanted = |breaker: &Breaker| only.is_none_or(|only| only == *breaker);
    let breakers = || BREAKERS.into_iter().filter(wanted);
    if wanted(&Breaker::Again)
        && let Some(found) = in_all(Breaker::Again, watch)
    {
        return Some(found);
    }
    for start in pieces(whole.start, reached) {
        if let Some(found) = breakers().find_map(|breaker| in_piece(breaker, start, PIECE_TICKS, watch)) {
            return Some(found);
        }
    }
    breakers().find_map(|breaker| match breaker {
        Breaker::StaleSnapshot => {
            kept(whole.start, reached).into_iter().find_map(|start| in_piece(breaker, start, KEPT_TICKS, watch))
        }
        _ => in_all(breaker, watch),
    })
}

fn found<S: Inspect>(symptom: Symptom, candidate: Candidate<S>, fails: Fails, latest_start: Option<Tick>) -> Found<S> {
    Found { symptom, candidate, fails, latest_start }
}

/// Where the pieces begin, the last one first: a session is mostly stopped where it went wrong.
fn pieces(start: Tick, end: Tick) -> Vec<Tick> {
    if end.since(start) < 4 * PIECES * PIECE_TICKS {
        return Vec::new();
    }
    let end_of = |n: u32| start.0 + (u64::from(end.since(start)) * u64::from(n) / u64::from(PIECES)) as u32;
    (1..=PIECES).rev().map(|n| Tick(end_of(n) - PIECE_TICKS)).collect()
}

/// Where the pieces begin that cover all.
fn kept(start: Tick, end: Tick) -> Vec<Tick> {
    (start.0..end.0).step_by(KEPT_TICKS as usize).map(Tick).collect()
}

/// Plays until something shows itself; past all checksums if only panics count.
fn play<S: Inspect>(
    trial: &Trial<'_, S>,
    timeline: &Timeline<S>,
    whole: &Candidate<S>,
    past_checksums: bool,
    watch: Watch<'_>,
) -> Played {
    let mut simulation = trial.load(whole).expect("it was read already");
    let wanted: BTreeSet<Tick> =
        [pieces(whole.start, whole.end()), kept(whole.start, whole.end())].concat().into_iter().collect();
    let mut played = Played { roots: Vec::new(), states: BTreeMap::new(), agreed: None, end: None };
    for turn in whole.turns.iter().map(Some).chain([None]) {
        let (tick, root) = (simulation.tick(), simulation.checksum());
        watch(Step::Looks(None, tick, whole.end()));
        played.roots.push(root);
        match timeline.roots.get(&tick) {
            Some(recorded) if *recorded == root => played.agreed = Some(tick),
            Some(recorded) if !past_checksums => {
                played.end = Some(Symptom::Unmet { tick, recorded: *recorded });
                break;
            }
            _ => {}
        }
        if wanted.contains(&tick) {
            played.states.insert(tick, simulation.encoded());
        }
        if let Some(Err(message)) = turn.map(|turn| step(&mut simulation, turn)) {
            played.end = Some(Symptom::Panic { message });
            break;
        }
    }
    played
}

/// A checksum is not met. If what was played since the last that was comes out in several ways,
/// that is the failure.
fn unmet<S: Inspect>(trial: &Trial<'_, S>, whole: Candidate<S>, symptom: Symptom, agreed: Option<Tick>) -> Found<S> {
    let (end, latest_start) = (whole.end(), agreed.unwrap_or(whole.start));
    if let Some(Ok(mut simulation)) = trial.play(&whole.until(latest_start)) {
        let last = whole.from(latest_start, simulation.encoded());
        if let Some(fails) = trial.fails_under(Breaker::Again, &last) {
            return found(Symptom::Breaker { breaker: Breaker::Again }, last, fails, None);
        }
    }
    found(symptom, whole, Fails { end: Some(end) }, Some(latest_start))
}
