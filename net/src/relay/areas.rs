//! Which cells a replica should simulate and know: arithmetic on rectangles, and nothing else.
//!
//! ```text
//! core  the cells at most `enter` away from the hero, and none more than `leave` away;
//!       or a whole lit region
//! need  the core and the halo rings that keep it exact
//! halo  the need and some rings loaded ahead: within it the core moves at once
//! ```

use lockstone_sim::{CellId, CellRect, Grid};

use super::RelaySettings;
use crate::limits::LOAD_CELLS_MAX;

/// How far cores and halos go.
pub(super) struct AreaRules {
    grid: Grid,
    enter: u16,
    leave: u16,
    /// Rings that keep a core exact.
    halo: u16,
    ahead: u16,
    /// A grown core has no more actors.
    pub core_actors_max: usize,
}

impl AreaRules {
    pub fn new(grid: &Grid, settings: &RelaySettings, halo_rings_less: u16) -> AreaRules {
        let RelaySettings { enter_rings, leave_rings, ahead_rings, core_actors_max, .. } = *settings;
        let halo = grid.halo_rings().saturating_sub(halo_rings_less);
        // What is loaded ahead would stand in for what is missing, and around a lit region nothing
        // would be missed.
        let (ahead, core_actors_max) = if halo_rings_less == 0 { (ahead_rings, core_actors_max) } else { (0, 0) };
        AreaRules { grid: *grid, enter: enter_rings, leave: leave_rings, halo, ahead, core_actors_max }
    }

    /// The core for a hero: the present one as long as it holds what it must and nothing that it
    /// must not. A new one lies between, so that it holds for some cells in every direction.
    pub fn core(&self, hero: CellId, present: CellRect) -> CellRect {
        if self.holds(hero, present) && self.grid.block(hero, self.leave).contains_rect(present) {
            return present;
        }
        self.grid.block(hero, self.enter + (self.leave - self.enter).div_ceil(2))
    }

    /// What every core for a hero has at least.
    pub fn least(&self, hero: CellId) -> CellRect {
        self.grid.block(hero, self.enter)
    }

    /// Whether a core can be loaded at once.
    pub fn loads(&self, core: CellRect) -> bool {
        self.halo(core).len() <= LOAD_CELLS_MAX
    }

    /// Where heroes think for whom a core's replica needs the commands.
    pub fn thinking(&self, core: CellRect) -> CellRect {
        core.grown(&self.grid, self.grid.fringe_rings())
    }

    /// Whether a core has all that a hero's must.
    pub fn holds(&self, hero: CellId, core: CellRect) -> bool {
        core.contains_rect(self.least(hero))
    }

    /// What must be known for a core to be exact.
    pub fn need(&self, core: CellRect) -> CellRect {
        core.grown(&self.grid, self.halo)
    }

    /// What is to be known for a core that may move.
    pub fn halo(&self, core: CellRect) -> CellRect {
        core.grown(&self.grid, self.halo + self.ahead)
    }
}
