//! A recording that may be the smaller one: a state, and the turns from there on.

use std::collections::BTreeSet;
use std::rc::Rc;

use lockstone_sim::{Input, PlayerId, Simulation, Tick, Turn};

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

impl<S: Simulation> Candidate<S> {
    /// All of a recording whose first state can be read.
    pub fn of(recording: &Timeline<S>) -> Result<Self, CheckError> {
        let start = recording.start();
        let state = recording.states[&start].unpack().expect("it was read already");
        Ok(Candidate { start, state: Rc::new(state), turns: every_turn(recording)? })
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

    fn with(&self, turns: Vec<Turn<S>>) -> Self {
        Candidate { start: self.start, state: self.state.clone(), turns }
    }

    /// The same up to a tick.
    pub fn until(&self, end: Tick) -> Self {
        let ticks = end.0.saturating_sub(self.start.0) as usize;
        self.with(self.turns.iter().take(ticks).cloned().collect())
    }

    /// The same from a later state on.
    pub fn from(&self, start: Tick, state: Vec<u8>) -> Self {
        let turns = self.turns[start.since(self.start) as usize..].to_vec();
        Candidate { start, state: Rc::new(state), turns }
    }

    /// The places of its turns.
    pub fn places(&self) -> Vec<usize> {
        (0..self.turns.len()).collect()
    }

    /// The same turns at other ticks: only those at these places are left, and follow each other.
    pub fn with_turns(&self, places: &[usize]) -> Self {
        self.with(places.iter().map(|&place| self.turns[place].clone()).collect())
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
        self.with(turns)
    }

    /// Who of its inputs is whose.
    pub fn players(&self) -> Vec<PlayerId> {
        let players: BTreeSet<_> = self.turns.iter().flat_map(|turn| &turn.inputs).filter_map(whose).collect();
        players.into_iter().collect()
    }

    /// The same with the inputs of these players alone, and with those that are nobody's.
    pub fn with_players(&self, kept: &[PlayerId]) -> Self {
        let stays = |input: &&Input<S>| whose(input).is_none_or(|player| kept.contains(&player));
        let turn = |turn: &Turn<S>| Turn { inputs: turn.inputs.iter().filter(stays).cloned().collect() };
        self.with(self.turns.iter().map(turn).collect())
    }
}
