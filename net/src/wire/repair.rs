//! The messages with which a party's sequencer finds what differs in a replica's world, and
//! replaces it.

use lockstone_sim::{CellId, Checksum, Tick};
use serde::{Deserialize, Serialize};

use super::{List, WireError, ascending};
use crate::limits::{SNAPSHOT_BYTES_MAX, TREE_CELLS_MAX};

/// A replica's world differs: it is to say what it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    /// As of the state before this tick's turn, which it cannot have played yet. It waits there.
    pub tick: Tick,
    /// The tick at which its checksum was another.
    pub disputed: Tick,
}

/// What a replica's world is made of: the answer to a [`Survey`], or a piece of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// The state before the turn of this tick.
    pub tick: Tick,
    /// Its checksum.
    pub checksum: Checksum,
    /// The checksum that it had at the tick that is disputed, if it still knows it.
    pub disputed: Option<Checksum>,
    /// The checksum of what is in no cell. `None`: it cannot be compared in parts.
    pub rest: Option<Checksum>,
    /// The checksums of the stored cells, ascending.
    pub cells: List<(CellId, Checksum), TREE_CELLS_MAX>,
    /// Whether more cells follow in another piece.
    pub more: bool,
}

/// What differs is on its way, as it is right: in chunks, acknowledged as those of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// It is put in before the turn of this tick.
    pub tick: Tick,
    /// The checksum of the state that comes of it.
    pub checksum: Checksum,
    /// The length of all chunks.
    pub bytes: u32,
    /// Their digest: the first half of their BLAKE3.
    pub digest: u128,
    /// Whether more than half of the members have this state, or a replay came to it. Else nobody
    /// can tell whose world is right, and it is the sequencer's.
    pub is_proven: bool,
}

impl Parts {
    pub(super) fn check(&self) -> Result<(), WireError> {
        WireError::unless(ascending(&self.cells), "cells out of order")
    }
}

impl Repair {
    pub(super) fn check(&self) -> Result<(), WireError> {
        WireError::unless(self.bytes as usize <= SNAPSHOT_BYTES_MAX, "too large a repair")
    }
}
