//! A recording that may be the smaller one: a state, and the turns from there on.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lockstone_sim::codec::CodecError;
use lockstone_sim::{PlayerId, Simulation, Tick, Turn};

use crate::check::chaos::whose;
use crate::check::compare::{CheckError, every_turn};
use crate::recording::Timeline;

use super::Size;

/// A state, and what enters from there on.
pub(super) struct Candidate<S: Simulation> {
    /// The tick of the state, and of the first turn.
    pub start: Tick,
    /// Serialised.
    pub state: Rc<Vec<u8>>,
    pub turns: Vec<Turn<S>>,
}

// A derive would ask for a bound on `S` itself.
impl<S: Simulation> Clone for Candidate<S> {
    fn clone(&self) -> Self {
        Candidate { start: self.start, state: self.state.clone(), turns: self.turns.clone() }
    }
}

impl<S: Simulation> Candidate<S> {
    /// All of a recording.
    pub fn of(recording: &Timeline<S>) -> Result<Self, CheckError> {
        let start = recording.start();
        let unusable = |cause: CodecError| CheckError::State { who: recording.who(), tick: start, cause };
        let state = Rc::new(recording.states[&start].unpack().map_err(unusable)?);
        Ok(Candidate { start, state, turns: every_turn(recording)? })
    }

    /// The tick that would be next.
    pub fn end(&self) -> Tick {
        self.start.plus(self.turns.len() as u32)
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        let inputs = self.turns.iter().map(|turn| turn.inputs.len() as u64).sum();
        Size { ticks: self.turns.len() as u32, inputs }
    }

    /// The same up to a tick.
    pub fn until(&self, end: Tick) -> Self {
        let ticks = end.0.saturating_sub(self.start.0) as usize;
        let turns = self.turns[..ticks.min(self.turns.len())].to_vec();
        Candidate { start: self.start, state: self.state.clone(), turns }
    }

    /// The same from a later state on.
    pub fn from(&self, start: Tick, state: Vec<u8>) -> Self {
        let turns = self.turns[start.since(self.start) as usize..].to_vec();
        Candidate { start, state: Rc::new(state), turns }
    }

    /// The same turns at other ticks: only those at these places are left, and follow each other.
    pub fn with_turns(&self, places: &[usize]) -> Self {
        let turns = places.iter().map(|&place| self.turns[place].clone()).collect();
        Candidate { start: self.start, state: self.state.clone(), turns }
    }

    /// Where its inputs are: the place of the turn, and the place therein.
    pub fn inputs(&self) -> Vec<(usize, usize)> {
        let inputs = |(n, turn): (usize, &Turn<S>)| (0..turn.inputs.len()).map(move |place| (n, place));
        self.turns.iter().enumerate().flat_map(inputs).collect()
    }

    /// The same with these inputs alone.
    pub fn with_inputs(&self, kept: &[(usize, usize)]) -> Self {
        let mut turns = vec![Turn::default(); self.turns.len()];
        kept.iter().for_each(|&(n, place)| turns[n].inputs.push(self.turns[n].inputs[place].clone()));
        Candidate { start: self.start, state: self.state.clone(), turns }
    }

    /// Who of its inputs is whose.
    pub fn players(&self) -> BTreeSet<PlayerId> {
        self.turns.iter().flat_map(|turn| &turn.inputs).filter_map(whose).collect()
    }

    /// The same without a player's inputs.
    pub fn without(&self, player: PlayerId) -> Self {
        let mut other = self.clone();
        other.turns.iter_mut().for_each(|turn| turn.inputs.retain(|input| whose(input) != Some(player)));
        other
    }

    /// The turns by tick.
    pub fn by_tick(&self) -> BTreeMap<Tick, Turn<S>> {
        (self.start.0..).map(Tick).zip(self.turns.iter().cloned()).collect()
    }
}
