//! The parts of a world's state that have an encoding of their own, and their bits, by name.

use core::fmt;
use serde::{Deserialize, Serialize};

use crate::grid::CellId;
use crate::ids::EntityId;

/// One bit of a world's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateBit {
    /// What it is part of.
    pub of: StatePart,
    /// Which byte of the part's [fixed-size](crate::codec) encoding.
    pub byte: usize,
    /// Which bit of the byte, 0 to 7; 0 is the lowest.
    pub bit: u8,
}

/// A part of a world's state that has an encoding of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StatePart {
    /// What everyone knows.
    Facts,
    /// A cell's torchlight.
    Light(CellId),
    /// An entity of a cell.
    Entity(CellId, EntityId),
}

impl StatePart {
    /// The cell that it is in, if it is in one.
    pub fn cell(&self) -> Option<CellId> {
        match self {
            StatePart::Facts => None,
            StatePart::Light(cell) | StatePart::Entity(cell, _) => Some(*cell),
        }
    }
}

impl fmt::Display for StatePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatePart::Facts => f.write_str("the facts"),
            StatePart::Light(cell) => write!(f, "the light of cell {cell}"),
            StatePart::Entity(cell, id) => write!(f, "entity {id} in cell {cell}"),
        }
    }
}
