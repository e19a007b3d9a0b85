//! A recording that can be looked at, at any tick and in any order.
//!
//! A tick's world is what the turns lead to from the newest recorded state before it that has its
//! tick and its checksum, whichever way one came there: so it is its recorder's own world again
//! after a state that the turns alone do not lead to. To go to a tick, it plays on from the nearest
//! state that it came by before, or from a recorded one. It must never hide that a recorded
//! checksum is not met where it plays. It is no proof: that is a replay.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use super::playback::ReplayError;
use super::{Header, Packed, Recording, Timeline};

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

    /// The same, to be asked for checksums.
    #[cfg(feature = "checker")]
    pub(crate) fn simulation_mut(&mut self) -> &mut S {
        &mut self.simulation
    }

    /// The turn of a tick; an empty one if none is on record.
    pub fn turn(&self, tick: Tick) -> Turn<S> {
        self.timeline.turns.get(&tick).cloned().unwrap_or_default()
    }

    /// The recorded checksum of the tick that was gone to.
    pub fn recorded(&self) -> Option<Checksum> {
        self.timeline.roots.get(&self.simulation.tick()).copied()
    }

    /// Whether the world that is shown has the checksum that its recorder had, if there is one.
    pub fn is_met(&mut self) -> Option<bool> {
        let recorded = self.recorded()?;
        Some(self.simulation.checksum() == recorded)
    }

    /// The first tick from the one that was gone to on, and not later than another, of which there
    /// is a recorded state.
    pub fn next_state(&self, until: Tick) -> Option<Tick> {
        self.timeline.states.range(self.simulation.tick()..=until).next().map(|(tick, _)| *tick)
    }

    /// Takes a state of a tick as if its recorder had recorded it.
    pub fn add_state(&mut self, tick: Tick, state: Packed) {
        self.timeline.states.insert(tick, state);
        let start = self.timeline.start();
        // What comes later was played from an older one.
        self.stops.retain(|stop, _| *stop < tick || *stop == start);
        self.simulation.restore(&self.stops[&start]);
        if tick == start && self.takes_recorded(tick) {
            self.stops.insert(tick, self.simulation.snapshot());
        }
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
        is_read && self.simulation.tick() == stop && self.is_met() != Some(false)
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
        let is_met = self.is_met();
        if is_met == Some(false) {
            self.differs = Some(self.differs.map_or(tick, |before| before.min(tick)));
        }
        if is_met != Some(true) && self.timeline.states.contains_key(&tick) {
            let led_to = self.simulation.snapshot();
            if !self.takes_recorded(tick) {
                self.simulation.restore(&led_to);
            }
        }
        true
    }
}
