//! The messages of a relay session: frames, and loads of cells.
//!
//! A frame is the turn of one replica: of the inputs of a tick those that its area needs, and what
//! it is given of cells that it does not simulate. What a cell's bytes mean, the simulation knows.

use core::fmt;
use std::sync::Arc;

use lockstone_sim::{CellId, CellRect, Checksum, Extent, PlayerId, Tick, codec};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Bytes, List, Name, RawInput, Turns, WireError, ascending};
use crate::limits::*;

/// Frames of closed ticks.
pub type Frames = Turns<Frame>;

/// The turn of one replica.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The inputs that its area needs, in the turn's order.
    pub inputs: List<RawInput, FRAME_INPUTS_MAX>,
    /// What it is given at the end of the tick, in this order.
    pub given: List<RawGiven, FRAME_GIVEN_MAX>,
}

/// Something that a replica is given, as bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RawGiven {
    /// What changed in a cell since the end of the tick before.
    Change(CellId, CellBytes),
    /// A cell's whole state.
    Cell(CellId, CellBytes),
    /// A cell was never lit.
    Pristine(CellId),
    /// What is simulated and known from the next tick on, and the load that is put in with it, if
    /// one is: it has arrived in full.
    Area(Extent, Option<u32>),
}

impl RawGiven {
    /// The cell that it is about, if it is about one.
    pub fn cell(&self) -> Option<CellId> {
        match self {
            RawGiven::Change(cell, _) | RawGiven::Cell(cell, _) | RawGiven::Pristine(cell) => Some(*cell),
            RawGiven::Area(..) => None,
        }
    }

    /// About how many bytes it takes on the wire.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            RawGiven::Change(_, bytes) | RawGiven::Cell(_, bytes) => bytes.len() + 4,
            RawGiven::Pristine(_) => 3,
            RawGiven::Area(..) => 10,
        }
    }
}

/// Cells' states are on their way. The first piece is in here, the others follow as chunks; all are
/// acknowledged as those of a snapshot. At most one load is under way to a replica.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Counts the loads of a replica, from 0.
    pub number: u32,
    /// The states are those before the turn of this tick; the frames from it on tell what
    /// changes in the cells.
    pub tick: Tick,
    /// The length of all pieces.
    pub bytes: u32,
    /// Their digest: the first half of their BLAKE3.
    pub digest: u128,
    /// The first piece.
    pub first: Bytes<CHUNK_BYTES>,
}

/// What the pieces of a load are together: the cells of one rectangle that are not in another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedCells {
    /// At most 65,536 cells.
    pub all: CellRect,
    /// What of them was loaded before.
    pub but: CellRect,
    /// Those that were ever lit, ascending, as what changed since they were pristine.
    pub lit: List<(CellId, CellBytes), LOAD_CELLS_MAX>,
}

/// Whose heroes came into the cells that a replica knows, and whose went out of them, the replica's
/// own left out: it would know the heroes without their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nearby {
    /// Who came, and is called so.
    pub came: List<(PlayerId, Name), NEARBY_MAX>,
    /// Who went.
    pub went: List<PlayerId, NEARBY_MAX>,
}

/// The checksums of a replica's core, cell by cell: the answer to a
/// [`Message::Desync`](super::Message::Desync).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreTree {
    /// The state before the turn of this tick.
    pub tick: Tick,
    /// The checksum that the core had at the tick that is disputed, if the replica still knows it.
    pub disputed: Option<Checksum>,
    /// Of the cells that are stored, ascending. Empty if they are too many for a packet.
    pub cells: List<(CellId, Checksum), TREE_CELLS_MAX>,
}

/// A cell's state, or a change of it. Encoded once, and shared by all whom it is sent to.
#[derive(Clone, PartialEq, Eq)]
pub struct CellBytes(Arc<[u8]>);

impl CellBytes {
    /// The bytes, to be shared.
    pub fn new(bytes: Vec<u8>) -> CellBytes {
        CellBytes(bytes.into())
    }
}

impl core::ops::Deref for CellBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for CellBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for CellBytes {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for CellBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Bytes::<CELL_BYTES_MAX>::deserialize(deserializer)?;
        Ok(CellBytes(bytes.into_vec().into()))
    }
}

impl Load {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let bytes = self.bytes as usize;
        WireError::unless(bytes <= LOAD_BYTES_MAX && self.first.len() <= bytes, "too large a load")
    }
}

impl LoadedCells {
    /// Whether the load has a cell.
    pub fn has(&self, cell: CellId) -> bool {
        self.all.contains(cell) && !self.but.contains(cell)
    }

    /// The cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        let but = self.but;
        self.all.iter().filter(move |cell| !but.contains(*cell))
    }

    /// Reads what the pieces are together.
    ///
    /// # Errors
    /// [`WireError`] if they are no load.
    pub fn read(pieces: &[u8]) -> Result<LoadedCells, WireError> {
        let loaded: LoadedCells = codec::read(pieces, LOAD_BYTES_MAX)?;
        let LoadedCells { all, lit, .. } = &loaded;
        let sound = all.len() <= LOAD_CELLS_MAX && ascending(lit) && lit.iter().all(|(cell, _)| loaded.has(*cell));
        WireError::unless(sound, "cells that are not of their load")?;
        Ok(loaded)
    }
}

impl CoreTree {
    pub(super) fn check(&self) -> Result<(), WireError> {
        WireError::unless(ascending(&self.cells), "cells out of order")
    }
}
