//! How large a replica's core is: cut to the cells near its hero, grown over all of the lit region
//! around it, or left as it is, whichever costs fewest bytes.
//!
//! ```text
//! cut    commands of few heroes, and each tick what changed in the lit cells of the halo
//! grown  commands of all heroes of the region; its halo is dark, except where other regions
//!        come near
//! ```
//!
//! What a command, a changed actor and a loaded cell cost is measured in the running session. What
//! is new in another area has to be loaded, and what it lacks may have to be loaded again: a change
//! must make up for that within some time.

use lockstone_sim::{CellId, CellRect, Extent, Rules, Simulation, World};

use super::guest::Guest;
use super::regions::Regions;
use crate::relay::areas::AreaRules;
use crate::session::Slot;

/// Between two looks at a replica's surroundings, in ticks.
const LOOK_TICKS: u32 = 10;
/// An area is expected to serve for so many ticks.
const SERVES_TICKS: f32 = 100.0;
/// What is measured counts half after about so many measurements.
const MEMORY: f32 = 100.0;

/// What things cost on the wire, in bytes, as measured.
pub(super) struct Costs {
    /// Commands of one hero in a tick.
    pub command: Mean,
    /// What changes of one actor that is lit in a tick.
    pub change: Mean,
    /// To load one cell.
    pub cell: Mean,
}

/// What one costs of several that are measured together.
pub(super) struct Mean(f32);

impl Mean {
    /// Notes what so many cost together.
    pub fn note(&mut self, bytes: usize, of: usize) {
        if of > 0 {
            self.0 += (bytes as f32 / of as f32 - self.0) / MEMORY;
        }
    }
}

/// A core, and what it would cost.
struct Weighed {
    core: CellRect,
    /// For the time that it is expected to serve.
    bytes: f32,
    /// How many actors it has that are lit.
    actors: usize,
}

/// By what cores are chosen.
pub(super) struct Choice {
    pub rules: AreaRules,
    pub costs: Costs,
    regions: Regions,
}

impl Choice {
    pub fn new(rules: AreaRules) -> Choice {
        let costs = Costs { command: Mean(0.5), change: Mean(2.0), cell: Mean(3.0) };
        Choice { rules, costs, regions: Regions::default() }
    }

    /// The core that a replica should have now.
    pub fn core<R: Rules>(&mut self, slot: Slot, guest: &mut Guest, hero: CellId, world: &World<R>) -> CellRect {
        // A grown core that is loading counts as present: else it would be given up as soon as it
        // is there, and loaded again.
        let loading = guest.area.loading().filter(|_| guest.grown);
        let Extent { core: present, halo: known } = loading.unwrap_or(guest.area.bounds());
        let rests = !(world.tick().0.wrapping_add(slot)).is_multiple_of(LOOK_TICKS);
        let rules = &self.rules;
        if rests && rules.holds(hero, present) {
            return present;
        }
        let cut = rules.core(hero, present);
        guest.grown = false;
        if rules.core_actors_max == 0 || world.light(hero) == 0 {
            return cut;
        }
        let Some(region) = self.regions.around(hero, world) else { return cut };
        let weigh = |core| self.weigh(core, known, world);
        let grown = Some(region.union(rules.least(hero))).filter(|grown| *grown != present);
        let fits = |core: &CellRect| *core != cut && rules.holds(hero, *core) && rules.loads(*core);
        let others = [Some(present), grown].into_iter().flatten().filter(fits);
        let others = others.map(weigh).filter(|other| other.actors <= rules.core_actors_max);
        let best = others.fold(weigh(cut), |best, other| if other.bytes < best.bytes { other } else { best });
        guest.grown = best.core != cut;
        best.core
    }

    /// What another core costs a replica that knows some cells.
    fn weigh<R: Rules>(&self, core: CellRect, known: CellRect, world: &World<R>) -> Weighed {
        let (halo, thinking) = (self.rules.halo(core), self.rules.thinking(core));
        let (mut actors, mut given, mut heroes) = (0, 0, 0);
        for cell in halo.iter().filter(|cell| world.light(*cell) > 0) {
            let here = world.actors(cell);
            *if core.contains(cell) { &mut actors } else { &mut given } += here.len();
            if thinking.contains(cell) {
                heroes += here.iter().take_while(|actor| actor.player.is_some()).count();
            }
        }
        let others = halo.len() + known.len() - 2 * halo.intersection(known).len();
        let Costs { command, change, cell } = &self.costs;
        let a_tick = given as f32 * change.0 + heroes as f32 * command.0;
        Weighed { core, bytes: a_tick * SERVES_TICKS + others as f32 * cell.0, actors }
    }
}
