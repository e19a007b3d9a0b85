//! How many connections the process's files are enough for. A system often gives a program 1,024,
//! and lets it have more if it asks. It must never take all of them: the process needs some, too.

use crate::limits::signaling::CONNECTIONS_MAX;

/// Of so many files one is not for connections: listeners, the server's own file, and the sockets
/// of whoever plays in the same process.
const KEPT_PART: usize = 4;

/// The most connections, once the process may have as many files as the system lets it.
pub(super) fn connections_max() -> usize {
    let files = files(CONNECTIONS_MAX * KEPT_PART / (KEPT_PART - 1));
    CONNECTIONS_MAX.min(files - files / KEPT_PART)
}

/// How many files the process may have, of so many that are wanted.
#[cfg(unix)]
fn files(wanted: usize) -> usize {
    let raised = rlimit::increase_nofile_limit(wanted as u64).or_else(|error| {
        tracing::warn!("this process cannot have more files: {error}");
        rlimit::Resource::NOFILE.get_soft()
    });
    raised.map_or(wanted, |files| usize::try_from(files).unwrap_or(wanted))
}

/// Sockets are no files elsewhere.
#[cfg(not(unix))]
fn files(wanted: usize) -> usize {
    wanted
}
