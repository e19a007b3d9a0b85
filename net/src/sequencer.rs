//! Closes ticks: orders what peers send into turns, and keeps closed turns until every
//! replica has them.
//!
//! ```text
//! commands, join, leave, request ─► Sequencer ─ close ─► turn ─► Feed ─► Turns packets
//!                                                                 (one for each replica)
//! ```
//!
//! Nothing here waits for anyone: what comes late enters a later turn. Nothing here knows what
//! commands mean. A relay uses the parts: what waits, a [history](History) of frames for each
//! replica, and its feed.

mod feed;
mod history;
mod waiting;

pub use feed::Feed;
pub use history::History;
pub(crate) use waiting::{Capacity, Waiting};

use lockstone_sim::Tick;

use crate::wire::{Encoded, RawInput, RawTurn};

/// Orders inputs into turns.
#[derive(Debug, Default)]
pub struct Sequencer {
    /// What enters the next turns.
    pub waiting: Waiting,
    /// The closed turns.
    pub history: History<RawTurn>,
}

/// What became of the commands in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// New ones, that will enter a turn.
    pub new: u64,
    /// Taken before.
    pub repeated: u64,
    /// New, but not commands: dropped.
    pub malformed: u64,
    /// Not taken now: too many wait already, or earlier ones are missing. Their sender
    /// offers them again.
    pub refused: u64,
}

impl Sequencer {
    /// Closes the open tick: what is said of the electorate, leaves, joins, requests, then commands
    /// by player and number.
    pub fn close(&mut self, electorate: Vec<RawInput>) {
        let inputs: Vec<_> = electorate.into_iter().chain(self.waiting.take(Capacity::PARTY)).collect();
        if inputs.is_empty() {
            return self.history.close_empty();
        }
        let turn = RawTurn::try_from(inputs).expect("the limits of each kind of input add up to a turn's");
        let encoded = Encoded::turn(&turn);
        self.history.close(turn, encoded);
    }

    /// The inputs of a closed tick that is not forgotten; none if the turn is empty.
    pub fn turn(&self, tick: Tick) -> &[RawInput] {
        self.history.turn(tick).map_or(&[], |turn| turn)
    }
}

#[cfg(test)]
mod tests;
