//! Who is blamed: the one place that decides it.
//!
//! Only the peer that was examined is, and only if no other explanation stands. None does if it
//! began in the state that the turns lead to, and nobody who did so came to the same checksum. What
//! a peer was told, its beginning or a turn, is never its own doing; what is found of one peer says
//! nothing of another that differs too.

use lockstone_sim::Tick;

use super::Case;
use crate::check::report::{Cause, Verdict};
use crate::inspect::Inspect;

impl<S: Inspect> Case<'_, S> {
    /// A verdict on the suspect, unless something else explains that it differs.
    pub(super) fn blame(&mut self, cause: Cause, mut reasons: Vec<String>) -> Verdict {
        let (blamed, excuse) = self.culprits();
        reasons.extend(excuse);
        Verdict { cause, others: Vec::new(), blamed, reasons }
    }

    /// Whose doing it is what was found of the suspect; if nobody's for sure, why.
    pub(super) fn culprits(&mut self) -> (Vec<usize>, Option<String>) {
        let excuse = self.excuse();
        (if excuse.is_none() { vec![self.suspect] } else { Vec::new() }, excuse)
    }

    fn excuse(&mut self) -> Option<String> {
        let who = self.suspect().who();
        if !self.began_well(self.suspect) {
            let start = self.suspect().start();
            let told = format!("{who} began at tick {start} with a state that whoever let it in may have made");
            return Some(format!("{told}: it is not shown to be the one that the turns lead to"));
        }
        let root = |n: usize| self.peers[n].roots.get(&self.tick);
        let alike: Vec<_> =
            self.odd.iter().copied().filter(|&n| n != self.suspect && root(n) == root(self.suspect)).collect();
        let other = alike.into_iter().find(|&n| self.began_well(n))?;
        let other = self.peers[other].who();
        Some(format!("{other} came to the same checksum at tick {}, so it is not the doing of {who} alone", self.tick))
    }

    /// Whether a peer has a state, before the difference or at its start, that is the one to which
    /// the turns lead. Only at tick 0 it has made it itself.
    fn began_well(&mut self, n: usize) -> bool {
        let (peer, start) = (&self.peers[n], self.peers[n].start());
        if start == Tick(0) {
            return true;
        }
        let known = self.played.start().max(start)..=self.tick;
        let mut states = peer.states.range(known).peekable();
        if states.peek().is_some() {
            return states
                .any(|(&tick, state)| state.unpack().is_ok_and(|bytes| bytes == self.played.at(tick).encoded()));
        }
        // What was compared since it began leaves nothing out.
        let mut met = peer.roots.range(start.max(self.played.start())..self.tick);
        S::CHECKSUM_IS_WHOLE && start < self.played.start() && met.any(|(tick, root)| self.played.root(*tick) == *root)
    }

    /// That nothing is said of those who differ too.
    pub(super) fn unexamined(&self, blamed: &[usize]) -> Option<String> {
        let others = self.odd.iter().filter(|n| **n != self.suspect && !blamed.contains(n));
        let names: Vec<_> = others.map(|n| self.peers[*n].who()).collect();
        (!names.is_empty()).then(|| format!("not examined, though what they have differs too: {}", names.join(", ")))
    }
}

/// A verdict on nobody: the game itself is at fault, or it cannot be told who is.
pub(super) fn blame_nobody(cause: Cause, reasons: Vec<String>) -> Verdict {
    Verdict { cause, others: Vec::new(), blamed: Vec::new(), reasons }
}

/// Those that have not what most have; none if nobody can tell.
pub(super) fn minority<T: PartialEq>(values: &[T]) -> Vec<usize> {
    let votes = |value: &T| values.iter().filter(|other| *other == value).count();
    let most = values.iter().map(votes).max().unwrap_or(0);
    if most * 2 <= values.len() {
        return Vec::new();
    }
    (0..values.len()).filter(|&n| votes(&values[n]) < most).collect()
}
