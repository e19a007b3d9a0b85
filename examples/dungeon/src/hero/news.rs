//! The last few things that happened to a hero, kept in its body so that every view can tell them.

use lockstone::sim::Tick;
use serde::{Deserialize, Serialize};

use super::Flaw;
use crate::loot::Gear;
use crate::monsters::Race;

/// How many things a hero remembers.
pub const NEWS: usize = 3;

/// Something that happened to a hero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// When.
    pub tick: Tick,
    /// What.
    pub event: Event,
}

/// What can happen to a hero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// It reached a level.
    Level(u8),
    /// It took a rare or unique piece.
    Found(Gear),
    /// It was slain.
    Fell(Race),
    /// It came back to life.
    Returned,
    /// A monster that matters to all was slain beside it.
    Slew(Race),
    /// It went through the portal.
    Escaped,
    /// It came from another dungeon, with a level.
    Came(u8),
    /// It brought along what cannot be, and begins anew.
    BeganAnew(Flaw),
}
