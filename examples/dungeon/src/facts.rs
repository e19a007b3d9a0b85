//! What everyone knows, wherever they are.

#![deny(clippy::float_arithmetic)]

use serde::{Deserialize, Serialize};

/// Known to everyone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Which brood-mothers are slain, a bit for each nest.
    pub nests_slain: u32,
    /// How many heroes have gone through the portal.
    pub escapes: u16,
}

/// An announcement. Made twice, a slain nest counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// The brood-mother of a nest is slain.
    NestSlain(u8),
    /// A hero went through the portal.
    Escaped,
}

impl Facts {
    /// Whether a nest's brood-mother is slain.
    pub fn is_slain(&self, nest: u8) -> bool {
        self.nests_slain.checked_shr(nest.into()).is_some_and(|bits| bits & 1 == 1)
    }

    /// How many brood-mothers are slain.
    pub fn slain(&self) -> usize {
        self.nests_slain.count_ones() as usize
    }

    /// Whether the portal is open, where there are so many nests.
    pub fn portal_open(&self, nests: usize) -> bool {
        self.slain() >= nests
    }

    pub(crate) fn announce(&mut self, fact: Fact) {
        match fact {
            Fact::NestSlain(nest) => self.nests_slain |= 1_u32.checked_shl(nest.into()).unwrap_or(0),
            Fact::Escaped => self.escapes = self.escapes.saturating_add(1),
        }
    }
}
