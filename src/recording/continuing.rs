//! Goes to the end of a recording, so that its session can be founded again there.
//!
//! It never believes a world that does not meet the recorded checksums.

use lockstone_net::Identity;
use lockstone_net::session::Continuation;
use lockstone_net::wire::SessionKind;
use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, Simulation, Tick, Turn};

use super::entry::Entry;
use super::format::Header;
use super::reader::{Ending, Recording, RecordingError};
use crate::panics::{Panicked, caught};

/// A recorded session, at its last tick.
pub struct Recorded<S: Simulation> {
    /// Goes on from there.
    pub session: Continuation<S>,
    /// Its room; empty, if it had none.
    pub room: String,
    /// The tick at which it goes on.
    pub end: Tick,
    /// How the recording ends.
    pub ending: Ending,
}

/// Why a file is no recording to go on with.
#[derive(Debug, thiserror::Error)]
pub enum UnfitError {
    /// It is no recording of this game, or is damaged.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// It is of another kind of session: of this one.
    #[error("{}", of_kind(.0))]
    Kind(SessionKind),
    /// The game does not come to its end.
    #[error("{0}")]
    Panicked(Panicked),
    /// Its session cannot be founded again.
    #[error(transparent)]
    Continue(#[from] ContinueError),
}

fn of_kind(kind: &SessionKind) -> &'static str {
    match kind {
        SessionKind::Rollback { .. } => "no rollback session can be gone on with",
        SessionKind::Relay { .. } => "it is of a relay's session",
        SessionKind::Party { .. } => "it is of a party",
    }
}

/// Reads a recording of a game's session of a kind, and plays it to its end, in a simulation that
/// `build` makes of a seed.
///
/// # Errors
/// [`UnfitError`] if nobody can go on with it.
pub fn go_on<S: Simulation>(
    bytes: &[u8],
    (game, identity): (&str, &Identity),
    kind: SessionKind,
    build: impl FnOnce(u64) -> S,
) -> Result<Recorded<S>, UnfitError> {
    let header = Header::peek(bytes)?;
    header.check(game, identity)?;
    // They may differ in their settings.
    if core::mem::discriminant(&header.kind) != core::mem::discriminant(&kind)
        || matches!(header.kind, SessionKind::Rollback { .. })
    {
        return Err(UnfitError::Kind(header.kind));
    }
    let recording = Recording::<S>::read(bytes)?;
    let (end, ending) = (recording.end(), recording.ending.clone());
    let session = caught(|| recording.continuation(build)).map_err(UnfitError::Panicked)??;
    Ok(Recorded { session, room: header.room, end, ending })
}

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
