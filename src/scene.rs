//! What a player sees of a world, before it is drawn: the one source of every view.
//!
//! A scene is made anew from the world for every tick and is read-only. The window draws the parts
//! of which its figures are made, the terminal their symbols; what they stand for only the game
//! knows. Positions are in tiles, x to the right and y down, as in the world.

mod figure;
mod ground;
mod marked;

pub use figure::{Draw, Drawing, Figure, Ink, Life, Part, Parts};
pub use ground::{Grain, Ground, GroundTile, PATTERN_PIXELS, PATTERNS, Pattern, noise};
pub use marked::{Area, AreaKind, Chart};

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
    /// Whether the notes list what the player carries, and can be dragged. The shell says so, games
    /// leave it.
    pub lists: bool,
    /// What lately happened, the newest last.
    pub news: Vec<String>,
    /// What is far away and was told, not simulated: shown at its place, or at the picture's edge
    /// in its direction.
    pub marks: Vec<Mark>,
    /// What the player can do by a key, besides walking.
    pub skills: Vec<Skill>,
    /// Life that was lately lost or won. Views find that out, games leave it empty.
    pub hits: Vec<Hit>,
    /// Parts of the world that are marked, those in front last. Viewers of recordings mark some,
    /// games leave it empty.
    pub areas: Vec<Area>,
}

impl Scene {
    /// What is far away from a picture: the marks, and one of each player's hero that is outside.
    pub fn afar(&self, is_inside: impl Fn(Place) -> bool) -> Vec<Mark> {
        let mark = |figure: &Figure| {
            let label = figure.name.clone().or_else(|| figure.label.clone()).unwrap_or_default();
            Mark { pos: figure.pos, symbol: figure.symbol, color: figure.color, label }
        };
        let heroes = self.figures.iter().filter(|figure| figure.is_hero && !is_inside(figure.pos));
        self.marks.iter().cloned().chain(heroes.map(mark)).collect()
    }
}

/// Something that the player can do by a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// The key.
    pub key: char,
    /// What it does, in a word.
    pub name: &'static str,
    /// How near it is to being ready again, 0 to 1: it is ready.
    pub ready: f32,
    /// How often it can be done, if that is counted.
    pub count: Option<u32>,
}

/// Life that a figure lost, or won.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Where the figure was.
    pub pos: Place,
    /// How large it is, in tiles.
    pub size: f32,
    /// By how much its life changed: negative if it was lost.
    pub by: i32,
    /// Whether a player plays the figure.
    pub is_hero: bool,
    /// How long ago that is: 0 just now, 1 long enough to be forgotten.
    pub age: f32,
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
