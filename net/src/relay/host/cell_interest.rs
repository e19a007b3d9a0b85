//! Who needs which cell: the replicas that know it, by their rectangles, and of those the ones that
//! are given it, in a list for each cell.
//!
//! The state that the latter have of a cell is kept, so that what changed is encoded once for all
//! of them. Nothing here is ever visited that did not change or has no watcher.

use lockstone_sim::world::CellState;
use lockstone_sim::{CellId, Grid, PlayerId, Presence, Rules, World};

use super::cell_map::CellMap;
use crate::session::Slot;
use crate::wire::{CellBytes, RawGiven};

pub(super) struct CellInterest<R: Rules> {
    /// Heroes stand in it, and replicas watch what they know: who watches a cell knows it.
    pub presence: Presence,
    /// The heroes that stand there.
    heroes: Vec<PlayerId>,
    given: CellMap<GivenCell<R>>,
    /// How many actors are lit where anyone is given what changes.
    actors: usize,
}

struct GivenCell<R: Rules> {
    /// As those to whom it is given know it; `None` if it was never lit.
    state: Option<CellState<R>>,
    to: Vec<Slot>,
    /// How many actors it has that are lit.
    actors: usize,
}

impl<R: Rules> CellInterest<R> {
    pub fn new(grid: &Grid) -> Self {
        CellInterest { presence: Presence::new(grid), heroes: Vec::new(), given: CellMap::new(grid), actors: 0 }
    }

    /// From now on a replica is given what changes in a cell, that it knows as it is in the world
    /// now.
    pub fn give(&mut self, cell: CellId, to: Slot, world: &World<R>) {
        let given = self.given.get_or_insert_with(cell, || {
            let actors = lit_actors(cell, world);
            self.actors += actors;
            GivenCell { state: world.cell_state(cell), to: Vec::new(), actors }
        });
        if !given.to.contains(&to) {
            given.to.push(to);
        }
    }

    /// A replica is no longer given a cell.
    pub fn withhold(&mut self, cell: CellId, from: Slot) {
        let Some(given) = self.given.get_mut(cell) else { return };
        given.to.retain(|slot| *slot != from);
        if given.to.is_empty() {
            self.actors -= given.actors;
            self.given.remove(cell);
        }
    }

    /// How many actors are lit where anyone is given what changes.
    pub fn actors(&self) -> usize {
        self.actors
    }

    /// What changed in a cell that the last step touched, and who is to be told; `None` if nothing
    /// did, or nobody is.
    pub fn change(&mut self, cell: CellId, world: &World<R>) -> Option<(RawGiven, &[Slot])> {
        let given = self.given.get_mut(cell)?;
        self.actors -= core::mem::replace(&mut given.actors, lit_actors(cell, world));
        self.actors += given.actors;
        let now = world.cell_state(cell)?;
        let change = match &given.state {
            Some(before) => now.change_since(before)?,
            None => world.change_since_pristine(cell)?,
        };
        given.state = Some(now);
        Some((RawGiven::Change(cell, CellBytes::new(change)), &given.to))
    }

    /// Where a player's hero was after the last tick; `None` if it was not in the world.
    pub fn hero(&self, player: PlayerId) -> Option<CellId> {
        self.presence.cell(player.0.into())
    }

    /// Follows the heroes of the world after a tick.
    pub fn update_heroes(&mut self, world: &World<R>) {
        let CellInterest { presence, heroes, .. } = self;
        let mut present = 0;
        for (player, cell) in world.hero_cells() {
            let at = world.grid().corner(cell);
            present += 1;
            if !presence.move_to(player.0.into(), at) && presence.insert(player.0.into(), at) {
                heroes.push(player);
            }
        }
        if heroes.len() > present {
            heroes.retain(|player| world.hero(*player).is_some() || !presence.remove(player.0.into()));
        }
    }
}

fn lit_actors<R: Rules>(cell: CellId, world: &World<R>) -> usize {
    if world.light(cell) > 0 { world.actors(cell).len() } else { 0 }
}
