//! `--continue` and `--resume`: a recording, as the session that goes on from it.

use std::path::Path;

use lockstone_net::wire::SessionKind;
use lockstone_sim::Tick;

use super::failure::Failure;
use super::files;
use super::player::Player;
use crate::game::Game;
use crate::output::say;
use crate::recording::{ContinueError, Ending, Recorded, UnfitError, go_on};

/// Reads a recording of a session of a kind, and plays it to its end.
pub(super) fn read<G: Game>(file: &Path, kind: SessionKind, player: &Player<G>) -> Result<Recorded<G::Sim>, Failure> {
    let game = (G::NAME, &G::identity(&player.table));
    let recorded = go_on(&files::read(file)?, game, kind, player.build(false)).map_err(|error| match error {
        UnfitError::Recording(error) => Failure::recording("go on with", file, &error),
        error => Failure::file("go on with", file, advised(&error, kind)),
    })?;
    tell(file, recorded.end, &recorded.ending);
    Ok(recorded)
}

/// Why it cannot be gone on with, and what to do.
fn advised(error: &UnfitError, wanted: SessionKind) -> String {
    let advice = match error {
        UnfitError::Kind(SessionKind::Relay { .. }) => "give the relay's own recording to `relay --resume`",
        UnfitError::Kind(SessionKind::Party { .. }) => "give it to `play --continue`",
        UnfitError::Kind(SessionKind::Rollback { .. }) => "record one with `play --record` in a party",
        UnfitError::Panicked(_) => "see it with `check`",
        UnfitError::Continue(ContinueError::NotWhole) if matches!(wanted, SessionKind::Relay { .. }) => {
            return "it is of a part of a relay's world; name the recording of the relay itself".to_owned();
        }
        UnfitError::Continue(_) | UnfitError::Recording(_) => "use the build that recorded it, or another recording",
    };
    format!("{error}; {advice}")
}

fn tell(file: &Path, end: Tick, ending: &Ending) {
    say(format_args!("The session of {} goes on at tick {end}.", file.display()));
    if let Ending::Torn { bytes } = ending {
        say(format_args!("The file broke off while it was written: its last {bytes} bytes are left out."));
    }
}
