//! What both sides of a repair have in common: what a state is made of, which cells differ, what is
//! put in their place, and how often one peer gets any.

use core::time::Duration;
use std::collections::{BTreeSet, HashSet};

use lockstone_sim::{CellId, Checksum, Simulation};
use serde::{Deserialize, Serialize};

use crate::limits::*;
use crate::sequencer::Request;
use crate::wire::List;

/// When the world of one peer was repaired lately.
#[derive(Debug, Default)]
pub struct Repairs(Vec<Duration>);

impl Repairs {
    /// Counts another repair, if no more than so many are made within [`REPAIRS_TIME`]. Returns
    /// whether it is the first of them: what differs is not known to come back yet.
    pub fn admit(&mut self, max: usize, now: Duration) -> Option<bool> {
        self.0.retain(|at| now < *at + REPAIRS_TIME);
        (self.0.len() < max).then(|| {
            self.0.push(now);
            self.0.len() == 1
        })
    }
}

/// What a state is made of.
#[derive(Default)]
pub struct Made {
    pub checksum: Checksum,
    /// Of what is in no cell. `None`: the state cannot be compared in parts.
    pub rest: Option<Checksum>,
    /// By cell, ascending.
    pub cells: Vec<(CellId, Checksum)>,
}

impl Made {
    pub fn of<S: Simulation>(simulation: &mut S) -> Made {
        let (checksum, rest) = (simulation.checksum(), simulation.rest_checksum());
        let cells = if rest.is_some() { simulation.tree() } else { Vec::new() };
        if cells.len() > PARTS_MAX {
            return Made { checksum, ..Made::default() };
        }
        Made { checksum, rest, cells }
    }
}

/// What is put in place of what differs, as it travels.
#[derive(Serialize, Deserialize)]
pub struct Right {
    /// What the simulation asked for and is in no turn before the state's tick.
    pub requests: List<Request, REQUESTS_QUEUED_MAX>,
    /// How many cells are replaced. 0: none, or all of the state.
    pub cells: u32,
    /// Whether all of the state is replaced, or some parts.
    pub is_whole: bool,
    /// The simulation's own bytes.
    pub bytes: Vec<u8>,
}

/// The cells whose checksums are not the same, or that only one side has.
pub fn differing(ours: &[(CellId, Checksum)], theirs: &[(CellId, Checksum)]) -> BTreeSet<CellId> {
    let [ours, theirs] = [ours, theirs].map(|tree| tree.iter().collect::<HashSet<_>>());
    ours.symmetric_difference(&theirs).map(|(cell, _)| *cell).collect()
}
