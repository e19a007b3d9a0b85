//! What the stands of those whose votes count come to, as one member knows them while it is open
//! who leads.
//!
//! It decides nothing and keeps nothing: it is made anew for each decision.

use core::cmp::Reverse;
use core::time::Duration;

use lockstone_sim::PlayerId;

use super::{Electorates, Members};
use crate::wire::{Epoch, Known, Stand, Vote};

pub struct Poll<'a> {
    members: &'a Members,
    own: Known,
    electorates: &'a Electorates,
    /// Everyone whose vote counts, ascending.
    voters: Vec<PlayerId>,
    /// The epoch in which votes are given.
    epoch: Epoch,
    now: Duration,
}

impl<'a> Poll<'a> {
    /// As a member hears it that knows so much itself.
    pub fn new(members: &'a Members, own: Known, electorates: &'a Electorates, now: Duration) -> Poll<'a> {
        Poll { members, own, electorates, voters: electorates.iter().collect(), epoch: members.next_epoch(), now }
    }

    /// Whether a quorum doubts the leader, or has voted in a later epoch.
    pub fn is_for_another(&self) -> bool {
        self.electorates.is_quorum(|player| self.doubts(player) || self.vouched(player))
    }

    /// Whether this member hears a quorum itself that wants another leader.
    pub fn is_heard(&self) -> bool {
        self.electorates.is_quorum(|player| self.doubts(player))
    }

    /// Whether others may still say what bears on the vote.
    pub fn may_learn_more(&self) -> bool {
        let gone = |player| self.members.outlook.lost.contains(&player) || self.members.deaf.contains(&player);
        let awaited = |player| !self.doubts(player) && !self.is_doubted(player) && !gone(player);
        self.voters().any(awaited) || !self.members.outlook.torn.is_empty()
    }

    /// The vote to give: as others have voted already, else for the best of those who doubt.
    pub fn vote(&self) -> Vote {
        let outlook = &self.members.outlook;
        let lost = |player| outlook.lost.contains(&player) || outlook.torn.contains(&player);
        let unfit = |player| lost(player) || !self.members.is_trusted(player);
        let given = self.given().filter(|stand| !unfit(stand.vote.leader)).map(|stand| stand.vote);
        let best = || self.voters().filter(|player| self.doubts(*player)).min_by_key(|player| self.rank(*player));
        let vote = |leader| Vote { epoch: self.epoch, leader };
        given.min_by_key(|vote| vote.leader).unwrap_or_else(|| vote(best().unwrap_or(self.members.me)))
    }

    /// The lower, the fitter to lead: of those who took turns of the newest leader, the one that
    /// hears the most of the others, and is heard by them, and of these the one that keeps time.
    fn rank(&self, player: PlayerId) -> impl Ord + use<> {
        let outlook = &self.members.outlook;
        let unheard = if self.is_sure(player) { self.own } else { Known::default() };
        let known = self.stand(player).map_or(unheard, |stand| stand.known);
        let others = self.voters().filter(|other| *other != player && self.concerns(*other));
        let without = others.filter(|other| self.is_deaf(player, *other) || self.is_deaf(*other, player)).count();
        let (is_lost, is_torn) = (outlook.lost.contains(&player), outlook.torn.contains(&player));
        (
            is_lost || !self.members.is_trusted(player),
            Reverse(known.epoch),
            is_torn,
            without,
            self.members.fitness(player),
            player,
        )
    }

    /// Whether whoever leads must hear that one: it doubts, or this member does not reach it, and
    /// another does. Who knows newer turns may say nothing of it as its vote counts no more.
    fn concerns(&self, player: PlayerId) -> bool {
        let reached = || self.stands().any(|stand| !stand.known.exceeds(&self.own) && !stand.deaf.contains(&player));
        let is_apart = self.members.outlook.apart.contains(&player);
        self.doubts(player) || is_apart && !self.is_doubted(player) && reached()
    }

    fn voters(&self) -> impl Iterator<Item = PlayerId> {
        self.voters.iter().copied()
    }

    /// What one said lately.
    fn stand(&self, player: PlayerId) -> Option<&Stand> {
        self.members.fresh(player, self.now)
    }

    fn stands(&self) -> impl Iterator<Item = &Stand> {
        self.voters().filter_map(|player| self.stand(player))
    }

    /// What those said who have voted in this epoch.
    fn given(&self) -> impl Iterator<Item = &Stand> {
        self.stands().filter(|stand| stand.vote.epoch == self.epoch)
    }

    /// Whether one doubts without having to say so.
    fn is_sure(&self, player: PlayerId) -> bool {
        player == self.members.me || self.members.outlook.unanimous
    }

    fn doubts(&self, player: PlayerId) -> bool {
        let wants_another = |stand: &Stand| stand.doubts.is_some() || stand.vote.epoch > self.members.vote.epoch;
        self.is_sure(player) || self.stand(player).is_some_and(wants_another)
    }

    /// Whether one that this member does not hear counts as doubting: who has voted heard that a
    /// quorum doubts.
    fn vouched(&self, player: PlayerId) -> bool {
        self.members.deaf.contains(&player) && self.given().any(|stand| !stand.deaf.contains(&player))
    }

    /// Whether one leads that is doubted.
    fn is_doubted(&self, player: PlayerId) -> bool {
        self.members.policy.suspicion.is_some() && player == self.members.vote.leader
    }

    fn is_deaf(&self, player: PlayerId, to: PlayerId) -> bool {
        match player == self.members.me {
            true => self.members.deaf.contains(&to),
            false => self.stand(player).is_some_and(|stand| stand.deaf.contains(&to)),
        }
    }
}
