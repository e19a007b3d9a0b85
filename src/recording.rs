//! Recordings: all that is needed to play a session again, bit for bit, and to see where it differs.
//!
//! ```text
//! party events ─► Writer ─► file ─► Recording::read ─► Playback ─► Simulation::step, checksums compared
//! ```
//!
//! A recording grows while it is played and is good up to the last flush, whatever happens to the program. [`format`](mod@format)
//! describes the bytes. Nothing here may trust a file: it is checked like a packet from a peer.

pub mod format;
mod playback;
mod reader;
mod writer;

pub use format::{Desync, Header};
pub use playback::{Mismatch, Playback, Replay, ReplayError, replay};
pub use reader::{Ending, Entry, Recording, RecordingError};
pub use writer::{FLUSH_TICKS, Writer};
