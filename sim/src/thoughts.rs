//! What minds decided, on its way from thinking to taking effect, and the memory that it is kept
//! in.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::entity::Entity;
use crate::ids::EntityId;
use crate::journal::Recorder;
use crate::near::Place;
use crate::rules::Rules;
use crate::store::Cell;
use crate::world::Request;

/// An effect on its way.
pub(crate) struct Aimed<E> {
    /// Target, source, and which of the source's effects: the order in which effects are applied.
    pub key: (EntityId, EntityId, u32),
    pub at: Place,
    pub effect: E,
}

/// What minds decided, beside the actors' own next selves.
pub(crate) struct Decisions<R: Rules> {
    pub effects: Vec<Aimed<R::Effect>>,
    /// Entities that are to be put into the cell of their position.
    pub arrivals: Vec<Entity<R::Body>>,
    /// Entities that are to be taken out of their list, and whether they arrive elsewhere.
    pub leavings: Vec<(Place, Leaving)>,
    pub requests: Vec<(EntityId, Request<R::Fact>)>,
}

impl<R: Rules> Default for Decisions<R> {
    fn default() -> Self {
        Decisions { effects: Vec::new(), arrivals: Vec::new(), leavings: Vec::new(), requests: Vec::new() }
    }
}

impl<R: Rules> Decisions<R> {
    /// Takes over what another one holds.
    pub fn absorb(&mut self, other: &mut Self) {
        fn take<T>(mine: &mut Vec<T>, theirs: &mut Vec<T>) {
            if mine.is_empty() {
                core::mem::swap(mine, theirs);
            } else {
                mine.append(theirs);
            }
        }
        take(&mut self.effects, &mut other.effects);
        take(&mut self.arrivals, &mut other.arrivals);
        take(&mut self.leavings, &mut other.leavings);
        take(&mut self.requests, &mut other.requests);
    }
}

/// What becomes of an entity that is taken out of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Leaving {
    Gone,
    Moves,
}

/// Spare cells kept for each stored one: a rollback of eight ticks gives back so many, and
/// takes them again.
const SPARE_PER_CELL: usize = 8;

/// What the actors of some cells decided in a tick: filled by
/// [`Thinking::think`](crate::world::Thinking::think), given back to the step that asked. Its
/// memory is used again.
pub struct Thoughts<R: Rules> {
    /// The slot of each cell in which somebody moved or changed, and its content after.
    pub(crate) cells: Vec<(usize, Arc<Cell<R::Body>>)>,
    pub(crate) decisions: Decisions<R>,
    pub(crate) scratch: R::Scratch,
    /// The notes of what is thought, if the step is noted.
    pub(crate) notes: Option<Box<Recorder>>,
    /// Cells that nobody holds any more.
    spare: Vec<Arc<Cell<R::Body>>>,
    no_props: Arc<Vec<Entity<R::Body>>>,
}

impl<R: Rules> Default for Thoughts<R> {
    fn default() -> Self {
        Thoughts {
            cells: Vec::new(),
            decisions: Decisions::default(),
            scratch: R::Scratch::default(),
            notes: None,
            spare: Vec::new(),
            no_props: Arc::default(),
        }
    }
}

impl<R: Rules> Thoughts<R> {
    /// An empty cell that nobody else holds.
    pub(crate) fn blank(&mut self) -> Arc<Cell<R::Body>> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes back what was [`blank`](Thoughts::blank), and is again.
    pub(crate) fn return_blank(&mut self, cell: Arc<Cell<R::Body>>) {
        self.spare.push(cell);
    }

    /// Keeps a cell's memory for later if nobody else holds it.
    pub(crate) fn recycle(&mut self, mut cell: Arc<Cell<R::Body>>) {
        if let Some(content) = Arc::get_mut(&mut cell) {
            content.actors.clear();
            content.props = self.no_props.clone();
            self.return_blank(cell);
        }
    }

    /// Lets go of spare cells that a world of so many cells will not need again.
    pub(crate) fn trim(&mut self, cells: usize) {
        self.spare.truncate(cells * SPARE_PER_CELL);
    }
}

/// The first of the thoughts, of which there may be none yet.
pub(crate) fn one_of<R: Rules>(thoughts: &mut Vec<Thoughts<R>>) -> &mut Thoughts<R> {
    if thoughts.is_empty() {
        thoughts.push(Thoughts::default());
    }
    &mut thoughts[0]
}
