//! Plays a recording: the same turns into the same simulation, every checksum compared.
//!
//! The loop is [`Playback::step`]; [`replay`] runs it to the end.

use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use super::entry::Entry;
use super::reader::Recording;

/// Why a recording cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Its snapshot is not one of this simulation.
    #[error("the recording's snapshot cannot be read: {0}")]
    Snapshot(CodecError),
    /// Its snapshot is of another tick than its header says.
    #[error("the recording's snapshot is of tick {snapshot}, and its header says {header}")]
    Start {
        /// The snapshot's.
        snapshot: Tick,
        /// The header's.
        header: Tick,
    },
}

/// A recorded checksum that was not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The tick before whose turn the states differ.
    pub tick: Tick,
    /// The newest earlier tick at which they were equal: the fault lies between.
    pub agreed: Option<Tick>,
    /// What was recorded.
    pub recorded: Checksum,
    /// What came out.
    pub played: Checksum,
}

/// What became of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Ticks played.
    pub ticks: u32,
    /// Inputs that entered.
    pub inputs: u64,
    /// Checksums compared.
    pub checksums: u32,
    /// The first that differed.
    pub mismatch: Option<Mismatch>,
}

/// A recording that is being played.
pub struct Playback<S: Simulation> {
    simulation: S,
    entries: std::vec::IntoIter<Entry<S>>,
    /// Empty ticks of the entry that is being played.
    empty: u32,
    agreed: Option<Tick>,
    so_far: Replay,
}

impl<S: Simulation> Playback<S> {
    /// Goes to a recording's start. The simulation must be one of the recording's seed,
    /// table and rules.
    ///
    /// # Errors
    /// [`ReplayError`] if the snapshot is none of this simulation.
    pub fn new(recording: Recording<S>, mut simulation: S) -> Result<Self, ReplayError> {
        simulation.restore_from(&recording.snapshot).map_err(ReplayError::Snapshot)?;
        let (snapshot, header) = (simulation.tick(), recording.header.start);
        if snapshot != header {
            return Err(ReplayError::Start { snapshot, header });
        }
        let entries = recording.entries.into_iter();
        Ok(Playback { simulation, entries, empty: 0, agreed: None, so_far: Replay::default() })
    }

    /// What became of it until now.
    pub fn so_far(&self) -> Replay {
        self.so_far
    }

    /// Plays one tick. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        while self.empty == 0 {
            match self.entries.next() {
                None => return false,
                Some(Entry::Empty(ticks)) => self.empty = ticks,
                Some(Entry::Turn(turn)) => {
                    self.play(&turn);
                    return true;
                }
                Some(Entry::Checksum(recorded)) => self.compare(recorded),
                Some(_) => {}
            }
        }
        self.empty -= 1;
        self.play(&Turn::EMPTY);
        true
    }

    fn play(&mut self, turn: &Turn<S>) {
        self.simulation.step(turn);
        self.so_far.ticks += 1;
        self.so_far.inputs += turn.inputs.len() as u64;
    }

    fn compare(&mut self, recorded: Checksum) {
        let (tick, played) = (self.simulation.tick(), self.simulation.checksum());
        self.so_far.checksums += 1;
        if played == recorded {
            self.agreed = Some(tick);
        } else if self.so_far.mismatch.is_none() {
            self.so_far.mismatch = Some(Mismatch { tick, agreed: self.agreed, recorded, played });
        }
    }
}

/// Plays a whole recording and compares every checksum.
///
/// # Errors
/// [`ReplayError`] if the snapshot is none of this simulation.
pub fn replay<S: Simulation>(recording: Recording<S>, simulation: S) -> Result<Replay, ReplayError> {
    replay_with_progress(recording, simulation, &mut |_| {})
}

/// The same; `watch` is told how many ticks have been played, after each.
///
/// # Errors
/// [`ReplayError`] if the snapshot is none of this simulation.
pub fn replay_with_progress<S: Simulation>(
    recording: Recording<S>,
    simulation: S,
    watch: &mut dyn FnMut(u32),
) -> Result<Replay, ReplayError> {
    let mut playback = Playback::new(recording, simulation)?;
    while playback.step() {
        watch(playback.so_far.ticks);
    }
    Ok(playback.so_far)
}
