//! Writes a recording while the session goes on. It must never keep more than [`FLUSH_TICKS`] back.

use std::io::{self, Write};

use lockstone_net::wire::{LeaveReason, PublicKey, Signed};
use lockstone_sim::{CellId, Checksum, PlayerId, Simulation, Tick, Turn, codec};

use super::entry::{Entry, EntryOf, Plain};
use super::events::Events;
use super::format::{
    Desync, EVENTS_BYTES, FRAME_BYTES_MAX, Header, KIND_EVENTS, KIND_KEYFRAME, KIND_LEDGER, KIND_RERUN, MAGIC, VERSION,
    frame, text,
};
use super::packed::Packed;
use super::rerun::PackedRerun;
use super::tree::{Tree, TreeChange};

/// Ticks after which what was recorded is written out: what a crash may cost of those who were in
/// the session.
pub const FLUSH_TICKS: u32 = 40;

/// Writes a recording. Calls come in the order of the session: ticks never go back. What was
/// flushed to a `Vec<u8>` is a recording in memory. No reader takes more empty ticks without a
/// checksum than [`EMPTY_TICKS_MAX`](super::format::EMPTY_TICKS_MAX).
pub struct Writer<W: Write> {
    out: W,
    frames: u64,
    bytes: u64,
    events: Events,
    flushed: Tick,
}

impl<W: Write> Writer<W> {
    /// Begins a recording: what it is of, and the serialised state at the header's `start`.
    ///
    /// # Errors
    /// What the output says.
    pub fn create(out: W, header: &Header, snapshot: &[u8]) -> io::Result<Self> {
        Writer::begin(out, header, &Packed::of(snapshot))
    }

    /// As [`create`](Writer::create), with a state that is packed already.
    ///
    /// # Errors
    /// What the output says.
    pub fn begin(out: W, header: &Header, snapshot: &Packed) -> io::Result<Self> {
        let events = Events::starting_at(header.start);
        let mut writer = Writer { out, frames: 0, bytes: 0, events, flushed: header.start };
        writer.put(&MAGIC)?;
        writer.put(&[VERSION])?;
        writer.frame(&codec::compact(header))?;
        writer.frame(snapshot.bytes())?;
        writer.out.flush()?;
        Ok(writer)
    }

    /// A turn was played.
    ///
    /// # Errors
    /// What the output says.
    ///
    /// # Panics
    /// If the tick was recorded already.
    pub fn turn<S: Simulation>(&mut self, tick: Tick, turn: &Turn<S>) -> io::Result<()> {
        self.events.at(tick, &EntryOf::Turn(turn));
        self.flush_when_due()
    }

    /// The checksum of the state before the turn of a tick.
    ///
    /// # Errors
    /// What the output says.
    ///
    /// # Panics
    /// If a later turn was recorded already.
    pub fn checksum(&mut self, tick: Tick, checksum: Checksum) -> io::Result<()> {
        self.events.at(tick, &Plain::Checksum(checksum));
        self.flush_when_due()
    }

    /// The parts of the state before the turn of a tick, as [`Simulation::tree`] tells them. What
    /// of them is new is written; a tree of more than
    /// [`TREE_CELLS_MAX`](super::format::TREE_CELLS_MAX) parts is left out.
    ///
    /// # Errors
    /// What the output says.
    ///
    /// # Panics
    /// If a later turn was recorded already.
    pub fn tree(&mut self, tick: Tick, parts: &[(CellId, Checksum)]) -> io::Result<()> {
        if let Some(change) = self.events.tree(tick, parts) {
            self.events.push(&Plain::Tree(change));
        }
        self.flush_when_due()
    }

    /// The state before the turn of a tick.
    ///
    /// # Errors
    /// What the output says.
    ///
    /// # Panics
    /// If a later turn was recorded already.
    pub fn keyframe(&mut self, tick: Tick, snapshot: &Packed) -> io::Result<()> {
        self.events.pass_to(tick);
        self.packed(snapshot)
    }

    /// What came out when what was recorded so far was played again.
    ///
    /// # Errors
    /// What the output says.
    pub fn rerun(&mut self, rerun: &PackedRerun) -> io::Result<()> {
        self.framed(KIND_RERUN, rerun.bytes())
    }

    /// What the turns so far say beside the last state.
    ///
    /// # Errors
    /// What the output says.
    pub fn ledger(&mut self, ledger: &[u8]) -> io::Result<()> {
        self.framed(KIND_LEDGER, ledger)?;
        // From now on the session can be gone on with.
        self.flush()
    }

    /// Who plays a player that came with the last turn. It is written out at once: a session that
    /// is gone on with knows everyone again who was in it.
    ///
    /// # Errors
    /// What the output says.
    pub fn member(&mut self, player: PlayerId, key: Option<PublicKey>) -> io::Result<()> {
        self.events.push(&Plain::Member(player, key));
        self.flush()
    }

    /// Why a player left with the last turn, or is away since. It is written out at once, as it
    /// decides who may come back.
    ///
    /// # Errors
    /// What the output says.
    pub fn gone(&mut self, player: PlayerId, reason: LeaveReason) -> io::Result<()> {
        self.events.push(&Plain::Gone(player, reason));
        self.flush()
    }

