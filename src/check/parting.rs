//! How an odd state parts from what the turns lead to: where it differs first, what the step did
//! otherwise, how far that gets.

use std::collections::BTreeMap;

use lockstone_sim::{CellId, Input, Simulation, Tick, Turn};

use super::compare::CheckError;
use super::locate::{differing_cells, locate};
use super::replayer::Replayer;
use super::report::{BadWrite, Finding, OddWorld, Spread};
use super::verdict::{Case, Shown};
use super::waver::Varied;
use crate::inspect::Inspect;
use crate::panics::caught;
use crate::recording::Packed;

/// So long the spread of a difference is followed.
pub(super) const SPREAD_TICKS: u32 = 40;
/// So many inputs are told, and of so many ticks.
const INPUTS_MAX: usize = 10;
const INPUTS_TICKS: u32 = 100;

/// Why a case is as it is, and where.
pub(super) fn explain<S: Inspect>(mut case: Case<'_, S>, limit: Tick) -> Result<Finding, CheckError> {
    let (verdict, shown) = case.solve()?;
    let (agreed, odd, inputs) = (case.agreed, case.odd.clone(), inputs_before(case.played.turns, case.tick));
    let mut finding = Finding { agreed, odd, inputs, ..Finding::new(case.tick, verdict) };
    // The verdict stands without what is shown beside it, and so does what was found until then.
    caught(|| show(&mut finding, &mut case, shown, limit)).unwrap_or_else(|panicked| {
        finding.verdict.reasons.push(format!("no more of it could be played to be shown: {panicked}"));
    });
    Ok(finding)
}

fn show<'c, S: Inspect>(finding: &mut Finding, case: &mut Case<'c, S>, shown: Option<Shown<'c, S>>, limit: Tick) {
    match shown {
        Some(Shown::Odd(theirs)) => {
            let seed = case.odd_seed.unwrap_or(case.peers[case.suspect].header.seed);
            part(finding, &mut case.played, theirs, limit, (case.suspect, seed));
        }
        Some(Shown::Varied(Varied { states: [mut ours, mut theirs], writes })) => {
            (finding.varies, finding.bad_writes) = (true, writes);
            finding.location = Some(locate(&mut ours, &mut theirs));
        }
        None => {}
    }
    // Other rules cannot be played here; but their own program may have told what they do.
    if finding.bad_writes.is_empty() && finding.verdict.cause.may_be_other_rules() {
        finding.bad_writes = case.noted_by_its_own_program().unwrap_or_default();
    }
}

/// How the odd peer parts from what the turns lead to: plays both on until they differ, if they do
/// not yet, and looks at the step in which they come to. `seed` is that of the peer's world.
fn part<S: Inspect>(
    finding: &mut Finding,
    ours: &mut Replayer<'_, S>,
    mut theirs: Replayer<'_, S>,
    end: Tick,
    (peer, seed): (usize, u64),
) {
    let mut tick = theirs.tick();
    while tick < end && ours.root(tick) == theirs.root(tick) {
        finding.bad_writes = BadWrite::of(&ours.journal(tick), &theirs.journal(tick));
        tick = tick.next();
    }
    let location = locate(ours.at(tick), theirs.at(tick));
    if location.spots_count == 0 && location.cells.is_empty() {
        // The state that was recorded is ours again: what differed is in no recording.
        finding.bad_writes.clear();
        return;
    }
    finding.location = Some(location);
    let state = Packed::of(&theirs.at(tick).encoded());
    finding.odd_world = Some(OddWorld { peer, seed, tick, state });
    let until = tick.plus(SPREAD_TICKS - 1).min(end.max(tick));
    finding.spread = spread(ours, &mut theirs, tick, until, differing_cells);
}

/// The cells that differ, tick by tick.
pub(super) fn spread<S: Inspect>(
    ours: &mut Replayer<'_, S>,
    theirs: &mut Replayer<'_, S>,
    from: Tick,
    until: Tick,
    differing: impl Fn(&mut S, &mut S) -> Vec<CellId>,
) -> Vec<Spread> {
    let spread = |tick| {
        let ours = ours.at(tick);
        Spread { tick, cells: differing(ours, theirs.at(tick)), sketch: ours.sketch() }
    };
    (from.0..=until.0).map(Tick).map(spread).collect()
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
