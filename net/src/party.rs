//! One peer's part in a party: a session in which one peer orders the commands of all into turns.
//!
//! Its loop is that of every [`Session`](crate::Session). The room's first peer founds the session
//! and closes ticks; everyone else says hello and joins, at any time. When who closes ticks leaves
//! or is lost, the members elect another. What a party plays and tells is always confirmed. Only
//! what it shows is predicted, if it is [asked](crate::Session::look_ahead) to look ahead.

mod config;
mod sequencer;
mod whole;

pub use config::{PartyConfig, PartySettings};

use lockstone_sim::Simulation;

use crate::session::{Continuation, Peer};

/// A peer's part in a party.
pub type Party<S> = Peer<S, PartyConfig>;

impl<S: Simulation> Party<S> {
    /// The same peer, which founds no new session if it is the first in the room, but goes on with
    /// one that ended. If it is not the first, it joins as any peer does.
    #[must_use]
    pub fn continuing(self, continuation: Continuation<S>) -> Self {
        self.with_past(continuation)
    }
}
