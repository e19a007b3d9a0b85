//! Where two states differ: cell, entity, field, both values.
//!
//! By the checksum tree, so that only what differs is looked at, whatever the world's size.

use std::collections::BTreeMap;
use std::fmt;

use lockstone_sim::codec::{FieldDifference, differences};
use lockstone_sim::world::StatePart;
use lockstone_sim::{CellId, Tick};
use serde::Serialize;

use crate::inspect::{Inspect, Thing};
use crate::recording::differing;

/// Where two states of one tick differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The tick before whose turn they were compared.
    pub tick: Tick,
    /// The cells that differ, row by row. Empty if the simulation has none.
    pub cells: Vec<CellId>,
    /// What differs in them. At most [`SPOTS_MAX`] are kept.
    pub spots: Vec<Spot>,
    /// How many there are.
    pub spots_count: usize,
}

/// How many differing parts a [`Location`] keeps.
pub const SPOTS_MAX: usize = 256;

/// A part that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spot {
    /// Which.
    pub part: StatePart,
    /// What kind of thing it is.
    pub kind: String,
    /// Where it is missing, if it is not on both sides.
    pub missing: Option<Side>,
    /// The fields that differ, if it is on both sides.
    pub fields: Vec<FieldDifference>,
}

/// One of two compared states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Side {
    /// The first.
    Ours,
    /// The second.
    Theirs,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.part)?;
        match self.missing {
            Some(Side::Ours) => f.write_str(" is there alone"),
            Some(Side::Theirs) => f.write_str(" is here alone"),
            None => {
                let mut fields = self.fields.iter();
                fields.try_for_each(|field| write!(f, "\n    {field}"))
            }
        }
    }
}

/// Compares two states, which should be of the same tick.
pub fn locate<S: Inspect>(ours: &mut S, theirs: &mut S) -> Location {
    let cells = differing_cells(ours, theirs);
    locate_in(ours, theirs, cells)
}

/// Compares some cells of two states.
pub(super) fn locate_in<S: Inspect>(ours: &S, theirs: &S, cells: Vec<CellId>) -> Location {
    let mut location = Location { tick: ours.tick(), ..Location::default() };
    // What is in no cell comes first: it is seldom, and tells most.
    for cell in std::iter::once(None).chain(cells.iter().copied().map(Some)) {
        let spots = compare(ours.things(cell), theirs.things(cell));
        location.spots_count += spots.len();
        let room = SPOTS_MAX - location.spots.len();
        location.spots.extend(spots.into_iter().take(room));
    }
    location.cells = cells;
    location
}

/// The cells whose checksums differ, or that only one side has.
pub(super) fn differing_cells<S: Inspect>(ours: &mut S, theirs: &mut S) -> Vec<CellId> {
    differing(&ours.tree(), &theirs.tree())
}

/// Compares parts of two states.
pub(crate) fn compare(ours: Vec<Thing>, theirs: Vec<Thing>) -> Vec<Spot> {
    let mut theirs: BTreeMap<_, _> = theirs.into_iter().map(|thing| (thing.part, thing)).collect();
    let (mut spots, mut alone) = (Vec::new(), Vec::new());
    for thing in ours {
        match theirs.remove(&thing.part) {
            None => alone.push(thing),
            Some(other) => spots.extend(spot(thing, &other)),
        }
    }
    for thing in alone {
        // Another id makes it another entity; and yet all else says that it is the same one.
        let renamed = theirs.values().find(|other| differs_in_id(&thing, other)).map(|other| other.part);
        match renamed.and_then(|part| theirs.remove(&part)) {
            Some(other) => spots.extend(spot(thing, &other)),
            None => spots.push(missing(thing, Side::Theirs)),
        }
    }
    spots.extend(theirs.into_values().map(|thing| missing(thing, Side::Ours)));
    spots
}

fn spot(ours: Thing, theirs: &Thing) -> Option<Spot> {
    let fields = differences(&ours.fields, &theirs.fields);
    let Thing { part, kind, .. } = ours;
    (!fields.is_empty()).then_some(Spot { part, kind, missing: None, fields })
}

fn missing(thing: Thing, side: Side) -> Spot {
    Spot { part: thing.part, kind: thing.kind, missing: Some(side), fields: Vec::new() }
}

fn differs_in_id(ours: &Thing, theirs: &Thing) -> bool {
    let mut fields = ours.fields.iter().zip(&theirs.fields);
    ours.fields.len() == theirs.fields.len() && fields.all(|(a, b)| a == b || a.path == "id" && b.path == "id")
}
