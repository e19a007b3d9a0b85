//! The smallest recording that still fails.
//!
//! ```text
//! recording ─► what fails? ─► tail cut ─► head cut: a later state
//!              (panic, unmet checksum, two ways, a breaker)
//!     ─► players, inputs, ticks left out ─► a recording of its own
//! each candidate is played anew, and kept only if it still fails
//! ```
//!
//! Every candidate is a state, serialised, and turns: nothing of the long game but what is in them.
//! Failure need not be monotone (a tick less may heal it, two less may not), so nothing is
//! concluded from one candidate about another.
//!
//! The loop is `Shrinking::reduce`.

mod candidate;
mod find;
mod parts;
mod symptom;
mod written;

use std::time::{Duration, Instant};

use lockstone_sim::{Simulation, Tick};
use serde::Serialize;

use super::chaos::Breaker;
use super::compare::{CheckError, Checker};
use super::replayer::Replayer;
use crate::inspect::Inspect;
use crate::recording::{Entry, Recording, Timeline};
use candidate::Candidate;
pub(crate) use parts::needed;
use symptom::{Fails, Trial};

pub use symptom::Symptom;

/// So many ticks behind the failing one are kept until the head is cut: from a later state it may
/// fail a little later.
const SLACK_TICKS: u32 = 40;
/// From so many ticks on, ticks are left out before anything else: all that comes after is faster
/// then.
const LONG_TICKS: u32 = 200;
/// Each thing is tried again when others have been left out, so often at most.
const ROUNDS_MAX: u32 = 4;
/// How long is spent on making it smaller, once it is known how it fails.
const BUDGET: Duration = Duration::from_secs(30);

/// How often the small recording is played to see whether it fails each time.
pub const PLAYS: u32 = 10;

/// How large a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Ticks played.
    pub ticks: u32,
    /// Inputs that enter.
    pub inputs: u64,
}

impl Size {
    /// Of a recording.
    pub fn of<S: Simulation>(recording: &Recording<S>) -> Size {
        let inputs = recording.entries.iter().map(|entry| match entry {
            Entry::Turn(turn) => turn.inputs.len() as u64,
            _ => 0,
        });
        Size { ticks: recording.end().since(recording.header.start), inputs: inputs.sum() }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let many = |number: u64, of| match number {
            1 => format!("1 {of}"),
            _ => format!("{} {of}s", grouped(number)),
        };
        write!(f, "{} and {}", many(self.ticks.into(), "tick"), many(self.inputs, "input"))
    }
}

/// A recording that fails, made small.
pub struct Shrunk<S: Simulation> {
    /// How it fails.
    pub symptom: Symptom,
    /// What was given.
    pub before: Size,
    /// What is left.
    pub after: Size,
    /// How many candidates were played.
    pub tried: u32,
    /// How often the small recording failed so when it was played [`PLAYS`] times more.
    pub failed: u32,
    /// The small recording.
    pub recording: Recording<S>,
}

/// How far shrinking has come.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// It is looked how it fails: in this way, if not just by playing; a tick of so many.
    Looks(Option<Breaker>, Tick, Tick),
    /// It fails, and is this large now.
    Smaller(Size),
    /// So many candidates were played.
    Tried(u32),
}

/// Is told how far shrinking has come.
pub type Watch<'w> = &'w mut dyn FnMut(Step);

/// The smallest recording that still fails as this one does; `None` if it does not fail. `build`
/// makes the simulation of a seed, as it is before tick 0.
///
/// # Errors
/// [`CheckError`] if it is not of this simulation.
pub fn shrink<S: Inspect>(recording: Recording<S>, build: &dyn Fn(u64) -> S) -> Result<Option<Shrunk<S>>, CheckError> {
    Checker::new(build).shrink(recording, None, &mut |_| {})
}

impl<S: Inspect> Checker<'_, S> {
    /// The smallest recording that still fails as this one does; `None` if it does not fail. If a
    /// breaker is named, it is looked for what that one finds, and for nothing else; one that needs
    /// another process finds nothing here.
    ///
    /// # Errors
    /// [`CheckError`] if it is not of this simulation.
    pub fn shrink(
        &self,
        recording: Recording<S>,
        breaker: Option<Breaker>,
        watch: Watch<'_>,
    ) -> Result<Option<Shrunk<S>>, CheckError> {
        let timeline = Timeline::new(recording);
        self.load(&timeline, timeline.start())?;
        let whole = Candidate::of(&timeline)?;
        let players = timeline.names.keys().copied().chain(whole.players()).collect();
        let trial = Trial { checker: self, seed: timeline.header.seed, players };
        let before = whole.size();
        let Some(found) = find::find(&trial, &timeline, whole, breaker, watch) else { return Ok(None) };
        let Found { symptom, candidate, fails, latest_start } = found;
        let mut shrinking = Shrinking { trial: &trial, symptom: &symptom, watch, tried: 0, started: Instant::now() };
        let small = shrinking.reduce(candidate, fails, latest_start);
        let (after, tried) = (small.size(), shrinking.tried);
        let failed = trial.failures(&symptom, &small, PLAYS);
        let recording = written::record(&trial, &timeline, &symptom, &small);
        Ok(Some(Shrunk { symptom, before, after, tried, failed, recording }))
    }
}

