//! The messages by which peers whose worlds differ give each other evidence, in sessions of both
//! kinds. Its bytes are the application's.

use std::collections::BTreeSet;

use lockstone_sim::PlayerId;
use serde::{Deserialize, Serialize};

use super::{Bytes, List, WireError, ascending};
use crate::limits::*;
use crate::link::PeerId;

/// Worlds differ: who is to give evidence to whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inquiry {
    /// Of a party: all witnesses, the sequencer and the receiver included, by player, ascending. Of
    /// a rollback session nobody: its players know each other.
    pub witnesses: List<(PlayerId, PeerId), PLAYERS_MAX>,
}

/// A step of the way of one witness's evidence to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Parcel {
    /// The sender's evidence is there, and waits to be asked for.
    Announced {
        /// Its length. 0: there is none.
        bytes: u32,
        /// Its digest: the first half of its BLAKE3.
        digest: u128,
    },
    /// Its next piece.
    Chunk(Bytes<EVIDENCE_CHUNK_BYTES>),
    /// How many bytes of the receiver's evidence have arrived. The first says 0, and asks for it.
    Received(u32),
}

impl Inquiry {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let peers: BTreeSet<_> = self.witnesses.iter().map(|(_, peer)| peer).collect();
        let distinct = peers.len() == self.witnesses.len();
        WireError::unless(distinct && ascending(&self.witnesses), "witnesses out of order")
    }
}

impl Parcel {
    pub(super) fn check(&self) -> Result<(), WireError> {
        let much = matches!(self, Parcel::Announced { bytes, .. } if *bytes as usize > EVIDENCE_BYTES_MAX);
        WireError::unless(!much, "too much evidence")
    }
}
