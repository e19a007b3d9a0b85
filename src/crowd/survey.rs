//! How large the parts of a crowd are.

use lockstone_sim::{Rules, World};

use super::report::Size;

/// Looks at every replica's area after each tick.
#[derive(Default)]
pub(super) struct Survey {
    looks: u64,
    core_cells: Sum,
    actors: Sum,
}

#[derive(Default)]
struct Sum {
    sum: u64,
    max: usize,
}

impl Survey {
    /// Looks at the worlds of the replicas.
    pub fn look<'w, R: Rules>(&mut self, parts: impl Iterator<Item = &'w World<R>>) {
        for part in parts {
            let Some(core) = part.area().core_rect() else { continue };
            let thinks = core.grown(part.grid(), part.grid().fringe_rings());
            self.looks += 1;
            self.core_cells.add(core.len());
            self.actors.add(thinks.iter().map(|cell| part.actors(cell).len()).sum());
        }
    }

    /// How large cores were.
    pub fn core_cells(&self) -> Size {
        self.core_cells.size(self.looks)
    }

    /// How much thought in core and fringe.
    pub fn actors(&self) -> Size {
        self.actors.size(self.looks)
    }
}

impl Sum {
    fn add(&mut self, value: usize) {
        self.sum += value as u64;
        self.max = self.max.max(value);
    }

    fn size(&self, looks: u64) -> Size {
        Size { mean: self.sum as f64 / looks.max(1) as f64, max: self.max }
    }
}
