//! What a part of a world is given from outside, after each step: the state of what it does not
//! simulate itself.
//!
//! It enters by turns, as all else does, so a recording of a part holds it, and the part can be
//! played again from that alone.

use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Area, CellState, Extent, World};
use crate::grid::CellId;
use crate::journal::{Notes, Phase};
use crate::rules::Rules;
use crate::simulation::{Input, Turn};

/// What a part is given. It takes effect at the very end of the tick, when light has spread, in the
/// turn's order. A whole world passes all of it over; a part passes over what lies outside its
/// area, and bytes that cannot be read or do not fit.
///
/// So that a core stays exact, each turn gives
///
/// - a [`Change`](Given::Change) of each halo cell that the tick changed,
/// - a [`Cell`](Given::Cell) for each core cell that a transfer left or entered, unless the turn
///   holds the transfer itself, which is right only if it begins and ends in the core, and if the
///   turn holds all transfers before it that moved the same entity,
/// - the turn's leave of a hero in the halo too, if the same player joins in the core later in it,
/// - if the area becomes another, all that is new in it, after the [`Area`](Given::Area). Cells
///   that were core or halo are exact already: a cell that was core must not be given a change.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// The core that is simulated from the next tick on, and all of the area. What lies
    /// outside is forgotten.
    Area(Extent),
    /// This cell was never lit.
    Pristine(CellId),
    /// This cell's whole state: [`CellState::encode`].
    Cell(CellId, Vec<u8>),
    /// What changed in this cell since the end of the tick before: [`CellState::change_since`]. Of
    /// a cell that was never lit, what differs from [`World::pristine`].
    Change(CellId, Vec<u8>),
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |f: &mut fmt::Formatter<'_>, what, cell, bytes: &[u8]| {
            write!(f, "given {what} of cell {cell}: {} bytes, {:016x}", bytes.len(), xxh3_64(bytes))
        };
        match self {
            Given::Area(Extent { core, halo }) => {
                write!(f, "given core {} to {}, halo {} to {}", core.low, core.high, halo.low, halo.high)
            }
            Given::Pristine(cell) => write!(f, "given that cell {cell} was never lit"),
            Given::Cell(cell, state) => bytes(f, "the state", *cell, state),
            Given::Change(cell, change) => bytes(f, "a change", *cell, change),
        }
    }
}

impl<R: Rules> World<R> {
    /// Takes what the turn gives. The heroes are found anew in a part, whatever was given: the step
    /// has put the halo back.
    pub(super) fn take_given(&mut self, turn: &Turn<Self>, notes: Notes<'_>) {
        notes.take(|notes| notes.enter(Phase::Given));
        for (n, input) in turn.inputs.iter().enumerate() {
            if let Input::Given(given) = input {
                notes.take(|notes| notes.enters(n, input));
                self.take(given);
            }
        }
        if self.area != Area::Whole {
            self.touched.sort();
            self.touched.dedup();
            self.find_heroes();
        }
    }

    fn take(&mut self, given: &Given) {
        let grid = self.state.grid;
        match given {
            _ if self.area == Area::Whole => {}
            Given::Area(extent) => self.change_area(Area::of(&grid, *extent)),
            Given::Pristine(cell) => self.put_given(*cell, None),
            Given::Cell(cell, bytes) => {
                if let Ok(state) = CellState::decode(bytes, *cell, &grid) {
                    self.put_given(*cell, Some(&state));
                }
            }
            Given::Change(cell, bytes) if self.area.has(*cell) => {
                let before = self.cell_state(*cell).or_else(|| self.pristine(*cell));
                if let Some(Ok(state)) = before.map(|before| before.changed(bytes, *cell, &grid)) {
                    self.put_given(*cell, Some(&state));
                }
            }
            Given::Change(..) => {}
        }
    }

    fn put_given(&mut self, cell: CellId, state: Option<&CellState<R>>) {
        self.put_cell(cell, state);
        self.touched.push(cell);
    }
}
