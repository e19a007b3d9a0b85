//! Bytes of values: the only place that names `bincode`.
//!
//! Two encodings. [`compact`] has variable-length integers, for the wire, recordings and serialised
//! snapshots; [`Fixed`] has fixed ones, for checksums, where speed counts and size does not.
//! Neither depends on the machine: little-endian, `usize` as 64 bits.
//!
//! Decoding never trusts: it needs a bound, reserves no more than the input can justify, and
//! leaves no byte unread.

mod fields;
mod fixed;
mod unfit;

pub use fields::{Field, FieldDifference, FieldKind, differences, fields};
pub use fixed::Fixed;
pub use unfit::{Unfit, unfit};

use alloc::vec::Vec;
use bincode::config;
use bincode::enc::write::Writer;
use bincode::error::{DecodeError, EncodeError};
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

/// Encodes a value as [`compact`] does, behind other bytes.
///
/// # Panics
/// As [`compact`].
pub fn append<T: Serialize + ?Sized>(bytes: &mut Vec<u8>, value: &T) {
    bincode::serde::encode_into_writer(value, Behind(bytes), config::standard()).expect("plain data always encodes");
}

struct Behind<'a>(&'a mut Vec<u8>);

impl Writer for Behind<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// The longest value that is decoded at all, whatever the caller allows.
pub const DECODED_BYTES_MAX: usize = 64 << 20;

/// Decodes what [`compact`] wrote; the value must fill `bytes` exactly, and `bytes` must not be
/// longer than `max`.
///
/// # Errors
/// [`CodecError`] if they do not.
pub fn read<T: DeserializeOwned>(bytes: &[u8], max: usize) -> Result<T, CodecError> {
    let max = max.min(DECODED_BYTES_MAX);
    if bytes.len() > max {
        return Err(CodecError::TooLong { len: bytes.len(), max });
    }
    match read_first(bytes)? {
        (value, []) => Ok(value),
        _ => Err(CodecError::Malformed("bytes left over")),
    }
}

/// Decodes what [`Fixed`] wrote; the value must fill `bytes` exactly.
///
/// # Errors
/// [`CodecError`] if they do not hold such a value.
pub fn read_fixed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    // The limits are for the same reason as those of `read_first`.
    let read = match bytes.len() {
        0..=0xff => decode_fixed::<T, 0x1000>(bytes),
        0x100..=0xffff => decode_fixed::<T, 0x10_0000>(bytes),
        _ => decode_fixed::<T, DECODED_BYTES_MAX>(bytes),
    };
    match read {
        Ok((value, used)) if used == bytes.len() => Ok(value),
        Ok(_) => Err(CodecError::Malformed("bytes left over")),
        Err(_) => Err(CodecError::Malformed("no such value")),
    }
}

/// Decodes the first of several values that stand one behind the other. Returns it and the
/// bytes behind it.
///
/// # Errors
/// [`CodecError`] if the bytes do not begin with such a value.
pub fn read_first<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), CodecError> {
    // A string or byte buffer is reserved at the length that it claims, before its bytes are looked
    // at: the limit keeps that within a constant factor of the input. An integer of one byte counts
    // as up to 16 against it, so the factor cannot be 1.
    let (value, used) = match bytes.len() {
        0..=0xff => decode::<T, 0x1000>(bytes),
        0x100..=0xfff => decode::<T, 0x1_0000>(bytes),
        0x1000..=0xf_ffff => decode::<T, 0x100_0000>(bytes),
        0x10_0000..=0xff_ffff => decode::<T, 0x1000_0000>(bytes),
        _ => decode::<T, { 16 * DECODED_BYTES_MAX }>(bytes),
    }
    .map_err(|_| CodecError::Malformed("no such value"))?;
    Ok((value, &bytes[used..]))
}

fn decode<T: DeserializeOwned, const RESERVED_BYTES_MAX: usize>(bytes: &[u8]) -> Result<(T, usize), DecodeError> {
    bincode::serde::decode_from_slice(bytes, config::standard().with_limit::<RESERVED_BYTES_MAX>())
}

fn decode_fixed<T: DeserializeOwned, const RESERVED_BYTES_MAX: usize>(bytes: &[u8]) -> Result<(T, usize), DecodeError> {
    let fixed = config::standard().with_fixed_int_encoding().with_limit::<RESERVED_BYTES_MAX>();
    bincode::serde::decode_from_slice(bytes, fixed)
}
