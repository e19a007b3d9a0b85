//! The exact state of one cell: how it gets out of one world and into another.

use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use super::{World, change};
use crate::codec::{self, CodecError};
use crate::entity::{Body, Entity};
use crate::grid::{CellId, Grid};
use crate::journal::Notes;
use crate::rules::Rules;
use crate::store::{Cell, List};

/// The exact state of one cell, shared with the world it comes from.
pub struct CellState<R: Rules> {
    pub(super) content: Arc<Cell<R::Body>>,
    pub(super) light: u8,
}

impl<R: Rules> Clone for CellState<R> {
    fn clone(&self) -> Self {
        CellState { content: self.content.clone(), light: self.light }
    }
}

impl<R: Rules> PartialEq for CellState<R>
where
    R::Body: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        let lists = |list: List| self.content.list(list) == other.content.list(list);
        self.light == other.light
            && (Arc::ptr_eq(&self.content, &other.content) || lists(List::Actors) && lists(List::Props))
    }
}

/// A serialised cell.
#[derive(Serialize, Deserialize)]
#[serde(bound = "B: Body")]
pub(super) struct Written<B> {
    pub light: u8,
    /// Actors and props, each by id.
    pub entities: Vec<Entity<B>>,
}

impl<B: Body> Written<B> {
    pub fn of(content: &Cell<B>, light: u8) -> Written<B> {
        Written { light, entities: content.actors.iter().chain(&*content.props).cloned().collect() }
    }

    /// The content, checked for what a damaged or hostile cell could break: a world
    /// trusts its cells.
    pub fn into_cell(self, cell: CellId, grid: &Grid) -> Result<Cell<B>, CodecError> {
        let (mut actors, mut props): (Vec<_>, Vec<_>) = self.entities.into_iter().partition(Entity::is_actor);
        actors.shrink_to_fit();
        props.shrink_to_fit();
        let content = Cell { actors, props: Arc::new(props) };
        check(&content, self.light, cell, grid)?;
        Ok(content)
    }
}

/// Whether a world can hold this cell.
pub(super) fn check<B: Body>(content: &Cell<B>, light: u8, cell: CellId, grid: &Grid) -> Result<(), CodecError> {
    if !grid.contains(cell) || light > grid.config().light {
        return Err(CodecError::Malformed("a cell that the world does not have"));
    }
    for list in [List::Actors, List::Props] {
        let entities = content.list(list);
        if !entities.iter().all(|e| grid.clamp(e.pos) == e.pos && grid.cell_of(e.pos) == cell) {
            return Err(CodecError::Malformed("an entity outside its cell"));
        }
        if !entities.iter().all(|e| e.id.is_hero() == e.player.is_some()) {
            return Err(CodecError::Malformed("an id that does not fit its entity"));
        }
        if !entities.iter().all(|e| e.is_actor() == (list == List::Actors)) {
            return Err(CodecError::Malformed("an entity in the wrong list"));
        }
        if !entities.is_sorted_by(|a, b| a.id < b.id) {
            return Err(CodecError::Malformed("entities out of order"));
        }
    }
    Ok(())
}

impl<R: Rules> CellState<R> {
    /// The longest encoding of a cell, or of a change, that is read.
    pub const BYTES_MAX: usize = codec::DECODED_BYTES_MAX;

    /// The torchlight.
    pub fn light(&self) -> u8 {
        self.light
    }

    /// Serialises the whole state.
    pub fn encode(&self) -> Vec<u8> {
        codec::compact(&Written::of(&self.content, self.light))
    }

    /// Reads what [`encode`](CellState::encode) wrote of a cell.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are no state that this cell can have; they may come from a peer.
    pub fn decode(bytes: &[u8], cell: CellId, grid: &Grid) -> Result<CellState<R>, CodecError> {
        let written: Written<R::Body> = codec::read(bytes, Self::BYTES_MAX)?;
        let light = written.light;
        Ok(CellState { content: Arc::new(written.into_cell(cell, grid)?), light })
    }

    /// What has changed since an earlier state of the same cell, for
    /// [`changed`](CellState::changed); `None` if nothing has.
    pub fn change_since(&self, before: &CellState<R>) -> Option<Vec<u8>> {
        let change = change::write((&before.content, before.light), (&self.content, self.light));
        (!change::is_none(&change)).then_some(change)
    }

    /// The later state of the cell that [`change_since`](CellState::change_since) told of.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes do not fit this state, or lead to none that the cell can
    /// have. That they fit does not prove that they were written of this very state: the
    /// checksums of cores do.
    pub fn changed(&self, bytes: &[u8], cell: CellId, grid: &Grid) -> Result<CellState<R>, CodecError> {
        if bytes.len() > Self::BYTES_MAX {
            return Err(CodecError::TooLong { len: bytes.len(), max: Self::BYTES_MAX });
        }
        let (content, light) = change::read((&self.content, self.light), bytes)?;
        check(&content, light, cell, grid)?;
        Ok(CellState { content: Arc::new(content), light })
    }
}

impl<R: Rules> World<R> {
    /// The state of a cell; `None` if it was never lit.
    pub fn cell_state(&self, cell: CellId) -> Option<CellState<R>> {
        let slot = self.slot(cell)?;
        Some(CellState { content: self.state.store.cells[slot].clone(), light: self.state.store.meta[slot].light })
    }

    /// What a cell holds before it is lit, generated anew; `None` if the world does not have it.
    pub fn pristine(&self, cell: CellId) -> Option<CellState<R>> {
        let contained = self.state.grid.contains(cell);
        contained.then(|| CellState { content: Arc::new(self.content_of(cell, Notes::NONE)), light: 0 })
    }

    /// What has changed in a cell since it was [`pristine`](World::pristine), as
    /// [`Given::Change`](super::Given::Change) tells it; `None` if it was never lit.
    pub fn change_since_pristine(&self, cell: CellId) -> Option<Vec<u8>> {
        let (now, pristine) = (self.cell_state(cell)?, self.pristine(cell)?);
        Some(change::write((&pristine.content, pristine.light), (&now.content, now.light)))
    }

    /// Sets the state of a cell, `None` for one that was never lit. A cell that the area does not
    /// have is passed over.
    pub(super) fn put_cell(&mut self, cell: CellId, state: Option<&CellState<R>>) {
        if !self.state.grid.contains(cell) || !self.area.has(cell) {
            return;
        }
        match (self.slot(cell), state) {
            (None, None) => {}
            (Some(slot), None) => self.state.store.remove(&self.state.grid, slot),
            (slot, Some(CellState { content, light })) => {
                let slot = slot.unwrap_or_else(|| self.state.store.add(&self.state.grid, cell, Cell::default()));
                self.state.store.exchange(&self.state.grid, slot, content.clone(), *light);
            }
        }
    }
}
