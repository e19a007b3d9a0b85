//! What a recording has at one tick: checksums of cells, and which of them it simulates. And what
//! two recordings have in common of it.

use lockstone_sim::{CellId, CellRect, Checksum, Extent};

use crate::inspect::Inspect;
use crate::recording::merge;

/// All cells that there can be.
const ALL: CellRect = CellRect { low: CellId::new(0, 0), high: CellId::new(u16::MAX, u16::MAX) };

/// One recording's cells at a tick.
pub(crate) struct Moment {
    pub is_whole: bool,
    extent: Extent,
    /// By cell.
    tree: Vec<(CellId, Checksum)>,
    /// Of what is in no cell.
    loose: Option<Checksum>,
}

/// What two recordings have in common at a tick.
#[derive(Default)]
pub(crate) struct Common {
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
        let extent = simulation.extent();
        Moment {
            is_whole: extent.is_none(),
            extent: extent.unwrap_or(Extent { core: ALL, halo: ALL }),
            tree: simulation.tree(),
            loose: simulation.loose(),
        }
    }

    /// Compares with another recording of the same tick: cells that both know and one simulates,
    /// those included that one side alone stores.
    pub fn common(&self, other: &Moment) -> Common {
        let cores = [self.extent.core, other.extent.core];
        // One that has no cell yet has not begun.
        let have_begun = cores.iter().all(|core| !core.is_empty());
        let mut common = Common { loose: have_begun && self.loose != other.loose, ..Common::default() };
        let known = self.extent.halo.intersection(other.extent.halo);
        merge(self.rows(known), other.rows(known), |cell, here, there| {
            let simulated = cores.iter().filter(|core| core.contains(cell)).count();
            if known.contains(cell) && simulated > 0 {
                common.compared += 1;
                if here != there {
                    if simulated == 2 { &mut common.core } else { &mut common.halo }.push(cell);
                }
            }
        });
        common
    }

    /// The rows of the tree in which a part lies.
    fn rows(&self, part: CellRect) -> impl Iterator<Item = (CellId, Checksum)> {
        let from = self.tree.partition_point(|(cell, _)| cell.y < part.low.y);
        let to = self.tree.partition_point(|(cell, _)| cell.y <= part.high.y);
        self.tree[from..to].iter().copied()
    }
}
