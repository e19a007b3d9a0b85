//! Files that are dropped on a page: recordings, and bundles of them, of one game.

use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::bundle::MAGIC;
use lockstone::recording::{Bundle, BundleError, Recording, RecordingError};

/// The recordings in these files. What is to be told of those that are not there is added to
/// `told`.
///
/// # Errors
/// A sentence with its cause and what to do: if a file is none of this game's, or holds nothing.
pub(crate) fn read<G: Game>(files: &[Vec<u8>], told: &mut Vec<String>) -> Result<Vec<Recording<G::Sim>>, String> {
    let mut recordings = Vec::new();
    for bytes in files {
        if bytes.starts_with(&MAGIC) {
            let bundle = Bundle::read(bytes).map_err(|error| sentence(&error, of_bundle(&error)))?;
            let (bundled, left_out) = bundle.open::<G::Sim>(G::NAME);
            recordings.extend(bundled);
            told.extend(left_out);
        } else {
            let recording = Recording::read_of(G::NAME, bytes);
            recordings.push(recording.map_err(|error| sentence(&error, of_recording(&error)))?);
        }
    }
    let identity = G::identity(&default_table());
    // Recordings that differ in that from each other are an answer to why they differ.
    if recordings.iter().all(|recording| recording.header.identity == recordings[0].header.identity)
        && let Some(recording) = recordings.first()
    {
        let checked = recording.header.check(G::NAME, &identity);
        checked.map_err(|error| sentence(&error, of_recording(&error)))?;
    }
    if recordings.is_empty() {
        return Err("This file cannot be shown: none of its recordings can be read; ask for it again.".to_owned());
    }
    Ok(recordings)
}

fn sentence(error: &impl std::fmt::Display, advice: &str) -> String {
    format!("This file cannot be shown: {error}; {advice}.")
}

fn of_recording(error: &RecordingError) -> &'static str {
    match error {
        RecordingError::WrongMagic => "drop one that ends in .lksrec, or a bundle",
        RecordingError::TooShort { .. } | RecordingError::Damaged { .. } => "copy it again from where it was recorded",
        RecordingError::Unreadable { .. } => "see which build recorded it",
        RecordingError::UnsupportedVersion { .. } | RecordingError::Different { .. } => {
            "open it in the page of the build that recorded it"
        }
    }
}

fn of_bundle(error: &BundleError) -> &'static str {
    match error {
        BundleError::WrongMagic => "drop one that ends in .lksrec, or a bundle",
        BundleError::UnsupportedVersion { .. } => "open it in the page of the build that wrote it",
        BundleError::TooLong { .. } | BundleError::Damaged => "ask for it again",
    }
}
