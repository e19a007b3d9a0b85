//! The queue of both searches: a ring of buckets, one per cost, as in Dial's algorithm (1969).
//!
//! It serves searches whose keys never fall and never run ahead of the last popped one by
//! [`BUCKETS`] or more. Tiles of equal key leave in the reverse order of entry. That order is part
//! of what a path is: changing it changes paths.

use alloc::vec::Vec;

use super::tiles::Tile;

/// How many keys are told apart. An A* step raises the estimate by at most two diagonal steps: one
/// taken, one to make good.
const BUCKETS: usize = 256;
const WORDS: usize = BUCKETS / 64;
const _: () = assert!(2 * super::DIAGONAL_COST < BUCKETS as u32);

/// Ends a bucket's list.
const LAST: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    x: u16,
    y: u16,
    below: u32,
}

/// A priority queue of tiles by a key that never falls.
pub(super) struct BucketRing {
    entries: Vec<Entry>,
    /// The newest entry of each bucket; meaningless while the bucket's bit in `filled` is unset.
    tops: [u32; BUCKETS],
    filled: [u64; WORDS],
    /// The key of the last popped tile.
    key: u32,
}

impl BucketRing {
    pub(super) const fn new() -> Self {
        BucketRing { entries: Vec::new(), tops: [LAST; BUCKETS], filled: [0; WORDS], key: 0 }
    }

    /// Drops all tiles; the next keys start from `key`.
    pub(super) fn clear(&mut self, key: u32) {
        self.entries.clear();
        self.filled = [0; WORDS];
        self.key = key;
    }

    /// Adds a tile whose column and row are within 0 .. 65,536.
    pub(super) fn push(&mut self, key: u32, tile: Tile) {
        debug_assert!(key.wrapping_sub(self.key) < BUCKETS as u32);
        let bucket = key as usize % BUCKETS;
        let (word, bit) = (bucket / 64, 1 << (bucket % 64));
        let below = if self.filled[word] & bit == 0 { LAST } else { self.tops[bucket] };
        self.tops[bucket] = self.entries.len() as u32;
        self.filled[word] |= bit;
        self.entries.push(Entry { x: tile.x as u16, y: tile.y as u16, below });
    }

    /// Takes out the newest tile of the lowest key.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, Tile)> {
        let bucket = self.lowest_bucket()?;
        self.key += (bucket as u32).wrapping_sub(self.key) % BUCKETS as u32;
        let entry = self.entries[self.tops[bucket] as usize];
        self.tops[bucket] = entry.below;
        self.filled[bucket / 64] &= !(u64::from(entry.below == LAST) << (bucket % 64));
        Some((self.key, Tile::new(entry.x.into(), entry.y.into())))
    }

    /// The first filled bucket from the current key on, around the ring.
    fn lowest_bucket(&self) -> Option<usize> {
        let start = self.key as usize % BUCKETS;
        let ahead = self.filled[start / 64] & (!0 << (start % 64));
        if ahead != 0 {
            return Some(start / 64 * 64 + ahead.trailing_zeros() as usize);
        }
        // The last word looked at is the first one again: what lies behind the start is a
        // whole turn ahead.
        (1..=WORDS).map(|n| (start / 64 + n) % WORDS).find_map(|word| match self.filled[word] {
            0 => None,
            bits => Some(word * 64 + bits.trailing_zeros() as usize),
        })
    }
}
