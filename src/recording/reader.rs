//! Reads a recording. Nothing of it is believed before it was checked, and nothing is reserved that
//! the file does not hold. What it says in words is [`escaped`] as it is read, so nobody behind the
//! reader has to think of it.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::Identity;
use lockstone_net::limits::TICKS_PER_S_MAX;
use lockstone_net::text::escaped;
use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};

use super::entry::Entry;
use super::format::*;
use super::packed::Packed;
use super::rerun::PackedRerun;
use super::writer::Writer;
use crate::panics::Panicked;

/// A recording, read and checked. Whether its turns lead to its checksums,
/// [`replay`](super::replay) tells.
pub struct Recording<S: Simulation> {
    /// What it is of.
    pub header: Header,
    /// The serialised state at the header's `start`.
    pub snapshot: Vec<u8>,
    /// What happened, in order.
    pub entries: Vec<Entry<S>>,
    /// How it ends.
    pub ending: Ending,
}

/// How a recording ends.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Ending {
    /// It was closed, and why.
    Closed(String),
    /// It was never closed: the recorder crashed, or still records.
    Open,
    /// Its last frame was not written whole, and is left out.
    Torn {
        /// How many bytes are left out.
        bytes: usize,
    },
}

impl Ending {
    /// What panicked in the last tick that is on record, if that ended it.
    pub fn panic(&self) -> Option<&str> {
        match self {
            Ending::Closed(reason) => Some(reason.as_str()).filter(|reason| Panicked::is_reason(reason)),
            _ => None,
        }
    }
}

/// Why a recording cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Some other kind of file.
    #[error("this is not a recording: it does not begin with LKSTREC")]
    WrongMagic,
    /// Written by another version of the engine.
    #[error("the recording is of version {version}, and only version {VERSION} is supported")]
    UnsupportedVersion {
        /// The version it says it is of.
        version: u8,
    },
    /// The file ends before the first turn.
    #[error("the recording breaks off at byte {len}, before its first turn")]
    TooShort {
        /// How many bytes there are.
        len: usize,
    },
    /// Bytes were changed.
    #[error("the recording is damaged at byte {at} (frame {frame}); it is sound up to tick {sound}")]
    Damaged {
        /// Where the damaged frame begins.
        at: usize,
        /// Its number.
        frame: u64,
        /// The turns before this tick were read.
        sound: Tick,
    },
    /// A sound frame whose content is none.
    #[error("frame {frame} of the recording cannot be read: {cause}")]
    Unreadable {
        /// Its number.
        frame: u64,
        /// What is wrong with it.
        cause: CodecError,
    },
    /// It is of something else than what is to play it.
    #[error("the recording is of {what} {recorded}, and this program has {what} {here}")]
    Different {
        /// What differs.
        what: &'static str,
        /// In the recording.
        recorded: String,
        /// Here.
        here: String,
    },
}

impl Header {
    /// Reads what a recording is of, and nothing else: before the game is known.
    ///
    /// # Errors
    /// [`RecordingError`] if it has no sound header.
    pub fn peek(bytes: &[u8]) -> Result<Header, RecordingError> {
        Frames::open(bytes)?.header()
    }

    fn escaped(mut self) -> Header {
        let Header { game, engine, name, room, build: Build { profile, os, arch, .. }, .. } = &mut self;
        [game, engine, name, room, profile, os, arch].into_iter().for_each(|text| *text = escaped(&text));
        self
    }

    /// Whether the recording is of this game, whatever its rules.
    ///
    /// # Errors
    /// [`RecordingError::Different`] if it is not.
    pub fn check_game(&self, game: &str) -> Result<(), RecordingError> {
        let (recorded, here) = (self.game.clone(), game.to_owned());
        if recorded == here { Ok(()) } else { Err(RecordingError::Different { what: "game", recorded, here }) }
    }

    /// Whether the recording is of this game, with these digests.
    ///
    /// # Errors
    /// [`RecordingError::Different`] with the first thing that is not.
    pub fn check(&self, game: &str, identity: &Identity) -> Result<(), RecordingError> {
        let hex = |digest: u128| format!("{digest:x}");
        let pairs = [
            ("game", self.game.clone(), game.to_owned()),
            ("rules", hex(self.identity.rules.into()), hex(identity.rules.into())),
            ("random table", hex(self.identity.table), hex(identity.table)),
            ("configuration", hex(self.identity.config.into()), hex(identity.config.into())),
        ];
        match pairs.into_iter().find(|(_, recorded, here)| recorded != here) {
            Some((what, recorded, here)) => Err(RecordingError::Different { what, recorded, here }),
            None => Ok(()),
        }
    }
}

