//! What two rectangles share, and what only one of them has, in strips of a row.

use super::block::{BLOCK_LOG2, same};
use crate::grid::{CellId, CellRect};

/// Cells side by side in one row, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub y: u16,
    pub low: u16,
    pub high: u16,
}

impl Strip {
    /// The parts of it that lie in one block each.
    pub fn pieces(self) -> impl Iterator<Item = Strip> {
        let Strip { y, low, high } = self;
        (low >> BLOCK_LOG2..=high >> BLOCK_LOG2).map(move |block| {
            let first = block << BLOCK_LOG2;
            let piece = Strip { y, low: low.max(first), high: high.min(first | ((1 << BLOCK_LOG2) - 1)) };
            debug_assert!(same(CellId::new(piece.low, y), CellId::new(piece.high, y)), "a piece is of one block");
            piece
        })
    }
}

/// A rectangle's rows.
pub(super) fn rows(rect: CellRect) -> impl Iterator<Item = Strip> {
    let CellRect { low, high } = rect;
    (low.y..=high.y).map(move |y| Strip { y, low: low.x, high: high.x })
}

/// The cells of `rect` that are not of `other`, row by row. Rows that `other` has whole
/// are not visited.
pub(super) fn outside(rect: CellRect, other: CellRect, mut each: impl FnMut(Strip)) {
    let both = rect.intersection(other);
    if both == CellRect::EMPTY {
        return rows(rect).for_each(each);
    }
    let (low, high) = (rect.low.x, rect.high.x);
    (rect.low.y..both.low.y).for_each(|y| each(Strip { y, low, high }));
    if both.low.x > low || both.high.x < high {
        for y in both.low.y..=both.high.y {
            if both.low.x > low {
                each(Strip { y, low, high: both.low.x - 1 });
            }
            if both.high.x < high {
                each(Strip { y, low: both.high.x + 1, high });
            }
        }
    }
    (both.high.y..rect.high.y).for_each(|y| each(Strip { y: y + 1, low, high }));
}
