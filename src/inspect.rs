//! What the checker sees of a simulation: its parts, and their fields by name.
//!
//! A [`World`](lockstone_sim::World) shows everything without a word from the game's author,
//! through serde. A simulation of another kind (any ECS) shows what its author chooses to name:
//! [`Inspect::things`] alone is needed.
//!
//! Looking must never change what is looked at.

mod kinds;
#[cfg(feature = "checker")]
mod ways;
mod world;

use lockstone_sim::codec::{self, Field};
use lockstone_sim::journal::Journal;
use lockstone_sim::world::{StateBit, StatePart};
use lockstone_sim::{CellId, Checksum, EntityId, Extent, Grid, PlayerId, Simulation, Tick, Turn};
use serde::Serialize;

/// A part of a state, with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// Which part.
    pub part: StatePart,
    /// What kind of thing it is, for people: `Stone`.
    pub kind: String,
    /// Its fields, in the order of its encoding.
    pub fields: Vec<Field>,
}

impl Thing {
    /// An entity of a simulation that has no cells: all of it is in cell (0, 0).
    pub fn entity(id: u64, kind: &str, value: &impl Serialize) -> Thing {
        let part = StatePart::Entity(CellId::new(0, 0), EntityId(id));
        Thing { part, kind: kind.to_owned(), fields: codec::fields(value) }
    }
}

/// A state as a map shows it, beside what differs in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sketch {
    /// Columns of cells.
    pub width_cells: u16,
    /// Rows of cells.
    pub height_cells: u16,
    /// The lit cells.
    pub lit: Vec<CellId>,
    /// Where the heroes are.
    pub heroes: Vec<(PlayerId, CellId)>,
}

/// What a part learns from something that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenInfo {
    /// Where it is from the next tick on.
    Extent(Extent),
    /// Something of a cell.
    Cell(CellId),
}

/// A simulation that the checker can look into.
#[allow(unused_variables, reason = "a simulation that cannot do a thing makes nothing of what it is given")]
pub trait Inspect: Simulation {
    /// Whether the checksum covers every byte of the state's encoding, so that of two states with
    /// one checksum and other bytes one was made to have it: a sum of 64 bits is quickly forged.
    const CHECKSUM_IS_WHOLE: bool = false;

    /// What is in a cell of the [`tree`](Simulation::tree), or, for `None`, what is in no cell. One
    /// without a tree shows all of it for `None`.
    fn things(&self, cell: Option<CellId>) -> Vec<Thing>;

