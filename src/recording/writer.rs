//! Writes a recording while the session goes on. It must never keep more than [`FLUSH_TICKS`] back.

use std::io::{self, Write};

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn, codec};

use super::format::{Desync, EMPTY_TICKS_MAX, EVENTS_BYTES, Header, MAGIC, Stored, StoredInput, VERSION, frame, text};

/// Ticks after which what was recorded is written out: what a crash may cost.
pub const FLUSH_TICKS: u32 = 40;

/// Writes a recording. Calls come in the order of the session: ticks never go back.
pub struct Writer<W: Write> {
    out: W,
    frames: u64,
    bytes: u64,
    /// Events that are not written out yet.
    events: Vec<u8>,
    /// The tick of the next turn.
    next: Tick,
    flushed: Tick,
}

impl<W: Write> Writer<W> {
    /// Begins a recording: what it is of, and the serialised state at the header's `start`.
    ///
    /// # Errors
    /// What the output says.
    pub fn create(out: W, header: &Header, snapshot: &[u8]) -> io::Result<Self> {
        let (next, flushed) = (header.start, header.start);
        let mut writer = Writer { out, frames: 0, bytes: 0, events: Vec::new(), next, flushed };
        writer.put(&MAGIC)?;
        writer.put(&[VERSION])?;
        writer.frame(&codec::compact(header))?;
        writer.frame(&miniz_oxide::deflate::compress_to_vec_zlib(snapshot, 6))?;
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
        self.pass_to::<S>(tick);
        let inputs = turn.inputs.iter().cloned().map(StoredInput::from).collect();
        self.push(&Stored::<S>::Turn(inputs));
        self.next = tick.next();
        self.flush_when_due()
    }

    /// The checksum of the state before the turn of a tick.
    ///
    /// # Errors
    /// What the output says.
    ///
    /// # Panics
    /// If a later turn was recorded already.
    pub fn checksum<S: Simulation>(&mut self, tick: Tick, checksum: Checksum) -> io::Result<()> {
        self.pass_to::<S>(tick);
        self.push(&Stored::<S>::Checksum(checksum.0.to_le_bytes()));
        self.flush_when_due()
    }

    /// A player's name. Who was called so does not change what is played.
    pub fn name<S: Simulation>(&mut self, player: PlayerId, name: &str) {
        self.push(&Stored::<S>::Name(player, text(name)));
    }

    /// A difference was found.
    ///
    /// # Errors
    /// What the output says.
    pub fn desync<S: Simulation>(&mut self, desync: Desync) -> io::Result<()> {
        self.push(&Stored::<S>::Desync(desync));
        self.flush()
    }

    /// The ticks before this one were played, and nothing more entered them.
    ///
    /// # Errors
    /// What the output says.
    pub fn reached<S: Simulation>(&mut self, tick: Tick) -> io::Result<()> {
        if tick.since(self.flushed) < FLUSH_TICKS {
            return Ok(());
        }
        self.pass_to::<S>(tick.max(self.next));
        self.flush()
    }

    /// Closes the recording: the session is over at this tick, and why. Returns the output and how many bytes it was given.
    ///
    /// # Errors
    /// What the output says.
    pub fn end<S: Simulation>(mut self, tick: Tick, reason: &str) -> io::Result<(W, u64)> {
        self.pass_to::<S>(tick.max(self.next));
        self.push(&Stored::<S>::End(text(reason)));
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

    /// Hands everything over to the output.
    ///
    /// # Errors
    /// What the output says.
    pub fn flush(&mut self) -> io::Result<()> {
        if !self.events.is_empty() {
            let events = std::mem::take(&mut self.events);
            self.frame(&events)?;
            self.events = events;
            self.events.clear();
        }
        self.flushed = self.next;
        self.out.flush()
    }

    fn flush_when_due(&mut self) -> io::Result<()> {
        if self.next.since(self.flushed) >= FLUSH_TICKS || self.events.len() > EVENTS_BYTES {
            return self.flush();
        }
        Ok(())
    }

    /// The ticks before `tick` that hold nothing.
    fn pass_to<S: Simulation>(&mut self, tick: Tick) {
        assert!(tick >= self.next, "tick {tick} comes after tick {}", self.next);
        while self.next < tick {
            let empty = tick.since(self.next).min(EMPTY_TICKS_MAX);
            self.push(&Stored::<S>::Empty(empty));
            self.next = self.next.plus(empty);
        }
    }

    fn push<S: Simulation>(&mut self, event: &Stored<S>) {
        self.events.extend(codec::compact(event));
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
