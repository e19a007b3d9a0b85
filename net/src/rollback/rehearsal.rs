//! A test for any simulation: every tick is played, undone, and played again.

use lockstone_sim::{Input, PlayerId, Simulation, Tick, codec};

use super::ggrs::Rehearsal;
use super::timeline::Timeline;
use crate::limits::COMMAND_BYTES_MAX;

/// Plays a simulation and, after each tick, goes back some ticks, plays them again with the same
/// inputs, and compares checksums.
///
/// It finds what a snapshot does not hold, what a step takes from outside of the state, and what
/// the state takes from outside of the turns, if it differs between two runs in one process.
pub struct SyncTest<S: Simulation> {
    rehearsal: Rehearsal,
    timeline: Timeline<S>,
    distance_ticks: u32,
}

/// A tick came out another way the second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the state before tick {tick} was another when it was played again: a step depends on something that the snapshot does not hold"
)]
pub struct Mismatch {
    /// The state before this tick differed: the fault is in the tick before, or in what was
    /// restored.
    pub tick: Tick,
}

impl<S: Simulation> SyncTest<S> {
    /// A simulation that `heroes` enter in its next tick, and how many ticks it goes back each
    /// time, 2 or more.
    ///
    /// # Panics
    /// Without heroes, or if it is to go back fewer than two ticks: ggrs compares nothing then.
    pub fn new(simulation: S, heroes: &[S::Hero], distance_ticks: u32) -> SyncTest<S> {
        assert!(!heroes.is_empty() && distance_ticks >= 2, "someone must play, and go back two ticks or more");
        let players: Vec<_> = (0..heroes.len() as u16).map(PlayerId).collect();
        let enter =
            |(player, hero): (&PlayerId, &S::Hero)| Input::Join(*player, simulation.admit(*player, hero.clone()));
        let entries = players.iter().zip(heroes).map(enter).collect();
        let rehearsal = Rehearsal::new(players.len(), distance_ticks as usize);
        SyncTest { rehearsal, timeline: Timeline::new(simulation, players, entries, 1, false), distance_ticks }
    }

    /// The simulation, to look at.
    pub fn simulation(&self) -> &S {
        &self.timeline.simulation
    }

    /// Plays a tick with a command of each player who gives one, and the last few ticks again.
    ///
    /// # Errors
    /// [`Mismatch`] for the first tick that came out another way.
    ///
    /// # Panics
    /// If a command is longer than a command may be.
    pub fn advance(&mut self, mut command: impl FnMut(&S, PlayerId) -> Option<S::Command>) -> Result<(), Mismatch> {
        let (base, tick) = (self.timeline.base(), self.timeline.simulation.tick());
        let mut given = Vec::new();
        for player in self.timeline.players().to_vec() {
            let command = command(&self.timeline.simulation, player).map(|command| codec::compact(&command));
            given.push(command.is_some());
            if let Some(bytes) = command {
                assert!(bytes.len() <= COMMAND_BYTES_MAX, "a command of {} bytes, of {COMMAND_BYTES_MAX}", bytes.len());
                self.timeline.give(tick, player, &bytes);
            }
        }
        let advanced = self.rehearsal.advance(&given, &mut self.timeline);
        let oldest = self.timeline.simulation.tick().0.saturating_sub(self.distance_ticks + 1);
        self.timeline.settle(Tick(oldest), |_, _| {}, drop);
        advanced.map_err(|frame| Mismatch { tick: base.plus(frame) })
    }
}

/// Plays a simulation for some ticks as a [`SyncTest`], going back seven ticks each time. One line
/// in a game's own tests.
///
/// What goes wrong in the last three ticks is not seen: it takes as many to play a tick
/// again and to compare.
///
/// # Errors
/// [`Mismatch`] for the first tick that came out another way.
pub fn sync_test<S: Simulation>(
    simulation: S,
    heroes: &[S::Hero],
    ticks: u32,
    mut command: impl FnMut(&S, PlayerId) -> Option<S::Command>,
) -> Result<(), Mismatch> {
    let mut test = SyncTest::new(simulation, heroes, 7);
    (0..ticks).try_for_each(|_| test.advance(&mut command))
}
