//! The part of a world that is simulated: core, fringe and halo, rectangles one within the other.
//!
//! ```text
//! halo    given each tick, read by what thinks: 2 * reach + stride, or wider if loaded ahead
//! fringe  given each tick, and thinks too: what is here can move into the core or act on it
//!         (reach + stride around the core)
//! core    simulated: equal to the whole world's, to the bit
//! ```
//!
//! A step writes the core alone. The halo keeps what it was given until it is given anew.

use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::{State, World};
use crate::entity::Body;
use crate::grid::{CellId, CellRect, Grid};
use crate::ids::PlayerId;
use crate::rules::Rules;
use crate::store::{Cell, Meta};

/// How far a part goes: what it simulates, and what it knows. This is also what travels, and what
/// recordings hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The cells that are simulated.
    pub core: CellRect,
    /// All that is known: the core, and the cells around it that are given.
    pub halo: CellRect,
}

impl Extent {
    /// No cell at all.
    pub const NOTHING: Extent = Extent { core: CellRect::EMPTY, halo: CellRect::EMPTY };

    /// A core with the halo that keeps it exact.
    pub fn around(grid: &Grid, core: CellRect) -> Extent {
        Extent { core, halo: core.grown(grid, grid.halo_rings()) }
    }

    /// Whether a cell is given: known, but not simulated.
    pub const fn gives(self, cell: CellId) -> bool {
        self.halo.contains(cell) && !self.core.contains(cell)
    }

    /// The cells that are given, row by row.
    pub fn given(self) -> impl Iterator<Item = CellId> + Clone {
        self.halo.iter().filter(move |&cell| self.gives(cell))
    }
}

/// Which cells a world simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// All of them.
    Whole,
    /// A core, and the halo that it needs: made by [`Area::around`].
    Part(Part),
}

/// A part of the world. All outside of it is of no concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    extent: Extent,
    /// The core, and what thinks around it.
    fringe: CellRect,
}

/// What a cell is to a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
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
    /// A part without any cell: what a replica has that was given nothing yet.
    pub const NOTHING: Area = Area::Part(Part { extent: Extent::NOTHING, fringe: CellRect::EMPTY });

    /// A core with the halo that keeps it exact.
    pub fn around(grid: &Grid, core: CellRect) -> Area {
        Area::of(grid, Extent::around(grid, core))
    }

    /// A part of any extent: with a halo that is larger than the core needs, so that the core can
    /// move at once; or smaller, which is inexact, for the tests that show it. The extent is cut to
    /// the world, and its halo widened to hold its core.
    pub fn of(grid: &Grid, Extent { core, halo }: Extent) -> Area {
        let core = core.intersection(grid.all());
        let halo = halo.intersection(grid.all()).union(core);
        let fringe = core.grown(grid, grid.fringe_rings()).intersection(halo);
        Area::Part(Part { extent: Extent { core, halo }, fringe })
    }

    /// What a cell is.
    #[inline]
    pub const fn zone(&self, cell: CellId) -> Zone {
        match self {
            Area::Whole => Zone::Core,
            Area::Part(part) if part.extent.core.contains(cell) => Zone::Core,
            Area::Part(part) if part.fringe.contains(cell) => Zone::Fringe,
            Area::Part(part) if part.extent.halo.contains(cell) => Zone::Halo,
            Area::Part(_) => Zone::Outside,
        }
    }

    /// How far it goes; `None` if that is everywhere.
    pub const fn extent(&self) -> Option<Extent> {
        match self {
            Area::Whole => None,
            Area::Part(part) => Some(part.extent),
        }
    }

    /// The rectangle that is simulated; `None` if that is everything.
    pub const fn core_rect(&self) -> Option<CellRect> {
        match self {
            Area::Whole => None,
            Area::Part(part) => Some(part.extent.core),
        }
    }

    /// The cells that must be given: all of the halo, the fringe included. Row by row. None for
    /// [`Area::Whole`].
    pub fn halo(&self) -> impl Iterator<Item = CellId> + use<> {
        self.extent().unwrap_or(Extent::NOTHING).given()
    }

    /// The cells of the core, row by row. Empty for [`Area::Whole`], whose cells only the grid
    /// knows.
    pub fn core(&self) -> impl Iterator<Item = CellId> + use<> {
        self.core_rect().unwrap_or(CellRect::EMPTY).iter()
    }

    pub(super) const fn thinks(&self, cell: CellId) -> bool {
        matches!(self.zone(cell), Zone::Core | Zone::Fringe)
    }

    pub(super) const fn is_core(&self, cell: CellId) -> bool {
        matches!(self.zone(cell), Zone::Core)
    }

    pub(super) const fn has(&self, cell: CellId) -> bool {
        !matches!(self.zone(cell), Zone::Outside)
    }
}

/// A halo cell as it was given: its content and record.
pub(super) type Kept<B> = (Arc<Cell<B>>, Meta);

impl<R: Rules> World<R> {
    /// The part that is simulated.
    pub fn area(&self) -> &Area {
        &self.area
    }

    /// Forgets what lies outside.
    pub(super) fn change_area(&mut self, area: Area) {
        self.area = area;
        for slot in (0..self.state.store.meta.len()).rev() {
            if !self.area.has(self.state.store.meta[slot].id) {
                self.state.store.remove(&self.state.grid, slot);
            }
        }
    }

    /// What the halo was given: a step must leave no trace in it.
    pub(super) fn keep_halo(&self) -> Vec<Kept<R::Body>> {
        if self.area == Area::Whole {
            return Vec::new();
        }
        let store = &self.state.store;
        let halo = store.cells.iter().zip(&store.meta).filter(|(_, meta)| !self.area.is_core(meta.id));
        halo.map(|(content, meta)| (content.clone(), meta.clone())).collect()
    }

    /// Puts back what the halo was given. Its light is what it was: a step sets that of the core
    /// alone.
    pub(super) fn restore_halo(&mut self, halo: Vec<Kept<R::Body>>) {
        let State { grid, store, .. } = &mut self.state;
        for (content, meta) in halo {
            let slot = store.slot(grid, meta.id).expect("a step forgets no cell");
            (store.cells[slot], store.meta[slot]) = (content, meta);
        }
    }

    /// Derives where the heroes are from the cells.
    pub(super) fn find_heroes(&mut self) {
        self.state.heroes = heroes_of(&self.area, &self.state.store.cells, &self.state.store.meta);
    }
}

/// Where the heroes are, by player.
pub(super) fn heroes_of<B: Body>(area: &Area, cells: &[Arc<Cell<B>>], meta: &[Meta]) -> Vec<(PlayerId, CellId)> {
    let heroes = cells.iter().zip(meta).flat_map(|(content, meta)| {
        let heroes = content.actors.iter().take_while(|entity| entity.id.is_hero());
        heroes.filter_map(|hero| Some((hero.player?, meta.id)))
    });
    let mut heroes: Vec<_> = heroes.collect();
    // A hero that has just come into the core may still stand in the halo, as that was given last.
    // The core knows better.
    heroes.sort_by_key(|&(player, cell)| (player, !area.is_core(cell), cell));
    heroes.dedup_by_key(|&mut (player, _)| player);
    heroes
}
