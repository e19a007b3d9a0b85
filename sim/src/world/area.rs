//! The part of a world that is simulated: core, fringe and halo.
//!
//! ```text
//! halo    given each tick, read by what thinks             ┐ 2 * reach + stride
//! fringe  given each tick, and thinks too: what is here    │
//!         can move into the core or act on it              ┘ (reach + stride of it)
//! core    simulated: equal to the whole world's, to the bit
//! ```
//!
//! A step writes the core alone. The halo keeps what it was given until it is given anew.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::World;
use crate::grid::{CellId, CellRect, Grid};
use crate::rules::Rules;
use crate::store::{Cell, List, Meta};

/// Which cells a world simulates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Area {
    /// All of them.
    Whole,
    /// A core, and the halo that it needs: made by [`Area::around`].
    Part(Part),
}

/// A part of the world: what each cell of a rectangle is; all outside are of no concern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    bounds: CellRect,
    /// Row by row.
    roles: Vec<Role>,
}

/// What a cell is to a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Of no concern.
    Outside,
    /// Given, and seen.
    Halo,
    /// Given, seen, and thinking.
    Fringe,
    /// Simulated.
    Core,
}

impl Area {
    /// A core with the halo that keeps it exact.
    pub fn around(grid: &Grid, core: &[CellId]) -> Area {
        Area::with_halo_rings(grid, core, grid.halo_rings())
    }

    /// A core with a halo of another width, which is exact only from [`Grid::halo_rings`] on. For the tests that show it.
    pub fn with_halo_rings(grid: &Grid, core: &[CellId], halo_rings: u16) -> Area {
        let blocks = core.iter().map(|&cell| grid.block(cell, halo_rings));
        let bounds = blocks.reduce(CellRect::union).unwrap_or(CellRect::EMPTY);
        let mut roles = alloc::vec![Role::Outside; bounds.len()];
        let fringe_rings = grid.fringe_rings().min(halo_rings);
        for (rings, role) in [(halo_rings, Role::Halo), (fringe_rings, Role::Fringe), (0, Role::Core)] {
            for near in core.iter().flat_map(|&cell| grid.block(cell, rings).iter()) {
                let place = bounds.place(near).expect("the bounds hold every block");
                roles[place] = roles[place].max(role);
            }
        }
        Area::Part(Part { bounds, roles })
    }

    /// What a cell is.
    pub fn role(&self, cell: CellId) -> Role {
        match self {
            Area::Whole => Role::Core,
            Area::Part(Part { bounds, roles }) => bounds.place(cell).map_or(Role::Outside, |place| roles[place]),
        }
    }

    /// The cells that must be given: all of the halo, the fringe included. Row by row.
    pub fn halo(&self) -> impl Iterator<Item = CellId> {
        self.cells(|role| matches!(role, Role::Halo | Role::Fringe))
    }

    /// The cells of the core, row by row. Empty for [`Area::Whole`], whose cells only the grid knows.
    pub fn core(&self) -> impl Iterator<Item = CellId> {
        self.cells(|role| role == Role::Core)
    }

    pub(super) fn thinks(&self, cell: CellId) -> bool {
        self.role(cell) >= Role::Fringe
    }

    pub(super) fn is_core(&self, cell: CellId) -> bool {
        self.role(cell) == Role::Core
    }

    fn cells(&self, wanted: fn(Role) -> bool) -> impl Iterator<Item = CellId> {
        let (bounds, roles): (_, &[Role]) = match self {
            Area::Whole => (CellRect::EMPTY, &[]),
            Area::Part(Part { bounds, roles }) => (*bounds, roles),
        };
        bounds.iter().zip(roles).filter(move |&(_, &role)| wanted(role)).map(|(cell, _)| cell)
    }
}

/// The exact state of one cell, shared with the world it comes from.
pub struct CellState<R: Rules> {
    content: Arc<Cell<R::Body>>,
    light: u8,
}

