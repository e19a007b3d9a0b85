//! What chaos found, for people and for programs.

use std::fmt;

use lockstone_sim::Tick;
use serde::Serialize;

use super::breaker::Breaker;
use crate::check::answer::build;
use crate::check::locate::Location;
use crate::check::report::{BadWrite, count};

/// So many differing parts are told to people.
const TOLD_MAX: usize = 4;
/// And so many things that happened otherwise.
const WRITES_TOLD_MAX: usize = 3;

/// What the breakers found.
#[derive(Clone, Debug, Serialize)]
pub struct ChaosReport {
    /// How many ticks each played.
    pub ticks: u32,
    /// Each of them, in the order in which they played.
    pub tried: Vec<Tried>,
}

/// One breaker's play.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// Which.
    pub breaker: Breaker,
    /// What it does.
    pub does: &'static str,
    /// What it means if the game came out another way.
    pub means: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What came of a breaker's play.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The game did not notice.
    Passed {
        /// How many checksums were compared.
        checksums: u32,
    },
    /// The game came out another way.
    Differs(Box<Difference>),
    /// The game could not go on to the end.
    Broke {
        /// Why.
        sentence: String,
    },
    /// It could not be played here, and so nothing is known.
    Skipped {
        /// Why, and what to do about it.
        reason: String,
    },
}

/// The first state that came out another way.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The state before the turn of this tick is the first that differs: the step of the
    /// tick before made it.
    pub tick: Tick,
    /// Whether the turns, played undisturbed, come out the same as the first time.
    pub reference_repeats: bool,
    /// The build that played it, if it was another program's.
    pub by: Option<String>,
    /// What differs: ours is undisturbed, theirs is the breaker's.
    pub location: Location,
    /// What happened otherwise in the tick before; nothing if it does not come out the same a
    /// second time. Who thinks from another state was changed before it, by no step.
    pub bad_writes: Vec<BadWrite>,
    /// What entered in the tick before.
    pub entered: Vec<String>,
}

impl ChaosReport {
    /// Whether the game noticed nothing. What was skipped counts neither way.
    pub fn passed(&self) -> bool {
        self.tried.iter().all(|tried| !tried.failed())
    }

    /// The play of one breaker.
    pub fn of(&self, breaker: Breaker) -> Option<&Tried> {
        self.tried.iter().find(|tried| tried.breaker == breaker)
    }
}

impl Tried {
    /// Whether the game noticed.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Differs(_) | Outcome::Broke { .. })
    }

    /// Whether the game was played to the end, and did not notice.
    pub fn passed(&self) -> bool {
        matches!(self.outcome, Outcome::Passed { .. })
    }

    /// What came of it in a few words.
    pub fn result(&self) -> String {
        match &self.outcome {
            Outcome::Passed { checksums } => format!("passed, {checksums} checksums"),
            Outcome::Differs(difference) => format!("DIFFERS at tick {}", difference.tick),
            Outcome::Broke { .. } => "BROKE".to_owned(),
            Outcome::Skipped { .. } => "skipped".to_owned(),
        }
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.breaker, self.result())?;
        match &self.outcome {
            Outcome::Passed { .. } => Ok(()),
            Outcome::Skipped { reason } => write!(f, ": {reason}"),
            Outcome::Broke { sentence } => write!(f, ": {sentence}\n  It {}. {}", self.does, self.means),
            Outcome::Differs(difference) => {
                write!(f, "\n  It {}. {}{difference}", self.does, self.means)
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { tick, reference_repeats, by, location, bad_writes, entered } = self;
        if !reference_repeats {
            write!(f, "\n  Undisturbed, too, it comes out in several ways: that is to be found first.")?;
        }
        if let Some(by) = by {
            write!(f, "\n  Here plays a {}, there a {by}.", build())?;
        }
        write!(f, "\n  The state before tick {tick} is the first that differs")?;
        if !location.cells.is_empty() {
            write!(f, ", in {}", count(location.cells.len(), "cell"))?;
        }
        f.write_str(":")?;
        for spot in location.spots.iter().take(TOLD_MAX) {
            write!(f, "\n    {}", spot.to_string().replace('\n', "\n    "))?;
        }
        if location.spots_count > TOLD_MAX {
            write!(f, "\n    and {} more", location.spots_count - TOLD_MAX)?;
        }
        if !bad_writes.is_empty() {
            write!(f, "\n  What happened otherwise in the tick before, first things first:")?;
        }
        bad_writes.iter().take(WRITES_TOLD_MAX).try_for_each(|write| write!(f, "\n    {}", write.text))?;
        entered.iter().try_for_each(|input| write!(f, "\n  entered in the tick before: {input}"))
    }
}

impl fmt::Display for ChaosReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.tried.iter().filter(|tried| tried.failed()).count();
        write!(f, "{} ticks: {failed} of {} breakers found a difference", self.ticks, self.tried.len())?;
        self.tried.iter().try_for_each(|tried| write!(f, "\n{tried}"))
    }
}
