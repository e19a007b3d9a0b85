//! Whether a replica's core is all of the lit region around its hero, or cut to the cells near it: whichever costs fewer bytes.
//!
//! ```text
//! grown  the halo is dark, and only commands of the region's heroes travel
//! cut    commands of fewer heroes, and each tick what changed in the lit cells of the halo
//! ```
//!
//! What a command and a changed actor cost is measured in the running session. A change of mind needs a clear gain for some time,
//! because it costs a load.

use lockstone_sim::{CellId, CellRect, Rules, Simulation, Tick, World};

use super::guest::{Guest, Slot};
use super::regions::{Region, Regions};
use crate::relay::areas::Measures;
use crate::wire::RawInput;

/// Between two looks at a replica's region, in ticks.
const LOOK_TICKS: u32 = 5;
/// The other way must cost less than this many percent...
const GAIN_PERCENT: f32 = 60.0;
/// ... for so many ticks.
const GAIN_TICKS: u32 = 40;
/// What is measured counts half after about so many ticks.
const MEMORY_TICKS: f32 = 100.0;

/// What things cost on the wire, as measured.
pub(super) struct Costs {
    /// Commands of one hero in a tick, in bytes.
    command: f32,
    /// What changed of one actor in a tick, in bytes.
    change: f32,
}

impl Default for Costs {
    fn default() -> Self {
        Costs { command: 0.5, change: 12.0 }
    }
}

impl Costs {
    /// Notes the commands of a tick.
    pub fn commands(&mut self, inputs: &[RawInput], heroes: usize) {
        let bytes = |input: &RawInput| match input {
            RawInput::Command(_, bytes) => bytes.len() + 4,
            _ => 0,
        };
        let bytes: usize = inputs.iter().map(bytes).sum();
        if heroes > 0 {
            let sample = bytes as f32 / heroes as f32;
            self.command += (sample - self.command) / MEMORY_TICKS;
        }
    }

    /// Notes what changed in cells with so many actors.
    pub fn changes(&mut self, bytes: usize, actors: usize) {
        if actors > 0 {
            let sample = bytes as f32 / actors as f32;
            self.change += (sample - self.change) / MEMORY_TICKS;
        }
    }
}

/// What was chosen for a replica.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choice {
    grown: bool,
    /// Since when the other way would cost clearly less.
    better_since: Option<Tick>,
    /// Whether anything was chosen yet.
    made: bool,
}

/// The core that a replica should have now.
pub(super) fn core<R: Rules>(
    slot: Slot,
    guest: &mut Guest<R>,
    hero: CellId,
    (world, measures, regions, costs): (&World<R>, &Measures, &mut Regions, &Costs),
) -> CellRect {
    let (tick, present) = (world.tick(), guest.bounds.core);
    let rests = !(tick.0.wrapping_add(slot)).is_multiple_of(LOOK_TICKS);
    if rests && measures.holds(hero, present) {
        return present;
    }
    let cut = measures.core(hero, present);
    let allowed = |region: &Region| {
        region.actors <= measures.core_actors_max && measures.loads(measures.region_core(hero, region.bounds, present))
    };
    let region = regions.at(hero, world).filter(allowed);
    match region {
        Some(region) if guest.choice.grows(tick, &region, cut, (world, measures, costs)) => {
            measures.region_core(hero, region.bounds, present)
        }
        Some(_) => cut,
        None => {
            guest.choice = Choice::default();
            cut
        }
    }
}

impl Choice {
    pub fn is_grown(&self) -> bool {
        self.grown
    }

    fn grows<R: Rules>(
        &mut self,
        tick: Tick,
        region: &Region,
        cut: CellRect,
        (world, measures, costs): (&World<R>, &Measures, &Costs),
    ) -> bool {
        let ring = measures.need(cut);
        let lit = |cell: &CellId| !cut.contains(*cell) && world.light(*cell) > 0;
        let actors: usize = ring.iter().filter(lit).map(|cell| world.actors(cell).len()).sum();
        let near: usize = measures.heroes_in(world, cut).min(region.heroes);
        let cost_cut = actors as f32 * costs.change + near as f32 * costs.command;
        let cost_grown = region.heroes as f32 * costs.command;
        let (now, other) = if self.grown { (cost_grown, cost_cut) } else { (cost_cut, cost_grown) };
        if !self.made {
            (self.made, self.grown) = (true, cost_grown < cost_cut);
            return self.grown;
        }
        if other * 100.0 >= now * GAIN_PERCENT {
            self.better_since = None;
        } else if tick.since(*self.better_since.get_or_insert(tick)) >= GAIN_TICKS {
            (self.grown, self.better_since) = (!self.grown, None);
        }
        self.grown
    }
}
