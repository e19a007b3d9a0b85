//! The distant view: what a player sees beyond the part of the world that is simulated here.

use lockstone_sim::{PlayerId, Vec2};

/// Something that everyone sees from afar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landmark {
    /// What it is: the game's own, each number once in a world.
    pub number: u16,
    /// Where it is.
    pub at: Vec2,
    /// How it is; the game's own.
    pub state: u8,
}

/// What a player sees from afar at the tick of the player's own world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistantView {
    /// The heroes of the player's party that are not in the player's part of the world, by player.
    pub companions: Vec<Companion>,
    /// What everyone sees, by number.
    pub landmarks: Vec<Landmark>,
}

/// A hero that is seen from afar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Companion {
    /// Whose.
    pub player: PlayerId,
    /// Where it is now: on a route to the tile, else by what was last seen of it.
    pub at: Vec2,
}
