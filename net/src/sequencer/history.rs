//! Closed turns, kept until every replica that they are for has them.
//!
//! A party has one history of the turns of all; a relay has one of frames for each replica.

use std::collections::VecDeque;

use lockstone_sim::Tick;

use crate::limits::*;
use crate::wire::{Encoded, List, RawInput, RawTurn, Turns};

/// Closed turns, encoded, and what is kept of each beside: those that are empty are not stored.
#[derive(Debug, Default)]
pub struct History<T> {
    open: Tick,
    oldest: Tick,
    /// Oldest first.
    turns: VecDeque<Closed<T>>,
    bytes: usize,
}

#[derive(Debug)]
struct Closed<T> {
    tick: Tick,
    turn: T,
    encoded: Encoded,
}

impl<T> Closed<T> {
    /// What it takes in a packet at most, with its tick.
    fn packed_bytes(&self) -> usize {
        self.encoded.size() + 5
    }
}

impl<T> History<T> {
    /// Nothing is closed before tick `first`, which is open.
    pub fn starting_at(first: Tick) -> History<T> {
        History { open: first, oldest: first, turns: VecDeque::new(), bytes: 0 }
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

    /// Whether the bytes of the turns from a tick on leave nothing of them out of a
    /// [`cut`](History::cut).
    pub(crate) fn fits(&self, from: Tick, bytes_max: usize) -> bool {
        let mut bytes = 0;
        self.since(from).enumerate().all(|(n, closed)| {
            bytes += closed.packed_bytes();
            n == 0 || bytes <= bytes_max
        })
    }

    /// Closes the open tick with an empty turn.
    pub fn close_empty(&mut self) {
        self.open = self.open.next();
    }

    /// The turn of a closed tick that is not forgotten; `None` if it is empty.
    pub fn turn(&self, tick: Tick) -> Option<&T> {
        self.since(tick).next().filter(|closed| closed.tick == tick).map(|closed| &closed.turn)
    }

    /// The turns from a tick on.
    fn since(&self, from: Tick) -> impl Iterator<Item = &Closed<T>> {
        self.turns.range(self.turns.partition_point(|closed| closed.tick < from)..)
    }

    /// Forgets the turns before a tick: nobody will ask for them.
    pub fn forget(&mut self, before: Tick) {
        self.oldest = self.oldest.max(before);
        let forgotten = self.turns.partition_point(|closed| closed.tick < before);
        self.bytes -= self.turns.drain(..forgotten).map(|closed| closed.encoded.size()).sum::<usize>();
    }

    /// Closes the open tick.
    pub fn close(&mut self, turn: T, encoded: Encoded) {
        self.bytes += encoded.size();
        self.turns.push_back(Closed { tick: self.open, turn, encoded });
        self.open = self.open.next();
    }

    /// Closed turns from a tick on, as many as fit into `bytes_max`, and at least one.
    pub(crate) fn cut(&self, from: Tick, bytes_max: usize) -> Turns<Encoded> {
        let mut ticks = self.open.since(from).min(TICKS_PER_PACKET_MAX);
        let mut turns = List::default();
        let mut bytes = 0;
        let end = from.plus(ticks);
        for closed in self.since(from).take_while(|closed| closed.tick < end) {
            bytes += closed.packed_bytes();
            let over = bytes > bytes_max && !turns.is_empty();
            let after = closed.tick.since(from);
            if over || turns.push((after, closed.encoded.clone())).is_err() {
                ticks = after;
                break;
            }
        }
        Turns { from, ticks, turns, ..Turns::default() }
    }
}

impl History<RawTurn> {
    /// Closes the open tick with inputs, which must be no more than a turn takes.
    pub fn close_with(&mut self, inputs: &[RawInput]) {
        if inputs.is_empty() {
            return self.close_empty();
        }
        let turn = RawTurn::try_from(inputs.to_vec()).expect("the limits of each kind of input add up to a turn's");
        let encoded = Encoded::turn(&turn);
        self.close(turn, encoded);
    }

    /// The inputs of a closed tick that is not forgotten; none if the turn is empty.
    pub fn inputs(&self, tick: Tick) -> &[RawInput] {
        self.turn(tick).map_or(&[], |turn| turn)
    }
}
