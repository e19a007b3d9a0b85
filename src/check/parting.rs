//! How an odd state parts from what the turns lead to: where it differs first, what the step did
//! otherwise, how far that gets.

use std::collections::BTreeMap;

use lockstone_sim::journal::Journal;
use lockstone_sim::{Input, Simulation, Tick, Turn};

use super::compare::CheckError;
use super::locate::{Location, differing_cells, locate};
use super::replayer::Replayer;
use super::report::{BadWrite, Finding, Spread};
use super::verdict::{Case, OddState};
use crate::inspect::Inspect;

/// So long the spread of a difference is followed.
pub(super) const SPREAD_TICKS: u32 = 40;
/// So many inputs are told, and of so many ticks.
const INPUTS_MAX: usize = 10;
const INPUTS_TICKS: u32 = 100;

/// Why a case is as it is, and where.
pub(super) fn explain<S: Inspect>(
    case: &Case<'_, '_, S>,
    replayer: &mut Replayer<'_, S>,
    limit: Tick,
) -> Result<Finding, CheckError> {
    let (verdict, odd_state) = case.solve(replayer)?;
    let (tick, agreed, odd, inputs) = (case.tick, case.agreed, case.odd.clone(), inputs_before(case.turns, case.tick));
    let parting = odd_state.map(|theirs| part(replayer, theirs, limit)).unwrap_or_default();
    let Parting { location, mut bad_writes, spread } = parting;
    // Other rules cannot be played here; but their own program may have told what they do.
    if bad_writes.is_empty() && verdict.cause.may_be_other_rules() {
        bad_writes = case.noted_by_its_own_program(replayer);
    }
    Ok(Finding { tick, agreed, odd, between: None, verdict, location, bad_writes, spread, inputs })
}

/// How the odd state parts from what the turns lead to.
#[derive(Default)]
struct Parting {
    location: Option<Location>,
    bad_writes: Vec<BadWrite>,
    spread: Vec<Spread>,
}

/// Plays both on until they differ, if they do not yet, and looks at the step in which they come
/// to.
fn part<S: Inspect>(replayer: &mut Replayer<'_, S>, odd: OddState<S>, end: Tick) -> Parting {
    let (mut parting, OddState { simulation: mut theirs, turns }) = (Parting::default(), odd);
    while replayer.root(theirs.tick()) == theirs.checksum() && theirs.tick() < end {
        let tick = theirs.tick();
        let (mut here, mut there) = (Journal::default(), Journal::default());
        replayer.step_noted(tick, &mut here);
        theirs.step_noted(turns.get(&tick).unwrap_or(&Turn::default()), &mut there);
        parting.bad_writes = BadWrite::of(&here, &there);
    }
    parting.location = Some(locate(replayer.at(theirs.tick()), &mut theirs));
    for _ in 0..SPREAD_TICKS {
        let tick = theirs.tick();
        let ours = replayer.at(tick);
        parting.spread.push(Spread { tick, cells: differing_cells(ours, &mut theirs), sketch: ours.sketch() });
        if tick >= end {
            break;
        }
        theirs.step(turns.get(&tick).unwrap_or(&Turn::default()));
    }
    parting
}

/// The last inputs of the ticks before; what a part was given is not among them, for it is much
/// and says little.
pub(super) fn inputs_before<S: Simulation>(turns: &BTreeMap<Tick, Turn<S>>, tick: Tick) -> Vec<String> {
    let since = Tick(tick.0.saturating_sub(INPUTS_TICKS));
    let inputs = turns.range(since..tick).flat_map(|(tick, turn)| turn.inputs.iter().map(move |input| (tick, input)));
    let inputs = inputs.filter(|(_, input)| !matches!(input, Input::Given(_)));
    let mut told: Vec<_> = inputs.map(|(tick, input)| format!("{tick}: {input:?}")).collect();
    told.split_off(told.len().saturating_sub(INPUTS_MAX))
}
