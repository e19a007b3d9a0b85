//! Why two recordings differ that each meet their own checksums: one was told or given something
//! else than the other.
//!
//! As in `verdict.rs` each suspicion is played: the last step again, with what one of both had in
//! the place of what the other had.

mod halo;

use lockstone_sim::{CellId, Checksum, Input, Simulation, Tick, Turn};

use crate::check::compare::Checker;
use crate::check::extent::given_infos;
use crate::check::moment::Common;
use crate::check::replayer::Replayer;
use crate::check::report::{Cause, Verdict};
use crate::inspect::{GivenInfo, Inspect};
use crate::panics::Panicked;
use crate::recording::Timeline;

/// So many inputs of a tick are tried one by one.
const TRIED_MAX: usize = 256;
/// So many things are named in a reason.
const NAMED_MAX: usize = 3;
/// The two recordings: the one that counts, if any does; and the other.
const PAIR: [usize; 2] = [0, 1];
/// The same the other way round.
const REVERSED: [usize; 2] = [1, 0];

/// A difference between two recordings that is to be explained.
pub(super) struct Question<'q, 't, S: Inspect> {
    pub checker: &'q Checker<'q, S>,
    pub peers: [&'q Timeline<S>; 2],
    pub players: [&'q mut Replayer<'t, S>; 2],
    /// The first tick at which they differ, before its turn.
    pub tick: Tick,
    pub common: &'q Common,
}

/// The checksums of the cells in question, and of what is in no cell.
type Sums = (Vec<Option<Checksum>>, Option<Checksum>);

/// A cause, and what led to it.
type Reasoned = (Cause, Vec<String>);

impl<S: Inspect> Question<'_, '_, S> {
    /// Finds the cause. Nobody is blamed: each one's steps are sound.
    pub fn verdict(&mut self) -> Verdict {
        let [ours, theirs] = self.peers.map(Timeline::who);
        let sound = format!("{ours} and {theirs} each meet their own checksums, so their steps are sound");
        let (cause, mut reasons) = self.cause();
        reasons.push(sound);
        if cause == Cause::HaloMissing || cause == Cause::Input {
            let whole = self.players[0].at(self.tick).extent().is_none();
            reasons.push(match whole {
                true => format!("{ours} has the whole world; what {theirs} was told by it is at fault, or what came of that on the way"),
                false => "neither has the whole world, so nobody can tell which is right".to_owned(),
            });
        }
        Verdict { cause, others: Vec::new(), blamed: Vec::new(), reasons }
    }

    /// That nothing could be asked, for the game panicked.
    pub fn unasked(&self, panicked: &Panicked) -> Verdict {
        let reasons = vec![format!("what led to it could not be asked: {panicked}")];
        Verdict { cause: Cause::Unknown, others: Vec::new(), blamed: Vec::new(), reasons }
    }

    /// A panic may have left the simulations half done: others go on in their place.
    pub fn renew(&mut self) {
        for (player, peer) in self.players.iter_mut().zip(self.peers) {
            player.renew((self.checker.build)(peer.header.seed));
        }
    }

    fn cause(&mut self) -> Reasoned {
        let unknown = |reason: &str| (Cause::Unknown, vec![reason.to_owned()]);
        let Some(before) = self.before() else {
            return unknown("they differ since both are known; what led to it is in neither");
        };
        let given = self.common.core.is_empty() && !self.common.loose;
        let found = match given {
            // A cell that one simulates came out otherwise because an input is missing there that
            // the other has.
            true => self
                .lacks_one(REVERSED, before, false)
                .or_else(|| self.lacks_one(PAIR, before, false))
                .or_else(|| Some(self.given_otherwise(before))),
            // Other commands, joins or requests entered; or other cells were given.
            false => self
                .lacks_one(PAIR, before, true)
                .or_else(|| self.lacks_one(REVERSED, before, true))
                .or_else(|| self.lacks_several(before))
                .or_else(|| self.core_given_otherwise(before))
                .or_else(|| self.halo_too_narrow(before))
                .or_else(|| self.reaches_too_far(before)),
        };
        found.unwrap_or_else(|| unknown("nothing that can be played here brings them together"))
    }

