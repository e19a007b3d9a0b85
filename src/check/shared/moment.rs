//! What a recording has at one tick: checksums of cells, and which of them it simulates. And what
//! two recordings have in common of it.

use lockstone_sim::{CellId, CellRect, Checksum, Extent};

use crate::inspect::Inspect;
use crate::recording::tree::merge;

/// One recording's cells at a tick.
pub(super) struct Moment {
    /// `None` if it is the whole world.
    extent: Option<Extent>,
    /// By cell.
    tree: Vec<(CellId, Checksum)>,
    /// Of what is in no cell.
    loose: Option<Checksum>,
}

/// What two recordings have in common at a tick.
#[derive(Default)]
pub(super) struct Common {
    /// How many cells were compared.
    pub compared: u64,
    /// Those that differ and that both simulate, row by row.
    pub core: Vec<CellId>,
    /// Those that differ and that one simulates and the other was given.
    pub halo: Vec<CellId>,
    /// Whether what is in no cell differs.
    pub loose: bool,
}

impl Common {
    pub fn differs(&self) -> bool {
        self.loose || !self.core.is_empty() || !self.halo.is_empty()
    }

    /// All cells that differ.
    pub fn cells(&self) -> Vec<CellId> {
        let mut cells = [self.core.as_slice(), &self.halo].concat();
        cells.sort();
        cells
    }
}

impl Moment {
    pub fn of<S: Inspect>(simulation: &mut S) -> Moment {
        Moment { extent: simulation.extent(), tree: simulation.tree(), loose: simulation.loose() }
    }

    pub fn is_whole(&self) -> bool {
        self.extent.is_none()
    }

    /// Compares with another recording of the same tick.
    pub fn common(&self, other: &Moment) -> Common {
        let mut common =
            Common { loose: self.has_cells() && other.has_cells() && self.loose != other.loose, ..Common::default() };
        let Some(both) = self
            .known()
            .map_or(other.known(), |ours| Some(other.known().map_or(ours, |theirs| ours.intersection(theirs))))
        else {
            self.compare(other, &self.tree, &other.tree, &mut common);
            return common;
        };
        if !both.is_empty() {
            for y in both.low.y..=both.high.y {
                let row = CellId::new(both.low.x, y)..=CellId::new(both.high.x, y);
                self.compare(other, cells_of(&self.tree, &row), cells_of(&other.tree, &row), &mut common);
            }
        }
        common
    }

    /// Compares cells in order, those included that one side alone stores.
    fn compare(&self, other: &Moment, ours: &[(CellId, Checksum)], theirs: &[(CellId, Checksum)], common: &mut Common) {
        merge(ours.iter().copied(), theirs.iter().copied(), |cell, here, there| {
            let both_simulate = self.simulates(cell) && other.simulates(cell);
            if both_simulate || self.simulates(cell) && other.has(cell) || other.simulates(cell) && self.has(cell) {
                common.compared += 1;
                if here != there {
                    if both_simulate { &mut common.core } else { &mut common.halo }.push(cell);
                }
            }
        });
    }

    fn known(&self) -> Option<CellRect> {
        self.extent.map(|extent| extent.halo)
    }

    fn simulates(&self, cell: CellId) -> bool {
        self.extent.is_none_or(|extent| extent.core.contains(cell))
    }

    fn has(&self, cell: CellId) -> bool {
        self.extent.is_none_or(|extent| extent.halo.contains(cell))
    }

    /// One that has no cell yet has not begun.
    fn has_cells(&self) -> bool {
        self.extent.is_none_or(|extent| !extent.core.is_empty())
    }
}

/// The part of a tree within a row.
fn cells_of<'t>(tree: &'t [(CellId, Checksum)], row: &std::ops::RangeInclusive<CellId>) -> &'t [(CellId, Checksum)] {
    let from = tree.partition_point(|(cell, _)| cell < row.start());
    let to = tree.partition_point(|(cell, _)| cell <= row.end());
    &tree[from..to.max(from)]
}
