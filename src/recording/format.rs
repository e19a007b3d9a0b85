//! The bytes of a recording: eight of magic and version, then frames.
//!
//! ```text
//! file    = "LKSTREC" version:u8  frame(header) frame(snapshot) frame(entry)*
//! entry   = kind:u8 (events | keyframe | rerun | ledger)
//! frame   = length:u32  head:u32  check:u32  payload                    all little-endian
//! head    = the low half of xxh3-64, seeded with the frame's number, of the length's bytes
//! check   = the same of the payload
//! ```
//!
//! The frame's number as seed tells a frame that was moved, lost or doubled. A head of its own
//! tells a length that was changed from a file that was cut. Snapshot, keyframes and reruns
//! are compressed (zlib), because each holds the whole world, or ticks of it; events are
//! compact as they are.

use core::fmt;

use lockstone_net::Identity;
use lockstone_net::wire::SessionKind;
use lockstone_sim::{Checksum, PlayerId, Tick};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What a recording begins with.
pub const MAGIC: [u8; 7] = *b"LKSTREC";
/// The version of this format.
pub const VERSION: u8 = 7;
/// Magic and version.
pub const PREAMBLE_BYTES: usize = 8;
/// What stands before each payload.
pub const FRAME_HEAD_BYTES: usize = 12;
/// The longest payload.
pub const FRAME_BYTES_MAX: usize = SNAPSHOT_BYTES_MAX;
/// The longest header, encoded.
pub const HEADER_BYTES_MAX: usize = 4_096;
/// The largest snapshot, encoded and before compression.
pub const SNAPSHOT_BYTES_MAX: usize = lockstone_net::limits::SNAPSHOT_BYTES_MAX;
/// The most that one turn may give a part, encoded.
pub const GIVEN_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// A frame of events is closed when it is longer than this.
pub const EVENTS_BYTES: usize = 16 * 1_024;
/// The longest frame of events: one turn and one tree at their largest may come on top.
pub const EVENTS_BYTES_MAX: usize =
    EVENTS_BYTES + lockstone_net::limits::PACKET_BYTES_MAX + GIVEN_BYTES_MAX + HEADER_BYTES_MAX + TREE_BYTES_MAX;
/// The most parts of a checksum tree. A larger tree is not recorded.
pub const TREE_CELLS_MAX: usize = 65_536;
/// The largest change of a tree: all parts are gone, and as many others are there.
const TREE_BYTES_MAX: usize = 16 * TREE_CELLS_MAX + 16;
/// The most empty ticks from one checksum to the next: a minute at 20 ticks a second, where a
/// session tells the checksum of every tick. A reader plays them, so a file must carry something
/// for what it asks for.
pub const EMPTY_TICKS_MAX: u32 = 60 * 20;
/// The longest text: a name, a reason.
pub const TEXT_BYTES_MAX: usize = 1_024;

/// What stands first in the payload of a frame of events.
pub(super) const KIND_EVENTS: u8 = 0;
/// What stands first in the payload of a keyframe; the compressed snapshot follows.
pub(super) const KIND_KEYFRAME: u8 = 1;
/// What stands first in the payload of a rerun, compressed.
pub(super) const KIND_RERUN: u8 = 2;
/// What stands first in the payload of a ledger, as the session told it.
pub(super) const KIND_LEDGER: u8 = 3;
/// What stands first in the event that closes a recording; the reason follows, and nothing more.
/// All other events are [`Entry`](super::Entry)s, which begin with less.
pub(super) const EVENT_END: u8 = 9;

/// What a recording is of: enough to refuse it before anything is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The game's name.
    pub game: String,
    /// The engine's version, for people.
    pub engine: String,
    /// The seed the world was built with.
    pub seed: u64,
    /// What the game is, as digests.
    pub identity: Identity,
    /// Which kind of session it was.
    pub kind: SessionKind,
    /// Ticks a second.
    pub ticks_per_s: u32,
    /// The input delay of a rollback session. Else 0.
    pub input_delay_ticks: u32,
    /// Between two checksums that peers compare.
    pub checksum_interval_ticks: u32,
    /// The player that recorded.
    pub player: PlayerId,
    /// The recorder's name.
    pub name: String,
    /// The room, empty for a session without one.
    pub room: String,
    /// The tick of the snapshot, and of the first turn.
    pub start: Tick,
    /// The program that recorded.
    pub build: Build,
}

/// Which program it was, and on what machine. Peers may differ in it and still agree on every bit;
/// where they do not, it is the first thing to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `debug` or `release`: whether it was built with the checks of debug builds.
    pub profile: String,
    /// The operating system, as Rust names it.
    pub os: String,
    /// The processor, as Rust names it.
    pub arch: String,
    /// Bits of a pointer.
    pub pointer_bits: u8,
    /// The xxh3-64 of the executable's bytes; 0 where there is none to read, as in a browser.
    pub executable: u64,
}

impl Build {
    /// This program, without a digest of its executable.
    pub fn here() -> Build {
        Build::of(0)
    }

    /// This program, whose executable has the given digest.
    pub fn of(executable: u64) -> Build {
        Build {
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            pointer_bits: usize::BITS as u8,
            executable,
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Build { profile, os, arch, executable, .. } = self;
        // A page has neither an executable nor a system to name.
        if *executable == 0 && os.is_empty() {
            return write!(f, "{profile} on {arch}");
        }
        write!(f, "{profile} {executable:016x} on {os} {arch}")
    }
}

/// A difference that was found while playing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desync {
    /// Whose world differed from the recorder's.
    pub player: PlayerId,
    /// The tick of the checksums that differed.
    pub tick: Tick,
    /// The newest earlier tick at which both were equal.
    pub agreed: Option<Tick>,
    /// The recorder's checksum.
    pub ours: Checksum,
    /// The other's.
    pub theirs: Checksum,
}

/// Frame number `number` of a recording.
pub fn frame(number: u64, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame is bounded").to_le_bytes();
    let mut bytes = Vec::with_capacity(FRAME_HEAD_BYTES + payload.len());
    bytes.extend(length);
    bytes.extend(check(number, &length));
    bytes.extend(check(number, payload));
    bytes.extend(payload);
    bytes
}

/// The four bytes that guard others.
pub(super) fn check(number: u64, bytes: &[u8]) -> [u8; 4] {
    (xxh3_64_with_seed(bytes, number) as u32).to_le_bytes()
}

/// A text cut to what a recording may hold.
pub(super) fn text(text: &str) -> String {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned()
}
