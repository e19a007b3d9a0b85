//! What is wrong with a recording, and whether a smaller one still has it.

use std::any::Any;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};
use serde::Serialize;

use super::candidate::Candidate;
use crate::check::chaos::{Breaker, End, Reference, play_in_process};
use crate::inspect::Inspect;

/// What comes out in several ways may come out the same once.
const ATTEMPTS: u32 = 4;

/// How a recording fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "symptom")]
pub enum Symptom {
    /// A recorded checksum is not met.
    Unmet {
        /// Of the state before the turn of this tick.
        tick: Tick,
        /// What was recorded.
        recorded: Checksum,
    },
    /// The step panics.
    Panic {
        /// What it says.
        message: String,
    },
    /// Played in the way of this breaker, it comes out another way. [`Again`](Breaker::Again): the
    /// same turns, played twice.
    Breaker {
        /// Which.
        breaker: Breaker,
    },
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symptom::Unmet { tick, recorded } => write!(f, "the checksum {recorded} of tick {tick} is not met"),
            Symptom::Panic { message } => write!(f, "the step panics: {message}"),
            Symptom::Breaker { breaker: Breaker::Again } => f.write_str("played twice, it comes out in two ways"),
            Symptom::Breaker { breaker } => {
                write!(f, "the breaker {breaker} {}, and it comes out another way", breaker.does())
            }
        }
    }
}

/// Plays candidates.
pub(super) struct Trial<'a, S> {
    pub build: &'a dyn Fn() -> S,
    pub look: Option<&'a dyn Fn(&S)>,
    /// All who ever played.
    pub players: Vec<PlayerId>,
}

/// A candidate fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fails {
    /// The turns before this tick are enough for it, if that is known.
    pub end: Option<Tick>,
}

impl<S: Inspect> Trial<'_, S> {
    /// A simulation in a candidate's state; `None` if it cannot be read.
    pub fn load(&self, candidate: &Candidate<S>) -> Option<S> {
        let mut simulation = (self.build)();
        let snapshot = simulation.decode(&candidate.state).ok()?;
        simulation.restore(&snapshot);
        (simulation.tick() == candidate.start).then_some(simulation)
    }

    /// Whether a candidate fails in the same way.
    pub fn fails(&self, symptom: &Symptom, candidate: &Candidate<S>, plays: &mut dyn FnMut(Tick)) -> Option<Fails> {
        match symptom {
            Symptom::Unmet { tick, recorded } => {
                let (root, _) = self.root_at(candidate, *tick)?;
                (root != *recorded).then_some(Fails { end: Some(*tick) })
            }
            Symptom::Panic { message } => {
                let (tick, other) = self.panics(candidate, plays)?;
                (gist(&other) == gist(message)).then_some(Fails { end: Some(tick.next()) })
            }
            Symptom::Breaker { breaker } => self.fails_under(*breaker, candidate, plays),
        }
    }

    /// Whether a candidate comes out another way under a breaker. A panic is another matter.
    pub fn fails_under(
        &self,
        breaker: Breaker,
        candidate: &Candidate<S>,
        plays: &mut dyn FnMut(Tick),
    ) -> Option<Fails> {
        self.load(candidate)?;
        let build = || self.load(candidate).expect("it was read already");
        let reference = || Reference::of_turns(&build, candidate.turns.clone()).with_players(&self.players);
        let attempts = if breaker == Breaker::Again { ATTEMPTS } else { 1 };
        let mut attempt = || catch_unwind(AssertUnwindSafe(|| self.under(breaker, &reference(), plays))).ok()?;
        (0..attempts).find_map(|_| attempt())
    }

    /// Whether what is known already comes out another way under a breaker.
    pub fn under(&self, breaker: Breaker, reference: &Reference<'_, S>, plays: &mut dyn FnMut(Tick)) -> Option<Fails> {
        let mut plays = |tick| {
            plays(tick);
            ControlFlow::Continue(())
        };
        match play_in_process(breaker, reference, self.look, &mut plays, None) {
            // Old snapshots are gone back to when all is played.
            End::Parted(..) if breaker == Breaker::StaleSnapshot => Some(Fails { end: None }),
            End::Parted(odd) => Some(Fails { end: Some(odd.state.tick()) }),
            End::Broke(_) => Some(Fails { end: None }),
            End::Met(_) | End::Skipped(_) => None,
        }
    }

    /// The checksum before the turn of a tick, and of the start.
    fn root_at(&self, candidate: &Candidate<S>, tick: Tick) -> Option<(Checksum, Checksum)> {
        let mut simulation = self.load(candidate)?;
        let start = simulation.checksum();
        let ticks = tick.0.checked_sub(candidate.start.0)? as usize;
        let turns = candidate.turns.get(..ticks)?;
        catch_unwind(AssertUnwindSafe(|| turns.iter().for_each(|turn| simulation.step(turn)))).ok()?;
        Some((simulation.checksum(), start))
    }

    /// At which tick a candidate's step panics, and what it says.
    pub fn panics(&self, candidate: &Candidate<S>, plays: &mut dyn FnMut(Tick)) -> Option<(Tick, String)> {
        let mut simulation = self.load(candidate)?;
        for (tick, turn) in (candidate.start.0..).map(Tick).zip(&candidate.turns) {
            plays(tick);
            if let Err(message) = step(&mut simulation, turn) {
                return Some((tick, message));
            }
        }
        None
    }
}

/// One step.
///
/// # Errors
/// What the rules say when they panic. The simulation is of no use then.
pub(super) fn step<S: Simulation>(simulation: &mut S, turn: &lockstone_sim::Turn<S>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| simulation.step(turn))).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// A message without its numbers: the same panic may tell of another index.
fn gist(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}
