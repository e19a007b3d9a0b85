//! A [`World`] as the checker sees it: all of it, by name, through serde. What tampers with a
//! world, or plays it in ways of its own, is there for the checker alone.

use lockstone_sim::codec;
use lockstone_sim::journal::Journal;
use lockstone_sim::world::{Area, Given, StatePart};
use lockstone_sim::{Body, CellId, CellRect, Checksum, Entity, Extent, Grid, Rules, Turn, World};
#[cfg(feature = "checker")]
use lockstone_sim::{Simulation, Tick, tamper, world::StateBit};
use serde::Serialize;

use super::kinds::variants;
use super::{GivenInfo, Inspect, Sketch, Thing};
#[cfg(feature = "checker")]
use super::{View, Way, ways};
#[cfg(feature = "checker")]
use crate::panics::caught;

impl<R: Rules> Inspect for World<R> {
    const CHECKSUM_IS_WHOLE: bool = true;

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

    fn kinds() -> &'static [&'static str] {
        variants::<R::Body>()
    }

    fn start_data(&self) -> u64 {
        self.start_digest()
    }

    fn step_noted(&mut self, turn: &Turn<Self>, journal: &mut Journal) {
        World::step_noted(self, turn, journal);
    }

    fn sketch(&self) -> Option<Sketch> {
        let config = self.grid().config();
        Some(Sketch {
            width_cells: config.width_cells,
            height_cells: config.height_cells,
            lit: self.lit_cells().collect(),
            heroes: self
                .players()
                .filter_map(|player| Some((player, self.grid().cell_of(self.hero(player)?.pos))))
                .collect(),
        })
    }

    fn measures(&self) -> Option<Grid> {
        Some(*self.grid())
    }

    fn debugged(&self, of: StatePart) -> Option<String> {
        let StatePart::Entity(cell, id) = of else { return None };
        self.actors(cell).iter().chain(self.props(cell)).find(|entity| entity.id == id)?.body.debugged()
    }

    #[cfg(feature = "checker")]
    fn find_bit(&mut self, root: Checksum, cells: Option<&[CellId]>) -> Option<StateBit> {
        tamper::find_bit(self, root, cells)
    }

    #[cfg(feature = "checker")]
    fn find_bit_before(
        &mut self,
        turns: &[Turn<Self>],
        root: Checksum,
        cells: Option<&[CellId]>,
        thoughts_max: usize,
    ) -> Option<(Tick, StateBit)> {
        let attempt = |run: &mut dyn FnMut()| drop(caught(run));
        tamper::find_bit_before(self, turns, root, cells, thoughts_max, &attempt)
    }

    #[cfg(feature = "checker")]
    fn with_bit_turned(&mut self, bit: &StateBit) -> Option<Self::Snapshot> {
        tamper::with_bit_turned(&self.snapshot(), bit)
    }

    #[cfg(feature = "checker")]
    fn part(&mut self, of: StatePart) -> Option<Vec<u8>> {
        tamper::part(&self.snapshot(), of)
    }

    #[cfg(feature = "checker")]
    fn with_part(&mut self, of: StatePart, bytes: &[u8]) -> Option<Self::Snapshot> {
        tamper::with_part(&self.snapshot(), of, bytes)
    }

    #[cfg(feature = "checker")]
    fn step_in(&mut self, turn: &Turn<Self>, way: Way, journal: Option<&mut Journal>) -> bool {
        ways::step_in(self, turn, way, journal);
        true
    }

    #[cfg(feature = "checker")]
    fn reorder(&mut self, key: u64) {
        tamper::reorder_cells(self, key);
    }

    #[cfg(feature = "checker")]
    fn step_beside(
        &mut self,
        whole: &mut Self,
        turn: &Turn<Self>,
        view: View,
        journal: Option<&mut Journal>,
    ) -> Option<Vec<CellId>> {
        Some(ways::step_beside(self, whole, turn, view, journal))
    }

    fn extent(&self) -> Option<Extent> {
        self.area().extent()
    }

    fn extent_needed(&self) -> Option<Extent> {
        Some(Extent::around(self.grid(), self.area().core_rect()?))
    }

    fn given_info(&self, given: &Given) -> Option<GivenInfo> {
        match given {
            Given::Area(extent) => Area::of(self.grid(), *extent).extent().map(GivenInfo::Extent),
            Given::Pristine(cell) | Given::Cell(cell, _) | Given::Change(cell, _) => Some(GivenInfo::Cell(*cell)),
        }
    }

    fn loose(&mut self) -> Option<Checksum> {
        Some(self.part_checksum(CellRect::EMPTY))
    }

    #[cfg(feature = "checker")]
    fn narrow(&mut self, to: Extent) -> bool {
        tamper::set_area(self, Area::of(self.grid(), to));
        true
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
    let other = if entity.player.is_some() { "Hero" } else { "Entity" };
    let kind = variant.map_or(other, |variant| &variant.value).to_owned();
    Thing { part: StatePart::Entity(cell, entity.id), kind, fields }
}
