//! A process that answers: what it says is compared line by line as it comes.
//!
//! It must never be waited for without an end. A process that does not write its next line in time
//! is ended, and all are ended when this is stopped. The loop is [`Question::ask`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::hex;
use lockstone_sim::Tick;
use lockstone_sim::codec;
use lockstone_sim::journal::Journal;

use super::reference::{End, Observer, Odd, Played, Reference};
use crate::check::answer::GREETING;
use crate::inspect::Inspect;

/// So often whoever looks on is asked whether to go on, while nothing is said.
const POLL: Duration = Duration::from_millis(100);
/// Lines that are read ahead of what is compared.
const LINES_AHEAD: usize = 64;
/// The largest journal that is read.
const JOURNAL_BYTES_MAX: usize = 64 << 20;

/// What a child is asked.
pub(super) struct Question<'q, 'r, S: Inspect> {
    /// All that it is given.
    pub input: Arc<[u8]>,
    /// A child of this profile would show nothing.
    pub unlike: Option<&'q str>,
    /// How long it may take for a line.
    pub answer_time: Duration,
    pub reference: &'q Reference<'r, S>,
    pub plays: Observer<'q>,
}

impl<S: Inspect> Question<'_, '_, S> {
    /// Lets a child play, and compares what it says tick by tick.
    pub fn ask(mut self, command: &mut Command) -> Played<S> {
        let mut child = Running::start(command, self.input.clone())?;
        let greeting = self.next(&mut child, None)?;
        let build = greeting.strip_prefix(GREETING).ok_or_else(|| child.does_not_answer())?;
        if let Some(unlike) = self.unlike.filter(|unlike| build.split_whitespace().next() == Some(unlike)) {
            return Err(End::Skipped(format!("{} is a {unlike} build too: name one of the other kind", child.program)));
        }
        let (reference, mut met) = (self.reference, 0);
        for (tick, root, _) in reference.moments() {
            End::unless_stopped((self.plays)(tick))?;
            if self.next(&mut child, Some(tick))? != format!("{tick} {root}") {
                return Err(self.odd(&mut child, tick, build)?.into());
            }
            met += 1;
        }
        Ok(met)
    }

    /// It has come elsewhere: to which state, and by what.
    fn odd(&mut self, child: &mut Running, tick: Tick, build: &str) -> Result<Odd<S>, End<S>> {
        let line = self.next(child, Some(tick))?;
        let bytes = line.strip_prefix("state ").and_then(hex::decode).ok_or_else(|| child.ended(tick))?;
        let mut state = self.reference.build();
        state
            .restore_from(&bytes)
            .map_err(|error| child.broke(&format!("its state of tick {tick} cannot be read: {error}")))?;
        // One that cannot tell is none the worse for it.
        let line = self.next(child, Some(tick)).ok();
        let bytes = line.as_deref().and_then(|line| line.strip_prefix("journal ")).and_then(hex::decode);
        let journal = bytes.and_then(|bytes| codec::read::<Journal>(&bytes, JOURNAL_BYTES_MAX).ok());
        let (by, journal) = (Some(build.trim().to_owned()), journal.filter(|journal| journal.tick.next() == tick));
        Ok(Odd { by, journal, ..Odd::of(state) })
    }

    /// The next line: its greeting, or what it says of a tick.
    fn next(&mut self, child: &mut Running, of: Option<Tick>) -> Result<String, End<S>> {
        let began = Instant::now();
        loop {
            match (child.lines.recv_timeout(POLL.min(self.answer_time)), of) {
                (Ok(line), _) => return Ok(line),
                (Err(RecvTimeoutError::Disconnected), None) => return Err(child.does_not_answer()),
                (Err(RecvTimeoutError::Disconnected), Some(tick)) => return Err(child.ended(tick)),
                (Err(RecvTimeoutError::Timeout), _) => {}
            }
            End::unless_stopped((self.plays)(of.unwrap_or(self.reference.start)))?;
            if began.elapsed() >= self.answer_time {
                let within = format!("within {} s, and was ended", self.answer_time.as_secs_f32());
                return Err(match of {
                    None => End::Skipped(format!("{} did not answer {within}", child.program)),
                    Some(tick) => child.broke(&format!("it did not come to tick {tick} {within}")),
                });
            }
        }
    }
}

/// A process that is killed when this is dropped. What it says is read on threads of their
/// own, which nobody waits for: what it has started itself may hold its pipes open for as
/// long as it likes.
struct Running {
    program: String,
    child: Child,
    lines: Receiver<String>,
    complaint: Receiver<String>,
}

impl Running {
    fn start<S>(command: &mut Command, input: Arc<[u8]>) -> Result<Running, End<S>> {
        let program = command.get_program().to_string_lossy().into_owned();
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| {
            End::Skipped(format!("{program} cannot be started ({error}): install it, or build it again"))
        })?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (line_tx, lines) = mpsc::sync_channel(LINES_AHEAD);
        let (complaint_tx, complaint) = mpsc::channel();
        // If it does not take all of it, it ends early, and that is told.
        thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
        thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|out| BufReader::new(out).lines().map_while(io::Result::ok));
            lines.map(|line| line_tx.send(line)).all(|sent| sent.is_ok())
        });
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read was not said, and nobody may want to know.
            let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
            let _ = complaint_tx.send(String::from_utf8_lossy(&bytes).trim().to_owned());
        });
        Ok(Running { program, child, lines, complaint })
    }

    /// It says nothing, or something else.
    fn does_not_answer<S>(&mut self) -> End<S> {
        let complaint = self.complaint();
        End::Skipped(format!("{} does not answer: {complaint} Build it again, from the same sources", self.program))
    }

    fn ended<S>(&mut self, tick: Tick) -> End<S> {
        self.broke(&format!("it ended at tick {tick}"))
    }

    fn broke<S>(&mut self, cause: &str) -> End<S> {
        let complaint = self.complaint();
        End::Broke(format!("{}: {cause}. {complaint}", self.program))
    }

    /// What it said on stderr. It is ended first.
    fn complaint(&mut self) -> String {
        self.end();
        self.complaint.recv_timeout(POLL).unwrap_or_default()
    }

    fn end(&mut self) {
        // Either it ended by itself already, or it ends now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
