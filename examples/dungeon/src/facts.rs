//! What everyone knows, wherever they are.

#![deny(clippy::float_arithmetic)]

use serde::{Deserialize, Serialize};

/// Known to everyone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Which brood-mothers are slain, a bit for each nest.
    pub nests_slain: u32,
    /// Whether the portal's warden is slain.
    pub warden_slain: bool,
    /// How many heroes have gone through the portal.
    pub escapes: u16,
}

/// An announcement. What is slain counts once, however often it is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// The brood-mother of a nest is slain.
    NestSlain(u8),
    /// The portal's warden is slain.
    WardenSlain,
    /// A hero went through the portal.
    Escaped,
}

impl Facts {
    /// Whether it was announced.
    pub fn holds(&self, fact: Fact) -> bool {
        match fact {
            Fact::NestSlain(nest) => self.nests_slain.checked_shr(nest.into()).is_some_and(|bits| bits & 1 == 1),
            Fact::WardenSlain => self.warden_slain,
            Fact::Escaped => self.escapes > 0,
        }
    }

    /// How many brood-mothers are slain.
    pub fn slain(&self) -> usize {
        self.nests_slain.count_ones() as usize
    }

    /// Whether the portal is open, where there are so many nests.
    pub fn portal_open(&self, nests: usize) -> bool {
        self.slain() >= nests && self.warden_slain
    }

    pub(crate) fn announce(&mut self, fact: Fact) {
        match fact {
            Fact::NestSlain(nest) => self.nests_slain |= 1_u32.checked_shl(nest.into()).unwrap_or(0),
            Fact::WardenSlain => self.warden_slain = true,
            Fact::Escaped => self.escapes = self.escapes.saturating_add(1),
        }
    }
}
