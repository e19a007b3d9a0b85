//! Makes the schedule of a failing run small: steps are left out as long as it still fails in a way
//! in which it failed before.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::schedule::{Schedule, Step};
use super::{Breach, Outcome, Player, run};
use crate::check::shrink::needed;

/// What follows the last step that is left, in milliseconds: until then it must fail.
const TAIL_MS: u32 = 1_000;

/// The smallest schedule that still fails in a way in which this one fails, and what comes of it;
/// `None` if it does not fail. `tried` is told how many were played, and may have enough.
pub fn shrink(
    schedule: &Schedule,
    player: Player<'_>,
    tried: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> Option<(Schedule, Outcome)> {
    let outcome = run(schedule, player).ok()?;
    let ways: BTreeSet<String> = outcome.breaches.iter().map(way).collect();
    if ways.is_empty() {
        return None;
    }
    let mut count = 0;
    let mut fails = |candidate: Schedule| {
        count += 1;
        if tried(count).is_break() {
            return None;
        }
        let outcome = run(&candidate, player).ok()?;
        outcome.breaches.iter().any(|breach| ways.contains(&way(breach))).then_some((candidate, outcome))
    };
    let mut best = (schedule.clone(), outcome);
    let last_ms = |steps: &[Step]| steps.iter().map(|step| step.at_ms).max().unwrap_or(0);
    loop {
        let before = best.0.steps.len();
        let shorter = |steps: &[Step]| Schedule { ms: last_ms(steps) + TAIL_MS, ..best.0.with_steps(steps) };
        let smaller =
            needed(best.0.steps.clone(), |steps| fails(shorter(steps)).or_else(|| fails(best.0.with_steps(steps))));
        best = smaller.unwrap_or(best);
        if best.0.steps.len() >= before {
            return Some(best);
        }
    }
}

/// What a breach says, whenever it happened, and to whom.
fn way(breach: &Breach) -> String {
    breach.to_string().chars().filter(|it| !it.is_ascii_digit()).collect()
}
