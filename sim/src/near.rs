//! Which entities are near: the search that every mind does, and so the hottest loop of a crowd.
//!
//! Before thinking, the places of all actors that can be seen are copied into one array, cell by
//! cell: a search reads eight bytes a candidate instead of whole entities.
//!
//! Its steps are `inline(always)`, for a page is built with little inlining (`xtask/src/page.rs`).

use alloc::vec::Vec;
use core::ops::{Deref, Range};

use crate::entity::{Body, Entity};
use crate::fx::Fx;
use crate::grid::{CellId, CellRect, Grid};
use crate::ids::EntityId;
use crate::store::{List, Store};
use crate::vec2::Vec2;

/// An entity within reach, as it was at the start of the tick.
///
/// To hold one is to be allowed to [affect](crate::mind::Mind::affect) it, so it cannot be kept for
/// another thought:
///
/// ```compile_fail,E0521
/// # use lockstone_sim::*;
/// fn think<'k, R: Rules>(mind: &mut Mind<'_, R>, kept: &mut Vec<Seen<'k, R::Body>>) {
///     kept.extend(mind.actors(Fx::MAX)); // borrowed data escapes
/// }
/// ```
pub struct Seen<'w, B> {
    entity: &'w Entity<B>,
    pub(crate) at: Place,
    distance_squared: i64,
}

impl<'w, B> Seen<'w, B> {
    pub(crate) fn new(entity: &'w Entity<B>, at: Place, from: Vec2) -> Seen<'w, B> {
        Seen { entity, at, distance_squared: entity.pos.distance_squared(from) }
    }

    /// The exact square of its distance from who looks, as [`Vec2::distance_squared`].
    pub fn distance_squared(&self) -> i64 {
        self.distance_squared
    }
}

impl<B> Clone for Seen<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Seen<'_, B> {}

impl<B> Deref for Seen<'_, B> {
    type Target = Entity<B>;

    fn deref(&self) -> &Entity<B> {
        self.entity
    }
}

/// Where an entity is stored during one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub slot: u32,
    pub list: List,
    pub index: u32,
}

/// The places of all actors in lit cells at the start of a tick.
#[derive(Default)]
pub(crate) struct Spots {
    spots: Vec<Vec2>,
    /// By slot, of the lit cells alone.
    cells: Vec<Spotted>,
}

/// One cell's part of the spots.
#[derive(Clone, Copy, Default)]
struct Spotted {
    start: u32,
    heroes: u32,
    actors: u32,
}

impl Spots {
    pub fn renew<B: Body>(&mut self, store: &Store<B>) {
        self.spots.clear();
        self.cells.clear();
        self.cells.resize(store.lit(), Spotted::default());
        // Most cells hold no actor.
        let cells = self.cells.iter_mut().zip(&store.cells).filter(|(_, cell)| !cell.actors.is_empty());
        for (spotted, cell) in cells {
            let start = self.spots.len() as u32;
            self.spots.extend(cell.actors.iter().map(|actor| actor.pos));
            let heroes = cell.actors.iter().take_while(|actor| actor.id.is_hero()).count() as u32;
            *spotted = Spotted { start, heroes, actors: cell.actors.len() as u32 };
        }
    }

    /// The slots of the lit cells in which there are actors.
    pub fn with_actors(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().enumerate().filter(|(_, spotted)| spotted.actors > 0).map(|(slot, _)| slot)
    }

    /// Whether an entity may be in the cell of a slot: one that is lit, and of a hero one with
    /// heroes.
    #[inline]
    pub fn may_hold(&self, slot: usize, id: EntityId) -> bool {
        self.cells.get(slot).is_some_and(|spotted| spotted.heroes > 0 || !id.is_hero())
    }
}

/// Whom a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Heroes,
    Actors,
    Props,
}

/// The entities in a circle, cell by cell in row-major order, by id in each.
pub struct Near<'w, B> {
    ground: Ground<'w, B>,
    wanted: Wanted,
    center: Vec2,
    radius: Fx,
    /// The entity that looks, and is not seen.
    me: Place,
    cells: CellRect,
    next_cell: Option<CellId>,
    slot: usize,
    candidates: Range<usize>,
}

/// What a search looks through.
pub(crate) struct Ground<'w, B> {
    pub grid: &'w Grid,
    pub store: &'w Store<B>,
    pub spots: &'w Spots,
}

impl<B> Clone for Ground<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Ground<'_, B> {}