impl<S: Simulation> Recording<S> {
    /// Reads a file. A last frame that was not written whole is left out;
    /// [`ending`](Recording::ending) tells.
    ///
    /// # Errors
    /// [`RecordingError`] if anything else is wrong with any byte.
    pub fn read(bytes: &[u8]) -> Result<Self, RecordingError> {
        let mut frames = Frames::open(bytes)?;
        let header = frames.header()?;
        frames.sound = header.start;
        let snapshot = frames.must(|payload| Packed::read(payload).unpack())?;
        let (mut entries, mut ending) = (Vec::new(), Ending::Open);
        loop {
            let (frame, at) = (frames.number, frames.at);
            match frames.next()? {
                Next::Frame(_) if ending != Ending::Open => return Err(frames.damaged(frame, at)),
                Next::Frame(payload) => {
                    let closed = frames.entries(payload, &mut entries);
                    let closed = closed.map_err(|cause| RecordingError::Unreadable { frame, cause })?;
                    ending = closed.map_or(Ending::Open, Ending::Closed);
                }
                Next::Torn(bytes) => break ending = Ending::Torn { bytes },
                Next::End => break,
            }
        }
        Ok(Recording { header, snapshot, entries, ending })
    }

    /// Reads a file of a game, whatever its rules.
    ///
    /// # Errors
    /// As [`read`](Recording::read), or that it is another game's.
    pub fn read_of(game: &str, bytes: &[u8]) -> Result<Self, RecordingError> {
        Header::peek(bytes)?.check_game(game)?;
        Self::read(bytes)
    }

    /// All who are named in it, and who recorded it.
    pub fn players(&self) -> BTreeSet<PlayerId> {
        let named = self.entries.iter().filter_map(|entry| match entry {
            Entry::Name(player, _) => Some(*player),
            _ => None,
        });
        named.chain([self.header.player]).collect()
    }

    /// Writes it, as it would have been recorded.
    pub fn write(&self) -> Vec<u8> {
        const MEMORY: &str = "memory takes everything";
        let mut writer = Writer::create(Vec::new(), &self.header, &self.snapshot).expect(MEMORY);
        self.entries.iter().for_each(|entry| writer.entry(entry).expect(MEMORY));
        match &self.ending {
            Ending::Closed(reason) => writer.end(self.end(), reason).expect(MEMORY).0,
            Ending::Open | Ending::Torn { .. } => writer.into_output().expect(MEMORY),
        }
    }

    /// The first tick at which another recording has another checksum, if there is one.
    pub fn parts_from(&self, other: &Recording<S>) -> Option<Tick> {
        let (own, other) = (self.roots(), other.roots());
        other.into_iter().find(|(tick, root)| own.get(tick).is_some_and(|own| own != root)).map(|(tick, _)| tick)
    }

    fn roots(&self) -> BTreeMap<Tick, Checksum> {
        let (mut tick, mut roots) = (self.header.start, BTreeMap::new());
        for entry in &self.entries {
            if let Entry::Checksum(root) = entry {
                roots.insert(tick, *root);
            }
            tick = tick.plus(entry.ticks());
        }
        roots
    }

    /// The tick behind the last recorded turn.
    pub fn end(&self) -> Tick {
        self.entries.iter().fold(self.header.start, |tick, entry| tick.plus(entry.ticks()))
    }
}

impl<S: Simulation> Clone for Recording<S> {
    fn clone(&self) -> Self {
        let Recording { header, snapshot, entries, ending } = self;
        let (header, snapshot, ending) = (header.clone(), snapshot.clone(), ending.clone());
        Recording { header, snapshot, entries: entries.clone(), ending }
    }
}

/// Walks the frames of a file.
struct Frames<'b> {
    bytes: &'b [u8],
    at: usize,
    number: u64,
    /// The turns before this tick were read.
    sound: Tick,
    /// Empty ticks since the last checksum.
    empty: u32,
}

enum Next<'b> {
    Frame(&'b [u8]),
    /// So many bytes of a frame that is not whole.
    Torn(usize),
    End,
}

