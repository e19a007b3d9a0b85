//! What a player sees of a world, before it is drawn: the one source of every view.
//!
//! A scene is made anew from the world for every picture and is read-only. The window draws its shapes, the terminal its symbols.
//! Positions are in tiles, x to the right and y down, the same as in the world.

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What is to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The middle of the picture, in tiles.
    pub center: (f32, f32),
    /// The ground, row by row.
    pub ground: Ground,
    /// Things and beings, those in front last.
    pub figures: Vec<Figure>,
    /// The player's own state.
    pub gauges: Vec<Gauge>,
    /// Short lines beside the gauges: level, inventory, what to do.
    pub notes: Vec<String>,
    /// What lately happened, the newest last.
    pub news: Vec<String>,
    /// What is far away and was told, not simulated: shown at its place, or at the picture's edge in its direction.
    pub marks: Vec<Mark>,
}

/// Something far away.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where it is.
    pub pos: (f32, f32),
    /// How the terminal shows it.
    pub symbol: char,
    /// Its colour.
    pub color: Rgb,
    /// What it is.
    pub label: String,
}

impl Mark {
    /// What it is and how far away, as seen from a place.
    pub fn title(&self, from: (f32, f32)) -> String {
        let tiles = (self.pos.0 - from.0).hypot(self.pos.1 - from.1);
        format!("{} {tiles:.0}", self.label)
    }

    /// Its place, or the nearest to it on the way from the middle of a picture that reaches so far to each side, in tiles.
    pub fn within(&self, center: (f32, f32), reach: (f32, f32)) -> (f32, f32) {
        let (x, y) = (self.pos.0 - center.0, self.pos.1 - center.1);
        let beyond = (x.abs() / reach.0.max(0.5)).max(y.abs() / reach.1.max(0.5)).max(1.0);
        (center.0 + x / beyond, center.1 + y / beyond)
    }
}

/// A rectangle of ground tiles.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// The tile of the first column and row.
    pub corner: (i32, i32),
    /// How many tiles a row has.
    pub width: usize,
    /// The tiles, row by row.
    pub tiles: Vec<GroundTile>,
}

/// One tile of ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroundTile {
    /// How the terminal shows it.
    pub symbol: char,
    /// How the window shows it.
    pub color: Rgb,
    /// Whether it stands up: the window gives it a face.
    pub raised: bool,
    /// How brightly it is lit, 0 (not seen) to 255.
    pub light: u8,
}

/// A thing or a being.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Where it is.
    pub pos: (f32, f32),
    /// How large it is, in tiles.
    pub size: f32,
    /// How the terminal shows it.
    pub symbol: char,
    /// How the window shows it.
    pub shape: Shape,
    /// Its colour.
    pub color: Rgb,
    /// Where it looks, in radians, 0 to the right, growing downwards.
    pub facing: Option<f32>,
    /// How much of its life is left, 0 to 1; `None` for what has none, or is unhurt and needs no bar.
    pub life: Option<f32>,
    /// A name over it.
    pub label: Option<String>,
    /// How far it lights its surroundings, in tiles.
    pub glow: f32,
}

/// What the window draws for a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A body with a head, and what it holds pointing where it looks.
    Hero,
    /// A four-legged or crawling body.
    Beast,
    /// An upright body with a bow or a staff.
    Archer,
    /// A heap that lies still.
    Mound,
    /// A large round body.
    Brood,
    /// A short streak.
    Bolt,
    /// A round light.
    Orb,
    /// A small thing to pick up.
    Gem,
    /// A flask.
    Flask,
    /// A blade.
    Blade,
    /// A box.
    Chest,
    /// Remains, or a dead hero.
    Bones,
    /// A ring on the ground: a goal, a portal.
    Ring,
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

/// Which button was clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// The main button: walk, attack, pick up.
    Primary,
    /// The other one: the hero's skill.
    Secondary,
}
