//! Which part of the world a recording covers: the core that is simulated, the halo around it that
//! is given. Both move.

use lockstone_sim::{CellRect, Extent, Input, Tick, Turn};
use serde::Serialize;

use crate::inspect::{GivenInfo, Inspect};
use crate::recording::Timeline;

/// Which part of the world a recording covers from a tick on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// The state before the turn of this tick is the first.
    pub since: Tick,
    /// The part.
    pub extent: Extent,
}

/// The part that a recording covers, over time; `start` is its first state. Empty if it is of
/// the whole world.
pub(super) fn covered<S: Inspect>(peer: &Timeline<S>, start: &S) -> Vec<Covered> {
    let Some(extent) = start.extent() else { return Vec::new() };
    let mut covers = vec![Covered { since: peer.start(), extent }];
    for (tick, turn) in &peer.turns {
        let infos = given_infos(turn, start);
        let extents = infos.filter_map(|info| if let GivenInfo::Extent(extent) = info { Some(extent) } else { None });
        if let Some(extent) = extents.last().filter(|extent| covers.last().is_none_or(|last| last.extent != *extent)) {
            covers.push(Covered { since: tick.next(), extent });
        }
    }
    covers
}

/// What a turn tells a part of the world.
pub(super) fn given_infos<S: Inspect>(turn: &Turn<S>, part: &S) -> impl Iterator<Item = GivenInfo> {
    turn.inputs.iter().filter_map(|input| match input {
        Input::Given(given) => part.given_info(given),
        _ => None,
    })
}

/// The core at a tick; `None` if it is not known, or has no cells.
pub(super) fn core_at(covers: &[Covered], tick: Tick) -> Option<CellRect> {
    let known = covers.partition_point(|covered| covered.since <= tick);
    known.checked_sub(1).map(|newest| covers[newest].extent.core).filter(|core| !core.is_empty())
}

/// So many cores are told, the last of them the newest.
const TOLD_MAX: usize = 4;

/// The cores over time, in a line.
pub(super) fn tell(covers: &[Covered]) -> String {
    let mut cores: Vec<(Tick, CellRect)> = covers.iter().map(|covered| (covered.since, covered.extent.core)).collect();
    cores.dedup_by_key(|(_, core)| *core);
    cores.retain(|(_, core)| !core.is_empty());
    if cores.is_empty() {
        return "no cell".to_owned();
    }
    let told = |(since, core): (Tick, CellRect)| format!("{} to {} from tick {since} on", core.low, core.high);
    let mut told: Vec<_> = cores.into_iter().map(told).collect();
    if told.len() > TOLD_MAX {
        let others = TOLD_MAX - 1..told.len() - 1;
        told.splice(others.clone(), [format!("{} others", others.len())]);
    }
    format!("cells {}", told.join(", "))
}
