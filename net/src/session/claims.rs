//! The members that claim, while nobody leads, to know more turns than this one, and give none.
//!
//! Whoever is elected asks for what it lacks. A claim may be untrue, or what is claimed may never
//! come. So it is waited for a while, and not believed for ever: what a quorum knew, more than one
//! of those who vote know. It never decides who leads. Its loop is [`Claims::look`].

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::PlayerId;

use crate::wire::Known;

/// What fewer than a quorum can have known is waited for so long: so nobody loses it who is honest.
const WAITED: Duration = Duration::from_millis(1_500);
/// Of a member that has claimed more for so long, and does so still, nothing counts any more.
const BELIEVED: Duration = Duration::from_secs(3);
/// It counts again after so long, or as soon as somebody leads.
const IDLE: Duration = Duration::from_secs(12);

/// Since when each claims more, if not all the time.
#[derive(Default)]
pub struct Claims(BTreeMap<PlayerId, Duration>);

impl Claims {
    /// Nobody leads, and members say what they know. This one knows so much. Who gives it bit by
    /// bit, or takes a claim back for a moment, gains no time.
    pub fn look(&mut self, own: Known, said: impl Iterator<Item = (PlayerId, Known)>, now: Duration) {
        self.0.retain(|_, since| now < *since + BELIEVED + IDLE);
        for (player, _) in said.filter(|(_, known)| known.exceeds(&own)) {
            self.0.entry(player).or_insert(now);
        }
    }

    /// Somebody leads.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// Whether what a member claims was waited for.
    pub fn is_waited_for(&self, player: PlayerId, now: Duration) -> bool {
        self.0.get(&player).is_some_and(|since| now >= *since + WAITED)
    }

    /// Whether nobody waits any more for what a member claims.
    pub fn are_idle(&self, player: PlayerId, now: Duration) -> bool {
        self.0.get(&player).is_some_and(|since| now >= *since + BELIEVED)
    }
}
