//! The light cone of a cell: all that it could depend on in the ticks before, and what of that
//! differed.
//!
//! In one tick a cell depends on what may move into it, on what may act on that, and on what that
//! one saw: [`Grid::halo_rings`]. So the cone grows by as many rings a tick. A difference comes
//! into a cell only from a cell that differed the tick before, within these rings; or it begins
//! there. The loop is [`LightCone::of`]. It must never leave out a cell from which something came.
//! What enters by turns comes from no cell, and is not in it.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{CellId, CellRect, Grid, Tick};

/// What a cell could depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightCone {
    /// The cell.
    pub cell: CellId,
    /// When it is looked at.
    pub tick: Tick,
    /// The ticks from that one on backwards, as far as something differs in them that led on: the
    /// last one has no suspects, if it was looked at.
    pub steps: Vec<Step>,
}

/// The cone at one tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The tick.
    pub tick: Tick,
    /// The cells that the chosen one could depend on.
    pub cells: CellRect,
    /// Those of them that differ, row by row, and from which a difference could have come into the
    /// suspects of the tick after, on the way to the chosen cell.
    pub suspects: Vec<CellId>,
    /// How many of the cells differ.
    pub differing: usize,
}

impl LightCone {
    /// The cone of a cell at a tick. `differing` are the cells that differ, for each tick that was
    /// compared: it is followed as far back as there are some without a gap.
    pub fn of(grid: &Grid, cell: CellId, tick: Tick, differing: &BTreeMap<Tick, Vec<CellId>>) -> LightCone {
        let rings = grid.halo_rings();
        let differs_in = |cells: CellRect, tick: Tick| {
            let all = differing.get(&tick).into_iter().flatten();
            all.copied().filter(|cell| cells.contains(*cell)).collect::<Vec<_>>()
        };
        let mut cells = CellRect::of(cell);
        let suspects = differs_in(cells, tick);
        let mut steps = vec![Step { tick, cells, differing: suspects.len(), suspects }];
        // A cell that does not differ has a cone, too.
        let mut led_on = BTreeSet::from([cell]);
        for (&tick, _) in differing.range(..tick).rev() {
            let last = steps.last().expect("the first is there");
            if tick.next() != last.tick || led_on.is_empty() {
                break;
            }
            cells = cells.grown(grid, rings);
            let all = differs_in(cells, tick);
            let leads_on = |cell: &CellId| grid.block(*cell, rings).iter().any(|near| led_on.contains(&near));
            let suspects: Vec<_> = all.iter().copied().filter(leads_on).collect();
            led_on = suspects.iter().copied().collect();
            steps.push(Step { tick, cells, suspects, differing: all.len() });
        }
        LightCone { cell, tick, steps }
    }

    /// The cone at a tick.
    pub fn at(&self, tick: Tick) -> Option<&Step> {
        self.steps.iter().find(|step| step.tick == tick)
    }

    /// Whether the cell itself differs.
    pub fn differs(&self) -> bool {
        self.steps.first().is_some_and(|step| !step.suspects.is_empty())
    }

    /// Where the difference began that came into the cell: the first tick with suspects, if the one
    /// before has none; and these.
    pub fn began(&self) -> Option<(Tick, &[CellId])> {
        let [.., first, before] = self.steps.as_slice() else { return None };
        (before.suspects.is_empty() && !first.suspects.is_empty()).then_some((first.tick, &first.suspects))
    }
}
