//! Makes the schedule of a failing run small: steps are left out as long as a rule is still broken
//! that was broken before.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::schedule::{Schedule, Step};
use super::{Outcome, Player, Rule, run};
use crate::check::shrink::needed;

/// What follows the last step that is left, in milliseconds: until then it must fail.
const TAIL_MS: u32 = 1_000;

/// The smallest schedule that still breaks a rule which this one breaks, and what comes of it;
/// `None` if it breaks none. `tried` is told how many were played, and may have enough.
pub fn shrink(
    schedule: &Schedule,
    player: Player<'_>,
    tried: &mut dyn FnMut(u32) -> ControlFlow<()>,
) -> Option<(Schedule, Outcome)> {
    let outcome = run(schedule, player).ok()?;
    let rules: BTreeSet<Rule> = outcome.breaches.iter().map(|breach| breach.rule).collect();
    if rules.is_empty() {
        return None;
    }
    let mut count = 0;
    let mut fails = |candidate: Schedule| {
        count += 1;
        if tried(count).is_break() {
            return None;
        }
        let outcome = run(&candidate, player).ok()?;
        outcome.breaches.iter().any(|breach| rules.contains(&breach.rule)).then_some((candidate, outcome))
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