impl<'b> Frames<'b> {
    fn open(bytes: &'b [u8]) -> Result<Self, RecordingError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(RecordingError::WrongMagic);
        }
        match bytes.get(MAGIC.len()) {
            None => Err(RecordingError::TooShort { len: bytes.len() }),
            Some(&version) if version != VERSION => Err(RecordingError::UnsupportedVersion { version }),
            Some(_) => Ok(Frames { bytes, at: PREAMBLE_BYTES, number: 0, sound: Tick(0), empty: 0 }),
        }
    }

    fn header(&mut self) -> Result<Header, RecordingError> {
        self.must(|payload| {
            let header: Header = codec::read(payload, HEADER_BYTES_MAX)?;
            // Whoever shows a time divides by it.
            if !(1..=TICKS_PER_S_MAX).contains(&header.ticks_per_s) {
                return Err(CodecError::Malformed("a tick rate that no session has"));
            }
            Ok(header.escaped())
        })
    }

    /// Reads a frame without which there is no recording.
    fn must<T>(&mut self, read: impl FnOnce(&[u8]) -> Result<T, CodecError>) -> Result<T, RecordingError> {
        let frame = self.number;
        match self.next()? {
            Next::Frame(payload) => read(payload).map_err(|cause| RecordingError::Unreadable { frame, cause }),
            Next::Torn(_) | Next::End => Err(RecordingError::TooShort { len: self.bytes.len() }),
        }
    }

    fn next(&mut self) -> Result<Next<'b>, RecordingError> {
        let rest = &self.bytes[self.at..];
        let Some((head, behind)) = rest.split_first_chunk::<FRAME_HEAD_BYTES>() else {
            return Ok(if rest.is_empty() { Next::End } else { Next::Torn(rest.len()) });
        };
        let [l0, l1, l2, l3, head_check @ .., c0, c1, c2, c3] = *head;
        let length = [l0, l1, l2, l3];
        if check(self.number, &length) != head_check {
            // A file that was grown but not filled before the machine stopped ends in zeros.
            return if rest.iter().all(|&byte| byte == 0) { Ok(Next::Torn(rest.len())) } else { Err(self.here()) };
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(self.here());
        }
        let Some((payload, behind)) = behind.split_at_checked(length) else { return Ok(Next::Torn(rest.len())) };
        if check(self.number, payload) != [c0, c1, c2, c3] {
            return if behind.is_empty() { Ok(Next::Torn(rest.len())) } else { Err(self.here()) };
        }
        self.at += FRAME_HEAD_BYTES + length;
        self.number += 1;
        Ok(Next::Frame(payload))
    }

    fn here(&self) -> RecordingError {
        self.damaged(self.number, self.at)
    }

    fn damaged(&self, frame: u64, at: usize) -> RecordingError {
        RecordingError::Damaged { at, frame, sound: self.sound }
    }

    /// Reads a frame behind the snapshot. Returns the reason, if the recording was closed in it.
    fn entries<S: Simulation>(
        &mut self,
        payload: &[u8],
        entries: &mut Vec<Entry<S>>,
    ) -> Result<Option<String>, CodecError> {
        let mut rest = match payload.split_first() {
            Some((&KIND_EVENTS, events)) => events,
            Some((&KIND_KEYFRAME, snapshot)) => {
                entries.push(Entry::Keyframe(Packed::read(snapshot)));
                return Ok(None);
            }
            Some((&KIND_RERUN, rerun)) => {
                entries.push(Entry::Rerun(PackedRerun::of_bytes(rerun)));
                return Ok(None);
            }
            Some((&KIND_LEDGER, ledger)) => {
                entries.push(Entry::Ledger(ledger.to_vec()));
                return Ok(None);
            }
            _ => return Err(CodecError::Malformed("a frame of no known kind")),
        };
        if rest.len() > EVENTS_BYTES_MAX {
            return Err(CodecError::TooLong { len: rest.len(), max: EVENTS_BYTES_MAX });
        }
        while let Some((&kind, behind)) = rest.split_first() {
            if kind == EVENT_END {
                let (reason, behind) = codec::read_first::<String>(behind)?;
                return if behind.is_empty() {
                    Ok(Some(escaped(reason)))
                } else {
                    Err(CodecError::Malformed("events after the end"))
                };
            }
            let (mut entry, behind) = codec::read_first::<Entry<S>>(rest)?;
            rest = behind;
            if let Entry::Name(_, name) = &mut entry {
                *name = escaped(&name);
            }
            if matches!(&entry, Entry::Tree(change) if !change.is_sorted()) {
                return Err(CodecError::Malformed("cells out of order"));
            }
            self.pass(&entry)?;
            entries.push(entry);
        }
        Ok(None)
    }

    /// Counts ticks. A few bytes must not keep their reader busy for long, and there is a tick
    /// after the last.
    fn pass<S: Simulation>(&mut self, entry: &Entry<S>) -> Result<(), CodecError> {
        match entry {
            Entry::Empty(ticks) => self.empty = self.empty.saturating_add(*ticks),
            Entry::Checksum(_) => self.empty = 0,
            _ => {}
        }
        if self.empty > EMPTY_TICKS_MAX {
            return Err(CodecError::Malformed("more empty ticks without a checksum than a session has"));
        }
        let end = self.sound.0.checked_add(entry.ticks()).filter(|end| *end < u32::MAX);
        self.sound = Tick(end.ok_or(CodecError::Malformed("more ticks than a session has"))?);
        Ok(())
    }
}