/// What fails, and how.
struct Found<S: Simulation> {
    symptom: Symptom,
    candidate: Candidate<S>,
    fails: Fails,
    /// No state behind this tick will do.
    latest_start: Option<Tick>,
}

/// A failure that is being made small.
struct Shrinking<'s, S: Inspect> {
    trial: &'s Trial<'s, S>,
    symptom: &'s Symptom,
    watch: Watch<'s>,
    tried: u32,
    started: Instant,
}

impl<S: Inspect> Shrinking<'_, S> {
    fn reduce(&mut self, candidate: Candidate<S>, fails: Fails, latest_start: Option<Tick>) -> Candidate<S> {
        let mut best = self.cut_head(candidate, fails, latest_start);
        if matches!(self.symptom, Symptom::Unmet { .. }) {
            // What was recorded is the outcome of these very turns.
            return best;
        }
        best = self.cut_tail(best);
        for _ in 0..ROUNDS_MAX {
            let before = best.size();
            // Later turns come earlier instead of those that are left out.
            if before.ticks > LONG_TICKS {
                best = needed(best.places(), |kept| self.failing(best.with_turns(kept))).unwrap_or(best);
            }
            best = needed(best.players(), |kept| self.failing(best.with_players(kept))).unwrap_or(best);
            best = needed(best.inputs(), |kept| self.failing(best.with_inputs(kept))).unwrap_or(best);
            best = needed(best.places(), |kept| self.failing(best.with_turns(kept))).unwrap_or(best);
            if best.size() == before {
                break;
            }
            if let Some(fails) = self.fails(&best) {
                best = self.cut_head(best, fails, None);
            }
        }
        best
    }

    /// Whether a candidate still fails. False for all when time is up.
    fn fails(&mut self, candidate: &Candidate<S>) -> Option<Fails> {
        if self.started.elapsed() > BUDGET {
            return None;
        }
        self.tried += 1;
        (self.watch)(Step::Tried(self.tried));
        self.trial.fails(self.symptom, candidate)
    }

    /// The candidate if it fails, without the turns that are not needed for it.
    fn failing(&mut self, candidate: Candidate<S>) -> Option<Candidate<S>> {
        let fails = self.fails(&candidate)?;
        let failing = if let Some(end) = fails.end { candidate.until(end) } else { candidate };
        (self.watch)(Step::Smaller(failing.size()));
        Some(failing)
    }

    /// Starts from the latest state from which it still fails: back from the failing tick in
    /// strides that double, and then between the last two.
    fn cut_head(&mut self, candidate: Candidate<S>, fails: Fails, latest: Option<Tick>) -> Candidate<S> {
        let end = fails.end.unwrap_or(candidate.end());
        let start = candidate.start;
        let latest = latest.unwrap_or(Tick(end.0.saturating_sub(1))).max(start);
        let candidate = candidate.until(end.plus(SLACK_TICKS));
        let turns = (start.0..).map(Tick).zip(candidate.turns.iter().cloned()).collect();
        let whole = candidate.until(end);
        let Some(simulation) = self.trial.load(&candidate) else { return whole };
        let mut replayer = Replayer::new(simulation, &turns);
        let mut from = |tick: Tick, this: &mut Self| this.failing(candidate.from(tick, replayer.at(tick).encoded()));
        let (mut sound, mut stride) = (latest.next(), 0_u32);
        let (mut good, mut best) = loop {
            let tick = Tick(latest.0.saturating_sub(stride).max(start.0));
            if tick == start {
                break (start, whole);
            }
            if let Some(found) = from(tick, self) {
                break (tick, found);
            }
            sound = tick;
            stride = (stride * 2).max(1);
        };
        // Between a state from which it fails, and a later one from which it does not.
        while sound.0 > good.0 + 1 {
            let middle = Tick(good.0 + (sound.0 - good.0) / 2);
            match from(middle, self) {
                Some(found) => (good, best) = (middle, found),
                None => sound = middle,
            }
        }
        best
    }

    /// Ends as early as it can. Where the breaker does not tell, halves are tried.
    fn cut_tail(&mut self, mut best: Candidate<S>) -> Candidate<S> {
        let mut sound = best.start;
        while best.end().0 > sound.0 + 1 {
            let middle = Tick(sound.0 + (best.end().0 - sound.0) / 2);
            match self.failing(best.until(middle)) {
                Some(found) => best = found,
                None => sound = middle,
            }
        }
        best
    }
}

/// A number as people read it: `18,000`.
fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}