    /// What a player signed of what it told.
    ///
    /// # Errors
    /// What the output says.
    pub fn signed(&mut self, signed: &Signed) -> io::Result<()> {
        self.events.push(&Plain::Signed(signed.clone()));
        self.flush_when_due()
    }

    /// A player's name. Names do not change what is played.
    pub fn name(&mut self, player: PlayerId, name: &str) {
        self.events.push(&Plain::Name(player, text(name)));
    }

    /// A difference was found.
    ///
    /// # Errors
    /// What the output says.
    pub fn desync(&mut self, desync: Desync) -> io::Result<()> {
        self.events.push(&Plain::Desync(desync));
        self.flush()
    }

    /// What another recording holds, one after the other.
    ///
    /// # Errors
    /// What the output says.
    pub fn entry<S: Simulation>(&mut self, entry: &Entry<S>) -> io::Result<()> {
        match entry {
            Entry::Keyframe(snapshot) => return self.packed(snapshot),
            Entry::Rerun(rerun) => return self.rerun(rerun),
            Entry::Ledger(ledger) => return self.ledger(ledger),
            Entry::Tree(change) => self.events.tree.apply(change),
            _ => {}
        }
        let before = self.events.bytes.len();
        self.events.push(entry);
        // Another file may hold an event that fills a frame by itself.
        if before > 0 && self.events.bytes.len() > EVENTS_BYTES {
            let last = self.events.bytes.split_off(before);
            self.flush()?;
            self.events.bytes = last;
        }
        self.flush_when_due()
    }

    /// The ticks before this one were played, and nothing more entered them.
    ///
    /// # Errors
    /// What the output says.
    pub fn reached(&mut self, tick: Tick) -> io::Result<()> {
        if tick.since(self.flushed) < FLUSH_TICKS { Ok(()) } else { self.hand_over(tick) }
    }

    /// The same, and hands over at once all that is written by then.
    ///
    /// # Errors
    /// What the output says.
    pub fn hand_over(&mut self, tick: Tick) -> io::Result<()> {
        self.events.pass_to(tick.max(self.events.next));
        self.flush()
    }

    /// Closes the recording: the session is over at this tick, and why. Returns the output and how
    /// many bytes it was given.
    ///
    /// # Errors
    /// What the output says.
    pub fn end(mut self, tick: Tick, reason: &str) -> io::Result<(W, u64)> {
        self.events.pass_to(tick.max(self.events.next));
        self.events.end(reason);
        self.flush()?;
        Ok((self.out, self.bytes))
    }

    /// Bytes given to the output so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The output: what was flushed is in it, and can be read as a recording without an end.
    pub fn output(&self) -> &W {
        &self.out
    }

    /// Hands everything over, and returns the output: a recording without an end.
    ///
    /// # Errors
    /// What the output says.
    pub fn into_output(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.out)
    }

    /// Hands everything over to the output.
    ///
    /// # Errors
    /// What the output says.
    pub fn flush(&mut self) -> io::Result<()> {
        if !self.events.bytes.is_empty() {
            self.frame(&[&[KIND_EVENTS], &self.events.bytes[..]].concat())?;
            self.events.bytes.clear();
        }
        self.flushed = self.events.next;
        self.out.flush()
    }

    /// A keyframe where the events are.
    pub(super) fn packed(&mut self, snapshot: &Packed) -> io::Result<()> {
        self.framed(KIND_KEYFRAME, snapshot.bytes())
    }

    /// A frame that is not of events, behind those so far. One that no reader would take is left
    /// out.
    fn framed(&mut self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        self.flush()?;
        if bytes.len() >= FRAME_BYTES_MAX {
            return Ok(());
        }
        self.frame(&[&[kind], bytes].concat())
    }

    /// Events that are encoded already.
    pub(super) fn encoded(&mut self, events: &[u8]) -> io::Result<()> {
        if self.events.bytes.len() + events.len() > EVENTS_BYTES {
            self.flush()?;
        }
        self.events.bytes.extend(events);
        Ok(())
    }

    pub(super) fn tree_change(&mut self, change: &TreeChange) -> io::Result<()> {
        self.events.push(&Plain::Tree(change.clone()));
        if self.events.bytes.len() > EVENTS_BYTES { self.flush() } else { Ok(()) }
    }

    /// All that was played before a tick was written, up to this tree: goes on from there.
    pub(super) fn resume(&mut self, next: Tick, tree: Tree) -> io::Result<()> {
        (self.events.next, self.events.tree) = (next, tree);
        self.flush()
    }

    fn flush_when_due(&mut self) -> io::Result<()> {
        let due = self.events.next.since(self.flushed) >= FLUSH_TICKS || self.events.bytes.len() > EVENTS_BYTES;
        if due { self.flush() } else { Ok(()) }
    }

    fn frame(&mut self, payload: &[u8]) -> io::Result<()> {
        let bytes = frame(self.frames, payload);
        self.frames += 1;
        self.put(&bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}
