//! The world: sparse cells of entities, stepped by turns.
//!
//! ```text
//! World::step:  turn enters ─► every actor thinks ─► effects ─► moves ─► torchlight
//!                 └─► what a part is given          (step.rs is the loop)
//! ```
//!
//! A world must never depend on anything but its rules, its table, its seed and its turns. In
//! particular not on the order in which cells are stored or stepped, on snapshots taken, or on how
//! much of the whole is simulated.

mod area;
mod bit;
mod cell;
mod change;
mod checksum;
mod given;
mod light;
mod noted;
mod parts;
mod snapshot;
mod step;
#[cfg(feature = "tamper")]
pub mod tamper;

pub use area::{Area, Extent, Part, Zone};
pub use bit::{StateBit, StatePart};
pub use cell::CellState;
pub use given::Given;
pub use snapshot::Snapshot;
pub use step::Thinking;

pub(crate) use checksum::{entity_checksum, entity_sum};

pub use crate::thoughts::Thoughts;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::type_name;
use light::Dusk;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::codec::{self, CodecError, Fixed};
use crate::dice::{Dice, mix64};
use crate::entity::Entity;
use crate::grid::{CellId, Grid};
use crate::ids::{Checksum, EntityId, PlayerId, Tick};
use crate::journal::Notes;
use crate::near::Spots;
use crate::rules::Rules;
use crate::simulation::{Simulation, Turn};
use crate::store::Store;
use crate::table::Table;
use crate::vec2::Vec2;

/// A world of some game's rules.
pub struct World<R: Rules> {
    state: State<R>,
    area: Area,
    requests: Vec<Request<R::Fact>>,
    touched: Vec<CellId>,
    transferred: Vec<Option<(CellId, CellId)>>,
    /// Memory that is used again in every step. Of thoughts there are one or none: in a list they
    /// are handed over and back without being moved.
    thoughts: Vec<Thoughts<R>>,
    slots: Vec<usize>,
    spots: Spots,
    dusk: Dusk,
    encoder: Fixed,
    retired: Vec<Snapshot<R>>,
}

/// What minds may see: everything but working memory.
pub(crate) struct State<R: Rules> {
    pub rules: Arc<R>,
    pub table: Table,
    pub seed: u64,
    pub grid: Grid,
    pub tick: Tick,
    pub facts: Arc<R::Facts>,
    /// Which cell each player's hero is in, by player. Derived from the cells.
    pub heroes: Vec<(PlayerId, CellId)>,
    pub store: Store<R::Body>,
}

/// What reaches too far for one tick, and so enters through a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request<F> {
    /// A fact for everyone.
    Announce(F),
    /// An entity leaves here and enters there. Void if it is no longer in the cell it asked from.
    Transfer {
        /// Which one.
        entity: EntityId,
        /// The cell it asked from. A hero is found wherever it is.
        from: CellId,
        /// Where it enters.
        to: Vec2,
    },
}

/// A player's hero, and the place where it enters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join<H> {
    /// The entrance.
    pub at: Vec2,
    /// Who enters.
    pub hero: H,
}

impl<R: Rules> World<R> {
    /// A whole world before its first tick: nothing is lit, nobody is there.
    ///
    /// # Panics
    /// If the rules' bodies or facts hold a float, a map, a set or a `usize`: see
    /// [`unfit`](crate::codec::unfit).
    pub fn new(rules: Arc<R>, grid: Grid, table: Table, seed: u64) -> World<R> {
        refuse_unfit::<R::Body>();
        refuse_unfit::<R::Facts>();
        let store = Store::new(&grid);
        let (tick, facts) = (Tick(0), Arc::default());
        World {
            state: State { rules, table, seed: mix64(seed), grid, tick, facts, heroes: Vec::new(), store },
            area: Area::Whole,
            requests: Vec::new(),
            touched: Vec::new(),
            transferred: Vec::new(),
            thoughts: Vec::new(),
            slots: Vec::new(),
            spots: Spots::default(),
            dusk: Dusk::default(),
            encoder: Fixed::default(),
            retired: Vec::new(),
        }
    }

    /// The game's side.
    pub fn rules(&self) -> &R {
        &self.state.rules
    }

    /// A digest of the seed and the table, which no snapshot holds and no checksum covers.
    pub fn start_digest(&self) -> u64 {
        let table = self.state.table.digest();
        mix64(self.state.seed ^ mix64(table as u64 ^ mix64((table >> 64) as u64)))
    }

    /// The measures.
    pub fn grid(&self) -> &Grid {
        &self.state.grid
    }

    /// What everyone knows.
    pub fn facts(&self) -> &R::Facts {
        &self.state.facts
    }

    /// A player's hero, if it is in the simulated part of the world.
    pub fn hero(&self, player: PlayerId) -> Option<&Entity<R::Body>> {
        let cell = self.state.hero_cell(player)?;
        self.actors(cell).iter().take_while(|e| e.id.is_hero()).find(|e| e.player == Some(player))
    }

    /// The players whose heroes are in the simulated part of the world, in order.
    pub fn players(&self) -> impl Iterator<Item = PlayerId> {
        self.state.heroes.iter().map(|&(player, _)| player)
    }

    /// The cells of the heroes in the simulated part of the world, by player.
    pub fn hero_cells(&self) -> impl Iterator<Item = (PlayerId, CellId)> {
        self.state.heroes.iter().copied()
    }

