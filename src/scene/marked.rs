//! What a viewer of recordings marks in a world: parts of it in a scene, and cells on a map. Games
//! mark nothing.

use lockstone_sim::{CellId, CellRect};

use super::Place;

/// A part of the world that is marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// The corner with the smallest coordinates, in tiles.
    pub low: Place,
    /// The corner with the largest.
    pub high: Place,
    /// As what.
    pub kind: AreaKind,
    /// What is written in its corner; may be empty.
    pub label: String,
}

/// As what a part of the world is marked. Each kind has a look of its own, besides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaKind {
    /// It is not the same in two worlds.
    Differs,
    /// It differs, and the difference of what was chosen could have come from here.
    Suspect,
    /// What was chosen.
    Chosen,
    /// All that what was chosen could depend on.
    Cone,
}

/// A map of cells at a tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Columns and rows of the world.
    pub size: (u16, u16),
    /// The lit cells.
    pub lit: Vec<CellId>,
    /// Where heroes are.
    pub heroes: Vec<CellId>,
    /// The cells that are marked.
    pub marks: Vec<(CellId, AreaKind)>,
    /// The cells of a light cone.
    pub cone: Option<CellRect>,
}

impl Chart {
    /// Columns and rows that are shown at most: of a larger world those around what is marked.
    const SHOWN_MAX: u16 = 48;

    /// The cells that are shown.
    pub fn shown(&self) -> CellRect {
        let marked = self.marks.iter().map(|(cell, _)| *cell).chain(self.heroes.iter().copied());
        let cells: Vec<CellId> = marked.collect();
        let span = |of: fn(&CellId) -> u16, size: u16| {
            let (low, high) = (cells.iter().map(of).min().unwrap_or(0), cells.iter().map(of).max().unwrap_or(0));
            let shown = size.clamp(1, Self::SHOWN_MAX);
            let middle = (low / 2 + high / 2).saturating_sub(shown / 2);
            let first = middle.min(size.saturating_sub(shown));
            (first, first + shown - 1)
        };
        let ((left, right), (top, bottom)) = (span(|cell| cell.x, self.size.0), span(|cell| cell.y, self.size.1));
        CellRect { low: CellId::new(left, top), high: CellId::new(right, bottom) }
    }
}
