//! Every replica's core beside the relay's world: each cell, at each tick. And whether its halo has
//! what keeps it so.
//!
//! Both sides tell the checksums of all cells that they store, before the turn of each tick. A
//! replica is behind the relay by what its packets take, so the relay's are kept until all replicas
//! have come past them.

use std::collections::{BTreeMap, VecDeque};

use lockstone_net::session::Event;
use lockstone_sim::world::Given;
use lockstone_sim::{CellId, CellRect, Checksum, Extent, Grid, Input, Rules, Tick, World};

use super::report::Verified;
use crate::recording::tree::merge;

/// So often old states are forgotten.
const FORGET_TICKS: u32 = 100;

/// Compares as it hears.
pub(crate) struct Verifier {
    grid: Grid,
    whole: History,
    replicas: BTreeMap<usize, Part>,
    pub verified: Verified,
}

/// The relay's cells: what each became at which ticks, the oldest first.
#[derive(Default)]
struct History {
    cells: BTreeMap<CellId, VecDeque<(Tick, Checksum)>>,
    newest: Option<Tick>,
    known_since: Tick,
}

/// What a replica has told and nobody has compared.
#[derive(Default)]
struct Part {
    area: Option<Covered>,
    /// The newest tick of which it told.
    told: Option<Tick>,
    trees: VecDeque<CoreSums>,
}

/// What a replica simulates.
#[derive(Clone, Copy)]
struct Covered {
    core: CellRect,
    /// All that it may know, the core included.
    halo: CellRect,
    /// Whether its halo has all that the core needs.
    protected: bool,
}

/// The checksums of a replica's cells before the turn of a tick, and what it simulated.
type CoreSums = (Tick, Covered, Vec<(CellId, Checksum)>);

impl Verifier {
    pub fn new(grid: Grid) -> Verifier {
        Verifier { grid, whole: History::default(), replicas: BTreeMap::new(), verified: Verified::default() }
    }

    pub fn hear_relay<R: Rules>(&mut self, event: &Event<World<R>>) {
        if let Event::Checksum { tick, tree, .. } = event {
            self.whole.newest = Some(*tick);
            for &(cell, checksum) in tree {
                let states = self.whole.cells.entry(cell).or_default();
                if states.back().is_none_or(|(_, newest)| *newest != checksum) {
                    states.push_back((*tick, checksum));
                }
            }
        }
    }

    pub fn hear_replica<R: Rules>(&mut self, replica: usize, event: &Event<World<R>>) {
        let (part, grid) = (self.replicas.entry(replica).or_default(), &self.grid);
        match event {
            // A world that is loaded anew has no area before a turn gives it one.
            Event::Started { .. } => part.area = None,
            Event::Turn { turn, .. } => {
                let areas = turn.inputs.iter().filter_map(|input| match input {
                    Input::Given(Given::Area(Extent { core, halo })) => {
                        let protected = halo.contains_rect(core.grown(grid, grid.halo_rings()));
                        Some(Covered { core: *core, halo: *halo, protected })
                    }
                    _ => None,
                });
                part.area = areas.last().or(part.area);
            }
            Event::Checksum { tick, tree, .. } => {
                part.told = Some(*tick);
                let beyond = |area: &Covered| tree.iter().filter(|(cell, _)| !area.halo.contains(*cell)).count();
                self.verified.beyond += part.area.as_ref().map_or(tree.len(), beyond) as u64;
                part.trees.extend(part.area.map(|area| (*tick, area, tree.clone())));
            }
            _ => {}
        }
    }

    /// Compares what both sides have told, and forgets what nobody needs any more.
    pub fn compare(&mut self) {
        let Some(newest) = self.whole.newest else { return };
        let Verifier { whole, replicas, verified, .. } = self;
        for (replica, part) in replicas.iter_mut() {
            while let Some((tick, area, tree)) = part.trees.pop_front_if(|(tick, ..)| *tick <= newest) {
                whole.compare(tick, area, &tree, *replica, verified);
            }
        }
        let needed = replicas.values().filter_map(|part| part.told).fold(newest, Tick::min);
        if needed.0 >= whole.known_since.0 + FORGET_TICKS {
            whole.forget(needed);
        }
    }
}

impl History {
    /// Compares the core's cells, those that only one side stores included.
    fn compare(
        &self,
        tick: Tick,
        Covered { core, protected, .. }: Covered,
        tree: &[(CellId, Checksum)],
        replica: usize,
        verified: &mut Verified,
    ) {
        for y in core.low.y..=core.high.y {
            let (first, last) = (CellId::new(core.low.x, y), CellId::new(core.high.x, y));
            let ours = self.cells.range(first..=last).filter_map(|(cell, states)| Some((*cell, at(states, tick)?)));
            let from = tree.partition_point(|(cell, _)| *cell < first);
            let theirs = tree[from..].iter().take_while(|(cell, _)| *cell <= last).copied();
            merge(ours, theirs, |cell, whole, part| {
                verified.count(whole == part, protected, (tick, cell), replica);
            });
        }
    }

    /// Forgets what no replica can ask for any more.
    fn forget(&mut self, before: Tick) {
        self.known_since = before;
        for states in self.cells.values_mut() {
            let old = states.partition_point(|(tick, _)| *tick <= before);
            states.drain(..old.saturating_sub(1));
        }
    }
}

/// A cell's checksum at a tick; `None` if it was not stored yet.
fn at(states: &VecDeque<(Tick, Checksum)>, tick: Tick) -> Option<Checksum> {
    let after = states.partition_point(|(since, _)| *since <= tick);
    after.checked_sub(1).map(|newest| states[newest].1)
}
