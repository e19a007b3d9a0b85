//! Events as they are written, one behind the other: what [`Writer`](super::Writer) and
//! [`Ring`](super::Ring) have in common.

use lockstone_sim::{CellId, Checksum, Tick, codec};
use serde::Serialize;

use super::entry::{EntryOf, Plain};
use super::format::{EMPTY_TICKS_MAX, EVENT_END, TREE_CELLS_MAX, text};
use super::tree::{Tree, TreeChange};

/// Encodes events, and knows at which tick they stand.
pub(super) struct Events {
    /// Those that were not taken yet.
    pub bytes: Vec<u8>,
    /// The tick of the next turn.
    pub next: Tick,
    /// The last tree that was told.
    pub tree: Tree,
}

impl Events {
    pub fn starting_at(next: Tick) -> Events {
        Events { bytes: Vec::new(), next, tree: Tree::default() }
    }

    /// What comes next.
    pub fn push<T: Serialize>(&mut self, entry: &EntryOf<T>) {
        codec::append(&mut self.bytes, entry);
        self.next = self.next.plus(entry.ticks());
    }

    /// What happened before the turn of a tick, or in it.
    pub fn at<T: Serialize>(&mut self, tick: Tick, entry: &EntryOf<T>) {
        self.pass_to(tick);
        self.push(entry);
    }

    /// Goes on to a tree. Returns what of it is new, or nothing if it is too large.
    pub fn tree(&mut self, tick: Tick, parts: &[(CellId, Checksum)]) -> Option<TreeChange> {
        if parts.len() > TREE_CELLS_MAX {
            return None;
        }
        self.pass_to(tick);
        let tree = Tree::of(parts);
        let change = self.tree.change_to(&tree);
        self.tree = tree;
        Some(change)
    }

    pub fn end(&mut self, reason: &str) {
        self.bytes.push(EVENT_END);
        codec::append(&mut self.bytes, &text(reason));
    }

    /// The ticks before `tick` that hold nothing.
    ///
    /// # Panics
    /// If it was passed already.
    pub fn pass_to(&mut self, tick: Tick) {
        assert!(tick >= self.next, "tick {tick} comes after tick {}", self.next);
        while self.next < tick {
            self.push(&Plain::Empty(tick.since(self.next).min(EMPTY_TICKS_MAX)));
        }
    }
}
