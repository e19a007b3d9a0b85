//! Why two recordings differ that each meet their own checksums: one was told or given something
//! else than the other.
//!
//! As in `verdict.rs` each suspicion is played: the last step again, with what one of both had in
//! the place of what the other had.

mod halo;

use lockstone_sim::{CellId, Checksum, Input, Simulation, Tick, Turn};

use super::moment::Common;
use crate::check::compare::Checker;
use crate::check::replayer::Replayer;
use crate::check::report::{Cause, Verdict};
use crate::inspect::GivenInfo;
use crate::inspect::Inspect;
use crate::recording::Timeline;

/// So many inputs of a tick are tried one by one.
const TRIED_MAX: usize = 256;
/// So many things are named in a reason.
const NAMED_MAX: usize = 3;

/// A difference between two recordings that is to be explained.
pub(super) struct Question<'q, 'a, 't, S: Inspect> {
    pub checker: &'q Checker<'a, S>,
    pub peers: &'q [Timeline<S>],
    pub players: &'q mut [Replayer<'t, S>],
    /// The first tick at which they differ, before its turn.
    pub tick: Tick,
    /// The one that counts, if any does; and the other.
    pub pair: [usize; 2],
    pub common: &'q Common,
}

/// The checksums of the cells in question, and of what is in no cell.
type Sums = (Vec<Option<Checksum>>, Option<Checksum>);

