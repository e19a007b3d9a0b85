//! Who wants whom out of a party: a quorum of the members decides, and who was put out so is not
//! let in again by the same key.
//!
//! It never decides by itself: it counts votes.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::PlayerId;

use super::Ledger;
use crate::wire::{LeaveReason, PublicKey, RawInput};

/// So long does a vote count.
const VOTE_LASTS: Duration = Duration::from_secs(60);
/// So many of those who were put out are remembered: the newest.
const OUTLAWED_MAX: usize = 64;

/// What a member knows of it.
#[derive(Default)]
pub struct Expulsion {
    /// When a member last said that it wants another out, by the other and it.
    votes: BTreeMap<(PlayerId, PlayerId), Duration>,
    outlawed: VecDeque<PublicKey>,
}

impl Expulsion {
    /// A member wants another out. Returns whether that is news.
    pub fn vote(&mut self, by: PlayerId, player: PlayerId, now: Duration) -> bool {
        let news = !self.wants(by, player, now);
        self.votes.insert((player, by), now);
        news
    }

    /// Whether a member wants another out.
    pub fn wants(&self, by: PlayerId, player: PlayerId, now: Duration) -> bool {
        self.votes.get(&(player, by)).is_some_and(|at| now < *at + VOTE_LASTS)
    }

    /// How many want one out.
    pub fn votes(&self, player: PlayerId, now: Duration) -> usize {
        self.votes.iter().filter(|((of, _), at)| *of == player && now < **at + VOTE_LASTS).count()
    }

    /// A turn is about to be closed, in which players may leave.
    pub fn closed(&mut self, turn: &[RawInput], ledger: &Ledger) {
        for input in turn {
            let RawInput::Leave(player, reason) = input else { continue };
            self.votes.retain(|(of, by), _| of != player && by != player);
            let key = ledger.members.get(player).and_then(|member| member.key);
            if let (Some(key), LeaveReason::VotedOut | LeaveReason::Distrusted) = (key, reason) {
                self.outlawed.push_back(key);
                let kept = self.outlawed.len().min(OUTLAWED_MAX);
                self.outlawed.drain(..self.outlawed.len() - kept);
            }
        }
    }

    /// Whether who has a key was put out.
    pub fn is_outlawed(&self, key: Option<PublicKey>) -> bool {
        key.is_some_and(|key| self.outlawed.contains(&key))
    }
}
