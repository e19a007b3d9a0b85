//! What is made of a draw's 32 bits: which method of [`Dice`](crate::dice::Dice) took it, and
//! with what arguments.

use core::fmt;
use serde::{Deserialize, Serialize};

use crate::fx::Fx;

/// Which of the methods of [`Dice`](crate::dice::Dice) took a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Roll {
    /// `next_u32`.
    Bits,
    /// `below`.
    Below(u32),
    /// `range`, from and to.
    Range(i32, i32),
    /// `chance`, in how many cases of how many.
    Chance(u32, u32),
    /// `unit`.
    Unit,
    /// `angle`.
    Angle,
    /// `pick`, of how many items.
    Pick(u64),
    /// `weighted`, and the weights' sum.
    Weighted(u64),
    /// `shuffle`, of how many items still to be placed.
    Shuffle(u64),
}

impl Roll {
    pub(super) fn same_kind(&self, other: &Roll) -> bool {
        core::mem::discriminant(self) == core::mem::discriminant(other)
    }

    /// The roll and what came of it. One of the rare draws that are rejected shows what would
    /// have come of it.
    pub(super) fn write(self, f: &mut fmt::Formatter<'_>, value: u32) -> fmt::Result {
        let below = |n: u64| (u64::from(value) * n) >> 32;
        match self {
            Roll::Bits => write!(f, "draws {value:08x}"),
            Roll::Below(n) => write!(f, "draws {} below {n}", below(n.into())),
            Roll::Range(from, to) => {
                let count = if from > to { 0 } else { u64::from(to.abs_diff(from)) + 1 };
                write!(f, "draws {} of {from}..={to}", i64::from(from) + below(count) as i64)
            }
            Roll::Chance(num, den) => {
                let hit = den > 0 && below(den.into()) < u64::from(num);
                write!(f, "draws {} at {num} in {den}", if hit { "yes" } else { "no" })
            }
            Roll::Unit => write!(f, "draws {} below 1", Fx::from_bits((value >> 20) as i32)),
            Roll::Angle => write!(f, "draws angle {} of 65536", value >> 16),
            Roll::Pick(of) => write_below(f, "picks item", value, of),
            Roll::Weighted(of) => write_below(f, "picks weight", value, of),
            Roll::Shuffle(of) => write_below(f, "shuffles item", value, of),
        }
    }
}

/// What needs more than 32 bits takes two draws, of which one alone tells little.
fn write_below(f: &mut fmt::Formatter<'_>, what: &str, value: u32, of: u64) -> fmt::Result {
    match u32::try_from(of) {
        Ok(_) => write!(f, "{what} {} of {of}", (u64::from(value) * of) >> 32),
        Err(_) => write!(f, "{what} {value:08x} of {of}"),
    }
}
