//! Which of the recorded states count, and at which of them a play begins.
//!
//! A state is the word of the peer that recorded it. It must never stand for what everyone played
//! before its checksum is the one that was recorded then, and the turns lead on from it to the
//! checksums on which all agree. Nor may its checksum vouch for it, which is quickly forged: only
//! others can who recorded the same bytes, or a play from an earlier state. One that cannot be read
//! is told, and all goes on without it. The loop is in `compare.rs`.

use lockstone_sim::{Simulation, Tick};
use serde::Serialize;

use super::compare::{CheckError, Checker};
use crate::inspect::Inspect;
use crate::recording::Timeline;

/// A state that a peer recorded, and that nothing was played from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unusable {
    /// Before the turn of which tick it was recorded.
    pub tick: Tick,
    /// Why.
    pub why: String,
}

impl<S: Inspect> Checker<'_, S> {
    /// Takes out the states that cannot be read, and those that are not what their own peer
    /// recorded of them. For each peer, what was taken out.
    ///
    /// # Errors
    /// [`CheckError::State`] if none is left of any peer.
    pub(super) fn leave_out_unusable_states(
        &self,
        peers: &mut [Timeline<S>],
    ) -> Result<Vec<Vec<Unusable>>, CheckError> {
        let (mut unreadable, mut other) = (Vec::new(), Vec::new());
        for (n, peer) in peers.iter().enumerate() {
            for &tick in peer.states.keys() {
                match peer.load(tick, self.build) {
                    Err(cause) => unreadable.push((n, tick, cause)),
                    Ok(mut state) => {
                        let recorded = peer.roots.get(&tick);
                        other.extend(recorded.filter(|root| **root != state.checksum()).map(|_| (n, tick)));
                    }
                }
            }
        }
        let states: usize = peers.iter().map(|peer| peer.states.len()).sum();
        if states == unreadable.len() + other.len() {
            // No state has its checksum: that is not one peer's doing.
            other.clear();
        }
        if let Some((n, tick, cause)) = unreadable.first().filter(|_| states == unreadable.len()) {
            return Err(CheckError::State { who: peers[*n].who(), tick: *tick, cause: cause.clone() });
        }
        let mut unusable = vec![Vec::new(); peers.len()];
        let other = other.into_iter().map(|(n, tick)| (n, tick, "its checksum is not the recorded one".to_owned()));
        let unreadable =
            unreadable.into_iter().map(|(n, tick, cause)| (n, tick, format!("it cannot be read: {cause}")));
        for (n, tick, why) in unreadable.chain(other) {
            peers[n].states.remove(&tick);
            unusable[n].push(Unusable { tick, why });
        }
        Ok(unusable)
    }
}

/// Where everyone's play may begin, the best place first, and whose state it is: where the
/// recordings come to differ, at the newest state before that which several recorded alike, and
/// nobody otherwise, so that little is played; else at the first state of all, and of any other
/// peer.
pub(super) fn beginnings<S: Simulation>(
    peers: &[Timeline<S>],
    split: Option<(Option<Tick>, Tick)>,
) -> Vec<(usize, Tick)> {
    let first = |(n, peer): (usize, &Timeline<S>)| Some((*peer.states.keys().next()?, n));
    let mut firsts: Vec<(Tick, usize)> = peers.iter().enumerate().filter_map(first).collect();
    firsts.sort_unstable();
    firsts.dedup_by(|(tick, n), (same, m)| tick == same && peers[*n].states[tick] == peers[*m].states[tick]);
    let start = firsts[0].0;
    // A joiner's start is the founder's state as it was serialised, which may be what is wrong.
    let joined: Vec<Tick> = peers.iter().map(Timeline::start).filter(|&tick| tick > start).collect();
    let is_agreed = |tick: Tick| {
        let recorded: Vec<_> = peers.iter().filter_map(|peer| peer.states.get(&tick)).collect();
        recorded.len() > 1 && recorded.iter().all(|state| *state == recorded[0])
    };
    let newest = split.and_then(|(agreed, _)| agreed).and_then(|agreed| {
        let states = peers.iter().enumerate().flat_map(|(n, peer)| peer.states.keys().map(move |&tick| (tick, n)));
        let known = |tick: Tick| (start.next()..=agreed).contains(&tick) && !joined.contains(&tick) && is_agreed(tick);
        states.filter(|(tick, _)| known(*tick)).max_by_key(|(tick, _)| *tick)
    });
    newest.into_iter().chain(firsts).map(|(tick, n)| (n, tick)).collect()
}
