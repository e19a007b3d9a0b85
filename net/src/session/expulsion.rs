//! Who wants whom out of a party: a quorum of the members decides. Who was put out so is in the
//! [`Ledger`](super::Ledger).
//!
//! It never decides by itself: it counts votes.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::PlayerId;

use crate::wire::RawInput;

/// So long does a vote count.
const VOTE_LASTS: Duration = Duration::from_secs(60);

/// What a member knows of it.
#[derive(Default)]
pub struct Expulsion {
    /// When a member last said that it wants another out, by the other and it.
    votes: BTreeMap<(PlayerId, PlayerId), Duration>,
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
    pub fn closed(&mut self, turn: &[RawInput]) {
        for input in turn {
            if let RawInput::Leave(player, _) = input {
                self.votes.retain(|(of, by), _| of != player && by != player);
            }
        }
    }
}
