//! The key by which a player is known again: in a file, which one process uses at a time.
//!
//! Whoever has the file is the player. So it is made for its owner alone, and shown to nobody.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use lockstone_net::{PlayerKey, hex};

use super::failure::Failure;
use super::place::{self, any_number};

const FILE_NAME: &str = "player.key";
const RELAY_FILE_NAME: &str = "relay.key";
/// Hexadecimal digits, and the end of a line.
const FILE_BYTES_MAX: u64 = 256;

/// A player's key, and the file that nobody else uses meanwhile.
pub(super) struct Identity {
    pub key: PlayerKey,
    _locked: Option<File>,
}

impl Identity {
    /// That of a file, which is made if it is not there. Where none is named, the one of this user
    /// for a game; and one that is forgotten again if that cannot be had, as another process uses
    /// it, or if a `bot` plays.
    pub fn new(file: Option<&Path>, game: &str, bot: bool) -> Result<Identity, Failure> {
        if let Some(file) = file {
            return Identity::of(file).map_err(|error| Failure::file("use", file, error));
        }
        let own = if bot { None } else { Identity::own(game, FILE_NAME) };
        Ok(own.unwrap_or_else(Identity::drawn))
    }

    /// By which this user's relays of a game claim their rooms, the next time too; one that is
    /// forgotten again if that cannot be had.
    pub fn of_relay(game: &str) -> Identity {
        Identity::own(game, RELAY_FILE_NAME).unwrap_or_else(Identity::drawn)
    }

    fn own(game: &str, name: &str) -> Option<Identity> {
        let folder = place::state_folder()?.join(game);
        fs::create_dir_all(&folder).ok()?;
        Identity::of(&folder.join(name)).ok()
    }

    fn drawn() -> Identity {
        Identity { key: PlayerKey::from_bytes(drawn()), _locked: None }
    }

    fn of(path: &Path) -> io::Result<Identity> {
        let mut file = open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => {
                io::Error::other("another process plays with it; name another one with --identity")
            }
        })?;
        let mut text = String::new();
        (&mut file).take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        let key = match text.trim() {
            "" => {
                let bytes = drawn();
                file.rewind()?;
                writeln!(file, "{}", hex::encode(&bytes))?;
                PlayerKey::from_bytes(bytes)
            }
            digits => PlayerKey::from_hex(digits)
                .ok_or_else(|| io::Error::other("it is no player's key: 64 hexadecimal digits; name another file"))?,
        };
        Ok(Identity { key, _locked: Some(file) })
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn drawn() -> [u8; 32] {
    let parts: Vec<_> = (0..4).flat_map(|_| any_number().to_le_bytes()).collect();
    parts.try_into().expect("four times eight bytes")
}
