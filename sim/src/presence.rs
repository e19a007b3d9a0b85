//! Presence: which things stand in which cells, and who watches which cells. It tells each watcher
//! what comes into its rectangle and what goes out of it.
//!
//! ```text
//! insert, move_to, remove ─┐
//!                          ├─► Presence ─► events: watcher, thing, entered or left
//! watch, unwatch ──────────┘      └─────► things(rect), watchers(cell)
//! ```
//!
//! The loop is the caller's: each tick it moves the things that moved, watches anew where a
//! rectangle changed, and drains [`Presence::events`]. Presence never thinks about distance: a
//! caller that wants a circle filters what the rectangle gives. It knows no entities, only numbers,
//! and is no part of a world's state: it is not in snapshots and not in checksums.
//!
//! # How
//!
//! The world is cut into blocks of 8 x 8 cells; only blocks with things or watchers are stored. A
//! block holds its things in one array, sorted by cell and then by id, so that a strip of cells is
//! one slice; and its watchers, each with the columns and rows that it watches of this block. A
//! thing that stays in its cell costs a comparison, and so does a rectangle that stays. A thing
//! that crosses costs by what stands between its two cells and by the watchers of one or two
//! blocks, sixteen at a time. A rectangle that moves costs by the cells that come and go and what
//! stands in them, not by what it keeps.
//!
//! This is interest management by square tiles, as in Boulanger, Kienzle and Verbrugge, "Comparing
//! interest management algorithms for massively multiplayer games", NetGames 2006,
//! doi:10.1145/1230040.1230069. That a cell knows its watchers as well as its things, so that who
//! crosses a border is told to those who see one side alone, is what servers call towers:
//! `tower_aoi.go` of <https://github.com/xiaonanln/go-aoi>. There each cell has a set of either;
//! here a block of cells has an array, for a rectangle that moves must not change seven sets.
//!
//! # Beside the world's own lists
//!
//! A [`World`](crate::World) does not keep its entities here. Its cells hold the entities
//! themselves, by id, shared with snapshots; that is already an index by cell, from which minds
//! see, light spreads and views draw. To keep numbers here as well would be a second list to update
//! for each that crosses a cell, to roll back with each restore, and would answer nothing that the
//! first does not. What both share is the arithmetic: [`Grid::cell_of`], [`Grid::block`] and
//! [`CellRect`] mean the same cells to rules, torchlight, interest and views.

mod block;
mod strip;

use alloc::vec::{Drain, Vec};
use core::mem::replace;

use crate::grid::{CellId, CellRect, Grid};
use crate::vec2::Vec2;
use block::{Blocks, Part};
use strip::outside;

/// A thing has come into a watched rectangle, or has gone out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PresenceEvent {
    /// Whose rectangle.
    pub watcher: u32,
    /// The thing that came or went.
    pub thing: u32,
    /// Whether it came.
    pub entered: bool,
}

/// Which thing is where, and which watcher watches where. See the [module](self).
///
/// Things and watchers are two kinds of numbers, chosen by the caller: small ones, because each
/// table is as long as its largest number. What is both has two numbers, which may be equal,
/// and sees itself.
///
/// # Order of events
///
/// By call. Within a call first what left, then what entered. One thing's events come by watcher;
/// one watcher's events row by row, cell by cell, by thing. What leaves and enters again between
/// two drains is told twice: nothing is merged. So the events follow from the calls alone, and
/// what is told to a watcher is always what [`things`](Presence::things) of its rectangle would
/// have changed by.
pub struct Presence {
    grid: Grid,
    blocks: Blocks,
    /// By thing.
    standing: Vec<Option<CellId>>,
    /// By watcher; empty for who does not watch.
    watched: Vec<CellRect>,
    events: Vec<PresenceEvent>,
}

impl Presence {
    /// Things and watchers are numbered from 0 to below this, each.
    pub const IDS: u32 = 1 << 22;

