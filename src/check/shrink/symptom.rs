//! What is wrong with a recording, and whether a smaller one still has it.

use std::fmt;
use std::ops::ControlFlow;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};
use serde::Serialize;

use super::candidate::Candidate;
use crate::check::Checker;
use crate::check::chaos::{Breaker, End, Observer, Reference, play_in_process};
use crate::inspect::Inspect;
use crate::panics::caught;

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
    pub checker: &'a Checker<'a, S>,
    pub seed: u64,
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
        let mut simulation = (self.checker.build)(self.seed);
        simulation.restore_from(&candidate.state).ok()?;
        (simulation.tick() == candidate.start).then_some(simulation)
    }

    /// A simulation behind a candidate's turns, or at which tick the step panics, and what it says.
    /// `None` if the candidate's state cannot be read.
    pub fn play(&self, candidate: &Candidate<S>) -> Option<Result<S, (Tick, String)>> {
        let mut simulation = self.load(candidate)?;
        let mut turns = (candidate.start.0..).map(Tick).zip(&candidate.turns);
        let played = turns.try_for_each(|(tick, turn)| step(&mut simulation, turn).map_err(|message| (tick, message)));
        Some(played.map(|()| simulation))
    }

    /// Whether a candidate fails in the same way.
    pub fn fails(&self, symptom: &Symptom, candidate: &Candidate<S>) -> Option<Fails> {
        match symptom {
            Symptom::Unmet { tick, recorded } => {
                let mut simulation = self.play(&candidate.until(*tick))?.ok()?;
                let differs = simulation.tick() == *tick && simulation.checksum() != *recorded;
                differs.then_some(Fails { end: Some(*tick) })
            }
            Symptom::Panic { message } => {
                let (tick, other) = self.play(candidate)?.err()?;
                (gist(&other) == gist(message)).then_some(Fails { end: Some(tick.next()) })
            }
            Symptom::Breaker { breaker } => self.fails_under(*breaker, candidate),
        }
    }

    /// In how many of so many plays a candidate fails in the same way.
    pub fn failures(&self, symptom: &Symptom, candidate: &Candidate<S>, plays: u32) -> u32 {
        let fails = |_: &u32| match symptom {
            Symptom::Breaker { breaker } => self.fails_once(*breaker, candidate).is_some(),
            symptom => self.fails(symptom, candidate).is_some(),
        };
        (0..plays).filter(fails).count() as u32
    }

    /// Whether a candidate comes out another way under a breaker, perhaps only when it is played
    /// again. A panic is another matter.
    pub fn fails_under(&self, breaker: Breaker, candidate: &Candidate<S>) -> Option<Fails> {
        let attempts = if breaker == Breaker::Again { ATTEMPTS } else { 1 };
        (0..attempts).find_map(|_| self.fails_once(breaker, candidate))
    }

    fn fails_once(&self, breaker: Breaker, candidate: &Candidate<S>) -> Option<Fails> {
        self.load(candidate)?;
        let build = || self.load(candidate).expect("it was read already");
        let reference = || Reference::of_turns(&build, candidate.turns.clone()).with_players(&self.players);
        let plays = &mut |_| ControlFlow::Continue(());
        caught(|| self.under(breaker, &reference(), plays)).ok()?
    }

    /// Whether what is known already comes out another way under a breaker.
    pub fn under(&self, breaker: Breaker, reference: &Reference<'_, S>, plays: Observer<'_>) -> Option<Fails> {
        match play_in_process(breaker, reference, self.checker.look, plays, None) {
            Err(End::Parted(odd)) if breaker != Breaker::StaleSnapshot => Some(Fails { end: Some(odd.state.tick()) }),
            // Old snapshots are gone back to when all is played.
            Err(End::Parted(_) | End::Broke(_)) => Some(Fails { end: None }),
            Ok(_) | Err(End::Skipped(_)) => None,
        }
    }
}

/// One step.
///
/// # Errors
/// What the rules say when they panic. The simulation is of no use then.
pub(super) fn step<S: Simulation>(simulation: &mut S, turn: &Turn<S>) -> Result<(), String> {
    caught(|| simulation.step(turn)).map_err(|panicked| panicked.message)
}

/// A message without its numbers: the same panic may tell of another index.
fn gist(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}
