//! Torchlight: which cells are awake.
//!
//! A hero's own cell has the full light. Each tick light spreads by one cell and fades by one level, so a cell is lit while a
//! hero is, or lately was, fewer than `light` cells away. What is first lit is generated from the seed.

use alloc::vec::Vec;

use super::{State, World};
use crate::dice::mix64;
use crate::entity::Entity;
use crate::grid::CellId;
use crate::ids::{EntityId, Tick};
use crate::journal::{Doer, Notes};
use crate::rules::Rules;
use crate::store::{Cell, Meta};

impl<R: Rules> World<R> {
    /// The light of the next tick, from that of this one and the heroes' new places. Tells which cells the tick has touched.
    pub(super) fn spread_light(&mut self, notes: Notes<'_>) {
        let mut after = core::mem::take(&mut self.light_after);
        let State { grid, store, .. } = &self.state;
        after.clear();
        after.resize(store.meta.len(), 0);
        let mut dark = Vec::new();
        for Meta { id, light, .. } in store.meta.iter().filter(|meta| meta.light > 1) {
            store.slots(grid, grid.block(*id, 1)).for_each(|(near, slot)| match slot {
                Some(slot) => after[slot] = after[slot].max(light - 1),
                None => dark.push((near, light - 1)),
            });
        }
        for (cell, light) in dark {
            if self.area.is_core(cell) {
                let slot = self.slot(cell).unwrap_or_else(|| self.generate(cell, notes));
                after.resize(self.state.store.meta.len(), 0);
                after[slot] = after[slot].max(light);
            }
        }
        let State { grid, store, heroes, .. } = &mut self.state;
        for &(_, cell) in heroes.iter() {
            after[store.slot(grid, cell).expect("a hero's cell is stored")] = grid.config().light;
        }
        self.touched.clear();
        for (meta, &light) in store.meta.iter_mut().zip(&after) {
            if self.area.is_core(meta.id) {
                notes.take(|notes| notes.lights(meta.id, meta.light, light));
                meta.set_light(light);
                self.touched.extend(meta.tell().then_some(meta.id));
            }
        }
        self.light_after = after;
    }

    /// Stores a cell that is first lit.
    pub(super) fn generate(&mut self, cell: CellId, notes: Notes<'_>) -> usize {
        notes.take(|notes| notes.begin(Doer::Cell(cell)));
        let content = self.content_of(cell, notes);
        notes.take(|notes| notes.generates(content.actors.iter().chain(&*content.props)));
        self.state.store.add(&self.state.grid, cell, content)
    }

    /// What a cell holds before anyone has been there.
    pub(super) fn content_of(&self, cell: CellId, notes: Notes<'_>) -> Cell<R::Body> {
        let grid = &self.state.grid;
        let stream = mix64(grid.index(cell) as u64 ^ Self::GENERATE);
        // Always as of tick 0: what a cell holds does not depend on when it is first lit.
        let mut dice = self.state.dice_of(stream, Tick(0), notes);
        let mut found = Vec::new();
        self.state.rules.generate(cell, &mut dice, &mut found);
        let mut content = Cell::default();
        for (n, (pos, body)) in found.into_iter().enumerate() {
            if grid.cell_of(pos) == cell && grid.clamp(pos) == pos {
                let id = EntityId::spawned(stream, Tick(0), n as u32);
                content.insert(Entity { id, pos, player: None, body });
            }
        }
        content
    }

    /// Keeps the streams of cells apart from those of entities.
    const GENERATE: u64 = 0x6365_6c6c << 32;
}
