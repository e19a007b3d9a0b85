//! A serialised state, compressed. It is unpacked when it is asked for, so that a file cannot claim
//! more memory than it has bytes.

use core::fmt;

use lockstone_sim::codec::CodecError;
use serde::{Deserialize, Serialize};

use super::format::SNAPSHOT_BYTES_MAX;

/// How hard it is compressed, 0 to 10: as fast as can be, because a keyframe is packed while
/// the game goes on.
const LEVEL: u8 = 1;

/// A serialised state, compressed by zlib.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Compresses a serialised state.
    pub fn of(snapshot: &[u8]) -> Packed {
        Packed(miniz_oxide::deflate::compress_to_vec_zlib(snapshot, LEVEL))
    }

    /// What a file holds; it may be anything.
    pub(super) fn read(bytes: &[u8]) -> Packed {
        Packed(bytes.to_vec())
    }

    /// The compressed bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The serialised state.
    ///
    /// # Errors
    /// [`CodecError`] if it is damaged, or larger than [`SNAPSHOT_BYTES_MAX`].
    pub fn unpack(&self) -> Result<Vec<u8>, CodecError> {
        self.unpack_within(SNAPSHOT_BYTES_MAX)
    }

    pub(super) fn unpack_within(&self, bytes_max: usize) -> Result<Vec<u8>, CodecError> {
        miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&self.0, bytes_max)
            .map_err(|_| CodecError::Malformed("what was compressed does not unpack"))
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, packed", self.0.len())
    }
}
