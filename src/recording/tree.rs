//! The checksum trees of a recording: the parts of a state, by cell, and what of them changed
//! from tick to tick.

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
        merge(self.iter(), next.iter(), |cell, before, after| match after {
            None => change.gone.push(cell),
            Some(sum) if before != after => change.changed.push((cell, sum)),
            Some(_) => {}
        });
        change
    }

    /// Becomes the next one.
    pub fn apply(&mut self, change: &TreeChange) {
        let before = std::mem::take(self);
        merge(before.iter(), change.changed.iter().copied(), |cell, old, new| {
            self.0.extend(new.or(old).map(|sum| (cell, sum)));
        });
        if !change.gone.is_empty() {
            self.0.retain(|(cell, _)| change.gone.binary_search(cell).is_err());
        }
    }

    /// The cells that are not the same in both, in order.
    pub fn differences(&self, other: &Tree) -> Vec<CellId> {
        differing(&self.0, &other.0)
    }

    fn iter(&self) -> impl Iterator<Item = (CellId, PartSum)> {
        self.0.iter().copied()
    }
}

/// The cells that are not the same in both lists, in order.
pub(crate) fn differing<T: PartialEq>(a: &[(CellId, T)], b: &[(CellId, T)]) -> Vec<CellId> {
    let mut cells = Vec::new();
    merge(
        a.iter().map(|(cell, part)| (*cell, part)),
        b.iter().map(|(cell, part)| (*cell, part)),
        |cell, ours, theirs| {
            if ours != theirs {
                cells.push(cell);
            }
        },
    );
    cells
}

/// Calls with each cell that is in either of two lists by cell, and with what is there.
pub(crate) fn merge<T>(
    a: impl Iterator<Item = (CellId, T)>,
    b: impl Iterator<Item = (CellId, T)>,
    mut each: impl FnMut(CellId, Option<T>, Option<T>),
) {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    loop {
        let cell = match (a.peek(), b.peek()) {
            (None, None) => return,
            (Some((cell, _)), None) | (None, Some((cell, _))) => *cell,
            (Some((x, _)), Some((y, _))) => *x.min(y),
        };
        let (ours, theirs) = (a.next_if(|(of, _)| *of == cell), b.next_if(|(of, _)| *of == cell));
        each(cell, ours.map(|(_, part)| part), theirs.map(|(_, part)| part));
    }
}
