//! What a player sees of a world, before it is drawn: the one source of every view.
//!
//! A scene is made anew from the world for every tick and is read-only. The window draws the parts
//! of which its figures are made, the terminal their symbols; what they stand for only the game
//! knows. Positions are in tiles, x to the right and y down, as in the world.

mod figure;
mod ground;

pub use figure::{Draw, Drawing, Figure, Ink, Part, Parts};
pub use ground::{Grain, Ground, GroundTile, PATTERN_PIXELS, PATTERNS, Pattern, noise};

/// A place in tiles, or in a drawing.
pub type Place = (f32, f32);

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What is to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The middle of the picture.
    pub center: Place,
    /// The ground, row by row.
    pub ground: Ground,
    /// Things and beings, those in front last.
    pub figures: Vec<Figure>,
    /// The player's own state.
    pub gauges: Vec<Gauge>,
    /// Short lines beside the gauges: what the player has, what there is to do.
    pub notes: Vec<String>,
    /// What lately happened, the newest last.
    pub news: Vec<String>,
    /// What is far away and was told, not simulated: shown at its place, or at the picture's edge
    /// in its direction.
    pub marks: Vec<Mark>,
}

/// Something far away.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where it is.
    pub pos: Place,
    /// How the terminal shows it.
    pub symbol: char,
    /// Its colour.
    pub color: Rgb,
    /// What it is.
    pub label: String,
}

impl Mark {
    /// What it is and how far away, as seen from a place.
    pub fn title(&self, from: Place) -> String {
        let tiles = (self.pos.0 - from.0).hypot(self.pos.1 - from.1);
        format!("{} {tiles:.0}", self.label)
    }

    /// Its place, or the nearest to it on the way from the middle of a picture that reaches so far
    /// to each side.
    pub fn within(&self, center: Place, reach: (f32, f32)) -> Place {
        let (x, y) = (self.pos.0 - center.0, self.pos.1 - center.1);
        let beyond = (x.abs() / reach.0.max(0.5)).max(y.abs() / reach.1.max(0.5)).max(1.0);
        (center.0 + x / beyond, center.1 + y / beyond)
    }
}

/// A bar: how much there is of how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// What it measures.
    pub name: &'static str,
    /// How much there is.
    pub value: i32,
    /// How much there can be.
    pub max: i32,
    /// Its colour.
    pub color: Rgb,
}

/// Which button was clicked. What it means the game says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// The main button.
    Primary,
    /// The other one.
    Secondary,
}