    /// The stored cells, in no particular order.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        self.state.store.meta.iter().map(|meta| meta.id)
    }

    /// The lit cells, in no particular order.
    pub fn lit_cells(&self) -> impl Iterator<Item = CellId> {
        self.state.store.meta[..self.state.store.lit()].iter().map(|meta| meta.id)
    }

    /// A cell's torchlight; 0 if it is dormant or was never lit.
    pub fn light(&self, cell: CellId) -> u8 {
        self.state.store.slot(&self.state.grid, cell).map_or(0, |slot| self.state.store.meta[slot].light)
    }

    /// A cell's actors, heroes first. Empty for a cell that was never lit.
    pub fn actors(&self, cell: CellId) -> &[Entity<R::Body>] {
        self.slot(cell).map_or(&[], |slot| &self.state.store.cells[slot].actors)
    }

    /// A cell's props. Empty for a cell that was never lit.
    pub fn props(&self, cell: CellId) -> &[Entity<R::Body>] {
        self.slot(cell).map_or(&[], |slot| &self.state.store.cells[slot].props)
    }

    /// Everything in a rectangle of cells, row by row, actors before props.
    pub fn entities(&self, cells: crate::grid::CellRect) -> impl Iterator<Item = &Entity<R::Body>> {
        cells.iter().flat_map(|cell| self.actors(cell).iter().chain(self.props(cell)))
    }

    /// The cells whose content or light the last step may have changed, each once, in no particular
    /// order: all others are as they were. In a part, those of the core and those that were given.
    pub fn touched(&self) -> &[CellId] {
        &self.touched
    }

    /// What became of the last turn's transfers, one for each in the turn's order: from which cell
    /// and to which one it went, `None` if it was void.
    pub fn transferred(&self) -> &[Option<(CellId, CellId)>] {
        &self.transferred
    }

    fn slot(&self, cell: CellId) -> Option<usize> {
        self.state.grid.contains(cell).then(|| self.state.store.slot(&self.state.grid, cell))?
    }
}

fn refuse_unfit<T: DeserializeOwned>() {
    if let Some(unfit) = codec::unfit::<T>() {
        panic!("no world holds {}: {unfit}", type_name::<T>());
    }
}

impl<R: Rules> State<R> {
    /// The draws of a stream in the tick that is simulated. Worlds of different seeds draw from
    /// different streams.
    pub fn dice<'j>(&self, stream: u64, notes: Notes<'j>) -> Dice<'j> {
        self.dice_of(stream, self.tick, notes)
    }

    pub fn dice_of<'j>(&self, stream: u64, tick: Tick, notes: Notes<'j>) -> Dice<'j> {
        let stream = mix64(self.seed ^ stream);
        notes.take(|notes| notes.draw_from(stream, tick));
        self.table.dice(stream, tick).noted(notes)
    }

    pub fn hero_cell(&self, player: PlayerId) -> Option<CellId> {
        let place = self.heroes.binary_search_by_key(&player, |&(p, _)| p).ok()?;
        Some(self.heroes[place].1)
    }

    /// Records where a hero is now, or that there is none any more.
    pub fn set_hero_cell(&mut self, player: PlayerId, cell: Option<CellId>) {
        match (self.heroes.binary_search_by_key(&player, |&(p, _)| p), cell) {
            (Ok(place), Some(cell)) => self.heroes[place].1 = cell,
            (Ok(place), None) => drop(self.heroes.remove(place)),
            (Err(place), Some(cell)) => self.heroes.insert(place, (player, cell)),
            (Err(_), None) => {}
        }
    }
}

impl<R: Rules> Simulation for World<R> {
    type Command = R::Command;
    type Hero = R::Hero;
    type Join = Join<R::Hero>;
    type Request = Request<R::Fact>;
    type Given = Given;
    type Snapshot = Snapshot<R>;

    fn tick(&self) -> Tick {
        self.state.tick
    }

    fn step(&mut self, turn: &Turn<Self>) {
        let thoughts = core::mem::take(&mut self.thoughts);
        self.step_with(turn, |thinking| thinking.in_order(thoughts));
    }

    fn requests(&self) -> &[Request<R::Fact>] {
        &self.requests
    }

    fn admit(&self, player: PlayerId, hero: R::Hero) -> Join<R::Hero> {
        let at = self.state.rules.entrance(player, &hero, &self.state.facts);
        Join { at: self.state.grid.clamp(at), hero }
    }

    fn away_ticks(&self) -> u32 {
        R::AWAY_TICKS
    }

    fn snapshot(&mut self) -> Snapshot<R> {
        self.take_snapshot()
    }

    fn restore(&mut self, snapshot: &Snapshot<R>) {
        self.restore_snapshot(snapshot);
    }

    fn retire(&mut self, snapshot: Snapshot<R>) {
        self.retire_snapshot(snapshot);
    }

    fn checksum(&mut self) -> Checksum {
        self.root()
    }

    fn tree(&mut self) -> Vec<(CellId, Checksum)> {
        self.cell_checksums()
    }

    fn rest_checksum(&mut self) -> Option<Checksum> {
        Some(self.facts_checksum())
    }

    fn encode_parts(&self, snapshot: &Snapshot<R>, cells: &[CellId], rest: bool) -> Vec<u8> {
        snapshot.encode_parts(cells, rest)
    }

    fn replace_parts(&mut self, bytes: &[u8]) -> Result<(), CodecError> {
        self.put_parts(bytes)
    }

    fn hero_checksum(&self, player: PlayerId) -> Option<Checksum> {
        self.hero(player).map(entity_checksum)
    }

    fn encode(&self, snapshot: &Snapshot<R>) -> Vec<u8> {
        snapshot.encode()
    }

    fn encoder(&self) -> Option<fn(&Snapshot<R>) -> Vec<u8>> {
        Some(Snapshot::encode)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Snapshot<R>, CodecError> {
        Snapshot::decode(bytes, &self.state.grid)
    }
}
