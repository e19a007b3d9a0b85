//! The random table that all peers share, and its file.
//!
//! A draw is addressed, not sequenced: (table, stream, tick, n) gives the value, whatever was drawn
//! before or elsewhere. The words of the table are keys, never the draws themselves: read raw,
//! neighbouring streams would overlap.
//!
//! ```text
//! h   = mix64(stream * phi ^ tick << 32)
//! key = words[h & 8191] ^ h
//! draw(stream, tick, n) = mix64(key + n * phi) >> 32
//! phi = 0x9e3779b97f4a7c15, all modulo 2^64
//! ```
//!
//! # The file
//!
//! 65,600 bytes, little-endian:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..4 | `LKST` |
//! | 4..6 | version, 1 |
//! | 6 | log2 of the number of words, 13 |
//! | 7 | bytes a word, 8 |
//! | 8..40 | the seed |
//! | 40..56 | xxh3-128 of bytes 64.. |
//! | 56..64 | xxh3-64 of bytes 0..56 |
//! | 64.. | the words |
//!
//! The words are the key stream of ChaCha20 with the seed as its key and nonce and counter 0, so
//! that `openssl enc -chacha20` makes the same from zeros.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::dice::{self, Dice, PHI, mix64};
use crate::ids::Tick;

const MAGIC: [u8; 4] = *b"LKST";
const VERSION: u16 = 1;
const LOG2_WORDS: u8 = 13;
const WORDS: usize = 1 << LOG2_WORDS;
const WORD_BYTES: u8 = 8;
const HEADER_BYTES: usize = 64;

/// The length of a table's file in bytes.
pub const TABLE_BYTES: usize = HEADER_BYTES + WORDS * WORD_BYTES as usize;

/// Why bytes are not a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Not even a header.
    #[error("the table has {len} bytes, which is too short for its header of {HEADER_BYTES}")]
    TooShort {
        /// How many bytes there are.
        len: usize,
    },
    /// Some other kind of file.
    #[error("this is not a random table: it does not begin as one")]
    WrongMagic,
    /// Written by another version of the engine.
    #[error("the table is of version {version}, and only version {VERSION} is supported")]
    UnsupportedVersion {
        /// The version it says it is of.
        version: u16,
    },
    /// The header was changed.
    #[error("the table's header is damaged: its digest does not match")]
    HeaderDigest,
    /// A sound header, of a table of another size.
    #[error(
        "the table is laid out as 2^{log2_words} words of {word_bytes} bytes, not as 2^{LOG2_WORDS} of {WORD_BYTES}"
    )]
    WrongLayout {
        /// Its words, as a power of 2.
        log2_words: u8,
        /// Its bytes a word.
        word_bytes: u8,
    },
    /// The file was cut off, or something was appended.
    #[error("the table has {len} bytes instead of {TABLE_BYTES}")]
    WrongLength {
        /// How many bytes there are.
        len: usize,
    },
    /// A word was changed.
    #[error("the table's words are damaged: their digest does not match the header's")]
    PayloadDigest,
}

/// 8,192 random words of 64 bits. Cheap to clone; immutable.
#[derive(Clone)]
pub struct Table {
    words: Arc<[u64; WORDS]>,
    seed: [u8; 32],
    digest: u128,
}

impl Table {
    /// The table of a seed: always the same.
    pub fn generate(seed: [u8; 32]) -> Table {
        let mut key_stream = ChaCha20Rng::from_seed(seed);
        Table::new(seed, (0..WORDS).map(|_| key_stream.next_u64()))
    }

