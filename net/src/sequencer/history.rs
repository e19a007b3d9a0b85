//! Closed turns, kept until every replica that they are for has them.
//!
//! A party has one history of the turns of all; a relay has one of frames for each replica.

use std::collections::BTreeMap;

use lockstone_sim::Tick;

use crate::limits::*;
use crate::wire::{List, Turns};

/// Closed turns of kind `T`. Those that are empty are not stored.
#[derive(Debug)]
pub struct History<T> {
    open: Tick,
    oldest: Tick,
    turns: BTreeMap<Tick, Closed<T>>,
    bytes: usize,
}

#[derive(Debug)]
struct Closed<T> {
    turn: T,
    encoded_bytes: usize,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        History::starting_at(Tick(0))
    }
}

impl<T> History<T> {
    /// Nothing is closed before tick `first`, which is open.
    pub fn starting_at(first: Tick) -> History<T> {
        History { open: first, oldest: first, turns: BTreeMap::new(), bytes: 0 }
    }

    /// The first tick that is not closed.
    pub fn open(&self) -> Tick {
        self.open
    }

    /// The oldest tick whose turn is still known.
    pub fn oldest(&self) -> Tick {
        self.oldest
    }

    /// What the turns that are not forgotten take on the wire, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Closes the open tick with an empty turn.
    pub fn close_empty(&mut self) {
        self.open = self.open.next();
    }

    /// The turn of a closed tick that is not forgotten; `None` if it is empty.
    pub fn turn(&self, tick: Tick) -> Option<&T> {
        self.turns.get(&tick).map(|closed| &closed.turn)
    }

    /// Forgets the turns before a tick: nobody will ask for them.
    pub fn forget(&mut self, before: Tick) {
        self.oldest = self.oldest.max(before);
        while let Some(turn) = self.turns.first_entry().filter(|turn| *turn.key() < before) {
            self.bytes -= turn.remove().encoded_bytes;
        }
    }
}

impl<T: Clone> History<T> {
    /// Closes the open tick with a turn that takes so many bytes on the wire.
    pub fn close(&mut self, turn: T, encoded_bytes: usize) {
        self.bytes += encoded_bytes;
        self.turns.insert(self.open, Closed { turn, encoded_bytes });
        self.open = self.open.next();
    }

    /// Closed turns from a tick on, as many as fit into `bytes_max`, and at least one.
    pub(crate) fn cut(&self, from: Tick, bytes_max: usize) -> Turns<T> {
        let mut ticks = self.open.since(from).min(TICKS_PER_PACKET_MAX);
        let mut turns = List::default();
        let mut bytes = 0;
        for (tick, closed) in self.turns.range(from..from.plus(ticks)) {
            bytes += closed.encoded_bytes + 5;
            let over = bytes > bytes_max && !turns.is_empty();
            if over || turns.push((tick.since(from), closed.turn.clone())).is_err() {
                ticks = tick.since(from);
                break;
            }
        }
        Turns { from, ticks, turns, ..Turns::default() }
    }
}
