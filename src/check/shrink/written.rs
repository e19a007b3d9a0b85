//! A candidate as a recording: played once more, its checksums recorded anew.

use super::candidate::Candidate;
use super::symptom::{Symptom, Trial, step};
use crate::inspect::Inspect;
use crate::recording::Timeline;
use crate::recording::{Build, Ending, Entry, Header, Recording};

/// What fails, to be kept and played. Recorded checksums that are not met stay as they are:
/// they are what fails.
pub(super) fn record<S: Inspect>(
    trial: &Trial<'_, S>,
    timeline: &Timeline<S>,
    symptom: &Symptom,
    small: &Candidate<S>,
) -> Recording<S> {
    let as_recorded = matches!(symptom, Symptom::Unmet { .. });
    let build = if as_recorded { timeline.header.build.clone() } else { Build::here() };
    let header = Header { start: small.start, build, ..timeline.header.clone() };
    let named = |&player| {
        let name = timeline.names.get(&player).cloned().unwrap_or_else(|| format!("{player}"));
        Entry::Name(player, name)
    };
    let mut entries: Vec<Entry<S>> = trial.players.iter().map(named).collect();
    let mut simulation = trial.load(small).expect("it was read already");
    for turn in small.turns.iter().map(Some).chain([None]) {
        let recorded = timeline.roots.get(&simulation.tick()).copied();
        let root = if as_recorded { recorded } else { Some(simulation.checksum()) };
        entries.extend(root.map(Entry::Checksum));
        let Some(turn) = turn else { break };
        entries.push(if turn.inputs.is_empty() { Entry::Empty(1) } else { Entry::Turn(turn.clone()) });
        // Behind a panic there is no state.
        if step(&mut simulation, turn).is_err() {
            break;
        }
    }
    let ending = Ending::Closed(format!("made small: {symptom}"));
    Recording { header, snapshot: small.state.to_vec(), entries, ending }
}