    /// Reads a table's file.
    ///
    /// # Errors
    /// [`TableError`] if any byte is not as [`to_bytes`](Table::to_bytes) wrote it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Table, TableError> {
        let (header, payload) =
            bytes.split_first_chunk::<HEADER_BYTES>().ok_or(TableError::TooShort { len: bytes.len() })?;
        let (seed, digest) = read_header(header)?;
        if bytes.len() != TABLE_BYTES {
            return Err(TableError::WrongLength { len: bytes.len() });
        }
        if xxh3_128(payload) != digest {
            return Err(TableError::PayloadDigest);
        }
        let (words, _) = payload.as_chunks();
        Ok(Table::new(seed, words.iter().map(|&word| u64::from_le_bytes(word))))
    }

    /// The table's file, [`TABLE_BYTES`] long.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(TABLE_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([LOG2_WORDS, WORD_BYTES]);
        bytes.extend(self.seed);
        bytes.extend(self.digest.to_le_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes.extend(payload(&self.words[..]));
        bytes
    }

    /// The xxh3-128 of the words: equal tables have equal digests. Peers compare it before tick 0.
    #[inline]
    pub fn digest(&self) -> u128 {
        self.digest
    }

    /// The seed that the table says it is made from. [`generate`](Table::generate) shows
    /// whether that is true.
    pub fn seed(&self) -> [u8; 32] {
        self.seed
    }

    /// Draw `n` of a stream at a tick: 32 bits, all equally likely.
    ///
    /// Any number serves as a stream: an entity's id, a cell's. Two uses that must not see the same
    /// draws need two streams.
    ///
    /// Stream and tick have 96 bits, the key 64: streams that differ only in their upper 32 bits
    /// meet each other's draws again, at ticks about 2^32 / d apart or more, where d is the largest
    /// difference of those upper halves. A stream made with [`mix64`] does not.
    #[inline]
    pub fn draw(&self, stream: u64, tick: Tick, n: u32) -> u32 {
        dice::draw(self.key(stream, tick), n)
    }

    /// All draws of a stream at a tick, from n = 0 on.
    #[inline]
    pub fn dice(&self, stream: u64, tick: Tick) -> Dice<'static> {
        Dice::new(self.key(stream, tick))
    }

    #[inline]
    fn key(&self, stream: u64, tick: Tick) -> u64 {
        let h = mix64(stream.wrapping_mul(PHI) ^ (u64::from(tick.0) << 32));
        self.words[h as usize & (WORDS - 1)] ^ h
    }

    /// `words` must have [`WORDS`] items.
    fn new(seed: [u8; 32], words: impl Iterator<Item = u64>) -> Table {
        let words: Arc<[u64]> = words.collect();
        let bytes: Vec<u8> = payload(&words).collect();
        let words = words.try_into().expect("a table is always made of so many words");
        Table { words, seed, digest: xxh3_128(&bytes) }
    }
}

/// The seed and the payload's digest of a sound header.
fn read_header(header: &[u8; HEADER_BYTES]) -> Result<([u8; 32], u128), TableError> {
    // The engine's other files begin with the same four letters, and three more.
    if header[..4] != MAGIC || header[4..7].iter().all(u8::is_ascii_uppercase) {
        return Err(TableError::WrongMagic);
    }
    let version = u16::from_le_bytes(field(header, 4));
    if version != VERSION {
        return Err(TableError::UnsupportedVersion { version });
    }
    if u64::from_le_bytes(field(header, 56)) != xxh3_64(&header[..56]) {
        return Err(TableError::HeaderDigest);
    }
    let [log2_words, word_bytes] = field(header, 6);
    if (log2_words, word_bytes) != (LOG2_WORDS, WORD_BYTES) {
        return Err(TableError::WrongLayout { log2_words, word_bytes });
    }
    Ok((field(header, 8), u128::from_le_bytes(field(header, 40))))
}

/// `N` bytes of the header from `at` on.
fn field<const N: usize>(header: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    core::array::from_fn(|i| header[at + i])
}

fn payload(words: &[u64]) -> impl Iterator<Item = u8> {
    words.iter().flat_map(|word| word.to_le_bytes())
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.seed == other.seed && self.words == other.words
    }
}

impl Eq for Table {}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table {:032x}", self.digest)
    }
}
