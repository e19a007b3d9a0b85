//! A recording that can be looked at, at any tick and in any order.
//!
//! To go to a tick, it takes the nearest state before that and plays on from there: one that it
//! came by before, or one that was recorded, if it has its tick and its checksum. It must never
//! hide that a recorded checksum is not met where it plays. It is no proof: that is a replay.

use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Simulation, Tick, Turn};

use super::playback::ReplayError;
use super::{Header, Recording, Timeline};

/// Between two states that are kept while it is played.
const STOP_TICKS: u32 = 100;
/// States that are kept at most. A state shares what did not change with the one before.
const STOPS_MAX: usize = 1_000;

/// A recording, at a tick.
pub struct Film<S: Simulation> {
    timeline: Timeline<S>,
    simulation: S,
    stops: BTreeMap<Tick, S::Snapshot>,
    differs: Option<Tick>,
}

impl<S: Simulation> Film<S> {
    /// Goes to a recording's start. The simulation must be one of the recording's seed, table and
    /// rules.
    ///
    /// # Errors
    /// [`ReplayError`] if the snapshot is none of this simulation.
    pub fn new(recording: Recording<S>, mut simulation: S) -> Result<Self, ReplayError> {
        simulation.restore_from(&recording.snapshot).map_err(ReplayError::Snapshot)?;
        let (snapshot, header) = (simulation.tick(), recording.header.start);
        if snapshot != header {
            return Err(ReplayError::Start { snapshot, header });
        }
        let stops = BTreeMap::from([(snapshot, simulation.snapshot())]);
        Ok(Film { timeline: Timeline::new(recording), simulation, stops, differs: None })
    }

    /// What it is of.
    pub fn header(&self) -> &Header {
        &self.timeline.header
    }

    /// The tick behind the last.
    pub fn end(&self) -> Tick {
        self.timeline.end
    }

    /// The players' names, as far as they are on record.
    pub fn names(&self) -> &BTreeMap<PlayerId, String> {
        &self.timeline.names
    }

    /// The world as it is at the tick that was gone to.
    pub fn simulation(&self) -> &S {
        &self.simulation
    }

    /// The first tick that was played whose recorded checksum was not met.
    pub fn differs(&self) -> Option<Tick> {
        self.differs
    }

    /// Goes to a tick, or to the nearest that is on record.
    pub fn seek(&mut self, tick: Tick) {
        let tick = tick.clamp(self.timeline.start(), self.timeline.end);
        let here = self.simulation.tick();
        let kept = self.stops.range(..=tick).next_back().map(|(stop, _)| *stop).unwrap_or_default();
        // Further on from here, unless a state is nearer.
        if tick < here || kept > here {
            self.simulation.restore(&self.stops[&kept]);
        }
        let here = self.simulation.tick();
        let recorded = self.timeline.states.range(..=tick).next_back().map(|(stop, _)| *stop);
        if let Some(stop) = recorded.filter(|stop| *stop > here.plus(STOP_TICKS))
            && !self.takes_recorded(stop)
        {
            // The turns lead there too.
            self.simulation.restore(&self.stops[&kept]);
        }
        while self.simulation.tick() < tick {
            self.step();
        }
    }

    /// Goes to a recorded state. Returns false, and is nowhere, if it cannot be read or is not what
    /// its recorder says that it is.
    fn takes_recorded(&mut self, stop: Tick) -> bool {
        let state = self.timeline.states[&stop].unpack();
        let is_read = state.is_ok_and(|state| self.simulation.restore_from(&state).is_ok());
        is_read && self.simulation.tick() == stop && self.meets(stop) != Some(false)
    }

    /// Whether the recorded checksum of the present tick is met, if there is one.
    fn meets(&mut self, tick: Tick) -> Option<bool> {
        let recorded = *self.timeline.roots.get(&tick)?;
        Some(self.simulation.checksum() == recorded)
    }

    /// Plays one tick. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        let tick = self.simulation.tick();
        if tick >= self.timeline.end {
            return false;
        }
        if tick.0.is_multiple_of(STOP_TICKS) && self.stops.len() < STOPS_MAX && !self.stops.contains_key(&tick) {
            self.stops.insert(tick, self.simulation.snapshot());
        }
        self.simulation.step(self.timeline.turns.get(&tick).unwrap_or(&Turn::EMPTY));
        let tick = tick.next();
        if self.meets(tick) == Some(false) {
            self.differs = Some(self.differs.map_or(tick, |before| before.min(tick)));
        }
        true
    }
}
