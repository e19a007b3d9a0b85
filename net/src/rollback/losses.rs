//! Who has lost whom, as far as one player knows, and what follows from it: who may lead, and who
//! goes on together. It decides by what was said alone, and knows no time.

use core::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::PlayerId;

use crate::wire::{LeaveReason, Regroup};

/// Players that are lost, and why.
pub(super) type Lost = BTreeMap<PlayerId, LeaveReason>;

pub(super) struct Losses {
    me: PlayerId,
    /// Who is lost for this player.
    pub ours: Lost,
    /// What each of the others said last.
    pub said: BTreeMap<PlayerId, Regroup>,
}

impl Losses {
    pub fn new(me: PlayerId) -> Losses {
        Losses { me, ours: Lost::new(), said: BTreeMap::new() }
    }

    /// Takes what another player says. One that says less than before was overtaken.
    pub fn take(&mut self, from: PlayerId, theirs: &Regroup) {
        let newer =
            |before: &Regroup| before.stand.newest() <= theirs.stand.newest() && before.lost.len() <= theirs.lost.len();
        if self.said.get(&from).is_none_or(newer) {
            self.said.insert(from, theirs.clone());
        }
    }

    /// Why a player has lost another, if it has.
    fn why(&self, player: PlayerId, other: PlayerId) -> Option<LeaveReason> {
        if player == self.me {
            return self.ours.get(&other).copied();
        }
        let lost = &self.said.get(&player)?.lost;
        lost.iter().find(|(lost, _)| *lost == other).map(|(_, reason)| *reason)
    }

    fn has_lost(&self, player: PlayerId, other: PlayerId) -> bool {
        self.why(player, other).is_some()
    }

    /// Players one of whom has lost the other, while the other hears it, and a third hears the
    /// other. One that is dead hears nobody: others are about to lose it, too. Of two that have
    /// lost each other one must go, whoever errs.
    pub fn torn(&self, players: &[PlayerId]) -> BTreeSet<PlayerId> {
        let speaks = |player| player == self.me || self.said.contains_key(&player);
        let hears = |player, other| player != other && speaks(player) && !self.has_lost(player, other);
        let heard = |player| players.iter().any(|third| hears(*third, player));
        let torn = |a, b| self.has_lost(a, b) && hears(b, a) && heard(b);
        let pairs = players.iter().flat_map(|a| players.iter().map(move |b| (*a, *b)));
        pairs.filter(|(a, b)| torn(*a, *b)).flat_map(|(a, b)| [a, b]).collect()
    }

    /// Of this player and some others the most that hear each other and are a quorum, if any. Of as
    /// many those of whom the fewest are in doubt: who has lost another that hears it. But if the
    /// game had `stood_still`, as it does if a player truly lacks another's inputs, then the other.
    pub fn group(
        &self,
        others: &[PlayerId],
        stood_still: bool,
        is_quorum: impl Fn(&BTreeSet<PlayerId>) -> bool,
    ) -> Option<BTreeSet<PlayerId>> {
        let hear = |a, b| !self.has_lost(a, b) && !self.has_lost(b, a);
        let in_doubt = |a, b| {
            let (by, of) = if stood_still { (b, a) } else { (a, b) };
            self.has_lost(by, of) && !self.has_lost(of, by)
        };
        let groups = (0..1_usize << others.len()).map(|chosen| {
            let chosen = others.iter().enumerate().filter(move |(n, _)| chosen >> n & 1 == 1);
            chosen.map(|(_, player)| *player).chain([self.me]).collect::<BTreeSet<_>>()
        });
        let all_hear = |group: &BTreeSet<PlayerId>| group.iter().all(|a| group.iter().all(|b| hear(*a, *b)));
        let doubts = |group: &BTreeSet<PlayerId>| {
            group.iter().map(|a| others.iter().filter(|b| in_doubt(*a, **b)).count()).sum::<usize>()
        };
        groups
            .filter(|group| all_hear(group) && is_quorum(group))
            .min_by_key(|group| (Reverse(group.len()), doubts(group), group.clone()))
    }

    /// Why a player is gone for those who are left.
    pub fn reason(&self, left: &BTreeSet<PlayerId>, gone: PlayerId) -> LeaveReason {
        let between = |player: &PlayerId| self.why(*player, gone).or_else(|| self.why(gone, *player));
        let first = self.why(self.me, gone).or_else(|| left.iter().find_map(between));
        first.unwrap_or(LeaveReason::Silent)
    }
}