impl<'w, B: Body> Near<'w, B> {
    pub(crate) fn new(ground: Ground<'w, B>, wanted: Wanted, center: Vec2, radius: Fx, me: Place) -> Near<'w, B> {
        let cells = ground.grid.cells_around(center, radius);
        // Squared, a negative radius would count as a positive one, in a cell that may
        // be beyond reach.
        let next_cell = (radius >= Fx::ZERO).then_some(cells.low);
        Near { ground, wanted, center, radius, me, cells, next_cell, slot: 0, candidates: 0..0 }
    }

    /// Goes to the next lit cell. False if there is none.
    #[inline(always)]
    fn enter_next_cell(&mut self) -> bool {
        while let Some(cell) = self.next_cell {
            self.next_cell = self.cells.after(cell);
            let Some(slot) = self.ground.store.slot(self.ground.grid, cell) else { continue };
            let Some(spotted) = self.ground.spots.cells.get(slot) else { continue };
            let candidates = match self.wanted {
                Wanted::Heroes => spotted.heroes as usize,
                Wanted::Actors => spotted.actors as usize,
                Wanted::Props => self.ground.store.cells[slot].props.len(),
            };
            if candidates > 0 {
                (self.slot, self.candidates) = (slot, 0..candidates);
                return true;
            }
        }
        false
    }

    /// The nearest of those still to come that is accepted; of several equally near the first. Much
    /// faster than to compare what the iterator gives: what is farther than the best so far is
    /// passed over unseen.
    pub fn nearest(mut self, accept: impl Fn(&Entity<B>) -> bool) -> Option<Seen<'w, B>> {
        let mut best = None;
        let mut below = self.radius_squared() + 1;
        while !self.candidates.is_empty() || self.enter_next_cell() {
            let (list, entities, spots) = self.here();
            let first = core::mem::take(&mut self.candidates).start;
            let mut consider = |index: usize, pos: Vec2| {
                let distance_squared = gap_squared(pos, self.center);
                if distance_squared < below {
                    let at = Place { slot: self.slot as u32, list, index: index as u32 };
                    if at != self.me && accept(&entities[index]) {
                        below = distance_squared;
                        best = Some(Seen { entity: &entities[index], at, distance_squared });
                    }
                }
            };
            match spots {
                Some(spots) => spots.iter().enumerate().skip(first).for_each(|(index, &pos)| consider(index, pos)),
                None => entities.iter().enumerate().skip(first).for_each(|(index, entity)| consider(index, entity.pos)),
            }
        }
        best
    }

    /// The candidates of the current cell, and their places if they stand apart.
    fn here(&self) -> (List, &'w [Entity<B>], Option<&'w [Vec2]>) {
        let content = &self.ground.store.cells[self.slot];
        if self.wanted == Wanted::Props {
            return (List::Props, &content.props, None);
        }
        let start = self.ground.spots.cells[self.slot].start as usize;
        let spots = &self.ground.spots.spots[start..start + self.candidates.end];
        (List::Actors, &content.actors[..self.candidates.end], Some(spots))
    }

    #[inline(always)]
    fn next_here(&mut self) -> Option<Seen<'w, B>> {
        let (list, entities, spots) = self.here();
        let radius_squared = self.radius_squared();
        for index in self.candidates.by_ref() {
            let pos = spots.map_or_else(|| entities[index].pos, |spots| spots[index]);
            let distance_squared = gap_squared(pos, self.center);
            let at = Place { slot: self.slot as u32, list, index: index as u32 };
            if distance_squared <= radius_squared && at != self.me {
                return Some(Seen { entity: &entities[index], at, distance_squared });
            }
        }
        None
    }

    fn radius_squared(&self) -> i64 {
        i64::from(self.radius.to_bits()).pow(2)
    }
}

/// [`Vec2::distance_squared`] for places in cells that lie near each other, where
/// nothing can overflow.
fn gap_squared(a: Vec2, b: Vec2) -> i64 {
    let gap = |a: Fx, b: Fx| i64::from(a.to_bits()).wrapping_sub(i64::from(b.to_bits()));
    let (x, y) = (gap(a.x, b.x), gap(a.y, b.y));
    x.wrapping_mul(x).wrapping_add(y.wrapping_mul(y))
}

impl<'w, B: Body> Iterator for Near<'w, B> {
    type Item = Seen<'w, B>;

    #[inline(always)]
    fn next(&mut self) -> Option<Seen<'w, B>> {
        loop {
            if !self.candidates.is_empty()
                && let Some(seen) = self.next_here()
            {
                return Some(seen);
            }
            if !self.enter_next_cell() {
                return None;
            }
        }
    }
}
