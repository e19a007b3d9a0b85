//! Suspicions about the state: that not all of it is in the checksum, or in a snapshot, or that it
//! was written to between the steps.

use super::rerun::Again;
use super::{Case, Found, Shown, Solution, blame_nobody};
use crate::check::compare::CheckError;
use crate::check::locate::{locate, locate_in};
use crate::check::report::Cause;
use crate::inspect::Inspect;

/// What was written to at once, and soon afterwards, is in so many parts of a state at most.
const WRITTEN_PARTS_MAX: usize = 2;
/// So many checksums in a row show that the steps were sound, however much differs.
const SOUND_CHECKSUMS: u32 = 4;
/// So many fields that the checksum leaves out are named.
const FIELDS_MAX: usize = 3;

impl<'c, S: Inspect> Case<'c, S> {
    /// Going back to a state and playing on leads elsewhere than having come from the start:
    /// something that matters was not brought back.
    pub(super) fn is_not_brought_back(&mut self) -> Found<'c, S> {
        let Some(good) = self.agreed.map(|_| self.last_good()) else { return Ok(None) };
        let Some(recorded) = self.suspect().roots.get(&good) else { return Ok(None) };
        if self.played.root(good) == *recorded {
            return Ok(None);
        }
        if let Some(solution) = self.lost_something_in_a_snapshot()? {
            return Ok(Some(solution));
        }
        let reason =
            format!("gone back to an earlier state, the same turns no longer lead to what they led to at tick {good}");
        Ok(Some(Solution::new(blame_nobody(Cause::SnapshotField, vec![reason]), None)))
    }

    /// A state that was recorded, with the same checksum as ours, and is another. If the checksum
    /// leaves nothing out, it was made to have it.
    pub(super) fn has_an_uncovered_field(&mut self) -> Found<'c, S> {
        let (peer, known) = (self.suspect(), self.played.start()..=self.tick);
        for &tick in peer.states.keys().filter(|tick| known.contains(*tick)) {
            let ours = self.played.at(tick);
            let bytes = ours.encoded();
            let mut theirs = self.checker.load(peer, tick)?;
            let same_bytes = peer.states[&tick].unpack().is_ok_and(|theirs| theirs == bytes);
            if same_bytes || ours.checksum() != theirs.checksum() {
                continue;
            }
            let same = format!(
                "at tick {tick} the recorded state of {} has the same checksum as ours, and is another",
                peer.who()
            );
            let verdict = if S::CHECKSUM_IS_WHOLE {
                let made = "the checksum leaves nothing out: no play comes to that, the state was made to have it";
                self.blame(Cause::StateCorruption, vec![same, made.to_owned()])
            } else {
                let what = format!("the checksum does not cover what differs: {}", fields(ours, &theirs));
                blame_nobody(Cause::ChecksumField, vec![same, what])
            };
            return Ok(Some(Solution::new(verdict, Some(Shown::Odd(self.replay(theirs, &peer.turns))))));
        }
        Ok(None)
    }

    /// The state as it is read from bytes, in the place of the living one: where the peer joined,
    /// or where all was still well.
    pub(super) fn lost_something_in_a_snapshot(&mut self) -> Found<'c, S> {
        let (peer, good) = (self.suspect(), self.last_good());
        // If it has no checksum that was met, it may have gone wrong as it joined.
        let (tick, joined) = (peer.start(), self.played.start() < peer.start());
        let is_read = peer.states.contains_key(&tick) && tick <= self.agreed.unwrap_or(self.tick);
        if joined && is_read {
            let reason = format!("{} joined at tick {tick} from a serialised state", peer.who());
            let load = |case: &mut Self| case.checker.load(peer, tick);
            // One that is another already has lost nothing. All was played anew if it fits.
            if let Some(solution) = self.snapshot_solution(load, reason)?
                && load(self)?.checksum() == self.played.root(tick)
            {
                return Ok(Some(solution));
            }
        }
        let reason = format!("the state of tick {good}, serialised and read again, goes another way");
        self.snapshot_solution(|case| case.reread(good), reason)
    }

    fn snapshot_solution(&mut self, read: impl Fn(&mut Self) -> Result<S, CheckError>, reason: String) -> Found<'c, S> {
        let odd = |case: &mut Self| {
            let read = read(case)?;
            Ok(case.replay(read, case.played.turns))
        };
        let Some((mut odd, met)) = self.witnessed(odd, |_| ())? else { return Ok(None) };
        odd.at(self.last_good());
        // What was gone back has lost the same: only a play that never was shows where they part.
        let start = self.played.start();
        let again = self.reread(start)?;
        self.played = self.replay(again, self.played.turns);
        let verdict = blame_nobody(Cause::SnapshotField, vec![reason, self.met(met)]);
        Ok(Some(Solution::new(verdict, Some(Shown::Odd(odd))).followed(met)))
    }

    /// A recorded state of the odd peer from which the turns lead on to all its checksums since:
    /// its steps are sound, and its state was not. A step that seldom goes another way may have
    /// made it as well, so nobody is blamed.
    pub(super) fn was_written_from_outside(&mut self) -> Found<'c, S> {
        let peer = self.suspect();
        let Some((&tick, _)) = peer.states.range(self.tick..).next() else { return Ok(None) };
        if matches!(self.rerun(), Some((_, Again::AsRecorded(_)))) {
            return Ok(None);
        }
        let odd = |case: &mut Self| Ok(case.replay(case.checker.load(peer, tick)?, &peer.turns));
        let Some((mut odd, met)) = self.witnessed(odd, |_| ())? else { return Ok(None) };
        // The checksum of the state itself proves nothing of the steps. If there are few others, a
        // write is told from steps that go another way again and again by how little it changed.
        if met.checksums < SOUND_CHECKSUMS && locate(self.played.at(tick), odd.at(tick)).spots_count > WRITTEN_PARTS_MAX
        {
            return Ok(None);
        }
        let reasons = vec![
            format!(
                "from the state that {} recorded at tick {tick} the turns lead to its checksums: {} are met",
                peer.who(),
                met.checksums
            ),
            "so its steps are sound since, and its state was changed between them, or by a step that seldom goes another way".to_owned(),
        ];
        let mut verdict = blame_nobody(Cause::StateCorruption, reasons);
        verdict.others.push(Cause::Nondeterminism);
        // So may the step of another program.
        verdict.others.extend(self.other_program().map(|_| Cause::Build));
        Ok(Some(Solution::new(verdict, Some(Shown::Odd(odd))).followed(met)))
    }
}

/// The first fields in which two states of one checksum differ.
fn fields<S: Inspect>(ours: &mut S, theirs: &S) -> String {
    let cells = ours.tree().into_iter().map(|(cell, _)| cell).collect();
    let spots = locate_in(ours, theirs, cells).spots;
    let fields = spots.iter().flat_map(|spot| spot.fields.iter().map(move |field| format!("{} {field}", spot.kind)));
    fields.take(FIELDS_MAX).collect::<Vec<_>>().join("; ")
}
