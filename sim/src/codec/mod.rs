//! Bytes of values: the only place that names `bincode`.
//!
//! Two encodings. [`compact`] has variable-length integers, for the wire, recordings and serialised snapshots; [`Fixed`] has fixed ones,
//! for checksums, where speed counts and size does not. Neither depends on the machine: little-endian, `usize` as 64 bits.
//!
//! Decoding never trusts: it needs a bound, reserves no more than the input can justify, and leaves no byte unread.

mod fixed;

pub use fixed::{EncodeError, Fixed};

use alloc::vec::Vec;
use bincode::config;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// More bytes than this kind of value may have.
    #[error("{len} bytes, where at most {max} are allowed")]
    TooLong {
        /// How many there were.
        len: usize,
        /// How many are allowed.
        max: usize,
    },
    /// The bytes end early, hold a value out of range, or go on after the value.
    #[error("the bytes are damaged or of another kind: {0}")]
    Malformed(&'static str),
}

/// Encodes a value compactly.
///
/// # Panics
/// If the value's `Serialize` fails, which for plain data it never does.
pub fn compact<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, config::standard()).expect("plain data always encodes")
}

/// Decodes what [`compact`] wrote; the value must fill `bytes` exactly, and `bytes` must not be longer than `max`.
///
/// # Errors
/// [`CodecError`] if they do not.
pub fn read<T: DeserializeOwned>(bytes: &[u8], max: usize) -> Result<T, CodecError> {
    if bytes.len() > max {
        return Err(CodecError::TooLong { len: bytes.len(), max });
    }
    match read_first(bytes)? {
        (value, []) => Ok(value),
        _ => Err(CodecError::Malformed("bytes left over")),
    }
}

/// Decodes the first of several values that stand one behind the other. Returns it and the bytes behind it.
///
/// # Errors
/// [`CodecError`] if the bytes do not begin with such a value.
pub fn read_first<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), CodecError> {
    let (value, used) = bincode::serde::decode_from_slice(bytes, config::standard())
        .map_err(|_| CodecError::Malformed("no such value"))?;
    Ok((value, &bytes[used..]))
}