    /// Nobody is anywhere.
    ///
    /// A table of four bytes a block of 8 x 8 cells is taken from zeroed memory: 61 KiB for 1,000 x
    /// 1,000 cells, 256 MiB of address space for the largest world there can be, of which only the
    /// touched pages are ever used.
    pub fn new(grid: &Grid) -> Presence {
        Presence {
            grid: *grid,
            blocks: Blocks::new(grid),
            standing: Vec::new(),
            watched: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Puts a new thing at a place. Positions outside the world count as the nearest inside.
    ///
    /// False, and nothing happens, if the thing is somewhere already, or its number is not below
    /// [`IDS`](Presence::IDS).
    pub fn insert(&mut self, thing: u32, at: Vec2) -> bool {
        let to = self.grid.cell_of(at);
        match entry(&mut self.standing, thing, None) {
            Some(standing @ None) => *standing = Some(to),
            _ => return false,
        }
        self.blocks.insert(to, thing);
        self.tell_watchers(thing, None, Some(to));
        true
    }

    /// Moves a thing, any distance. Positions outside the world count as the nearest inside.
    ///
    /// False, and nothing happens, if there is no such thing.
    #[inline]
    pub fn move_to(&mut self, thing: u32, at: Vec2) -> bool {
        let to = self.grid.cell_of(at);
        let Some(Some(cell)) = self.standing.get_mut(thing as usize) else { return false };
        let from = replace(cell, to);
        if from != to {
            self.cross(thing, from, to);
        }
        true
    }

    /// Takes a thing away. False if there is no such thing.
    pub fn remove(&mut self, thing: u32) -> bool {
        let Some(from) = self.standing.get_mut(thing as usize).and_then(Option::take) else { return false };
        self.tell_watchers(thing, Some(from), None);
        self.blocks.remove(from, thing);
        true
    }

    /// Lets a watcher watch these cells from now on, and no others. What lies outside the world is
    /// cut off; a rectangle without cells is the same as [`unwatch`](Presence::unwatch).
    ///
    /// False, and nothing happens, if the watcher's number is not below [`IDS`](Presence::IDS).
    #[inline]
    pub fn watch(&mut self, watcher: u32, cells: CellRect) -> bool {
        let after = cells.intersection(self.grid.all());
        let Some(watched) = entry(&mut self.watched, watcher, CellRect::EMPTY) else { return false };
        let before = replace(watched, after);
        if before != after {
            self.shift(watcher, before, after);
        }
        true
    }

    /// Ends a watch: all that stands in the rectangle leaves it. False if the watcher
    /// watched nothing.
    pub fn unwatch(&mut self, watcher: u32) -> bool {
        self.watched(watcher).is_some() && self.watch(watcher, CellRect::EMPTY)
    }

    /// What has come and gone since the last drain, in [order](Presence#order-of-events). It is
    /// kept until it is drained.
    pub fn events(&mut self) -> Drain<'_, PresenceEvent> {
        self.events.drain(..)
    }

    /// The things in a rectangle, row by row, cell by cell, by number. Costs by the strips of eight
    /// cells and what stands in them.
    pub fn things(&self, cells: CellRect) -> impl Iterator<Item = u32> {
        let cells = cells.intersection(self.grid.all());
        let strips = strip::rows(cells).flat_map(strip::Strip::pieces);
        strips.flat_map(|piece| self.blocks.things(piece)).copied()
    }

    /// Whose rectangle holds a cell, by number. Costs by the watchers of the block around it.
    pub fn watchers(&self, cell: CellId) -> impl Iterator<Item = u32> {
        let inside = self.grid.contains(cell).then_some(cell);
        inside.into_iter().flat_map(|cell| self.blocks.watchers(cell, move |part| part.holds(Part::of(cell))))
    }

    /// Where a thing is.
    pub fn cell(&self, thing: u32) -> Option<CellId> {
        *self.standing.get(thing as usize)?
    }

    /// What a watcher watches.
    pub fn watched(&self, watcher: u32) -> Option<CellRect> {
        self.watched.get(watcher as usize).copied().filter(|&cells| cells != CellRect::EMPTY)
    }

    /// Apart from [`move_to`](Presence::move_to), which is short because few things cross a
    /// border in one tick.
    #[inline(never)]
    fn cross(&mut self, thing: u32, from: CellId, to: CellId) {
        self.blocks.relocate(thing, from, to);
        self.tell_watchers(thing, Some(from), Some(to));
    }

    /// Apart from [`watch`](Presence::watch), as `cross` is.
    #[inline(never)]
    fn shift(&mut self, watcher: u32, before: CellRect, after: CellRect) {
        self.blocks.watch(watcher, before, after);
        self.tell_watcher(watcher, before, after, false);
        self.tell_watcher(watcher, after, before, true);
    }

    /// A thing's cell has become another: tells those who watch one of both alone.
    fn tell_watchers(&mut self, thing: u32, from: Option<CellId>, to: Option<CellId>) {
        for (here, there, entered) in [(from, to, false), (to, from, true)] {
            let Some(here) = here else { continue };
            let tell = |watcher| self.events.push(PresenceEvent { watcher, thing, entered });
            let (cell, watched) = (Part::of(here), &self.watched);
            match there {
                Some(there) if block::same(here, there) => {
                    let other = Part::of(there);
                    self.blocks.watchers(here, |part| part.holds(cell) & !part.holds(other)).for_each(tell);
                }
                _ => {
                    let sees = |watcher, there| watched[watcher as usize].contains(there);
                    let watching = self.blocks.watchers(here, |part| part.holds(cell));
                    watching.filter(|&watcher| !there.is_some_and(|there| sees(watcher, there))).for_each(tell);
                }
            }
        }
    }

    /// Tells a watcher of what stands in the cells of `these` that are not among `those`.
    fn tell_watcher(&mut self, watcher: u32, these: CellRect, those: CellRect, entered: bool) {
        let (blocks, events) = (&self.blocks, &mut self.events);
        outside(these, those, |strip| {
            for piece in strip.pieces() {
                events.extend(blocks.things(piece).iter().map(|&thing| PresenceEvent { watcher, thing, entered }));
            }
        });
    }
}

/// The place of a number in a table, which grows as needed.
fn entry<T: Clone>(table: &mut Vec<T>, id: u32, blank: T) -> Option<&mut T> {
    if id >= Presence::IDS {
        return None;
    }
    if table.len() <= id as usize {
        table.resize(id as usize + 1, blank);
    }
    table.get_mut(id as usize)
}
