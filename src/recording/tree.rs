//! The checksum trees of a recording: the parts of a state, by cell, and what of them changed
//! from tick to tick.

use core::cmp::Ordering;

use lockstone_sim::{CellId, Checksum};
use serde::{Deserialize, Serialize};

/// The low half of a part's checksum: enough to see that two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSum(pub [u8; 4]);

impl From<Checksum> for PartSum {
    fn from(checksum: Checksum) -> PartSum {
        PartSum((checksum.0 as u32).to_le_bytes())
    }
}

/// How one tree becomes the next. The first of a recording makes a whole tree of an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChange {
    /// Parts that are new, or have another checksum, by cell.
    pub changed: Vec<(CellId, PartSum)>,
    /// Parts that are no longer there, by cell.
    pub gone: Vec<CellId>,
}

impl TreeChange {
    /// Whether its cells are in order, each once.
    pub(super) fn is_sorted(&self) -> bool {
        self.changed.is_sorted_by(|a, b| a.0 < b.0) && self.gone.is_sorted_by(|a, b| a < b)
    }
}

/// The parts of a state at one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(Vec<(CellId, PartSum)>);

impl Tree {
    /// A tree as a [`Simulation`](lockstone_sim::Simulation::tree) tells it, by cell.
    pub fn of(parts: &[(CellId, Checksum)]) -> Tree {
        Tree(parts.iter().map(|&(cell, checksum)| (cell, checksum.into())).collect())
    }

    /// The parts, by cell.
    pub fn parts(&self) -> &[(CellId, PartSum)] {
        &self.0
    }

    /// How this one becomes the next.
    pub fn change_to(&self, next: &Tree) -> TreeChange {
        let mut change = TreeChange::default();
        merge(&self.0, &next.0, |before, after| match (before, after) {
            (Some((cell, _)), None) => change.gone.push(*cell),
            (before, Some(part)) if before != Some(part) => change.changed.push(*part),
            _ => {}
        });
        change
    }

    /// Becomes the next one.
    pub fn apply(&mut self, change: &TreeChange) {
        let before = std::mem::take(&mut self.0);
        merge(&before, &change.changed, |old, new| self.0.extend(new.or(old)));
        if !change.gone.is_empty() {
            self.0.retain(|(cell, _)| change.gone.binary_search(cell).is_err());
        }
    }

    /// The cells that are not the same in both, in order.
    pub fn differences(&self, other: &Tree) -> Vec<CellId> {
        differing(&self.0, &other.0)
    }
}

/// The cells that are not the same in both lists, in order.
pub(crate) fn differing<T: PartialEq>(a: &[(CellId, T)], b: &[(CellId, T)]) -> Vec<CellId> {
    let mut cells = Vec::new();
    merge(a, b, |ours, theirs| {
        if ours != theirs {
            cells.extend(ours.or(theirs).map(|(cell, _)| *cell));
        }
    });
    cells
}

/// Calls with what is in either list, cell by cell.
pub(crate) fn merge<'p, T>(
    a: &'p [(CellId, T)],
    b: &'p [(CellId, T)],
    mut each: impl FnMut(Option<&'p (CellId, T)>, Option<&'p (CellId, T)>),
) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (None, None) => return,
            (Some(_), None) => each(a.next(), None),
            (None, Some(_)) => each(None, b.next()),
            (Some(x), Some(y)) => match x.0.cmp(&y.0) {
                Ordering::Less => each(a.next(), None),
                Ordering::Greater => each(None, b.next()),
                Ordering::Equal => each(a.next(), b.next()),
            },
        }
    }
}
