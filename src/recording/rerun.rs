//! What came out when a peer played its own recording again, in its own program, around a
//! difference.
//!
//! It is what nobody else can find out: what the rules of that build do, in which line. It says
//! nothing that counts against what was recorded, for its writer can make up what it likes.

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::journal::Journal;
use lockstone_sim::{Checksum, Tick};
use serde::{Deserialize, Serialize};

use super::packed::Packed;

/// The most ticks of a rerun.
pub const RERUN_TICKS_MAX: usize = 32;
/// The largest rerun, encoded and before compression.
pub const RERUN_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// A peer's own recording, played again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rerun {
    /// A digest of what no state holds: see
    /// [`Inspect::start_data`](crate::inspect::Inspect::start_data).
    pub start_data: u64,
    /// The tick of the recorded state that it was played from.
    pub from: Tick,
    /// The tick of the first checksum, and of the first journal.
    pub since: Tick,
    /// The checksums before the turn of `since`, and of the ticks after it.
    pub roots: Vec<Checksum>,
    /// What happened in the turn of `since`, and in those after it. None are left out in between,
    /// but there may be fewer than checksums.
    pub journals: Vec<Journal>,
}

/// A [`Rerun`] as it is recorded: encoded and compressed. It is read when it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedRerun(pub(super) Packed);

impl Rerun {
    /// The checksum that came out before the turn of a tick.
    pub fn root(&self, tick: Tick) -> Option<Checksum> {
        self.roots.get(self.place(tick)?).copied()
    }

    /// What happened in the turn of a tick.
    pub fn journal(&self, tick: Tick) -> Option<&Journal> {
        self.journals.get(self.place(tick)?)
    }

    /// The ticks that it has checksums of.
    pub fn ticks(&self) -> impl Iterator<Item = (Tick, Checksum)> {
        (self.since.0..=u32::MAX).map(Tick).zip(self.roots.iter().copied())
    }

    fn place(&self, tick: Tick) -> Option<usize> {
        tick.0.checked_sub(self.since.0).map(|place| place as usize)
    }

    /// Packs it, with as many of its journals as fit into so many bytes. `None` if it has no room
    /// even without them.
    pub fn pack(mut self, bytes_max: usize) -> Option<PackedRerun> {
        loop {
            let bytes = codec::compact(&self);
            let packed = (bytes.len() <= RERUN_BYTES_MAX).then(|| Packed::of(&bytes));
            if let Some(packed) = packed.filter(|packed| packed.bytes().len() <= bytes_max) {
                return Some(PackedRerun(packed));
            }
            self.journals.pop()?;
        }
    }
}

impl PackedRerun {
    /// What a file holds; it may be anything.
    pub fn of_bytes(bytes: &[u8]) -> PackedRerun {
        PackedRerun(Packed::read(bytes))
    }

    /// The compressed bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`CodecError`] if it is none, has more than [`RERUN_BYTES_MAX`] bytes or [`RERUN_TICKS_MAX`]
    /// ticks, or its journals are not of its ticks.
    pub fn unpack(&self) -> Result<Rerun, CodecError> {
        let bytes = self.0.unpack_within(RERUN_BYTES_MAX)?;
        let rerun: Rerun = codec::read(&bytes, RERUN_BYTES_MAX)?;
        let len = rerun.roots.len();
        if len > RERUN_TICKS_MAX || rerun.journals.len() > len || rerun.from > rerun.since {
            return Err(CodecError::Malformed("a rerun of too many ticks, or of none of its own"));
        }
        let ticks = (rerun.since.0..=u32::MAX).map(Tick);
        if !rerun.journals.iter().map(|journal| journal.tick).eq(ticks.take(rerun.journals.len())) {
            return Err(CodecError::Malformed("journals of other ticks"));
        }
        Ok(rerun)
    }
}
