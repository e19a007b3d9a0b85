//! What the checker sees of a simulation: its parts, and their fields by name.
//!
//! A [`World`] shows everything without a word from the game's author, through serde. A simulation of another kind (any ECS) shows what
//! its author chooses to name: [`Inspect::things`] alone is needed.
//!
//! Looking must never change what is looked at.

use lockstone_sim::codec::{self, Field};
use lockstone_sim::world::{StateBit, StatePart};
use lockstone_sim::{CellId, Checksum, Entity, EntityId, PlayerId, Rules, Simulation, World};
use serde::Serialize;

/// A part of a state, with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// Which part.
    pub part: StatePart,
    /// What kind of thing it is, for people: `Monster`.
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

/// A simulation that the checker can look into.
pub trait Inspect: Simulation {
    /// What is in a cell of the [`tree`](Simulation::tree), or, for `None`, what is in no cell. One without a tree shows all of it for `None`.
    fn things(&self, cell: Option<CellId>) -> Vec<Thing>;

    /// What a map shows of the state; `None` if it has no cells.
    fn sketch(&self) -> Option<Sketch> {
        None
    }

    /// The single bit that, turned over, leads to another checksum; of some cells, or of the whole state. See
    /// [`World::find_bit`]. `None` if there is none, or if the simulation cannot tell.
    fn find_bit(&mut self, root: Checksum, cells: Option<&[CellId]>) -> Option<StateBit> {
        let _ = (root, cells);
        None
    }

    /// A state with one bit turned over; `None` if there is no such state, or if the simulation cannot do so.
    fn with_bit_turned(&mut self, bit: &StateBit) -> Option<Self::Snapshot> {
        let _ = bit;
        None
    }
}

impl<R: Rules> Inspect for World<R> {
    fn things(&self, cell: Option<CellId>) -> Vec<Thing> {
        let Some(cell) = cell else {
            let fields = codec::fields(self.facts());
            return vec![Thing { part: StatePart::Facts, kind: "Facts".to_owned(), fields }];
        };
        let fields = codec::fields(&Light { light: self.light(cell) });
        let light = Thing { part: StatePart::Light(cell), kind: "Light".to_owned(), fields };
        let entities = self.actors(cell).iter().chain(self.props(cell));
        std::iter::once(light).chain(entities.map(|entity| shown(cell, entity))).collect()
    }

    fn sketch(&self) -> Option<Sketch> {
        let config = self.grid().config();
        Some(Sketch {
            width_cells: config.width_cells,
            height_cells: config.height_cells,
            lit: self.cells().filter(|&cell| self.light(cell) > 0).collect(),
            heroes: self
                .players()
                .filter_map(|player| Some((player, self.grid().cell_of(self.hero(player)?.pos))))
                .collect(),
        })
    }

    fn find_bit(&mut self, root: Checksum, cells: Option<&[CellId]>) -> Option<StateBit> {
        World::find_bit(self, root, cells)
    }

    fn with_bit_turned(&mut self, bit: &StateBit) -> Option<Self::Snapshot> {
        self.snapshot().with_bit_turned(bit)
    }
}

#[derive(Serialize)]
struct Light {
    light: u8,
}

fn shown<B: lockstone_sim::Body>(cell: CellId, entity: &Entity<B>) -> Thing {
    let fields = codec::fields(entity);
    // A body is mostly an enum of all that there is.
    let variant = fields.iter().find(|field| field.path == "body" && field.kind == codec::FieldKind::Variant);
    let kind = match variant {
        Some(variant) => variant.value.clone(),
        None if entity.player.is_some() => "Hero".to_owned(),
        None => "Entity".to_owned(),
    };
    Thing { part: StatePart::Entity(cell, entity.id), kind, fields }
}
