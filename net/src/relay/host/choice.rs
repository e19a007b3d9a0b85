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
use crate::wire::RawInput;

/// Between two looks at a replica's surroundings, in ticks.
const LOOK_TICKS: u32 = 10;
/// An area is expected to serve for so many ticks.
const SERVES_TICKS: f32 = 100.0;
/// What is measured counts half after about so many measurements.
const MEMORY: f32 = 100.0;

/// What things cost on the wire, in bytes, as measured.
pub(super) struct Costs {
    /// Commands of one hero in a tick.
    command: f32,
    /// What changes of one actor that is lit in a tick.
    change: f32,
    /// To load one cell.
    cell: f32,
}

impl Default for Costs {
    fn default() -> Self {
        Costs { command: 0.5, change: 2.0, cell: 3.0 }
    }
}

impl Costs {
    /// Notes the commands of a tick.
    pub fn commands(&mut self, inputs: &[RawInput], heroes: usize) {
        let bytes = |input: &RawInput| match input {
            RawInput::Command(_, bytes) => bytes.len() + 4,
            _ => 0,
        };
        note(&mut self.command, inputs.iter().map(bytes).sum(), heroes);
    }

    /// Notes what changed in cells with so many actors.
    pub fn changes(&mut self, bytes: usize, actors: usize) {
        note(&mut self.change, bytes, actors);
    }

    /// Notes a load of so many cells.
    pub fn load(&mut self, bytes: usize, cells: usize) {
        note(&mut self.cell, bytes, cells);
    }
}

fn note(mean: &mut f32, bytes: usize, of: usize) {
    if of > 0 {
        *mean += (bytes as f32 / of as f32 - *mean) / MEMORY;
    }
}

/// The core that a replica should have now.
pub(super) fn core<R: Rules>(
    slot: Slot,
    guest: &mut Guest<R>,
    hero: CellId,
    (world, area_rules, regions, costs): (&World<R>, &AreaRules, &mut Regions, &Costs),
) -> CellRect {
    // A grown core that is loading counts as present: else it would be given up as soon as it is
    // there, and loaded again.
    let loading = guest.area.loading().filter(|_| guest.grown);
    let Extent { core: present, halo: known } = loading.unwrap_or(guest.area.bounds());
    let rests = !(world.tick().0.wrapping_add(slot)).is_multiple_of(LOOK_TICKS);
    if rests && area_rules.holds(hero, present) {
        return present;
    }
    let cut = area_rules.core(hero, present);
    guest.grown = false;
    if area_rules.core_actors_max == 0 || world.light(hero) == 0 {
        return cut;
    }
    let Some(region) = regions.around(hero, world) else { return cut };
    let weigh = |core| costs.weigh(core, known, (world, area_rules));
    let grown = Some(region.union(area_rules.least(hero))).filter(|grown| *grown != present);
    let fits = |core: &CellRect| *core != cut && area_rules.holds(hero, *core) && area_rules.loads(*core);
    let others = [Some(present), grown].into_iter().flatten().filter(fits);
    let others = others.map(weigh).filter(|other| other.actors <= area_rules.core_actors_max);
    let best = others.fold(weigh(cut), |best, other| if other.bytes < best.bytes { other } else { best });
    guest.grown = best.core != cut;
    best.core
}

/// A core, and what it would cost.
struct Weighed {
    core: CellRect,
    /// For the time that it is expected to serve.
    bytes: f32,
    /// How many actors it has that are lit.
    actors: usize,
}

impl Costs {
    /// What another core costs a replica that knows some cells.
    fn weigh<R: Rules>(
        &self,
        core: CellRect,
        known: CellRect,
        (world, area_rules): (&World<R>, &AreaRules),
    ) -> Weighed {
        let (halo, thinking) = (area_rules.halo(core), area_rules.thinking(core));
        let (mut actors, mut given, mut heroes) = (0, 0, 0);
        for cell in halo.iter().filter(|cell| world.light(*cell) > 0) {
            let here = world.actors(cell);
            *if core.contains(cell) { &mut actors } else { &mut given } += here.len();
            if thinking.contains(cell) {
                heroes += here.iter().take_while(|actor| actor.player.is_some()).count();
            }
        }
        let others = halo.len() + known.len() - 2 * halo.intersection(known).len();
        let a_tick = given as f32 * self.change + heroes as f32 * self.command;
        Weighed { core, bytes: a_tick * SERVES_TICKS + others as f32 * self.cell, actors }
    }
}
