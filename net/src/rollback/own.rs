//! This peer's own inputs: commands that wait for a tick, and those that have one, until
//! everyone has them.

use std::collections::VecDeque;

use lockstone_sim::Tick;

use crate::limits::{COMMANDS_PENDING_MAX, INPUTS_PER_PACKET_MAX};
use crate::wire::{CommandBytes, List};

pub(super) struct OwnInputs {
    /// One a tick: bursts spill over into the next ticks.
    waiting: VecDeque<CommandBytes>,
    /// Tick by tick, from `first` on.
    given: VecDeque<Option<CommandBytes>>,
    first: Tick,
}

impl OwnInputs {
    /// The first input will be of this tick.
    pub fn starting_at(first: Tick) -> OwnInputs {
        OwnInputs { waiting: VecDeque::new(), given: VecDeque::new(), first }
    }

    /// Commands that wait for a tick.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a command, unless too many wait.
    pub fn push(&mut self, command: CommandBytes) -> bool {
        let room = self.waiting.len() < COMMANDS_PENDING_MAX;
        if room {
            self.waiting.push_back(command);
        }
        room
    }

    /// The first tick that has no input yet.
    pub fn end(&self) -> Tick {
        self.first.plus(self.given.len() as u32)
    }

    /// The input of a tick: what it was before, or the next command.
    pub fn input(&mut self, tick: Tick) -> Option<&CommandBytes> {
        if tick == self.end() {
            let next = self.waiting.pop_front();
            self.given.push_back(next);
        }
        assert!(tick >= self.first && tick < self.end(), "inputs are given tick by tick");
        self.given[tick.since(self.first) as usize].as_ref()
    }

    /// All inputs from a tick on, as many as a packet holds.
    pub fn from(&self, tick: Tick) -> List<Option<CommandBytes>, INPUTS_PER_PACKET_MAX> {
        let inputs = self.given.iter().skip(tick.since(self.first) as usize).take(INPUTS_PER_PACKET_MAX);
        inputs.cloned().collect::<Vec<_>>().try_into().expect("no more were taken")
    }

    /// Forgets what is before a tick: everyone has it, and it is final.
    pub fn forget(&mut self, before: Tick) {
        let n = before.since(self.first).min(self.given.len() as u32);
        self.given.drain(..n as usize);
        self.first = self.first.plus(n);
    }

    /// What was given from a tick on has not been. Its commands wait again; the next input will
    /// be of tick `next`.
    pub fn take_back(&mut self, from: Tick, next: Tick) {
        let kept = from.since(self.first).min(self.given.len() as u32) as usize;
        for command in self.given.drain(kept..).rev().flatten() {
            self.waiting.push_front(command);
        }
        self.given.clear();
        self.first = next;
    }
}
