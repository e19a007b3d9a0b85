//! What a player can tell their hero. Only the end of a way is said: the hero finds the way itself,
//! the same on every peer.
//!
//! In the compact encoding a walk takes 3 bytes (up to 5 once the map is wider than 250 tiles), an
//! attack up to 10.

use std::fmt;

use lockstone::net::text::is_code;
use lockstone::sim::path::Tile;
use lockstone::sim::{EntityId, Fx, Vec2};
use serde::{Deserialize, Serialize};

use crate::hero::{Class, Kept};
use crate::loot::Slot;

/// A hero's orders, in force until the next one. Drinking and handling the bag leave the
/// orders as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Stand still, and strike at what comes near.
    Stop,
    /// Go to a tile, or as near as there is a way.
    Walk {
        /// The column.
        x: u16,
        /// The row.
        y: u16,
    },
    /// Follow a monster and fight it, then the next one near, until none is.
    Attack(EntityId),
    /// Go to a piece of loot or a chest, and take or open it.
    PickUp(EntityId),
    /// Use the class's skill.
    Skill(Aim),
    /// Drink a potion.
    Drink,
    /// Swap a piece of the bag with the one worn.
    Wear(u8),
    /// Put a piece of the bag on the ground.
    Drop(u8),
    /// At the entrance: buy a potion.
    Buy,
    /// Put what is worn there into a free place of the bag.
    TakeOff(Slot, u8),
}

impl Command {
    /// Go to a tile.
    pub fn walk(tile: Tile) -> Command {
        let along = |n: i32| n.clamp(0, u16::MAX.into()) as u16;
        Command::Walk { x: along(tile.x), y: along(tile.y) }
    }

    /// Use the skill toward a place.
    pub fn skill(at: Vec2) -> Command {
        let along = |n: Fx| (n.to_bits() >> Aim::SHIFT).clamp(0, u16::MAX.into()) as u16;
        Command::Skill(Aim { x: along(at.x), y: along(at.y) })
    }
}

/// A place to the quarter of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    x: u16,
    y: u16,
}

impl Aim {
    const SHIFT: u32 = Fx::FRACTION_BITS - 2;

    /// The place itself.
    pub fn place(self) -> Vec2 {
        let along = |n: u16| Fx::from_bits(i32::from(n) << Self::SHIFT);
        Vec2::new(along(self.x), along(self.y))
    }
}

/// What a player brings along to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Newcomer {
    /// The hero's class.
    pub class: Class,
    /// The hero's name.
    pub name: Name,
    /// Whether a person plays it.
    pub person: bool,
    /// What it was before, in another dungeon.
    pub kept: Option<Kept>,
}

/// A short name: at most 12 bytes of UTF-8, zeros after it. Whatever bytes a peer sends, it
/// reads as some text.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name([u8; 12]);

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

impl Name {
    /// As much of a text as fits, without codes.
    pub fn new(text: &str) -> Name {
        let (mut name, mut len) = (Name::default(), 0);
        for letter in text.trim().chars().filter(|letter| !is_code(*letter)) {
            if len + letter.len_utf8() > name.0.len() {
                break;
            }
            letter.encode_utf8(&mut name.0[len..]);
            len += letter.len_utf8();
        }
        name
    }

    /// The text.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        text.chars().filter(|letter| !is_code(*letter)).collect::<String>().trim().into()
    }
}
