//! Suspicions about the state: that not all of it is in the checksum, or in a snapshot, or that it
//! was written to between the steps.

use lockstone_sim::Tick;
use lockstone_sim::codec::differences;

use super::{Case, OddState, Solution, blame_nobody};
use crate::check::compare::CheckError;
use crate::check::replayer::Replayer;
use crate::check::report::Cause;
use crate::inspect::Inspect;

impl<S: Inspect> Case<'_, '_, S> {
    /// Going back to a state and playing on leads elsewhere than having come from the start:
    /// something that matters was not brought back.
    pub(super) fn is_not_brought_back(
        &self,
        replayer: &mut Replayer<'_, S>,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let good = self.last_good(replayer);
        let Some(recorded) = self.suspect().roots.get(&good) else { return Ok(None) };
        if replayer.root(good) == *recorded {
            return Ok(None);
        }
        if let Some(solution) = self.lost_something_in_a_snapshot(replayer)? {
            return Ok(Some(solution));
        }
        let reason =
            format!("gone back to an earlier state, the same turns no longer lead to what they led to at tick {good}");
        Ok(Some((blame_nobody(Cause::SnapshotField, vec![reason]), None)))
    }

    /// A state that was recorded, with the same checksum as ours, and is another.
    pub(super) fn has_an_uncovered_field(
        &self,
        replayer: &mut Replayer<'_, S>,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let (peer, known) = (self.suspect(), replayer.start()..=self.tick);
        for &tick in peer.states.keys().filter(|tick| known.contains(*tick)) {
            let ours = replayer.at(tick);
            let snapshot = ours.snapshot();
            let bytes = ours.encode(&snapshot);
            let mut theirs = self.checker.load(peer, tick)?;
            let same_bytes = peer.states[&tick].unpack().is_ok_and(|theirs| theirs == bytes);
            if same_bytes || ours.checksum() != theirs.checksum() {
                continue;
            }
            let reasons = vec![
                format!(
                    "at tick {tick} the recorded state of {} has the same checksum as ours, and is another",
                    peer.who()
                ),
                format!("the checksum does not cover what differs: {}", fields(ours, &theirs)),
            ];
            let odd = OddState { simulation: theirs, turns: peer.turns.clone() };
            return Ok(Some((blame_nobody(Cause::ChecksumField, reasons), Some(odd))));
        }
        Ok(None)
    }

    /// The state as it is read from bytes, in the place of the living one: where the peer joined,
    /// or where all was still well.
    pub(super) fn lost_something_in_a_snapshot(
        &self,
        replayer: &mut Replayer<'_, S>,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let (peer, good) = (self.suspect(), self.last_good(replayer));
        let joined = (replayer.start() < peer.start() && peer.start() <= good).then(|| peer.start());
        if let Some(tick) = joined {
            let reason = format!("{} joined at tick {tick} from a serialised state", peer.who());
            let odd = || Ok(OddState { simulation: self.checker.load(peer, tick)?, turns: self.turns.clone() });
            if let Some(solution) = self.snapshot_solution(odd, good, reason)? {
                return Ok(Some(solution));
            }
        }
        let reason = format!("the state of tick {good}, serialised and read again, goes another way");
        let odd = || Ok(OddState { simulation: self.reread(replayer, good)?, turns: self.turns.clone() });
        self.snapshot_solution(odd, good, reason)
    }

    fn snapshot_solution(
        &self,
        mut odd: impl FnMut() -> Result<OddState<S>, CheckError>,
        good: Tick,
        reason: String,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let Some(met) = self.meets(odd()?, |_| ()) else { return Ok(None) };
        let mut state = odd()?;
        self.play(&mut state.simulation, good);
        Ok(Some((blame_nobody(Cause::SnapshotField, vec![reason, self.met(met)]), Some(state))))
    }

    /// A recorded state of the odd peer from which the turns lead on to its checksums: its steps
    /// are sound, and its state was not.
    pub(super) fn was_written_from_outside(&self, _: &mut Replayer<'_, S>) -> Result<Option<Solution<S>>, CheckError> {
        let peer = self.suspect();
        let Some((&tick, _)) = peer.states.range(self.tick..).next() else { return Ok(None) };
        let odd = || Ok(OddState { simulation: self.checker.load(peer, tick)?, turns: peer.turns.clone() });
        // The checksum of the state itself proves nothing of the steps.
        let Some(met) = self.meets(odd()?, |_| ()).filter(|met| *met > 1) else { return Ok(None) };
        let reasons = vec![
            format!(
                "from the state that {} recorded at tick {tick} the turns lead to its checksums: {met} are met",
                peer.who()
            ),
            "so its steps are sound, and its state was changed between them".to_owned(),
        ];
        Ok(Some((self.blame(Cause::StateCorruption, reasons), Some(odd()?))))
    }
}

/// The first fields in which two states of one checksum differ.
fn fields<S: Inspect>(ours: &mut S, theirs: &S) -> String {
    let cells: Vec<_> = std::iter::once(None).chain(ours.tree().into_iter().map(|(cell, _)| Some(cell))).collect();
    let mut told = Vec::new();
    for cell in cells {
        let others = theirs.things(cell);
        for thing in ours.things(cell) {
            let Some(other) = others.iter().find(|other| other.part == thing.part) else { continue };
            let fields = differences(&thing.fields, &other.fields);
            told.extend(fields.iter().map(|field| format!("{} {field}", thing.kind)));
        }
        if told.len() >= 3 {
            break;
        }
    }
    told.truncate(3);
    told.join("; ")
}
