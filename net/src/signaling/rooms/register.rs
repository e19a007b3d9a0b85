//! What a server knows of its rooms once it is started again: who claimed each, in a file.
//!
//! The file has a line of JSON for each change, and is written anew when most of its lines are
//! outdated. A claim is kept while somebody is in the room and for a day afterwards, except that a
//! party's ends with the last of its peers who leaves. The file must never hold a key or a token,
//! but digests alone. If it cannot be written, the server goes on, and will not remember.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex;
use crate::limits::signaling::{CLAIMED_FOR, CLAIMS_MAX};
use crate::room::RoomRole;

/// So many outdated lines the file may have beside as many as there are claims.
const LINES_SPARE: usize = 1_024;

/// Whose a room is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// The digest of the room's key.
    key: Option<String>,
    /// The digest of the relay's token. Of a party's room there is none.
    relay: Option<String>,
    /// When the last of the room left, in seconds since 1970.
    left_s: Option<u64>,
}

impl Claim {
    pub fn new(room: &str, key: Option<&str>, role: &RoomRole) -> Self {
        let relay = match role {
            RoomRole::Relay { token } => Some(digest("token", room, token)),
            RoomRole::Peer | RoomRole::Player | RoomRole::Standby { .. } => None,
        };
        Self { key: key.map(|key| digest("key", room, key)), relay, left_s: None }
    }

    pub fn is_relays(&self) -> bool {
        self.relay.is_some()
    }

    pub fn has_key(&self, room: &str, key: Option<&str>) -> bool {
        self.key == key.map(|key| digest("key", room, key))
    }

    pub fn has_token(&self, room: &str, token: &str) -> bool {
        self.relay.as_ref() == Some(&digest("token", room, token))
    }

    fn is_over(&self, now_s: u64) -> bool {
        self.left_s.is_some_and(|left_s| left_s.saturating_add(CLAIMED_FOR.as_secs()) < now_s)
    }
}

/// A room and its claim; without one it is free.
#[derive(Serialize, Deserialize)]
struct Line {
    room: String,
    claim: Option<Claim>,
}

/// All claims. Without a file none is kept.
#[derive(Debug, Default)]
pub(in crate::signaling) struct Register {
    claims: HashMap<String, Claim>,
    file: Option<(PathBuf, File)>,
    lines: usize,
}

impl Register {
    /// Also tells whether the file was there.
    pub fn open(path: &Path) -> io::Result<(Self, bool)> {
        let (text, was_there) = match fs::read(path) {
            Ok(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (String::new(), false),
            Err(error) => return Err(error),
        };
        let mut claims = HashMap::new();
        // The last line is not whole if the server was killed as it wrote.
        for Line { room, claim } in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match claim {
                Some(claim) => claims.insert(room, claim),
                None => claims.remove(&room),
            };
        }
        let now_s = now_s();
        claims.values_mut().for_each(|claim| claim.left_s = claim.left_s.or(Some(now_s)));
        let mut register = Self { claims, file: None, lines: 0 };
        register.write_anew(path)?;
        Ok((register, was_there))
    }

    pub(super) fn claim(&self, room: &str) -> Option<&Claim> {
        self.claims.get(room).filter(|claim| !claim.is_over(now_s()))
    }

    /// The parties that there were.
    pub(super) fn parties(&self) -> impl Iterator<Item = &String> {
        self.claims.iter().filter(|(_, claim)| !claim.is_relays()).map(|(room, _)| room)
    }

    /// Somebody is in a room.
    pub(super) fn enter(&mut self, room: &str, claim: Claim) {
        self.note(room, Some(claim));
    }

    /// The last of a room has left.
    pub(super) fn leave(&mut self, room: &str) {
        let claim = self.claims.get(room).filter(|claim| claim.is_relays());
        let left = claim.map(|claim| Claim { left_s: Some(now_s()), ..claim.clone() });
        self.note(room, left);
    }

    /// The server ends: it is not the peers who leave from now on.
    pub fn close(&mut self) {
        self.file = None;
    }

    fn note(&mut self, room: &str, claim: Option<Claim>) {
        let Some((path, file)) = &mut self.file else { return };
        if self.claims.get(room) == claim.as_ref() {
            return;
        }
        let path = path.clone();
        let written = file.write_all(line(room, claim.as_ref()).as_bytes());
        match claim {
            Some(claim) => self.claims.insert(room.to_owned(), claim),
            None => self.claims.remove(room),
        };
        self.lines += 1;
        let is_long = self.lines > 2 * self.claims.len().min(CLAIMS_MAX) + LINES_SPARE;
        let written = written.and_then(|()| if is_long { self.write_anew(&path) } else { Ok(()) });
        if let Err(error) = written {
            tracing::warn!("the server will not remember its rooms: {}: {error}", path.display());
            self.file = None;
        }
    }

    /// In a file beside it first: whoever reads finds the old one or the new one.
    fn write_anew(&mut self, path: &Path) -> io::Result<()> {
        self.drop_what_is_over();
        let beside = path.with_added_extension("new");
        let text: String = self.claims.iter().map(|(room, claim)| line(room, Some(claim))).collect();
        let mut file = create(&beside)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&beside, path)?;
        self.lines = self.claims.len();
        self.file = Some((path.to_owned(), file));
        Ok(())
    }

    fn drop_what_is_over(&mut self) {
        let now_s = now_s();
        self.claims.retain(|_, claim| !claim.is_over(now_s));
        let mut left: Vec<_> =
            self.claims.iter().filter_map(|(room, claim)| Some((claim.left_s?, room.clone()))).collect();
        left.sort();
        let beyond = self.claims.len().saturating_sub(CLAIMS_MAX);
        left.iter().take(beyond).for_each(|(_, room)| drop(self.claims.remove(room)));
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn line(room: &str, claim: Option<&Claim>) -> String {
    let line = Line { room: room.to_owned(), claim: claim.cloned() };
    let mut text = serde_json::to_string(&line).expect("names, digits and digests are JSON");
    text.push('\n');
    text
}

/// Of a room's own, so that equal keys of two rooms do not show.
fn digest(what: &str, room: &str, secret: &str) -> String {
    hex::encode(&Sha256::new().chain_update(format!("lockstone: {what} of {room}: {secret}")).finalize())
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
