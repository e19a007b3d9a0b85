//! Torchlight: which cells are awake.
//!
//! A hero's own cell has the full light. Each tick light spreads by one cell and fades by one level, so a cell is lit while a
//! hero is, or lately was, fewer than `light` cells away. What is first lit is generated from the seed.

use alloc::vec::Vec;

use super::World;
use crate::dice::mix64;
use crate::entity::Entity;
use crate::grid::CellId;
use crate::ids::{EntityId, Tick};
use crate::rules::Rules;
use crate::store::Cell;

impl<R: Rules> World<R> {
    /// The light of the next tick, from that of this one and the heroes' new places.
    pub(super) fn spread_light(&mut self) {
        let mut after = self.faded();
        for n in 0..self.state.heroes.len() {
            let cell = self.state.heroes[n].1;
            if self.area.is_core(cell) {
                let slot = self.slot(cell).expect("a hero's cell is stored");
                after[slot] = self.state.grid.config().light;
            }
        }
        for (slot, light) in after.into_iter().enumerate() {
            if self.area.is_core(self.state.store.meta[slot].id) {
                self.state.store.meta[slot].set_light(light);
            }
        }
    }

    /// Each stored cell's light after spreading and fading; generates the cells that are lit for the first time.
    fn faded(&mut self) -> Vec<u8> {
        let before = self.state.store.meta.len();
        let mut after = alloc::vec![0; before];
        for slot in 0..before {
            let (light, cell) = (self.state.store.meta[slot].light, self.state.store.meta[slot].id);
            if light <= 1 {
                continue;
            }
            for near in self.state.grid.block(cell, 1).iter() {
                if !self.area.is_core(near) {
                    continue;
                }
                let slot = self.slot(near).unwrap_or_else(|| self.generate(near));
                after.resize(self.state.store.meta.len(), 0);
                after[slot] = after[slot].max(light - 1);
            }
        }
        after
    }

    /// Stores a cell with what it holds before anyone has been there.
    pub(super) fn generate(&mut self, cell: CellId) -> usize {
        let grid = &self.state.grid;
        let stream = mix64(grid.index(cell) as u64 ^ Self::GENERATE);
        // Always as of tick 0: what a cell holds does not depend on when it is first lit.
        let mut dice = self.state.table.dice(mix64(self.state.seed ^ stream), Tick(0));
        let mut found = Vec::new();
        self.state.rules.generate(cell, &mut dice, &mut found);
        let mut content = Cell::default();
        for (n, (pos, body)) in found.into_iter().enumerate() {
            if grid.cell_of(pos) == cell && grid.clamp(pos) == pos {
                let id = EntityId::spawned(stream, Tick(0), n as u32);
                content.insert(Entity { id, pos, player: None, body });
            }
        }
        self.state.store.add(&self.state.grid, cell, content)
    }

    /// Keeps the streams of cells apart from those of entities.
    const GENERATE: u64 = 0x6365_6c6c << 32;
}
