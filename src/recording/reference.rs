//! A peer plays its own recording again from a state that was equal on all peers, to learn which
//! checksum a sound machine comes to: what decides whose world is right where no more than half of
//! the members agree.
//!
//! It is played in pieces, as whoever asks plays a game meanwhile. The loop is
//! [`Reference::advance`]. It must never begin at a state in which the fault may be already.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use super::{Recording, Timeline};

/// A replay under way.
pub struct Reference<S: Simulation> {
    simulation: S,
    turns: BTreeMap<Tick, Turn<S>>,
    until: Tick,
}

impl<S: Simulation> Reference<S> {
    /// Up to a tick, from the newest recorded state of the ticks up to `agreed`, or from the first
    /// if there is no such tick. `None` if none is held that old.
    pub fn new(
        recording: Recording<S>,
        until: Tick,
        agreed: Option<Tick>,
        build: &dyn Fn(u64) -> S,
    ) -> Option<Reference<S>> {
        let timeline = Timeline::new(recording);
        let newest = agreed.unwrap_or(timeline.start()).min(until);
        let (from, _) = timeline.states.range(..=newest).next_back()?;
        let simulation = timeline.load(*from, build).ok()?;
        Some(Reference { simulation, turns: timeline.turns, until })
    }

    /// The tick whose checksum is wanted.
    pub fn tick(&self) -> Tick {
        self.until
    }

    /// Plays one tick. Returns the checksum once it is there.
    pub fn advance(&mut self) -> Option<Checksum> {
        let tick = self.simulation.tick();
        if tick >= self.until {
            return Some(self.simulation.checksum());
        }
        self.simulation.step(self.turns.get(&tick).unwrap_or(&Turn::EMPTY));
        None
    }
}
