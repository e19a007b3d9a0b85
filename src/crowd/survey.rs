//! How large the parts of a crowd are.

use lockstone_sim::{CellId, Rules, World};

use super::report::Size;

/// Looks at the relay's world and every replica's after each tick.
#[derive(Default)]
pub(super) struct Survey {
    /// Cells of the relay's world with light.
    pub lit_cells: Sum,
    /// What thinks in them.
    pub relay_actors: Sum,
    /// Cells of a replica's core.
    pub core_cells: Sum,
    /// What thinks in its core and fringe.
    pub replica_actors: Sum,
}

impl Survey {
    /// Looks at the relay's world.
    pub fn look_at_whole<R: Rules>(&mut self, whole: &World<R>) {
        let lit = || whole.lit_cells();
        self.lit_cells.add(lit().count());
        self.relay_actors.add(actors(whole, lit()));
    }

    /// Looks at a replica's world.
    pub fn look_at_part<R: Rules>(&mut self, part: &World<R>) {
        let Some(core) = part.area().core_rect() else { return };
        let thinks = core.grown(part.grid(), part.grid().fringe_rings());
        self.core_cells.add(core.len());
        self.replica_actors.add(actors(part, thinks.iter()));
    }
}

fn actors<R: Rules>(world: &World<R>, cells: impl Iterator<Item = CellId>) -> usize {
    cells.map(|cell| world.actors(cell).len()).sum()
}

/// What was seen of one size.
#[derive(Default)]
pub(super) struct Sum {
    sum: u64,
    looks: u64,
    max: usize,
}

impl Sum {
    fn add(&mut self, value: usize) {
        self.sum += value as u64;
        self.looks += 1;
        self.max = self.max.max(value);
    }

    pub fn size(&self) -> Size {
        Size { mean: self.sum as f64 / self.looks.max(1) as f64, max: self.max }
    }
}
