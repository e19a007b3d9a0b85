//! A part of a world beside the whole: whether it stays exact, and if not, whose fault that is.
//!
//! A part that was given less than its halo cannot be exact. One that was given all of it can,
//! unless the rules read or do something from farther away than the reach and the stride allow:
//! then it becomes exact as soon as it is simulated widely enough.

use lockstone_sim::{CellId, Tick, Turn};
use serde::Serialize;

use super::locate::differing_cells;
use super::report::{Cause, Verdict};
use crate::inspect::{Inspect, View};

/// By how many rings of cells more a part is widened to see what heals it. The last is more
/// than a world has.
const WIDER_RINGS: [u16; 6] = [1, 2, 4, 8, 16, 1_024];

/// A part that is not what the whole is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartFinding {
    /// The first tick whose state differs, before its turn.
    pub tick: Tick,
    /// The cells of the core that differ there, row by row.
    pub cells: Vec<CellId>,
    /// Why.
    pub verdict: Verdict,
}

/// Plays turns in a part of the world and in the whole, side by side. `None` if the part stays
/// exact, or if the simulation knows no parts.
pub fn part<S: Inspect>(build: &dyn Fn() -> S, turns: &[Turn<S>], view: View) -> Option<PartFinding> {
    let (tick, cells) = parts(build, turns, view)?;
    let until = &turns[..turns.len().min(tick.0 as usize)];
    let is_exact = |view: View| parts(build, until, view).is_none();
    let whole_halo = View { halo_rings_less: 0, ..view };
    let wider = |rings: &u16| is_exact(View { core_rings_more: *rings, ..whole_halo });
    let (cause, reason) = if view.halo_rings_less > 0 && is_exact(whole_halo) {
        let reason = format!("{} rings of its halo were held back; with them it is exact", view.halo_rings_less);
        (Cause::HaloMissing, reason)
    } else if let Some(rings) = WIDER_RINGS.into_iter().find(wider) {
        let reason = format!("with all of its halo it differs; simulated {rings} rings of cells wider it is exact");
        (Cause::ReachExceeded, reason)
    } else {
        (Cause::Unknown, "it differs however widely it is simulated".to_owned())
    };
    Some(PartFinding {
        tick,
        cells,
        verdict: Verdict { cause, others: Vec::new(), blamed: Vec::new(), reasons: vec![reason] },
    })
}

/// The first tick at which a part differs, and the cells in which it does.
fn parts<S: Inspect>(build: &dyn Fn() -> S, turns: &[Turn<S>], view: View) -> Option<(Tick, Vec<CellId>)> {
    let (mut part, mut whole) = (build(), build());
    for turn in turns {
        let core = part.step_beside(&mut whole, turn, view, None)?;
        let mut cells = differing_cells(&mut whole, &mut part);
        cells.retain(|cell| core.contains(cell));
        if !cells.is_empty() {
            return Some((whole.tick(), cells));
        }
    }
    None
}