impl<S: Inspect> Question<'_, '_, '_, S> {
    /// Finds the cause. Nobody is blamed: each one's steps are sound.
    pub fn verdict(&mut self) -> Verdict {
        let [ours, theirs] = self.pair.map(|n| self.peers[n].who());
        let sound = format!("{ours} and {theirs} each meet their own checksums, so their steps are sound");
        let (cause, mut reasons) = self.cause();
        reasons.push(sound);
        if cause == Cause::HaloMissing || cause == Cause::Input {
            let whole = self.players[self.pair[0]].at(self.tick).extent().is_none();
            reasons.push(match whole {
                true => format!("{ours} has the whole world; what {theirs} was told by it is at fault, or what came of that on the way"),
                false => "neither has the whole world, so nobody can tell which is right".to_owned(),
            });
        }
        Verdict { cause, blamed: Vec::new(), reasons }
    }

    fn cause(&mut self) -> (Cause, Vec<String>) {
        let Some(before) = self.before() else {
            let unknown = "they differ since both are known; what led to it is in neither".to_owned();
            return (Cause::Unknown, vec![unknown]);
        };
        let given = self.common.core.is_empty() && !self.common.loose;
        let found = match given {
            true => self.owner_lacks_an_input(before).or_else(|| Some(self.given_otherwise(before))),
            false => self
                .other_inputs(before)
                .or_else(|| self.core_given_otherwise(before))
                .or_else(|| self.halo_too_narrow(before))
                .or_else(|| self.reaches_too_far(before)),
        };
        found.unwrap_or_else(|| {
            (Cause::Unknown, vec!["nothing that can be played here brings them together".to_owned()])
        })
    }

    /// The tick whose turn led to the difference, if both have played it.
    fn before(&self) -> Option<Tick> {
        let before = Tick(self.tick.0.checked_sub(1)?);
        self.pair.iter().all(|&n| self.peers[n].covers(before)).then_some(before)
    }

    /// Other commands, joins or requests entered.
    fn other_inputs(&mut self, before: Tick) -> Option<(Cause, Vec<String>)> {
        for [here, there] in [self.pair, [self.pair[1], self.pair[0]]] {
            let (with, without) = (self.turn(here, before), self.turn(there, before));
            let lacking = lacking(&with, &without);
            let goal = self.sums(there);
            let goal_with = self.sums(here);
            for &n in lacking.iter().take(TRIED_MAX) {
                let left_out = Turn { inputs: except(&with, n) };
                let added =
                    Turn { inputs: std::iter::once(with.inputs[n].clone()).chain(without.inputs.clone()).collect() };
                if self.played(here, before, &left_out) == goal || self.played(there, before, &added) == goal_with {
                    return Some((Cause::Input, vec![self.lacks(there, here, before, &[&with.inputs[n]])]));
                }
            }
        }
        let [ours, theirs] = self.pair;
        let (with, without) = (self.turn(ours, before), self.turn(theirs, before));
        let instead = Turn { inputs: without.inputs.iter().filter(|input| !is_given(input)).cloned().collect() };
        let goal = self.sums(theirs);
        let comes_out = self.played(ours, before, &instead) == goal;
        comes_out.then(|| {
            let matters = |question: &mut Self, n: usize| {
                let left_out = Turn { inputs: except(&with, n) };
                let whole = question.sums(ours);
                question.played(ours, before, &left_out) != whole
            };
            let missing: Vec<usize> = lacking(&with, &without).into_iter().take(TRIED_MAX).collect();
            let missing: Vec<_> = missing.into_iter().filter(|&n| matters(self, n)).map(|n| &with.inputs[n]).collect();
            let more: Vec<_> = lacking(&without, &with).into_iter().map(|n| &without.inputs[n]).collect();
            let mut reasons = vec![self.lacks(theirs, ours, before, &missing)];
            if !more.is_empty() {
                reasons.push(self.lacks(ours, theirs, before, &more));
            }
            (Cause::Input, reasons)
        })
    }

    /// A cell that one simulates came out otherwise because an input is missing there
    /// that the other has.
    fn owner_lacks_an_input(&mut self, before: Tick) -> Option<(Cause, Vec<String>)> {
        for [owner, holder] in [self.pair, [self.pair[1], self.pair[0]]] {
            let (with, without) = (self.turn(holder, before), self.turn(owner, before));
            let goal = self.sums(holder);
            for n in lacking(&with, &without).into_iter().take(TRIED_MAX) {
                let added =
                    Turn { inputs: std::iter::once(with.inputs[n].clone()).chain(without.inputs.clone()).collect() };
                if self.played(owner, before, &added) == goal {
                    return Some((Cause::Input, vec![self.lacks(owner, holder, before, &[&with.inputs[n]])]));
                }
            }
        }
        None
    }

    fn lacks(&self, who: usize, other: usize, before: Tick, inputs: &[&Input<S>]) -> String {
        let (who, other) = (self.peers[who].who(), self.peers[other].who());
        let mut named: Vec<_> = inputs.iter().take(NAMED_MAX).map(|input| format!("{input:?}")).collect();
        if inputs.len() > NAMED_MAX {
            named.push(format!("{} more", inputs.len() - NAMED_MAX));
        }
        format!("at tick {before} {who} lacks what entered for {other}: {}", named.join(", "))
    }

    fn turn(&self, n: usize, tick: Tick) -> Turn<S> {
        self.peers[n].turns.get(&tick).cloned().unwrap_or_default()
    }

    /// The cells that a turn told a recording of.
    fn told(&mut self, n: usize, tick: Tick) -> Vec<CellId> {
        let turn = self.turn(n, tick);
        let simulation = self.players[n].at(tick);
        let told = turn.inputs.iter().filter_map(|input| match input {
            Input::Given(given) => simulation.given_info(given),
            _ => None,
        });
        let cell = |told| if let GivenInfo::Cell(cell) = told { Some(cell) } else { None };
        told.filter_map(cell).collect()
    }

    fn fork(&mut self, n: usize, tick: Tick) -> S {
        let mut fork = (self.checker.build)(self.peers[n].header.seed);
        fork.restore(&self.players[n].at(tick).snapshot());
        fork
    }

    /// What comes out in question if a turn is played instead.
    fn played(&mut self, n: usize, tick: Tick, turn: &Turn<S>) -> Sums {
        let mut fork = self.fork(n, tick);
        fork.step(turn);
        self.sums_of(&mut fork)
    }

    /// What a recording has of what is in question.
    fn sums(&mut self, n: usize) -> Sums {
        let (common, tick) = (self.common, self.tick);
        sums_of(self.players[n].at(tick), common)
    }

    fn sums_of(&self, simulation: &mut S) -> Sums {
        sums_of(simulation, self.common)
    }
}

/// The differing cells' checksums.
fn sums_of<S: Inspect>(simulation: &mut S, common: &Common) -> Sums {
    let tree = simulation.tree();
    let sum = |cell: CellId| tree.binary_search_by_key(&cell, |(cell, _)| *cell).ok().map(|place| tree[place].1);
    let cells = if common.core.is_empty() { &common.halo } else { &common.core };
    (cells.iter().map(|cell| sum(*cell)).collect(), simulation.loose())
}

fn is_given<S: Simulation>(input: &Input<S>) -> bool {
    matches!(input, Input::Given(_))
}

/// The places of inputs that another turn does not have. What is given is none of them.
fn lacking<S: Simulation>(with: &Turn<S>, without: &Turn<S>) -> Vec<usize> {
    let lacks = |n: &usize| !is_given(&with.inputs[*n]) && !without.inputs.contains(&with.inputs[*n]);
    (0..with.inputs.len()).filter(lacks).collect()
}

/// A turn's inputs but for one.
fn except<S: Simulation>(turn: &Turn<S>, left_out: usize) -> Vec<Input<S>> {
    let kept = turn.inputs.iter().enumerate().filter(|(n, _)| *n != left_out);
    kept.map(|(_, input)| input.clone()).collect()
}