    /// The kinds of things that there can be, as far as they are known: so that what is never
    /// met can be told.
    fn kinds() -> &'static [&'static str] {
        &[]
    }

    /// A digest of what the simulation was built with and no snapshot holds: seed, table. 0
    /// if it cannot tell.
    fn start_data(&self) -> u64 {
        0
    }

    /// Steps as [`step`](Simulation::step) does, and notes what happens. One that cannot
    /// tell just steps.
    fn step_noted(&mut self, turn: &Turn<Self>, journal: &mut Journal) {
        *journal = Journal { tick: self.tick(), notes: Vec::new() };
        self.step(turn);
    }

    /// What a map shows of the state; `None` if it has no cells.
    fn sketch(&self) -> Option<Sketch> {
        None
    }

    /// The measures of its cells; `None` if it has none.
    fn measures(&self) -> Option<Grid> {
        None
    }

    /// A part as `Debug` shows it, with what is in no encoding; `None` if nobody tells.
    fn debugged(&self, of: StatePart) -> Option<String> {
        None
    }

    /// The single bit that, turned over, leads to another checksum; of some cells and what is in
    /// none, or of the whole state. See [`tamper::find_bit`](lockstone_sim::tamper::find_bit).
    /// `None` if there is none, or if the simulation cannot tell.
    fn find_bit(&mut self, root: Checksum, cells: Option<&[CellId]>) -> Option<StateBit> {
        None
    }

    /// The single bit that, turned over before any of some turns, leads to the checksum behind the
    /// last; of some cells, or of all. The first turn is that of this tick; about so many thoughts
    /// are tried. See [`tamper::find_bit_before`](lockstone_sim::tamper::find_bit_before).
    /// `None` if there is none, or if the simulation cannot tell.
    fn find_bit_before(
        &mut self,
        turns: &[Turn<Self>],
        root: Checksum,
        cells: Option<&[CellId]>,
        thoughts_max: usize,
    ) -> Option<(Tick, StateBit)> {
        None
    }

    /// A state with one bit turned over; `None` if there is no such state, or if the
    /// simulation cannot do so.
    fn with_bit_turned(&mut self, bit: &StateBit) -> Option<Self::Snapshot> {
        None
    }

    /// The bytes of a part, as those of its [`fields`](Thing::fields) stand in it; `None` if the
    /// simulation cannot tell.
    fn part(&mut self, of: StatePart) -> Option<Vec<u8>> {
        None
    }

    /// A state with a part read from other bytes; `None` if there is no such state, or if the
    /// simulation cannot do so.
    fn with_part(&mut self, of: StatePart, bytes: &[u8]) -> Option<Self::Snapshot> {
        None
    }

    /// Plays one tick in a way that must come to the same as [`step`](Simulation::step), and
    /// notes what happens if there is a journal. False, with nothing played, if the simulation
    /// knows no such way.
    fn step_in(&mut self, turn: &Turn<Self>, way: Way, journal: Option<&mut Journal>) -> bool {
        false
    }

    /// Stores the parts in another order, drawn from a key, of which nothing may come. One that has
    /// no such order stays as it is.
    fn reorder(&mut self, key: u64) {}

    /// Plays one tick as a peer that simulates only the surroundings of a hero, and the same tick
    /// of the whole beside it, which gives what such a peer is given. Both began equal, and are at
    /// the same tick. What happens in the part is noted if there is a journal. Returns the cells
    /// that must be equal now; `None`, with nothing played, if the simulation knows no parts.
    fn step_beside(
        &mut self,
        whole: &mut Self,
        turn: &Turn<Self>,
        view: View,
        journal: Option<&mut Journal>,
    ) -> Option<Vec<CellId>> {
        None
    }

    /// The part of the world that is simulated; `None` if that is all of it.
    fn extent(&self) -> Option<Extent> {
        None
    }

    /// The same core with the halo that keeps it exact.
    fn extent_needed(&self) -> Option<Extent> {
        None
    }

    /// What something that a part is given tells it of.
    fn given_info(&self, given: &Self::Given) -> Option<GivenInfo> {
        None
    }

    /// The checksum of what is in no cell; `None` if nothing is, or if the simulation cannot tell.
    fn loose(&mut self) -> Option<Checksum> {
        None
    }

    /// Forgets all but a part. False if the simulation knows no parts.
    fn narrow(&mut self, to: Extent) -> bool {
        false
    }
}

/// Plays one tick, and notes what happens if there is a journal.
#[cfg(feature = "checker")]
pub(crate) fn step<S: Inspect>(simulation: &mut S, turn: &Turn<S>, journal: Option<&mut Journal>) {
    match journal {
        Some(journal) => simulation.step_noted(turn, journal),
        None => simulation.step(turn),
    }
}

/// Which part of a world a peer simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Around whose hero.
    pub player: PlayerId,
    /// How many rings of cells more than it must are simulated. What must be exact stays the same.
    pub core_rings_more: u16,
    /// So many rings of the halo are held back: a part that goes wrong, for the tests that show it.
    pub halo_rings_less: u16,
}

impl View {
    /// A hero's surroundings, with all that they need.
    pub fn of(player: PlayerId) -> View {
        View { player, core_rings_more: 0, halo_rings_less: 0 }
    }
}

/// A way to play a tick that must come to the same as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The last cell thinks first.
    Backwards,
    /// The cells think in an order that is drawn from a key.
    Shuffled(u64),
    /// The cells think on so many threads; whichever is free takes the next.
    Threads(usize),
}
