//! What happened in a recorded session, one thing after the other.

use core::fmt;

use lockstone_sim::{Checksum, PlayerId, Simulation, Turn};

use super::format::Desync;
use super::packed::Packed;
use super::rerun::PackedRerun;
use super::tree::TreeChange;

/// Something that happened in a recorded session.
pub enum Entry<S: Simulation> {
    /// The next so many ticks had empty turns.
    Empty(u32),
    /// The next tick's turn.
    Turn(Turn<S>),
    /// The checksum of the state before the next turn.
    Checksum(Checksum),
    /// How the checksums of the state's parts before the next turn differ from the tree
    /// before, or from none.
    Tree(TreeChange),
    /// The state before the next turn.
    Keyframe(Packed),
    /// What came out when the recorder played it again.
    Rerun(PackedRerun),
    /// A player's name.
    Name(PlayerId, String),
    /// A difference was found.
    Desync(Desync),
}

impl<S: Simulation> Entry<S> {
    /// How many ticks it plays.
    pub fn ticks(&self) -> u32 {
        match self {
            Entry::Empty(ticks) => *ticks,
            Entry::Turn(_) => 1,
            Entry::Checksum(_) | Entry::Tree(_) | Entry::Keyframe(_) => 0,
            Entry::Rerun(_) | Entry::Name(..) | Entry::Desync(_) => 0,
        }
    }
}

// Derives would ask for bounds on `S` itself.
impl<S: Simulation> Clone for Entry<S> {
    fn clone(&self) -> Self {
        match self {
            Entry::Empty(ticks) => Entry::Empty(*ticks),
            Entry::Turn(turn) => Entry::Turn(turn.clone()),
            Entry::Checksum(checksum) => Entry::Checksum(*checksum),
            Entry::Tree(change) => Entry::Tree(change.clone()),
            Entry::Keyframe(snapshot) => Entry::Keyframe(snapshot.clone()),
            Entry::Rerun(rerun) => Entry::Rerun(rerun.clone()),
            Entry::Name(player, name) => Entry::Name(*player, name.clone()),
            Entry::Desync(desync) => Entry::Desync(*desync),
        }
    }
}

impl<S: Simulation> PartialEq for Entry<S> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Entry::Empty(a), Entry::Empty(b)) => a == b,
            (Entry::Turn(a), Entry::Turn(b)) => a == b,
            (Entry::Checksum(a), Entry::Checksum(b)) => a == b,
            (Entry::Tree(a), Entry::Tree(b)) => a == b,
            (Entry::Keyframe(a), Entry::Keyframe(b)) => a == b,
            (Entry::Rerun(a), Entry::Rerun(b)) => a == b,
            (Entry::Name(a, x), Entry::Name(b, y)) => a == b && x == y,
            (Entry::Desync(a), Entry::Desync(b)) => a == b,
            _ => false,
        }
    }
}

impl<S: Simulation> fmt::Debug for Entry<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Empty(ticks) => write!(f, "{ticks} empty"),
            Entry::Turn(turn) => write!(f, "turn {turn:?}"),
            Entry::Checksum(checksum) => write!(f, "checksum {checksum}"),
            Entry::Tree(change) => write!(f, "tree: {} changed, {} gone", change.changed.len(), change.gone.len()),
            Entry::Keyframe(snapshot) => write!(f, "keyframe of {} bytes, packed", snapshot.bytes().len()),
            Entry::Rerun(rerun) => write!(f, "rerun of {} bytes, packed", rerun.bytes().len()),
            Entry::Name(player, name) => write!(f, "{player} is {name}"),
            Entry::Desync(desync) => write!(f, "{desync:?}"),
        }
    }
}
