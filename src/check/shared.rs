//! Recordings of parts of one world, compared on the cells that they share.
//!
//! ```text
//! each recording played alone ─► does it meet its own checksums?
//!     ├─► no: the odd one; its own recording says why (verdict.rs)
//!     └─► all do: tick by tick the cells that two of them have
//!           └─► first difference ─► what one was told or given otherwise (cause.rs)
//! ```
//!
//! What is compared: cells that both simulate, and what one was given of a cell that the other
//! simulates. A whole recording is the reference of all others. Each recording is played anyway, so
//! the checksums of its cells are had whether it holds trees or not.
//!
//! A peer that meets its own checksums is never blamed. Its steps are sound, and what it was sent
//! may have been lost on the way.

mod cause;

use std::collections::BTreeMap;
use std::slice;

use lockstone_sim::Tick;

use super::compare::{AFTER_TICKS, CheckError, Checker, compare};
use super::locate::locate_in;
use super::moment::{Common, Moment};
use super::parting::{SPREAD_TICKS, explain, inputs_before, spread};
use super::replayer::Replayer;
use super::report::{Finding, PeerReport};
use super::verdict::Case;
use crate::inspect::Inspect;
use crate::panics::caught;
use crate::recording::Timeline;
use cause::Question;

/// The first tick at which two recordings differ in what they share.
struct Difference {
    tick: Tick,
    /// The newest tick before at which these two were compared, and equal.
    agreed: Option<Tick>,
    /// The one that counts, if any does; and the other.
    pair: [usize; 2],
    /// The recordings that are not as the others are; none if that cannot be said.
    odd: Vec<usize>,
    common: Common,
}

impl<S: Inspect> Checker<'_, S> {
    /// Checks recordings of which some are of a part of the world: how many cells were compared,
    /// and what differs.
    pub(super) fn check_shared(
        &self,
        peers: &[Timeline<S>],
        reports: &mut [PeerReport],
    ) -> Result<(Option<u64>, Option<Finding>), CheckError> {
        let mut players = Vec::new();
        for (peer, report) in peers.iter().zip(&mut *reports) {
            let mut player = Replayer::new(self.load(peer, peer.start())?, &peer.turns).watched(self.watch);
            compare(slice::from_ref(peer), slice::from_mut(report), &mut player, peer.end);
            players.push(player);
        }
        let unmet = |n: usize| Some((reports[n].differs?.tick, n));
        if let Some((tick, n)) = (0..peers.len()).filter_map(unmet).min() {
            let case = Case {
                checker: self,
                peers,
                played: players.swap_remove(n),
                tick,
                agreed: reports[n].agreed,
                odd: vec![n],
                suspect: n,
                healthy: reports.iter().position(PeerReport::is_healthy).map(|n| &peers[n]),
                odd_seed: None,
                panicked: Vec::new(),
            };
            return Ok((None, Some(explain(case, peers[n].end.min(tick.plus(AFTER_TICKS)))?)));
        }
        let (shared, difference) = first_difference(peers, &mut players);
        Ok((Some(shared), difference.map(|difference| self.explain_difference(peers, &mut players, difference))))
    }

    fn explain_difference(
        &self,
        peers: &[Timeline<S>],
        players: &mut [Replayer<'_, S>],
        difference: Difference,
    ) -> Finding {
        let Difference { tick, agreed, pair, odd, common } = difference;
        let players = players.get_disjoint_mut(pair).expect("a pair is two of the players");
        let mut question = Question { checker: self, peers: pair.map(|n| &peers[n]), players, tick, common: &common };
        let verdict = caught(|| question.verdict()).unwrap_or_else(|panicked| {
            question.renew();
            question.unasked(&panicked)
        });
        let [ours, theirs] = question.players;
        let location = Some(locate_in(ours.at(tick), theirs.at(tick), common.cells()));
        let until = tick.plus(SPREAD_TICKS).min(peers[pair[0]].end).min(peers[pair[1]].end);
        let cells = |ours: &mut S, theirs: &mut S| Moment::of(ours).common(&Moment::of(theirs)).cells();
        let spread = caught(|| spread(ours, theirs, tick, until, cells)).unwrap_or_default();
        let inputs = inputs_before(theirs.turns, tick);
        Finding { agreed, odd, between: Some(pair), location, spread, inputs, ..Finding::new(tick, verdict) }
    }
}

/// Compares all recordings tick by tick until two of them differ. Also how many cells were
/// compared.
fn first_difference<S: Inspect>(peers: &[Timeline<S>], players: &mut [Replayer<'_, S>]) -> (u64, Option<Difference>) {
    let start = peers.iter().map(Timeline::start).min().unwrap_or_default();
    let end = peers.iter().map(|peer| peer.end).max().unwrap_or_default();
    let (mut shared, mut agreed) = (0, BTreeMap::new());
    for tick in (start.0..=end.0).map(Tick) {
        let there: Vec<usize> =
            (0..peers.len()).filter(|&n| (peers[n].start()..=peers[n].end).contains(&tick)).collect();
        if there.len() < 2 {
            continue;
        }
        let moments: Vec<_> = there.iter().map(|&n| (n, Moment::of(players[n].at(tick)))).collect();
        let mut differing: Vec<([usize; 2], Common)> = Vec::new();
        for [ours, theirs] in pairs(&moments) {
            let (pair, common) = ([ours.0, theirs.0], ours.1.common(&theirs.1));
            shared += common.compared;
            if common.differs() {
                differing.push((pair, common));
            } else if common.compared > 0 {
                agreed.insert(pair, tick);
            }
        }
        let has_whole = moments.iter().any(|(_, moment)| moment.is_whole);
        // What both simulate says more than what one was given.
        differing.sort_by_key(|(_, common)| common.core.is_empty());
        let odd = odd(&differing.iter().map(|(pair, _)| *pair).collect::<Vec<_>>(), has_whole);
        if let Some((mut pair, common)) = differing.into_iter().next() {
            if odd == [pair[0]] {
                pair.reverse();
            }
            let agreed = agreed.get(&pair).or_else(|| agreed.get(&[pair[1], pair[0]])).copied();
            return (shared, Some(Difference { tick, agreed, pair, odd, common }));
        }
    }
    (shared, None)
}

/// Who is compared with whom: all with a whole one if there is one, else each with each.
fn pairs(moments: &[(usize, Moment)]) -> Vec<[&(usize, Moment); 2]> {
    match moments.iter().find(|(_, moment)| moment.is_whole) {
        Some(whole) => moments.iter().filter(|other| other.0 != whole.0).map(|other| [whole, other]).collect(),
        None => {
            let later = |n: usize| moments[n + 1..].iter().map(move |theirs| [&moments[n], theirs]);
            (0..moments.len()).flat_map(later).collect()
        }
    }
}

/// Who of those that differ: they all from a whole one; else one that several others differ from,
/// who do not differ from each other.
fn odd(differing: &[[usize; 2]], has_whole: bool) -> Vec<usize> {
    if has_whole {
        return differing.iter().map(|pair| pair[1]).collect();
    }
    let in_all = |peer: &usize| differing.len() > 1 && differing.iter().all(|pair| pair.contains(peer));
    differing.iter().flatten().find(|peer| in_all(peer)).map(|peer| vec![*peer]).unwrap_or_default()
}
