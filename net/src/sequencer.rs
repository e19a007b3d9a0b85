//! Closes ticks: orders what peers send into turns, and keeps closed turns until every
//! replica has them.
//!
//! ```text
//! commands, joins, leaves ─► Waiting ─┐
//! the simulation's wishes ─► Requests ┴─ close ─► History ─► Feed ─► Turns packets
//!                                                             (one for each replica)
//! ```
//!
//! Nothing here waits for anyone: what comes late enters a later turn. Nothing here knows what
//! commands mean. A party's sequencer has one [history](History) of turns, a relay one of frames
//! for each replica.

mod feed;
mod history;
mod requests;
mod waiting;

pub use feed::Feed;
pub use history::History;
pub(crate) use requests::{Request, Requests};
pub(crate) use waiting::{Arrival, Capacity, Waiting};

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

#[cfg(test)]
mod tests;
