//! Goes to the end of a recording, so that its session can be founded again there.
//!
//! It never believes a world that does not meet the recorded checksums.

use lockstone_net::session::Continuation;
use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use super::entry::Entry;
use super::reader::Recording;

/// Why nobody can go on with a recorded session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContinueError {
    /// It is not recorded what the session is beside its world.
    #[error("it is of no whole session")]
    NotWhole,
    /// A state, or what goes with it, is none of this simulation.
    #[error("the state at tick {tick} cannot be read: {cause}")]
    State {
        /// Its tick.
        tick: Tick,
        /// What is wrong with it.
        cause: CodecError,
    },
    /// What is recorded does not come out here.
    #[error("this program does not play it to the checksum of tick {tick}: recorded {recorded}, played {played}")]
    Differs {
        /// The tick before whose turn the worlds differ.
        tick: Tick,
        /// What was recorded.
        recorded: Checksum,
        /// What came out.
        played: Checksum,
    },
}

/// Where play begins: a state, and what goes with it.
struct Base {
    tick: Tick,
    /// How many entries come before the ledger's.
    entries: usize,
    snapshot: Vec<u8>,
    ledger: Vec<u8>,
}

impl<S: Simulation> Recording<S> {
    /// The session at the end of what was recorded. It is played from the last state that allows
    /// it, in a simulation that `build` makes of a seed.
    ///
    /// # Errors
    /// [`ContinueError`] if this is no recording of a whole session, or does not play as it was
    /// recorded.
    pub fn continuation(self, build: impl FnOnce(u64) -> S) -> Result<Continuation<S>, ContinueError> {
        let Base { tick, entries, snapshot, ledger } = self.base()?;
        let unreadable = |cause| ContinueError::State { tick, cause };
        let mut simulation = build(self.header.seed);
        simulation.restore_from(&snapshot).map_err(unreadable)?;
        if simulation.tick() != tick {
            return Err(unreadable(CodecError::Malformed("it is of another tick")));
        }
        let mut session = Continuation::new(self.header.seed, simulation, &ledger).map_err(unreadable)?;
        for entry in &self.entries[entries..] {
            match entry {
                Entry::Empty(ticks) => (0..*ticks).for_each(|_| session.play(&Turn::EMPTY)),
                Entry::Turn(turn) => session.play(turn),
                Entry::Member(player, key) => session.member(*player, *key),
                Entry::Gone(player, reason) => session.left(*player, *reason),
                Entry::Checksum(recorded) => meets(session.simulation(), *recorded)?,
                _ => {}
            }
        }
        Ok(session)
    }

    /// The last state with which a ledger was recorded.
    fn base(&self) -> Result<Base, ContinueError> {
        let (mut tick, mut state, mut base) = (self.header.start, Some((self.header.start, None)), None);
        for (n, entry) in self.entries.iter().enumerate() {
            match entry {
                Entry::Keyframe(packed) => state = Some((tick, Some(packed))),
                Entry::Ledger(ledger) => {
                    let state = state.filter(|(of, _)| *of == tick).map(|(_, packed)| packed);
                    base = state.map(|packed| (tick, n, packed, ledger)).or(base);
                }
                _ => {}
            }
            tick = tick.plus(entry.ticks());
        }
        let (tick, entries, packed, ledger) = base.ok_or(ContinueError::NotWhole)?;
        let unpacked = packed.map_or_else(|| Ok(self.snapshot.clone()), |packed| packed.unpack());
        let snapshot = unpacked.map_err(|cause| ContinueError::State { tick, cause })?;
        Ok(Base { tick, entries, snapshot, ledger: ledger.clone() })
    }
}

fn meets<S: Simulation>(simulation: &mut S, recorded: Checksum) -> Result<(), ContinueError> {
    let (tick, played) = (simulation.tick(), simulation.checksum());
    if played == recorded { Ok(()) } else { Err(ContinueError::Differs { tick, recorded, played }) }
}
