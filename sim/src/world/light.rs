//! Torchlight: which cells are awake.
//!
//! A hero's own cell has the full light. Each tick light spreads by one cell and fades by one
//! level, so a cell is lit while a hero is, or lately was, fewer than `light` cells away. What is
//! first lit is generated from the seed.
//!
//! A cell that goes dark is hashed and packed, and costs no further tick anything.

use alloc::vec::Vec;

use super::{Area, State, World};
use crate::dice::mix64;
use crate::entity::Entity;
use crate::grid::CellId;
use crate::ids::{EntityId, PlayerId, Tick};
use crate::journal::{Doer, Notes};
use crate::rules::Rules;
use crate::store::{Cell, Changed, Meta};

/// What becomes of the light in a tick: working memory.
#[derive(Default)]
pub(super) struct Dusk {
    /// The light after the tick, by slot. All 0 between ticks.
    after: Vec<u8>,
    /// The slots of dark cells that are lit now.
    waking: Vec<usize>,
    /// What the light was spread from last: the light before, as the store
    /// [counts](crate::store::Store::relit) it, and the area.
    from: Option<(u64, Area)>,
    /// Where the heroes were then.
    heroes: Vec<(PlayerId, CellId)>,
}

impl Dusk {
    /// Makes room for so many cells.
    fn fit(&mut self, stored: usize) {
        if self.after.len() < stored {
            self.after.resize(stored, 0);
        }
    }

    /// Lets a stored cell have at least so much light. The first `lit` slots have some already.
    fn raise(&mut self, slot: usize, light: u8, lit: usize) {
        let after = &mut self.after[slot];
        if *after < light {
            if *after == 0 && slot >= lit {
                self.waking.push(slot);
            }
            *after = light;
        }
    }
}

impl<R: Rules> World<R> {
    /// The light of the next tick, from that of this one and the heroes' new places. Tells which
    /// cells the tick has touched.
    pub(super) fn spread_light(&mut self, notes: Notes<'_>) {
        self.touched.clear();
        if self.is_settled() {
            let store = &mut self.state.store;
            let lit = store.lit();
            let core = store.meta[..lit].iter_mut().filter(|meta| self.area.is_core(meta.id));
            self.touched.extend(core.filter_map(|meta| meta.tell().then_some(meta.id)));
        } else {
            self.spread(notes);
        }
        self.tell_dark();
    }

    /// Whether all that the light follows from is as it was a tick ago, so that the light stays
    /// what it is. That is so in most ticks, and to spread light takes as long as a few minds. If
    /// something is not, it is remembered for the next tick.
    fn is_settled(&mut self) -> bool {
        let (from, heroes) = (Some((self.state.store.relit(), self.area)), &self.state.heroes);
        let is_settled = self.dusk.from == from && self.dusk.heroes == *heroes;
        if !is_settled {
            self.dusk.from = from;
            self.dusk.heroes.clone_from(heroes);
        }
        is_settled
    }

    /// Lets light spread and fade, and tells which lit cells the tick has touched.
    fn spread(&mut self, notes: Notes<'_>) {
        let mut dusk = core::mem::take(&mut self.dusk);
        let State { grid, store, .. } = &self.state;
        let lit = store.lit();
        dusk.fit(store.meta.len());
        let mut pristine = Vec::new();
        for Meta { id, light, .. } in store.meta[..lit].iter().filter(|meta| meta.light > 1) {
            store.slots(grid, grid.block(*id, 1)).for_each(|(near, slot)| match slot {
                Some(slot) => dusk.raise(slot, light - 1, lit),
                None => pristine.push((near, light - 1)),
            });
        }
        for (cell, light) in pristine {
            if self.area.is_core(cell) {
                let slot = self.slot(cell).unwrap_or_else(|| self.generate(cell, notes));
                dusk.fit(self.state.store.meta.len());
                dusk.raise(slot, light, lit);
            }
        }
        let State { grid, store, heroes, .. } = &self.state;
        for &(_, cell) in heroes {
            dusk.raise(store.slot(grid, cell).expect("a hero's cell is stored"), grid.config().light, lit);
        }
        // In this order nothing that is still to come changes its slot.
        dusk.waking.sort();
        for slot in (0..lit).rev().chain(dusk.waking.drain(..)) {
            self.set_light(slot, core::mem::take(&mut dusk.after[slot]), notes);
        }
        self.dusk = dusk;
    }

    fn set_light(&mut self, slot: usize, light: u8, notes: Notes<'_>) {
        let State { grid, store, .. } = &mut self.state;
        let meta = &store.meta[slot];
        if !self.area.is_core(meta.id) {
            return;
        }
        notes.take(|notes| notes.lights(meta.id, meta.light, light));
        let meta = store.set_light(slot, light);
        self.touched.extend(meta.tell().then_some(meta.id));
        if light == 0 {
            store.renew(slot, &mut self.encoder);
            Cell::pack(&mut store.cells[slot]);
        }
        store.sort_in(grid, slot);
    }

    /// Tells which cells the tick has touched that were dark and stay so.
    fn tell_dark(&mut self) {
        let State { grid, store, .. } = &mut self.state;
        let mut cells = store.take_stale_dark();
        cells.sort();
        cells.dedup();
        cells.retain(|&cell| {
            let Some(slot) = store.slot(grid, cell).filter(|&slot| slot >= store.lit()) else { return false };
            if self.area.is_core(cell) {
                self.touched.extend(store.meta[slot].tell().then_some(cell));
                store.renew(slot, &mut self.encoder);
            }
            store.meta[slot].changed != Changed::No
        });
        store.keep_stale_dark(cells);
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