impl<R: Rules> Clone for CellState<R> {
    fn clone(&self) -> Self {
        CellState { content: self.content.clone(), light: self.light }
    }
}

impl<R: Rules> PartialEq for CellState<R>
where
    R::Body: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        let lists = |list: List| self.content.list(list) == other.content.list(list);
        self.light == other.light
            && (Arc::ptr_eq(&self.content, &other.content) || lists(List::Actors) && lists(List::Props))
    }
}

impl<R: Rules> World<R> {
    /// The part that is simulated.
    pub fn area(&self) -> &Area {
        &self.area
    }

    /// Changes the part that is simulated, once the halo has been [`put`](World::put) for this tick. What lies outside is forgotten, what
    /// was halo and becomes core is exact already; every cell that is new to the area must be put before the next step.
    pub fn set_area(&mut self, area: Area) {
        self.area = area;
        self.forget_outside();
    }

    /// Removes what lies outside of the area.
    pub(super) fn forget_outside(&mut self) {
        for slot in (0..self.state.store.meta.len()).rev() {
            if self.area.role(self.state.store.meta[slot].id) == Role::Outside {
                self.state.store.remove(&self.state.grid, slot);
            }
        }
        self.find_heroes();
    }

    /// The state of a cell; `None` if it was never lit.
    pub fn cell_state(&self, cell: CellId) -> Option<CellState<R>> {
        let slot = self.slot(cell)?;
        Some(CellState { content: self.state.store.cells[slot].clone(), light: self.state.store.meta[slot].light })
    }

    /// Sets the state of a cell to that of the whole world at the same tick; `None` for one that was never lit there. A cell that the
    /// area does not have is passed over.
    pub fn put(&mut self, cell: CellId, state: Option<&CellState<R>>) {
        if !self.state.grid.contains(cell) || self.area.role(cell) == Role::Outside {
            return;
        }
        if let Some(slot) = self.slot(cell) {
            self.state.store.remove(&self.state.grid, slot);
        }
        self.state.heroes.retain(|&(_, at)| at != cell);
        if let Some(state) = state {
            let slot = self.state.store.add(&self.state.grid, cell, Cell::default());
            self.state.store.cells[slot] = state.content.clone();
            self.state.store.meta[slot].set_light(state.light);
            self.find_heroes_in(slot);
        }
    }

    /// What the fringe was given: a step must leave no trace in it.
    pub(super) fn keep_halo(&self) -> Vec<(Arc<Cell<R::Body>>, Meta)> {
        let store = &self.state.store;
        let cells = self.area.halo().filter_map(|cell| self.slot(cell));
        cells.map(|slot| (store.cells[slot].clone(), store.meta[slot].clone())).collect()
    }

    pub(super) fn restore_halo(&mut self, halo: Vec<(Arc<Cell<R::Body>>, Meta)>) {
        for (content, meta) in halo {
            let slot = self.slot(meta.id).expect("a step forgets no cell");
            self.state.store.cells[slot] = content;
            self.state.store.meta[slot] = meta;
        }
        if self.area != Area::Whole {
            self.find_heroes();
        }
    }

    /// Derives where the heroes are from the cells.
    pub(super) fn find_heroes(&mut self) {
        self.state.heroes.clear();
        // A hero that has just come into the core still stands in the halo, as that was given last. The core knows better.
        for is_core in [false, true] {
            for slot in 0..self.state.store.cells.len() {
                if self.area.is_core(self.state.store.meta[slot].id) == is_core {
                    self.find_heroes_in(slot);
                }
            }
        }
    }

    fn find_heroes_in(&mut self, slot: usize) {
        let (content, cell) = (self.state.store.cells[slot].clone(), self.state.store.meta[slot].id);
        let heroes = content.actors.iter().filter_map(|e| e.player);
        heroes.for_each(|player| self.state.set_hero_cell(player, Some(cell)));
    }
}
