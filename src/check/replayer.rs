//! A simulation that can be asked for any tick of a session: the state there is played to from the
//! nearest checkpoint before.

use std::collections::BTreeMap;

use lockstone_sim::journal::Journal;
use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use crate::inspect::Inspect;

/// Ticks between two checkpoints. A snapshot shares what did not change with its neighbours.
const CHECKPOINT_TICKS: u32 = 256;

/// Plays given turns, back and forth.
pub struct Replayer<'t, S: Simulation> {
    simulation: S,
    /// What is played.
    pub turns: &'t BTreeMap<Tick, Turn<S>>,
    checkpoints: BTreeMap<Tick, S::Snapshot>,
    watch: Option<&'t dyn Fn(Tick)>,
}

impl<'t, S: Simulation> Replayer<'t, S> {
    /// From the simulation's present state on.
    pub fn new(mut simulation: S, turns: &'t BTreeMap<Tick, Turn<S>>) -> Self {
        let checkpoints = BTreeMap::from([(simulation.tick(), simulation.snapshot())]);
        Replayer { simulation, turns, checkpoints, watch: None }
    }

    /// The same, watched: who does is told of each tick that is played.
    pub fn watched(self, watch: Option<&'t dyn Fn(Tick)>) -> Self {
        Replayer { watch, ..self }
    }

    /// Goes on with another simulation, from the start: a panic may have left this one half done.
    pub fn renew(&mut self, simulation: S) {
        self.simulation = simulation;
        let (_, snapshot) = self.checkpoints.iter().next().expect("the start is one");
        self.simulation.restore(snapshot);
    }

    /// The first tick that can be asked for.
    pub fn start(&self) -> Tick {
        *self.checkpoints.keys().next().expect("the start is one")
    }

    /// The tick that was asked for last; the first if none was.
    pub fn tick(&self) -> Tick {
        self.simulation.tick()
    }

    /// The state before the turn of a tick; of the start for an earlier one.
    pub fn at(&mut self, tick: Tick) -> &mut S {
        let (now, tick) = (self.tick(), tick.max(self.start()));
        let (&before, snapshot) = self.checkpoints.range(..=tick).next_back().expect("the start is one");
        if now > tick || before > now {
            self.simulation.restore(snapshot);
        }
        while self.tick() < tick {
            if let Some(watch) = self.watch {
                watch(self.tick());
            }
            self.simulation.step(self.turns.get(&self.simulation.tick()).unwrap_or(&Turn::EMPTY));
            let reached = self.tick();
            if reached.0.is_multiple_of(CHECKPOINT_TICKS) && !self.checkpoints.contains_key(&reached) {
                self.checkpoints.insert(reached, self.simulation.snapshot());
            }
        }
        &mut self.simulation
    }

    /// The checksum before the turn of a tick.
    pub fn root(&mut self, tick: Tick) -> Checksum {
        self.at(tick).checksum()
    }

    /// The turn of a tick.
    pub fn turn(&self, tick: Tick) -> Turn<S> {
        self.turns.get(&tick).cloned().unwrap_or_default()
    }

    /// Plays the turn of a tick, and tells what happens in it.
    pub fn journal(&mut self, tick: Tick) -> Journal
    where
        S: Inspect,
    {
        let (turn, mut journal) = (self.turn(tick), Journal::default());
        self.at(tick).step_noted(&turn, &mut journal);
        journal
    }
}
