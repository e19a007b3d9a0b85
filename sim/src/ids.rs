//! The names of things: newtypes for what must never be mixed up.

use core::fmt;
use serde::{Deserialize, Serialize};

/// One fixed step of simulated time. The world starts at tick 0; the turn of tick `t` leads
/// to tick `t + 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tick(pub u32);

impl Tick {
    /// The tick `n` steps later. Saturates after some 6.8 years at 20 ticks a second.
    pub const fn plus(self, n: u32) -> Tick {
        Tick(self.0.saturating_add(n))
    }

    /// The tick after this one.
    pub const fn next(self) -> Tick {
        self.plus(1)
    }

    /// How many ticks this one lies after `earlier`; 0 if it does not.
    pub const fn since(self, earlier: Tick) -> u32 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A player of a session, given out by the sequencer in order of joining and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u16);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

/// An entity of a world: a 64-bit mix of who made it, when, and which one it was, so no
/// counter is shared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityId(pub u64);

/// As [`Display`](fmt::Display): an id has one look wherever it is shown.
impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The checksum of a world, a cell or an entity. Equal states have equal checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Checksum(pub u64);

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
