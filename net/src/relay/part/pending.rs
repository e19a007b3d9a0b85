//! Cells that are loading: their states, and what changed in them since, until a frame puts them
//! in.
//!
//! Frames are played later than they come, and loads come when they come. A change may so be played
//! before the load is there that it belongs to; the area that needs both never is.

use std::collections::BTreeMap;

use lockstone_sim::world::{CellState, Given};
use lockstone_sim::{CellId, Rules, Tick, World};

use crate::limits::*;
use crate::transfer::{Receiver, TransferError};
use crate::wire::{CellBytes, Load, LoadedCells};

/// What a cell or a change takes beside its bytes, about.
const CELL_WEIGHT: usize = 96;

#[derive(Default)]
pub(super) struct Pending {
    /// The load that comes in.
    coming: Option<(u32, Tick, Receiver)>,
    /// What has come in. The next loads may be here before the frame is played that
    /// puts in the first.
    loaded: BTreeMap<u32, Loaded>,
    /// What changed in cells that are not known, by the tick of the frame.
    changes: BTreeMap<CellId, Vec<(Tick, Change)>>,
    /// What all that takes.
    bytes: usize,
}

struct Loaded {
    tick: Tick,
    /// What it takes.
    bytes: usize,
    /// What changed in each since it was pristine; `None` if it was never lit.
    cells: BTreeMap<CellId, Option<CellBytes>>,
}

/// What a frame told of a cell.
pub(super) enum Change {
    Whole(CellBytes),
    Since(CellBytes),
}

impl Pending {
    /// A load begins to come in. Returns how many bytes of it have arrived.
    pub fn begin(&mut self, load: Load) -> Result<u32, TransferError> {
        let mut receiver = Receiver::new(load.bytes, load.digest);
        let received = receiver.take(&load.first)?;
        self.coming = Some((load.number, load.tick, receiver));
        self.finish()?;
        Ok(received)
    }

    /// The next piece. Returns how many bytes have arrived; `None` if no load comes in.
    pub fn chunk(&mut self, chunk: &[u8]) -> Result<Option<u32>, TransferError> {
        let Some((_, _, receiver)) = &mut self.coming else { return Ok(None) };
        let received = receiver.take(chunk)?;
        self.finish()?;
        Ok(Some(received))
    }

    fn finish(&mut self) -> Result<(), TransferError> {
        let Some((number, tick, receiver)) = &mut self.coming else { return Ok(()) };
        let Some(bytes) = receiver.finish()? else { return Ok(()) };
        let loaded = LoadedCells::read(&bytes).map_err(|_| TransferError::Digest)?;
        let mut cells: BTreeMap<_, _> = loaded.cells().map(|cell| (cell, None)).collect();
        cells.extend(loaded.lit.into_vec().into_iter().map(|(cell, change)| (cell, Some(change))));
        let loaded = Loaded { tick: *tick, bytes: bytes.len() + cells.len() * CELL_WEIGHT, cells };
        self.bytes += loaded.bytes;
        self.loaded.insert(*number, loaded);
        self.coming = None;
        if self.bytes > PENDING_BYTES_MAX { Err(TransferError::Length) } else { Ok(()) }
    }

    /// Keeps what a frame tells of a cell that is not known. Returns whether there was room.
    pub fn keep(&mut self, tick: Tick, cell: CellId, change: Change) -> bool {
        let (Change::Whole(bytes) | Change::Since(bytes)) = &change;
        self.bytes += bytes.len() + CELL_WEIGHT;
        self.changes.entry(cell).or_default().push((tick, change));
        self.bytes <= PENDING_BYTES_MAX
    }

    /// The cells of a load as they are at the end of the turn of a tick, to be given in it; `None`
    /// if it is not there, or does not hold together. All that is pending is done with.
    pub fn put_in<R: Rules>(&mut self, number: u32, world: &World<R>) -> Option<Vec<Given>> {
        let loaded = self.loaded.remove(&number)?;
        self.loaded.retain(|later, _| *later > number);
        let mut changes = core::mem::take(&mut self.changes);
        self.bytes = self.loaded.values().map(|later| later.bytes).sum();
        let given = |(cell, change)| {
            let since = changes.remove(&cell).into_iter().flatten().filter(|(tick, _)| *tick >= loaded.tick);
            brought_forward(world, cell, change, since.map(|(_, change)| change))
        };
        loaded.cells.into_iter().map(given).collect()
    }
}

/// A cell's state as it was loaded, with all that changed since.
fn brought_forward<R: Rules>(
    world: &World<R>,
    cell: CellId,
    loaded: Option<CellBytes>,
    since: impl Iterator<Item = Change>,
) -> Option<Given> {
    let mut since = since.peekable();
    if since.peek().is_none() {
        return Some(loaded.map_or(Given::Pristine(cell), |change| Given::Change(cell, change.to_vec())));
    }
    let grid = world.grid();
    let mut state = world.pristine(cell)?;
    for change in loaded.map(Change::Since).into_iter().chain(since) {
        let next = match change {
            Change::Whole(bytes) => CellState::decode(&bytes, cell, grid),
            Change::Since(bytes) => state.changed(&bytes, cell, grid),
        };
        state = next.ok()?;
    }
    Some(Given::Cell(cell, state.encode()))
}
