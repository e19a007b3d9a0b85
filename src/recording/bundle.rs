//! A bundle: the recordings of all peers whose worlds were found to differ, in one file that a
//! player can send in.
//!
//! ```text
//! file = "LKSTBND" version:u8  digest:u64 of the rest, little-endian  content, compact
//! ```
//!
//! The recordings come from peers and are opaque here: each is checked when it is read, like any
//! other.

use lockstone_net::limits::{BUNDLE_BYTES_MAX, KEYFRAME_TICKS, PLAYERS_MAX};
use lockstone_sim::codec;
use lockstone_sim::{PlayerId, Simulation};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::Recording;

/// What a bundle begins with.
pub const MAGIC: [u8; 7] = *b"LKSTBND";
/// The version of this format.
pub const VERSION: u8 = 1;
/// The most ticks of a recording in a bundle: what a [`Ring`](super::Ring) holds, and as
/// much as one keyframe may be late. The checker plays them all, so a recording that claims
/// more is not played.
pub const TICKS_MAX: u32 = 3 * KEYFRAME_TICKS;
/// Magic, version and digest.
const HEAD_BYTES: usize = 16;

/// All peers' evidence of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// The player that put it together.
    pub player: PlayerId,
    /// The recordings' files, the own one first.
    pub recordings: Vec<Vec<u8>>,
    /// Whose recordings did not arrive.
    pub missing: Vec<PlayerId>,
}

/// Why a bundle cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// Some other kind of file.
    #[error("this is not a bundle: it does not begin with LKSTBND")]
    WrongMagic,
    /// Written by another version of the engine.
    #[error("the bundle is of version {version}, and only version {VERSION} is supported")]
    UnsupportedVersion {
        /// The version it says it is of.
        version: u8,
    },
    /// Larger than any.
    #[error("the bundle has {len} bytes, where at most {max} are allowed", max = BUNDLE_BYTES_MAX)]
    TooLong {
        /// How many bytes there are.
        len: usize,
    },
    /// Bytes were changed, or are missing.
    #[error("the bundle is damaged, or breaks off")]
    Damaged,
}

impl Bundle {
    /// The bytes of its file.
    pub fn write(&self) -> Vec<u8> {
        let content = codec::compact(self);
        [MAGIC.as_slice(), &[VERSION], &xxh3_64(&content).to_le_bytes(), &content].concat()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`BundleError`] if anything is wrong with any byte of the bundle itself.
    pub fn read(bytes: &[u8]) -> Result<Bundle, BundleError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(BundleError::WrongMagic);
        }
        if bytes.len() > BUNDLE_BYTES_MAX {
            return Err(BundleError::TooLong { len: bytes.len() });
        }
        let (head, content) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(BundleError::Damaged)?;
        let [_, _, _, _, _, _, _, version, digest @ ..] = *head;
        if version != VERSION {
            return Err(BundleError::UnsupportedVersion { version });
        }
        if xxh3_64(content).to_le_bytes() != digest {
            return Err(BundleError::Damaged);
        }
        let bundle: Bundle = codec::read(content, BUNDLE_BYTES_MAX).map_err(|_| BundleError::Damaged)?;
        let peers = bundle.recordings.len() + bundle.missing.len();
        if peers > PLAYERS_MAX { Err(BundleError::Damaged) } else { Ok(bundle) }
    }

    /// Its recordings of a game, and what is to be told: whose did not arrive, and which cannot be
    /// read or claim too much. Those are left out.
    pub fn open<S: Simulation>(&self, game: &str) -> (Vec<Recording<S>>, Vec<String>) {
        let absent = |player| format!("The recording of {player} did not arrive.");
        let mut told: Vec<_> = self.missing.iter().map(absent).collect();
        let mut recordings = Vec::new();
        for (n, bytes) in self.recordings.iter().enumerate() {
            match Recording::read_of(game, bytes) {
                Ok(recording) if recording.end().since(recording.header.start) > TICKS_MAX => {
                    told.push(format!("Recording {} is left out: it claims more than {TICKS_MAX} ticks.", n + 1));
                }
                Ok(recording) => recordings.push(recording),
                Err(error) => told.push(format!("Recording {} is left out: {error}.", n + 1)),
            }
        }
        (recordings, told)
    }
}
