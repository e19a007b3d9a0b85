//! `--continue` and `--resume`: a recording, as the session that goes on from it.

use std::path::Path;

use lockstone_net::session::Continuation;
use lockstone_net::wire::SessionKind;
use lockstone_sim::{Simulation, Tick};

use super::failure::Failure;
use super::files;
use super::player::Player;
use crate::game::Game;
use crate::output::say;
use crate::panics::caught;
use crate::recording::{ContinueError, Ending, Header, Recording};

/// What ends a sentence about a recording of which none goes on.
const ADVICE: &str = "record one with `play --record` in a party";

/// A recorded session, at its last tick.
pub(super) struct Recorded<S: Simulation> {
    pub session: Continuation<S>,
    /// Its room; empty, if it had none.
    pub room: String,
}

impl<S: Simulation> Recorded<S> {
    /// Reads a recording of a session of a kind, and plays it to its end.
    pub fn read<G: Game<Sim = S>>(file: &Path, kind: SessionKind, player: &Player<G>) -> Result<Self, Failure> {
        let refused = |why: &dyn core::fmt::Display| Failure::file("go on with", file, why);
        let bytes = files::read(file)?;
        let unreadable = |error| Failure::recording("go on with", file, &error);
        let header = Header::peek(&bytes).map_err(unreadable)?;
        header.check(G::NAME, &G::identity(&player.table)).map_err(unreadable)?;
        check_kind(kind, header.kind).map_err(|why| refused(&why))?;
        let recording = Recording::<S>::read(&bytes).map_err(unreadable)?;
        let (end, ending) = (recording.end(), recording.ending.clone());
        let session = caught(|| recording.continuation(player.build(false)));
        let session = session.map_err(|panicked| refused(&format!("{panicked}; see it with `check`")))?;
        let session = session.map_err(|error| match error {
            ContinueError::NotWhole if matches!(kind, SessionKind::Relay { .. }) => {
                refused(&"it is of a part of a relay's world; name the recording of the relay itself")
            }
            error => refused(&format!("{error}; use the build that recorded it, or another recording")),
        })?;
        tell(file, end, &ending);
        Ok(Recorded { session, room: header.room })
    }
}

fn check_kind(wanted: SessionKind, recorded: SessionKind) -> Result<(), String> {
    match (wanted, recorded) {
        (SessionKind::Party { .. }, SessionKind::Party { .. }) => Ok(()),
        (SessionKind::Relay { .. }, SessionKind::Relay { .. }) => Ok(()),
        (_, SessionKind::Rollback { .. }) => Err(format!("no rollback session can be gone on with; {ADVICE}")),
        (_, SessionKind::Relay { .. }) => {
            Err("it is of a relay's session; give the relay's own recording to `relay --resume`".to_owned())
        }
        (_, SessionKind::Party { .. }) => Err("it is of a party; give it to `play --continue`".to_owned()),
    }
}

fn tell(file: &Path, end: Tick, ending: &Ending) {
    say(format_args!("The session of {} goes on at tick {end}.", file.display()));
    if let Ending::Torn { bytes } = ending {
        say(format_args!("The file broke off while it was written: its last {bytes} bytes are left out."));
    }
}
