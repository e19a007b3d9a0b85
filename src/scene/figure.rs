//! Things and beings, and the neutral parts of which a game makes their drawings.

use super::{Place, Rgb};

/// A thing or a being.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Where it is.
    pub pos: Place,
    /// How large it is, in tiles.
    pub size: f32,
    /// How the terminal shows it.
    pub symbol: char,
    /// How the window shows it.
    pub drawing: Drawing,
    /// Its colour.
    pub color: Rgb,
    /// Where it looks, in radians, 0 to the right, growing downwards.
    pub facing: Option<f32>,
    /// Its life, if it has any. What is hurt has a bar over it.
    pub life: Option<Life>,
    /// A name over it.
    pub label: Option<String>,
    /// What it is called: for who points at it, if it has no label, and where it is out of sight.
    pub name: Option<String>,
    /// What it is known by in the next scene. Without it, it is taken for the nearest of the same
    /// looks.
    pub id: Option<u64>,
    /// Whether a player plays it: then it is on the map, and told of when it is out of sight.
    pub is_hero: bool,
    /// How lately it was hurt: 1 just now, 0 not lately. Views find that out, games need not.
    pub flash: f32,
    /// How far it lights its surroundings, in tiles.
    pub glow: f32,
}

impl Figure {
    /// A figure of one tile's size that has nothing special. Struct update gives it the rest:
    /// `Figure { life, ..Figure::new(...) }`.
    pub fn new(pos: Place, symbol: char, drawing: Drawing, color: Rgb) -> Figure {
        let (facing, life, label, name, id) = (None, None, None, None, None);
        let (size, is_hero, flash, glow) = (1.0, false, 0.0, 0.0);
        Figure { pos, size, symbol, drawing, color, facing, life, label, name, id, is_hero, flash, glow }
    }

    /// What is told of it to who points at it.
    pub fn title(&self) -> Option<&str> {
        self.label.as_deref().or(self.name.as_deref())
    }
}

/// How much life is left of how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// What is left.
    pub left: i32,
    /// The most that there can be.
    pub max: i32,
}

impl Life {
    /// How much of it is left, 0 to 1.
    pub fn share(self) -> f32 {
        (self.left as f32 / self.max.max(1) as f32).clamp(0.0, 1.0)
    }
}

/// What the window draws for a figure.
#[derive(Clone, Copy, Debug)]
pub struct Drawing {
    /// Gives its parts, those behind first.
    pub parts: Parts,
    /// Whether it throws a shadow: it stands, or hovers, over the ground.
    pub shadow: bool,
    /// Whether it is as bright in the dark as in the light.
    pub bright: bool,
    /// A shine around it in its colour: how strong, 0 to 1, and how far, in tiles for a figure of
    /// size 1.
    pub shine: Option<(f32, f32)>,
}

/// Gives the parts of a figure that looks into a direction, in radians. It is called for each
/// picture, and must depend on nothing else.
pub type Parts = fn(facing: f32, draw: &mut Draw<'_>);

/// Takes one part after the other.
pub type Draw<'d> = dyn FnMut(Part<'_>) + 'd;

/// A part of a drawing. Lengths are in the figure's own size, x to the right and y down, with the
/// foot at the origin: a figure of size 1 is drawn about as wide as a tile, and up to -1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'p> {
    /// A filled oval with a dark rim: its middle, and how far it reaches to the side and up.
    Oval(Place, (f32, f32), Ink),
    /// A filled polygon with a dark rim.
    Polygon(&'p [Place], Ink),
    /// A line of some width with round ends.
    Line(Place, Place, f32, Ink),
    /// The same from the first place to the last, drawn towards the one in between.
    Curve([Place; 3], f32, Ink),
}

/// A part's colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ink {
    /// The figure's colour, darker (below 1) or brighter.
    Own(f32),
    /// Always the same.
    Of(Rgb),
}

impl Drawing {
    /// A plain disc, for a game or a thing that needs no more.
    pub const DISC: Drawing = Drawing::of(|_, draw| draw(Part::Oval((0.0, -0.35), (0.35, 0.35), Ink::Own(1.0))));

    /// What stands on the ground and is made of such parts.
    pub const fn of(parts: Parts) -> Drawing {
        Drawing { parts, shadow: true, bright: false, shine: None }
    }
}