    /// The tick whose turn led to the difference, if both have played it.
    fn before(&self) -> Option<Tick> {
        let before = Tick(self.tick.0.checked_sub(1)?);
        self.peers.iter().all(|peer| peer.covers(before)).then_some(before)
    }

    /// One of both lacks an input: with it, it comes out as the other did; or, if that may be, the
    /// other without it as this one did.
    fn lacks_one(&mut self, [here, there]: [usize; 2], before: Tick, or_without: bool) -> Option<Reasoned> {
        let [with, without] = [here, there].map(|n| self.players[n].turn(before));
        let [goal, goal_without] = [here, there].map(|n| self.sums(n));
        let n = lacking(&with, &without).into_iter().take(TRIED_MAX).find(|&n| {
            let added = [&with.inputs[n..=n], &without.inputs[..]].concat();
            or_without && self.played(here, before, except(&with, n)) == goal_without
                || self.played(there, before, added) == goal
        })?;
        Some((Cause::Input, vec![self.lacks([there, here], before, &[n])]))
    }

    /// With all inputs of the second, the first comes out as the second did.
    fn lacks_several(&mut self, before: Tick) -> Option<Reasoned> {
        let [with, without] = PAIR.map(|n| self.players[n].turn(before));
        let [whole, goal] = PAIR.map(|n| self.sums(n));
        let instead = without.inputs.iter().filter(|input| !is_given(input)).cloned().collect();
        if self.played(0, before, instead) != goal {
            return None;
        }
        let mut missing = lacking(&with, &without);
        missing.truncate(TRIED_MAX);
        missing.retain(|&n| self.played(0, before, except(&with, n)) != whole);
        let mut reasons = vec![self.lacks(REVERSED, before, &missing)];
        let more = lacking(&without, &with);
        if !more.is_empty() {
            reasons.push(self.lacks(PAIR, before, &more));
        }
        Some((Cause::Input, reasons))
    }

    /// Which of the other's inputs one lacks, by their places in the other's turn.
    fn lacks(&self, [who, other]: [usize; 2], before: Tick, places: &[usize]) -> String {
        let turn = self.players[other].turn(before);
        let mut named: Vec<_> = places.iter().take(NAMED_MAX).map(|&n| format!("{:?}", turn.inputs[n])).collect();
        if places.len() > NAMED_MAX {
            named.push(format!("{} more", places.len() - NAMED_MAX));
        }
        let [who, other] = [who, other].map(|n| self.peers[n].who());
        format!("at tick {before} {who} lacks what entered for {other}: {}", named.join(", "))
    }

    /// The cells that a turn told a recording of.
    fn told(&mut self, n: usize, tick: Tick) -> Vec<CellId> {
        let turn = self.players[n].turn(tick);
        let infos = given_infos(&turn, self.players[n].at(tick));
        infos.filter_map(|info| if let GivenInfo::Cell(cell) = info { Some(cell) } else { None }).collect()
    }

    fn fork(&mut self, n: usize, tick: Tick) -> S {
        let mut fork = (self.checker.build)(self.peers[n].header.seed);
        fork.restore(&self.players[n].at(tick).snapshot());
        fork
    }

    /// What comes out in question if other inputs are played.
    fn played(&mut self, n: usize, tick: Tick, inputs: Vec<Input<S>>) -> Sums {
        let mut fork = self.fork(n, tick);
        fork.step(&Turn { inputs });
        sums_of(&mut fork, self.common)
    }

    /// What a recording has of what is in question.
    fn sums(&mut self, n: usize) -> Sums {
        sums_of(self.players[n].at(self.tick), self.common)
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
