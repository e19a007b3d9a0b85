//! Events as they are written, one behind the other: what [`Writer`](super::Writer) and
//! [`Ring`](super::Ring) have in common.

use lockstone_sim::{CellId, Checksum, PlayerId, Simulation, Tick, Turn, codec};

use super::entry::Entry;
use super::format::{Desync, EMPTY_TICKS_MAX, Stored, StoredInput, TREE_CELLS_MAX, text};
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

    pub fn turn<S: Simulation>(&mut self, tick: Tick, turn: &Turn<S>) {
        self.pass_to::<S>(tick);
        let inputs = turn.inputs.iter().cloned().map(StoredInput::from).collect();
        self.push(&Stored::<S>::Turn(inputs));
        self.next = tick.next();
    }

    pub fn checksum<S: Simulation>(&mut self, tick: Tick, checksum: Checksum) {
        self.pass_to::<S>(tick);
        self.push(&Stored::<S>::Checksum(checksum.0.to_le_bytes()));
    }

    /// Goes on to a tree. Returns what of it is new, or nothing if it is too large.
    pub fn tree<S: Simulation>(&mut self, tick: Tick, parts: &[(CellId, Checksum)]) -> Option<TreeChange> {
        if parts.len() > TREE_CELLS_MAX {
            return None;
        }
        self.pass_to::<S>(tick);
        let tree = Tree::of(parts);
        let change = self.tree.change_to(&tree);
        self.tree = tree;
        Some(change)
    }

    pub fn name<S: Simulation>(&mut self, player: PlayerId, name: &str) {
        self.push(&Stored::<S>::Name(player, text(name)));
    }

    pub fn desync<S: Simulation>(&mut self, desync: Desync) {
        self.push(&Stored::<S>::Desync(desync));
    }

    pub fn end<S: Simulation>(&mut self, reason: &str) {
        self.push(&Stored::<S>::End(text(reason)));
    }

    /// Takes what was read from a recording; keyframes and reruns are none of it.
    pub fn entry<S: Simulation>(&mut self, entry: &Entry<S>) {
        match entry {
            Entry::Empty(ticks) => {
                self.push(&Stored::<S>::Empty(*ticks));
                self.next = self.next.plus(*ticks);
            }
            Entry::Turn(turn) => self.turn(self.next, turn),
            Entry::Checksum(checksum) => self.checksum::<S>(self.next, *checksum),
            Entry::Tree(change) => {
                self.tree.apply(change);
                self.push(&Stored::<S>::Tree(change.clone()));
            }
            Entry::Name(player, name) => self.push(&Stored::<S>::Name(*player, name.clone())),
            Entry::Desync(desync) => self.desync::<S>(*desync),
            Entry::Keyframe(_) | Entry::Rerun(_) => {}
        }
    }

    /// The ticks before `tick` that hold nothing.
    ///
    /// # Panics
    /// If it was passed already.
    pub fn pass_to<S: Simulation>(&mut self, tick: Tick) {
        assert!(tick >= self.next, "tick {tick} comes after tick {}", self.next);
        while self.next < tick {
            let empty = tick.since(self.next).min(EMPTY_TICKS_MAX);
            self.push(&Stored::<S>::Empty(empty));
            self.next = self.next.plus(empty);
        }
    }

    pub fn push<S: Simulation>(&mut self, event: &Stored<S>) {
        self.bytes.extend(codec::compact(event));
    }
}
