//! Recordings: all that is needed to play a session again, bit for bit, and to see
//! where it differs.
//!
//! ```text
//! session events ─┬─► Writer ─► file ──┬─► Recording::read ─► Playback ─► Simulation::step
//!                 └─► Ring ─► memory ──┘   │                    └─► checksums compared
//!                                          └─► Film ─► any tick, to be looked at
//! ```
//!
//! A recording holds every turn and the checksum of every tick; now and then the whole state (a
//! keyframe), so that a fault in the state itself is on record too; if asked, of which parts of the
//! state the checksum is the root (trees). Once worlds differ it may hold what came out when its
//! recorder played it again (a rerun). Of a whole session it also holds what a peer needs to go on
//! with it (ledgers). It grows while it is played and is good up to the last
//! flush, whatever happens to the program. [`format`](mod@format) describes the bytes. Nothing here
//! may trust a file: it is checked like a packet from a peer.

pub mod bundle;
mod continuing;
mod entry;
mod events;
mod film;
pub mod format;
mod packed;
mod playback;
mod reader;
mod reference;
mod rerun;
mod rerunner;
mod ring;
mod timeline;
pub(crate) mod tree;
mod writer;

pub use bundle::{Bundle, BundleError};
pub use continuing::{ContinueError, Recorded, UnfitError, go_on};
pub use entry::{Entry, EntryOf};
pub use film::Film;
pub use format::{Build, Desync, Header};
pub use packed::Packed;
pub use playback::{Mismatch, Playback, Replay, ReplayError, replay, replay_with_progress};
pub use reader::{Ending, Recording, RecordingError};
pub use reference::Reference;
pub use rerun::{PackedRerun, RERUN_BYTES_MAX, RERUN_TICKS_MAX, Rerun};
pub use rerunner::Rerunner;
pub use ring::{RING_BYTES_MAX, Ring};
pub use timeline::Timeline;
pub use tree::{PartSum, Tree, TreeChange};
#[cfg(feature = "checker")]
pub(crate) use tree::{differing, merge};
pub use writer::{FLUSH_TICKS, Writer};
